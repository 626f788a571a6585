//! What a script returns, and how it becomes JSON.

use super::{returns, run};

#[test]
fn every_value_becomes_the_json_a_reader_expects() {
    returns(&[
        ("return 1", "1"),
        ("return 'a\\0b'", r#""a\u0000b""#),
        ("return new Map([['a', new Set([1, 2])]])", r#"{"a":[1,2]}"#),
        ("return new Map([[{}, 1]])", "[[{},1]]"),
        ("return new RangeError('x')", r#"{"name":"RangeError","message":"x"}"#),
        ("return [10n, -9007199254740993n]", "[10,-9007199254740993]"),
        ("return [new Date(0), new Date(NaN)]", r#"["1970-01-01T00:00:00.000Z",null]"#),
        ("return [NaN, Infinity, undefined, { a: undefined }]", "[null,null,null,{}]"),
        ("return /a/g", r#""/a/g""#),
        ("return new Uint8Array([1, 2])", r#"{"base64":"AQI=","type":"application/octet-stream"}"#),
        ("return new Float64Array([1.5])", "[1.5]"),
        ("return [1, 2].values().map(n => n * 2)", "[2,4]"),
        ("return (function () { return arguments })(1, 2)", r#"{"0":1,"1":2}"#),
        ("return '\\ud800'", r#""\ud800""#),
        ("return { then(resolve) { resolve(42) } }", "42"),
    ]);
}

#[test]
fn a_function_as_value_is_called_with_the_api() {
    returns(&[
        ("return () => 7", "7"),
        ("return async (it) => it === api", "true"),
        ("return function main({ search }) { return search('x')[0].id }", r#""hit""#),
        ("return (first = 'mine', ...rest) => [first, rest.length]", r#"["mine",0]"#),
    ]);
}

#[test]
fn nothing_returned_is_null_and_said() {
    let trial = run("1 + 1");
    assert_eq!(trial.json(), "null");
    assert_eq!(trial.warnings(), ["the script returned nothing: is a `return` missing?"]);
    assert_eq!(
        run("return Symbol('x')").warnings(),
        ["the script returned a symbol, which is not JSON"]
    );
    let trial = run("return { a: api.request('GET', '/x') }");
    assert_eq!(trial.json(), r#"{"a":null}"#);
    assert_eq!(
        trial.warnings(),
        [
            "a promise became part of the JSON as null: is an `await` missing?",
            "a call was not awaited when the script ended: the outcome is unknown"
        ]
    );
}

#[test]
fn a_result_that_is_not_json_is_an_error_that_says_why() {
    let cyclic = run("const a = {}; a.b = a; return a");
    assert_eq!(
        cyclic.failure().message,
        "not JSON: the value contains itself (circular reference); pick the fields you need"
    );
    assert_eq!(run("return { get a() { throw new Error('boom') } }").failure().message, "boom");
}

#[test]
fn integers_of_any_size_keep_their_digits() {
    let trial = run(
        "const { data } = await api.request('GET', '/big'); await api.request('POST', '/x', { body: { id: data.id + 1n } }); return [data, typeof data.id, typeof data.m]",
    );
    assert_eq!(
        trial.json(),
        r#"[{"id":9007199254740993,"n":1.5,"m":-7,"x":1e+300,"t":"9007199254740993"},"bigint","number"]"#
    );
    assert_eq!(trial.calls[1], r#"request ["POST","/x",{"body":{"id":9007199254740994}}]"#);
}
