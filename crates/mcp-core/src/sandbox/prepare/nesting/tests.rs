//! How much nesting is found, and what cannot hide it.

use super::*;

#[test]
fn ordinary_code_is_flat_enough() {
    let statement = "const x = items.filter((i) => i.n < 3 && i.m > 2).map(f); // :( \n";
    assert!(load(&statement.repeat(2_000)).is_ok());
    let unended = "const x = await api.request(`/a/${b}`)\nif (x.n < 3) {\n  log(x)\n}\n";
    assert!(load(&unended.repeat(2_000)).is_ok());
    let data = format!("return [{}]", "{ \"a\": [1, 2], b: '(((' },\n".repeat(5_000));
    assert!(load(&data).is_ok());
    let chained = format!("if (a) b(); {}", "else if (c) d(); ".repeat(50));
    assert!(load(&chained).is_ok());
    let types = "function f<T extends Map<string, Array<{ a: Set<[T]> }>>>(x: T): Promise<T>;\n";
    assert!(load(&types.repeat(500)).is_ok());
}

#[test]
fn whatever_nests_or_chains_without_end_is_found() {
    #[rustfmt::skip]
    let units = [
        "(", "[", "{", "x={a:", "!", "- ", "a+", "a?", "a?b:", "a=>", "a=", "a.b", "f(",
        "f()", "new ", "await ", "`${", "if(x)", "else ", "if(x);else ", "if(x)\n;else ",
        "x:", "a**", "do ", "<T>", "a<", "x<y,", "a as B ", "()=>{", "class A{b=",
        "class extends ", "typeof\n", "a=\n", "keyof\n", "/*)*/(", "//)\n(", "')'+(",
        "`)`+(", "/)/+(", "/[/)]/+(", "if(a)do x;while(0);else ", "(\"\\\")\"+", "x!/(",
        "1./(", "a\u{2028}=",
    ];
    for unit in units {
        assert!(load(&unit.repeat(2_000)).is_err(), "{unit}");
    }
}

#[test]
fn what_is_as_deep_as_may_be_cannot_be_long_too() {
    let deep = format!("{}1{};\n", "(a=".repeat(150), ")".repeat(150));
    assert!(load(&deep).is_ok());
    assert!(load(&deep.repeat(20)).is_ok());
    assert!(matches!(load(&deep.repeat(500)), Err(Excess::Work { .. })));
    let minified =
        "!function(e,t){for(var n=[],i=0;i<t.length;i++)n.push(e(t[i],{k:[1,2]}))}(f,[1]);";
    assert!(load(&minified.repeat(250_000 / minified.len())).is_ok());
}

#[test]
fn text_that_may_be_code_cannot_hide_brackets() {
    for line in [
        "function f()\n/\"/;((((((((;\"\n",
        "type A = B\n/`/;((((((((`\n",
        "if (a) {} /'/;((((((((;'\n",
        "a<b>/'/;((((((((;'\n",
        "<!-- ))))))))\n((((((((",
        "return\u{a0}/'/;((((((((;'\n",
    ] {
        assert!(load(&line.repeat(200)).is_err(), "{line}");
    }
}

#[test]
fn no_text_makes_the_scan_fail() {
    for text in
        ["'", "\"\\", "`${", "/", "/[", "/*", "//", "\\", "}", ")", "é'\u{2028}", "1.", "#!"]
    {
        assert!(load(text).is_ok());
    }
}
