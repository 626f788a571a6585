//! Finds what a script returns, whichever of the accepted forms it has.

use oxc_ast::ast::*;
use oxc_span::{GetSpan, Span};

use super::types::Types;

/// The name that stands for a default export without one.
const DEFAULT: &str = "__default";

/// Makes a program a function body that returns its value, with `types` from its walk.
///
/// In this order: its default export; what it returns by itself; its last statement, where that is
/// an expression; a function, where it only declares some.
pub(super) fn program(program: &Program<'_>, types: &mut Types<'_>) {
    let mut default = None;
    for statement in &program.body {
        if let Statement::ExportDefaultDeclaration(export) = statement {
            default = default_export(export, types).or(default);
        }
    }
    if let Some(hashbang) = &program.hashbang {
        types.blank(hashbang.span);
    }
    let directives_end = program.directives.last().map(|directive| directive.span.end);
    let end = program.body.last().map(|last| last.span().end).or(directives_end);
    let returned = if default.is_some() {
        default
    } else if types.returns || returns_last(program, types) || types.awaits {
        None
    } else {
        declared_function(&program.body)
    };
    finish(end.unwrap_or_default(), returned.as_deref(), types);
}

/// Makes a text that is one expression a function body that returns it.
pub(super) fn expression(expression: &Expression<'_>, types: &mut Types<'_>) {
    returning(expression.span(), types);
    finish(expression.span().end, None, types);
}

/// Drops what follows the code, for a comment would swallow what is appended.
fn finish(end: u32, returned: Option<&str>, types: &mut Types<'_>) {
    types.edits.blank(end as usize, types.source.len());
    if let Some(name) = returned {
        types.edits.insert(types.source.len(), format!(";return {name}"));
    }
}

fn returning(expression: Span, types: &mut Types<'_>) {
    types.edits.insert(expression.start as usize, "return(");
    types.edits.insert_after(expression.end as usize, ")");
}

/// Returns the last statement that does something, where it is an expression.
fn returns_last(program: &Program<'_>, types: &mut Types<'_>) -> bool {
    let last = program.body.iter().rev().find(|statement| !is_inert(statement));
    let expression = match (last, program.directives.last()) {
        (Some(Statement::ExpressionStatement(statement)), _) => statement.expression.span(),
        // A text alone, such as `'a'`, reads as a directive.
        (None, Some(directive)) if program.body.is_empty() => directive.expression.span,
        _ => return false,
    };
    returning(expression, types);
    true
}

/// Function declarations are there from the start, wherever they stand; types are nowhere.
fn is_inert(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::EmptyStatement(_)
            | Statement::FunctionDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_)
    )
}

/// The function to call in a script that only declares: `main`, or else the last one.
fn declared_function(body: &[Statement<'_>]) -> Option<String> {
    let mut chosen: Option<&str> = None;
    for statement in body {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            Statement::EmptyStatement(_) => continue,
            _ => statement.as_declaration(),
        };
        let name = match declaration {
            Some(Declaration::FunctionDeclaration(function)) if function.body.is_some() => {
                function.id.as_ref().map(|id| id.name.as_str())
            }
            Some(Declaration::VariableDeclaration(variables)) => {
                variables.declarations.iter().rev().find_map(function_variable)
            }
            Some(_) => None,
            None => return None,
        };
        if let Some(name) = name
            && chosen != Some("main")
        {
            chosen = Some(name);
        }
    }
    chosen.map(str::to_owned)
}

fn function_variable<'a>(variable: &VariableDeclarator<'a>) -> Option<&'a str> {
    let function = variable.init.as_ref()?.without_parentheses();
    match (function, &variable.id) {
        (
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_),
            BindingPattern::BindingIdentifier(id),
        ) => Some(id.name.as_str()),
        _ => None,
    }
}

/// Turns a default export into a declaration; gives its name, if it has a value.
fn default_export(export: &ExportDefaultDeclaration<'_>, types: &mut Types<'_>) -> Option<String> {
    let start = export.declaration.span().start;
    types.edits.blank(export.span.start as usize, start as usize);
    let id = match &export.declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
            return None;
        }
        ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => return None,
        ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.id.as_ref(),
        ExportDefaultDeclarationKind::ClassDeclaration(class) => class.id.as_ref(),
        _ => None,
    };
    if let Some(id) = id {
        return Some(id.name.as_str().to_owned());
    }
    types.edits.insert(start as usize, format!("const {DEFAULT}="));
    // A function ends its declaration; as a value it may meet a `(` on the next line.
    types.edits.insert_after(export.declaration.span().end as usize, ";");
    Some(DEFAULT.to_owned())
}
