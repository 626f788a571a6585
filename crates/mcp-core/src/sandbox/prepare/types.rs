//! Blanks TypeScript's types, so that plain JavaScript remains where it stood.

use oxc_ast::{AstKind, ast::*};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::edit::Edits;

/// Walks a script once: blanks its types, and notes what the script's shape depends on.
pub(super) struct Types<'s> {
    pub source: &'s str,
    pub edits: Edits,
    /// The first thing that cannot be blanked, for it has effects of its own.
    pub refusal: Option<Refusal>,
    /// There is a `return` outside functions.
    pub returns: bool,
    /// There is an `await` outside functions.
    pub awaits: bool,
    functions: u32,
}

/// What a script cannot contain.
#[derive(Debug)]
pub(super) struct Refusal {
    pub at: usize,
    pub message: &'static str,
}

const MODIFIERS: &[&str] =
    &["abstract", "declare", "override", "private", "protected", "public", "readonly"];

const IMPORT: &str = "`import` is not available: a script is alone, and `api` is already there";
const DYNAMIC_IMPORT: &str =
    "`import()` is not available: a script is alone, and `api` is already there";
const IMPORT_META: &str = "`import.meta` is not available in a script";
const EXPORT_EQUALS: &str = "`export =` is not supported: use `return`";
const ENUM: &str =
    "TypeScript's `enum` is not supported: use an object, `const Color = { Red: 0 }`";
const NAMESPACE: &str =
    "TypeScript's `namespace` is not supported: use an object or plain functions";
const PARAMETER_PROPERTY: &str =
    "TypeScript's parameter properties are not supported: assign the field in the constructor";
const DECORATOR: &str = "decorators are not supported: call the function yourself";

impl<'s> Types<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            edits: Edits::default(),
            refusal: None,
            returns: false,
            awaits: false,
            functions: 0,
        }
    }

    fn refuse(&mut self, span: Span, message: &'static str) {
        let at = span.start as usize;
        if self.refusal.as_ref().is_none_or(|first| at < first.at) {
            self.refusal = Some(Refusal { at, message });
        }
    }

    pub(super) fn blank(&mut self, span: Span) {
        self.edits.blank(span.start as usize, span.end as usize);
    }

    /// Blanks a whole statement or class member, but for a semicolon that keeps its neighbours apart.
    fn blank_statement(&mut self, span: Span) {
        self.edits.blank_as(span.start as usize, span.end as usize, ';');
    }

    /// Takes what names another module: types go, anything else is refused.
    fn module(&mut self, span: Span, only_types: bool) {
        if only_types {
            self.blank_statement(span);
        } else {
            self.refuse(span, IMPORT);
        }
    }

    fn spans_lines(&self, start: u32, end: u32) -> bool {
        self.text(start, end).contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    fn text(&self, start: u32, end: u32) -> &'s str {
        self.source.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Blanks the first `mark` between two places, outside comments.
    fn blank_mark(&mut self, mark: char, start: u32, end: u32) {
        let found = outside_comments(self.text(start, end)).find(|(_, c)| *c == mark);
        if let Some((offset, _)) = found {
            let at = start as usize + offset;
            self.edits.blank(at, at + mark.len_utf8());
        }
    }

    /// Blanks modifiers between a member's start and its name.
    fn blank_modifiers(&mut self, member: Span, name: Span) {
        let text = self.text(member.start, name.start);
        let mut word = None;
        for (offset, c) in outside_comments(text).chain([(text.len(), ' ')]) {
            match (word, c.is_alphanumeric()) {
                (None, true) => word = Some(offset),
                (Some(start), false) => {
                    word = None;
                    if !MODIFIERS.contains(&text[start..offset].trim_end()) {
                        continue;
                    }
                    let at = member.start as usize;
                    // A field's value could go on with the `[` or `*` of the member behind it.
                    if start == 0 {
                        self.edits.blank_as(at, at + offset, ';');
                    } else {
                        self.edits.blank(at + start, at + offset);
                    }
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, function: &Function<'_>) {
        if function.body.is_none() {
            return self.blank_statement(function.span);
        }
        if let Some(this) = &function.this_param {
            let parameters = &function.params;
            let first = parameters.items.first().map(|first| first.span.start);
            let rest = parameters.rest.as_ref().map(|rest| rest.span.start);
            let end = first.or(rest).unwrap_or(parameters.span.end - 1);
            self.edits.blank(this.span.start as usize, end as usize);
        }
    }

    /// `async <T,⏎>(x)` and `return <T,⏎>(x)` must not end at the blanked line: the parenthesis
    /// moves to the front.
    fn arrow_type_parameters(&mut self, types: Span, parameters: Span) {
        if self.spans_lines(types.start, parameters.start) {
            self.edits.blank_as(types.start as usize, types.end as usize, '(');
            self.edits.blank(parameters.start as usize, parameters.start as usize + 1);
        } else {
            self.blank(types);
        }
    }

    /// No line may end between `)` and `=>`: the parenthesis moves to the end of the type.
    fn arrow_return_type(&mut self, parameters: Span, types: Span) {
        let close = parameters.end as usize - 1;
        if !self.spans_lines(parameters.end, types.end) {
            return self.blank(types);
        }
        let last = self.text(types.start, types.end).chars().next_back().map_or(1, char::len_utf8);
        let last = types.end as usize - last;
        self.edits.blank(close, last);
        self.edits.blank_as(last, types.end as usize, ')');
    }

    /// Blanks what follows an expression: ` as T`, ` satisfies T`, `!`.
    fn blank_tail(&mut self, whole: Span, expression: Span) {
        self.edits.blank(expression.end as usize, whole.end as usize);
    }
}

fn is_type(specifier: &ImportDeclarationSpecifier<'_>) -> bool {
    match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
            specifier.import_kind == ImportOrExportKind::Type
        }
        ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
        | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => false,
    }
}

/// The characters of a text that are not in comments.
fn outside_comments(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut skip_to = 0;
    text.char_indices().filter(move |(at, _)| {
        if *at < skip_to {
            return false;
        }
        let rest = &text[*at..];
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else {
            return true;
        };
        skip_to = at + end.unwrap_or(rest.len());
        false
    })
}

impl<'a> Visit<'a> for Types<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        let outside = self.functions == 0;
        match kind {
            AstKind::Function(function) => {
                self.functions += 1;
                self.function(function);
            }
            AstKind::ArrowFunctionExpression(_) => self.functions += 1,
            AstKind::ReturnStatement(_) => self.returns |= outside,
            AstKind::AwaitExpression(_) => self.awaits |= outside,
            AstKind::ForOfStatement(each) => self.awaits |= outside && each.r#await,
            _ => {}
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)) {
            self.functions -= 1;
        }
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        walk::walk_statement(self, it);
        self.edits.end_statement(it.span().end as usize);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.span, it.expression.span());
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.span, it.expression.span());
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.span, it.expression.span());
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let (start, inner) = (it.span.start, it.expression.span());
        let lines = self.spans_lines(start, inner.start);
        if !lines {
            self.edits.blank(start as usize, inner.start as usize);
        } else {
            // `return <T⏎>x` must not end at the blanked line.
            self.edits.blank_as(start as usize, inner.start as usize, '(');
        }
        self.visit_expression(&it.expression);
        if lines {
            self.edits.insert_after(inner.end as usize, ")");
        }
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_external_module_declaration(&mut self, it: &TSExternalModuleDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if it.declare {
            self.blank_statement(it.span);
        } else {
            self.refuse(it.span, NAMESPACE);
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        if it.declare {
            self.blank_statement(it.span);
        } else {
            self.refuse(it.span, ENUM);
        }
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.module(it.span, it.import_kind == ImportOrExportKind::Type);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let only_types = it
            .specifiers
            .as_ref()
            .is_some_and(|specifiers| !specifiers.is_empty() && specifiers.iter().all(is_type));
        self.module(it.span, only_types || it.import_kind == ImportOrExportKind::Type);
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.edits.blank(it.span.start as usize, it.declaration.span().start as usize);
        walk::walk_export_declaration(self, it);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.module(it.span, it.export_kind == ImportOrExportKind::Type);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.module(it.span, it.export_kind == ImportOrExportKind::Type);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_namespace_export_declaration(&mut self, it: &TSNamespaceExportDeclaration<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(it.span, EXPORT_EQUALS);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse(it.span, DYNAMIC_IMPORT);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.refuse(it.span, IMPORT_META);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, DECORATOR);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.declare {
            return self.blank_statement(it.span);
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            let end = it.type_annotation.as_ref().map_or(it.span.end, |types| types.span.start);
            self.blank_mark('!', it.id.span().end, end);
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_ts_this_parameter(&mut self, _: &TSThisParameter<'a>) {}

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let kind = AstKind::ArrowFunctionExpression(self.alloc(it));
        self.enter_node(kind);
        if let Some(types) = &it.type_parameters {
            self.arrow_type_parameters(types.span, it.params.span);
        }
        self.visit_formal_parameters(&it.params);
        if let Some(returned) = &it.return_type {
            self.arrow_return_type(it.params.span, returned.span);
        }
        self.visit_arrow_function_body(&it.body);
        self.leave_node(kind);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.refuse(it.span, PARAMETER_PROPERTY);
        }
        if it.optional {
            let end = it.type_annotation.as_ref().map_or(it.span.end, |types| types.span.start);
            self.blank_mark('?', it.pattern.span().end, end);
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            return self.blank_statement(it.span);
        }
        if it.r#abstract {
            let end = it.span.start + "abstract".len() as u32;
            self.blank(Span::new(it.span.start, end));
        }
        walk::walk_class(self, it);
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = [
                it.id.as_ref().map(|id| id.span.end),
                it.type_parameters.as_ref().map(|types| types.span.end),
                it.heritage.as_ref().map(|heritage| heritage.expression.span().end),
                it.heritage
                    .as_ref()
                    .and_then(|heritage| heritage.type_arguments.as_ref())
                    .map(|types| types.span.end),
            ];
            let from = before.into_iter().flatten().max().unwrap_or(it.span.start);
            let keyword = self.text(from, first.span.start).rfind("implements").unwrap_or_default();
            self.edits.blank(from as usize + keyword, last.span.end as usize);
        }
    }

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_ts_index_signature(&mut self, it: &TSIndexSignature<'a>) {
        self.blank_statement(it.span);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.value.body.is_none() {
            return self.blank_statement(it.span);
        }
        let name = it.key.span();
        self.blank_modifiers(it.span, name);
        if it.optional {
            self.blank_mark('?', name.end, it.value.params.span.start);
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition {
            return self.blank_statement(it.span);
        }
        let name = it.key.span();
        self.blank_modifiers(it.span, name);
        let end = it
            .type_annotation
            .as_ref()
            .map(|types| types.span.start)
            .or_else(|| it.value.as_ref().map(|value| value.span().start))
            .unwrap_or(it.span.end);
        if it.optional {
            self.blank_mark('?', name.end, end);
        }
        if it.definite {
            self.blank_mark('!', name.end, end);
        }
        walk::walk_property_definition(self, it);
        self.edits.end_statement(it.span.end as usize);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        if it.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
            return self.blank_statement(it.span);
        }
        self.blank_modifiers(it.span, it.key.span());
        walk::walk_accessor_property(self, it);
        self.edits.end_statement(it.span.end as usize);
    }
}
