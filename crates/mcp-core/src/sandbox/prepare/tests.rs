//! Every form a script may have, and what becomes of it.

use super::*;

/// Scripts, and what stands between the wrapper's ends.
const FORMS: &[(&str, &str)] = &[
    // Function bodies stay as they are.
    ("return 1", "return 1"),
    ("const a = await f();\nreturn a", "const a = await f();\nreturn a"),
    ("for (const x of y) { if (x) return x }", "for (const x of y) { if (x) return x }"),
    ("for await (const x of y) f(x)", "for await (const x of y) f(x)"),
    ("if (a) return 1; b", "if (a) return 1; b"),
    ("try { f() } catch { g() }", "try { f() } catch { g() }"),
    ("return 1 // why", "return 1       "),
    ("return 1 /* a\nb */", "return 1     \n    "),
    // The last statement's value.
    ("1; 2", "1; return(2)"),
    ("a; b;", "a; return(b);"),
    ("await api.call('x')", "return(await api.call('x'))"),
    ("x.then((y) => y.data)", "return(x.then((y) => y.data))"),
    ("console.log(1)", "return(console.log(1))"),
    ("a,\nb", "return(a,\nb)"),
    ("(a)", "return((a))"),
    ("'a'", "return('a')"),
    ("'use strict'; a", "'use strict'; return(a)"),
    ("const f = () => { return 1 }\nf()", "const f = () => { return 1 }\nreturn(f())"),
    ("x\n// done", "return(x)\n       "),
    // Functions, called at the end.
    ("async () => 1", "return(async () => 1)"),
    ("async (api) => {\n  f()\n};", "return(async (api) => {\n  f()\n});"),
    ("(async () => { f() })()", "return((async () => { f() })())"),
    ("(async function () {})();", "return((async function () {})());"),
    ("async function () { f() }", "return(async function () { f() })"),
    ("function (api) {}\n", "return(function (api) {})\n"),
    ("async function main() {}", "async function main() {};return main"),
    ("async function f() {}\nf();", "async function f() {}\nreturn(f());"),
    ("main()\nasync function main() {}", "return(main())\nasync function main() {}"),
    (
        "function main() {}\nfunction help() {}",
        "function main() {}\nfunction help() {};return main",
    ),
    (
        "const a = 1;\nconst run = async () => a;",
        "const a = 1;\nconst run = async () => a;;return run",
    ),
    ("const a = await f();\nfunction g() {}", "const a = await f();\nfunction g() {}"),
    ("let a = 1", "let a = 1"),
    // Modules.
    ("export default async function run() {}", "               async function run() {};return run"),
    ("export default () => 1", "               const __default=() => 1;;return __default"),
    ("export default { a: 1 };", "               const __default={ a: 1 };;;return __default"),
    (
        "export default function () {}\n(a)",
        "               const __default=function () {};\n(a);return __default",
    ),
    ("export const a = 1;\na", "       const a = 1;\nreturn(a)"),
    ("export async function f() {}", "       async function f() {};return f"),
    ("const a = 1;\nexport { a };", "const a = 1;\n;            "),
    ("import type { A } from 'a'; 1", ";                           return(1)"),
    ("import { type A } from 'a'; 1", ";                           return(1)"),
    ("export type { A } from 'a'; 1", ";                           return(1)"),
    ("#!/usr/bin/env node\n1", "                   \nreturn(1)"),
    // Expressions that are no statements.
    ("{\"a\": 1}", "return({\"a\": 1})"),
    ("{\n  a: [1], b: 2\n};\n", "return({\n  a: [1], b: 2\n}) \n"),
    // Types.
    ("let a: number = 1, b: string", "let a         = 1, b;       "),
    ("let a!: number; a", "let a         ; return(a)"),
    ("const { a }: { a: A } = b", "const { a }           = b"),
    ("return a as unknown as A", "return a           ;    "),
    ("f(a as A, <B>b, c!, d satisfies D)", "return(f(a     ,    b, c , d            ))"),
    ("a!.b!.c! = 1", "return(a .b .c  = 1)"),
    ("a?.b!.c", "return(a?.b .c)"),
    ("f<A>(g<B, C<D>>)", "return(f   (g         ))"),
    ("new Map<A, B[]>()", "return(new Map        ())"),
    ("f<A>`${a as A}`", "return(f   `${a     }`)"),
    (
        "function f<T>(a: T, b?: A, ...c: B[]): C {}",
        "function f   (a   , b    , ...c     )    {};return f",
    ),
    (
        "function f(this: A) {}\nfunction g(this: A, b) {}",
        "function f(       ) {}\nfunction g(         b) {};return g",
    ),
    ("function f(a): a is A {}", "function f(a)         {};return f"),
    ("function f(a: A): A;\nfunction f(a) {}", ";                   \nfunction f(a) {};return f"),
    ("(a: A, b?): B => a", "return((a   , b )    => a)"),
    ("<T,>(a: T) => a", "return(    (a   ) => a)"),
    ("try {} catch (e: unknown) {}", "try {} catch (e         ) {}"),
    ("for (const a of b as C[]) {}", "for (const a of b       ) {}"),
    ("type A = { a: B };\nreturn 1", ";                 \nreturn 1"),
    (
        "interface A<T> extends B {\n  a: T\n}\n1",
        ";                         \n      \n \nreturn(1)",
    ),
    ("declare const a: A; a", ";                   return(a)"),
    (
        "declare function f(): A;\ndeclare class C {}\n1",
        ";                       \n;                 \nreturn(1)",
    ),
    (
        "declare module 'a' {}\ndeclare global {}\ndeclare enum E {}\n1",
        ";                    \n;                \n;                \nreturn(1)",
    ),
    (
        "const o = { m<T>(a: T): T { return a }, get a(): A { return 1 } }",
        "const o = { m   (a   )    { return a }, get a()    { return 1 } }",
    ),
    // Classes.
    ("class A<T> extends B<T> implements C, D {}", "class A    extends B                    {}"),
    (
        "abstract class A { abstract a: B; abstract f(): C }",
        "         class A { ;              ;               }",
    ),
    (
        "class A { private a: B = 1; static readonly b?: C }",
        "class A { ;       a    = 1; static          b ;   }",
    ),
    (
        "class A { a!: B; declare b: C; [c: string]: D }",
        "class A { a    ; ;             ;              }",
    ),
    ("class A { override f?(): void {} }", "class A { ;        f ()       {} }"),
    (
        "class A { a = 1\n  private ['b'] = 2\n  public *c() {} }",
        "class A { a = 1\n  ;       ['b'] = 2\n  ;      *c() {} }",
    ),
    (
        "class A { constructor(a: B);\n  constructor(a) {} }",
        "class A { ;                 \n  constructor(a) {} }",
    ),
    ("class A { readonly = 1; private() {} }", "class A { readonly = 1; private() {} }"),
    ("class A { private /* private */ a = 1 }", "class A { ;       /* private */ a = 1 }"),
    ("class A { static async private() {} }", "class A { static async private() {} }"),
    // Lines that would run together, or apart, without their types.
    ("const a = b as A\n(c)", "const a = b;    \nreturn((c))"),
    ("const a = b\ntype A = B\n(c)", "const a = b\n;         \nreturn((c))"),
    ("return <{\n  a: A\n}>b", "return ( \n      \n  b)"),
    ("return <A>b", "return    b"),
    ("const f = (a): {\n  a: A\n} => a", "const f = (a    \n      \n) => a;return f"),
    ("return async <T,\n>(a: T) => a", "return async (  \n  a   ) => a"),
    ("class A { a = b as C\n  ['d'] = 1 }", "class A { a = b;    \n  ['d'] = 1 }"),
    ("const a = <A>\nb as C\n(d)", "const a = (  \nb);    \nreturn((d))"),
    ("const a: 'é\u{1f600}' = b", "const a       = b"),
    // Markdown.
    ("```js\nreturn 1\n```", "return 1\n"),
    ("``` typescript\nlet a: A\n```\n", "let a;  \n"),
    ("Here:\n\n```js\nreturn 1\n```\nThat is all.", "return 1\n"),
    ("return `\n\\`\\`\\`js\n\\`\\`\\`\n`", "return `\n\\`\\`\\`js\n\\`\\`\\`\n`"),
];

/// Scripts, the line and column of their errors, and how those begin.
const ERRORS: &[(&str, u32, u32, &str)] = &[
    ("enum A { B }", 1, 1, "TypeScript's `enum` is not supported"),
    ("1;\n  const enum A { B }", 2, 3, "TypeScript's `enum` is not supported"),
    ("namespace A { export const b = 1 }", 1, 1, "TypeScript's `namespace` is not supported"),
    ("class A {\n  constructor(private a) {}\n}", 2, 15, "TypeScript's parameter properties"),
    ("class A {\n  @b c() {}\n}", 2, 3, "decorators are not supported"),
    ("import a from 'b'", 1, 1, "`import` is not available"),
    ("if (a)\n  import b from 'c'", 2, 3, "`import` is not available"),
    ("import 'b'", 1, 1, "`import` is not available"),
    ("import a = require('b')", 1, 1, "`import` is not available"),
    ("export * from 'b'", 1, 1, "`import` is not available"),
    ("const a = await import('b')", 1, 17, "`import()` is not available"),
    ("import.meta.url", 1, 1, "`import.meta` is not available"),
    ("export = a", 1, 1, "`export =` is not supported"),
    ("const a = <div>it's</div>", 1, 18, "JSX is not supported"),
    ("const a = 5\nf(a b)", 2, 5, "expected `,` or `)` but found `b`\nf(a b)\n    ^"),
    ("f([1, 2", 1, 8, "expected `]` but found the end of the script"),
    ("const a = ;", 1, 11, "unexpected `;`\nconst a = ;\n          ^"),
    ("a.forEach((b) => { await b })", 1, 20, "`await` is only allowed within async functions"),
    ("const a = 'b\n'", 1, 11, "unterminated string"),
    ("```js\n\nconst é = 'ü'; f(a b)\n```", 3, 20, "expected `,` or `)` but found `b`"),
    ("Here:\n```js\nf(\n```", 3, 3, "expected `)` but found the end of the script"),
    ("```python\nprint(1)\n```", 1, 1, "`python` is not supported"),
    ("return '\0'", 1, 9, "a NUL character cannot be in a script"),
    ("})(); (async () => {", 1, 1, "unexpected `}`"),
];

#[test]
fn every_accepted_form_becomes_an_async_function() {
    for (source, expected) in FORMS {
        let prepared = prepare(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let body =
            prepared.javascript.strip_prefix(BEFORE).and_then(|body| body.strip_suffix(AFTER));
        assert_eq!(body, Some(*expected), "{source}");
    }
}

#[test]
fn what_is_prepared_is_plain_javascript_on_the_same_lines() {
    for (source, _) in FORMS {
        let prepared = prepare(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let allocator = Allocator::default();
        let read = Parser::new(&allocator, &prepared.javascript, SourceType::mjs()).parse();
        assert!(read.diagnostics.is_empty(), "{}: {:?}", prepared.javascript, read.diagnostics);
        if !source.contains("```\n") && !source.contains("\n```") {
            assert_eq!(lines(&prepared.javascript), lines(source), "{source}");
        }
    }
}

#[test]
fn an_error_has_its_place_in_the_agents_text() {
    for (source, line, column, message) in ERRORS {
        let error = prepare(source).expect_err(source);
        assert_eq!((error.line, error.column), (Some(*line), Some(*column)), "{source}: {error}");
        assert!(error.message.starts_with(message), "{source}: {error}");
        assert_eq!(error.name, "SyntaxError");
    }
}

#[test]
fn a_script_without_code_is_refused() {
    for source in ["", " \n", "// only a comment", "```js\n```"] {
        assert_eq!(
            prepare(source).expect_err(source).to_string(),
            "SyntaxError: the script is empty"
        );
    }
}

#[test]
fn a_long_line_is_shown_around_its_fault() {
    let error = prepare(&format!("const text = '{}'; f(a b)", "é".repeat(500))).expect_err("fault");
    let lines: Vec<_> = error.message.lines().collect();
    assert_eq!(lines[1].chars().nth(lines[2].chars().count() - 1), Some('b'));
    assert!(lines[1].chars().count() <= EXCERPT);
}

/// The place in the source of the first `needle` of the prepared text.
fn located(source: &str, needle: &str) -> (u32, u32) {
    let prepared = prepare(source).expect(source);
    let at = prepared.javascript.find(needle).expect(needle);
    let before = &prepared.javascript[..at];
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    prepared.locate(lines(before) + 1, u32::try_from(column).expect("column"))
}

#[test]
fn places_map_back_to_the_agents_text() {
    assert_eq!(located("throw x", "x"), (1, 7));
    assert_eq!(located("a();\n  b()", "b()"), (2, 3));
    assert_eq!(located("é: A = 1; f() as B", "f()"), (1, 11));
    assert_eq!(located("```js\n\n  f()\n```", "f()"), (3, 3));
    assert_eq!(located("return <A\n>(b); c", "b"), (2, 3));
    assert_eq!(located("const a = <A\n>b; f()", "f()"), (2, 5));
    assert_eq!(
        located("function main() {}", "main}"),
        (1, 19),
        "inserted text is where it was inserted"
    );
    let prepared = prepare("return 1").expect("script");
    assert_eq!(prepared.locate(1, 1), (1, 1));
    assert_eq!(prepared.locate(7, 900), (7, 900));
}

#[test]
fn the_deepest_scripts_that_pass_are_read_to_their_end() {
    for (open, middle, close, count) in [
        ("(", "1", ")", 240),
        ("[", "1", "]", 240),
        ("{a:", "1", "}", 190),
        ("{", "1", "}", 240),
        ("!", "1", "", 990),
        ("a=", "1", "", 990),
        ("a+", "1", "", 990),
        ("a.", "b", "", 990),
        ("b?1:", "1", "", 190),
        ("a=>", "1", "", 60),
        ("(a)=>{", "", "}", 40),
        ("`${", "1", "}`", 190),
        ("new ", "a", "", 990),
        ("if(a)", "1", "", 190),
        ("if(a);else ", "1", "", 140),
        ("", "f", "()", 190),
        ("", "a", " as B", 990),
        ("", "a", "!", 990),
        ("<A>", "a", "", 20),
    ] {
        let source = format!("x = {}{middle}{}", open.repeat(count), close.repeat(count));
        let source = if open.starts_with("if") || open == "{" {
            source.replacen("x = ", "", 1)
        } else {
            source
        };
        if let Err(error) = prepare(&source) {
            panic!("{open}: {}", error.message.lines().next().unwrap_or_default());
        }
    }
}

#[test]
fn a_script_that_nests_without_end_is_refused_with_its_place() {
    for unit in ["(", "[", "{a:", "a?", "!", "f(", "`${", "(a=b<", "if(a);else "] {
        let source = format!("1;\n{}", unit.repeat(100_000));
        let error = prepare(&source).expect_err(unit);
        assert!(error.message.starts_with("the script nests or chains too deep"), "{error}");
        assert_eq!(error.line, Some(2));
        assert!(error.message.len() < 500);
    }
}

#[test]
fn broken_text_is_an_error_and_no_more() {
    for unit in
        ["();", "a<();", "let x:();", "{a:()}\nkeyof", "'", "`", "/*", "\\", "@", "é", "\u{2028}"]
    {
        let _error = prepare(&unit.repeat(4_000)).is_err();
        let _one = prepare(unit).is_err();
    }
}
