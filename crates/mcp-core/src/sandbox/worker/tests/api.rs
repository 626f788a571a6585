//! What a script reaches the host by, and how answers and refusals arrive.

use super::{returns, run};

#[test]
fn a_good_response_is_plain() {
    returns(&[
        (
            "return Object.keys(await api.request('GET', '/x'))",
            r#"["data","status","ok","headers"]"#,
        ),
        (
            "const { status, ok, data } = await api.request('GET', '/x'); return [status, ok, data]",
            r#"[200,true,["GET","/x"]]"#,
        ),
        ("return (await api.call('thing_get', { id: 1 })).data", r#"["thing_get",{"id":1}]"#),
        (
            "return await api.paginate('/x')",
            r#"{"items":[1,2],"total":2,"complete":true,"pages":1}"#,
        ),
    ]);
}

#[test]
fn a_failed_response_that_nobody_looked_at_throws_when_its_data_is_read() {
    for script in [
        "return (await api.request('GET', '/404')).data",
        "return (await api.request('GET', '/404')).data.items",
        "return await api.request('GET', '/404')",
        "return { ...(await api.request('GET', '/404')) }",
        "JSON.stringify(await api.request('GET', '/404'))",
        "const { data, status } = await api.request('GET', '/404')",
        "const r = await api.request('GET', '/404'); r.headers; r.data",
        "const seen = await api.request('GET', '/404'); seen.ok; (await api.request('GET', '/404')).data",
    ] {
        let trial = run(script);
        let failure = trial.failure();
        assert_eq!(
            (failure.name.as_str(), failure.message.as_str()),
            ("ApiError", "GET /404: gone"),
            "{script}"
        );
        assert_eq!(
            failure.properties,
            r#"{"status":404,"data":{"detail":"gone"},"operation":"thing_get"}"#
        );
    }
}

#[test]
fn a_failed_response_that_was_looked_at_can_be_read() {
    returns(&[
        (
            "const r = await api.request('GET', '/404'); if (r.status === 404) return r.data",
            r#"{"detail":"gone"}"#,
        ),
        (
            "const r = await api.request('GET', '/404'); return r.ok ? 1 : r",
            r#"{"data":{"detail":"gone"},"status":404,"ok":false,"headers":{"x":"y"}}"#,
        ),
        (
            "const { status, data } = await api.request('GET', '/404'); return [status, data]",
            r#"[404,{"detail":"gone"}]"#,
        ),
        (
            "try { (await api.request('GET', '/404')).data } catch (e) { return [e instanceof ApiError, e instanceof Error, e.name, e.status, e.data.detail, e.operation] }",
            r#"[true,true,"ApiError",404,"gone","thing_get"]"#,
        ),
    ]);
}

#[test]
fn the_hosts_errors_are_thrown_where_the_call_was_made() {
    let trial = run(
        "const load = async () => {\n  await api.request('GET', '/refused');\n};\nawait load();",
    );
    let failure = trial.failure();
    assert_eq!((failure.name.as_str(), failure.message.as_str()), ("ApiError", "not in this mode"));
    assert_eq!(failure.properties, r#"{"status":403,"refused":true}"#);
    assert_eq!((failure.frames[0].function.as_str(), failure.frames[0].line), ("load", 2));
    let read = run("const r = await api.request('GET', '/404');\n\nreturn r.data");
    assert_eq!(read.failure().frames[0].line, 3);
}

#[test]
fn arguments_reach_the_host_as_written() {
    let script = "await api.request('POST', '/x', { query: { at: new Date(0), ids: new Set([1n]) }, body: new Map([['file', new Uint8Array([255])], ['none', undefined]]) });\
                  await api.request({ method: 'GET', path: '/y' }); await api.request('GET', undefined, () => 1)";
    assert_eq!(
        run(script).calls,
        [
            r#"request ["POST","/x",{"query":{"at":"1970-01-01T00:00:00.000Z","ids":[1]},"body":{"file":{"base64":"/w==","type":"application/octet-stream"}}}]"#,
            r#"request [{"method":"GET","path":"/y"}]"#,
            r#"request ["GET",null,null]"#,
        ]
    );
}

#[test]
fn every_name_of_an_api_leads_to_it_and_to_no_other() {
    returns(&[
        ("return [api === ak, api === other, Object.isFrozen(api)]", "[true,false,true]"),
        (
            "return [search('x'), tools.search('x'), codemode.search('x'), api.search('x'), other.search('x')].map(([hit]) => hit.binding)",
            "[0,0,0,0,1]",
        ),
        ("return api.describe('thing_get')", r#""the signature""#),
        ("return api.budget()[0].remaining", "7"),
        ("try { api = {} } catch (e) { return e.name }", r#""TypeError""#),
        ("const search = await api.search('x'); return search.length", "1"),
    ]);
}

#[test]
fn operations_are_read_page_by_page_as_far_as_needed() {
    let trial = run(
        "return api.operations.filter(operation => operation.method === 'GET').map(operation => operation.id)",
    );
    assert_eq!(trial.json(), r#"["a","c"]"#);
    assert_eq!(trial.calls, ["operations [0]", "operations [2]"]);
    let first = run("for (const operation of api.operations) return operation");
    assert_eq!(first.json(), r#"{"id":"a","method":"GET","path":"/a","summary":"A","tags":["t"]}"#);
    assert_eq!(first.calls, ["operations [0]"]);
    returns(&[("return [[...api.operations].length, [...api.operations].length]", "[3,3]")]);
}
