//! What a script can rely on, proved on the engine alone, in this thread.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    time::{Duration, Instant},
};

use super::{
    super::{
        limits::{Limits, Stop},
        port::{Event, Port},
        protocol::{Call, Failure, Pace, Reply, Report, Run},
    },
    Engine,
};

/// A host that answers at once, or never.
struct Answers {
    answer: fn(&Call) -> Option<Reply>,
    ready: RefCell<VecDeque<(u32, Reply)>>,
    calls: RefCell<Vec<String>>,
    logs: RefCell<Vec<String>>,
    aborted: Cell<bool>,
}

impl Port for Answers {
    fn start(&self, call: Call) {
        self.calls.borrow_mut().push(format!("{} {}", call.function, call.arguments));
        if let Some(reply) = (self.answer)(&call) {
            self.ready.borrow_mut().push_back((call.id, reply));
        }
    }

    fn log(&self, line: String) {
        self.logs.borrow_mut().push(line);
    }

    fn wait(&self, timeout: Duration) -> Event {
        match self.ready.borrow_mut().pop_front() {
            Some((id, reply)) => Event::Reply(id, reply),
            None => {
                std::thread::sleep(timeout.min(Duration::from_millis(5)));
                Event::Timeout
            }
        }
    }

    fn abort(&self) -> bool {
        self.aborted.get()
    }
}

fn json(text: impl Into<String>) -> Option<Reply> {
    Some(Reply::Value { json: text.into(), big_integers: true })
}

/// `GET /404` fails, `/refused` is refused, `/never` is never answered, everything else echoes.
fn host(call: &Call) -> Option<Reply> {
    match call.function.as_str() {
        "request" | "call" if call.arguments.contains("/404") => json(
            r#"{"status":404,"ok":false,"headers":{"x":"y"},"data":{"detail":"gone"},"operation":"thing_get","failure":"GET /404: gone"}"#,
        ),
        "request" if call.arguments.contains("/refused") => Some(Reply::Error {
            name: "ApiError".to_owned(),
            message: "not in this mode".to_owned(),
            properties: r#"{"status":403,"refused":true}"#.to_owned(),
        }),
        "request" if call.arguments.contains("/never") => None,
        "request" if call.arguments.contains("/big") => json(
            r#"{"status":200,"ok":true,"headers":{},"data":{"id":9007199254740993,"n":1.5,"m":-7,"x":1e300,"t":"9007199254740993"}}"#,
        ),
        "request" | "call" => {
            json(format!(r#"{{"status":200,"ok":true,"headers":{{}},"data":{}}}"#, call.arguments))
        }
        "paginate" => json(r#"{"items":[1,2],"total":2,"complete":true,"pages":1}"#),
        "search" => json(format!(r#"[{{"id":"hit","binding":{}}}]"#, call.binding)),
        "describe" => json(r#""the signature""#),
        "budget" => json(r#"[{"remaining":7}]"#),
        "operations" if call.arguments == "[0]" => {
            json(r#"{"rows":[["a","GET","/a","A",["t"]],["b","PUT","/b","B",[]]],"next":2}"#)
        }
        "operations" => json(r#"{"rows":[["c","GET","/c","C",[]]],"next":null}"#),
        _ => None,
    }
}

struct Trial {
    report: Report,
    calls: Vec<String>,
    logs: Vec<String>,
}

impl Trial {
    fn json(&self) -> &str {
        self.report.result.as_ref().unwrap()
    }

    fn failure(&self) -> &Failure {
        self.report.result.as_ref().unwrap_err()
    }

    fn warnings(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|warning| warning.text.as_str()).collect()
    }
}

fn settings() -> Run {
    let limits = Limits::default();
    Run {
        bindings: vec![vec!["api".to_owned(), "ak".to_owned()], vec!["other".to_owned()]],
        clock_ms: 1_700_000_000_000,
        seed: 42,
        heap: limits.heap,
        stack: limits.stack,
        cpu: limits.cpu,
        wall: limits.wall,
        logs: limits.logs,
        ..Run::default()
    }
}

fn run_with(script: &str, run: Run) -> Trial {
    let port = Rc::new(Answers {
        answer: host,
        ready: RefCell::default(),
        calls: RefCell::default(),
        logs: RefCell::default(),
        aborted: Cell::new(false),
    });
    let javascript = format!("(async()=>{{{script}\n}})()");
    let report =
        Engine::new().unwrap().run(&Run { javascript, ..run }, Rc::<Answers>::clone(&port));
    Trial { report, calls: port.calls.take(), logs: port.logs.take() }
}

fn run(script: &str) -> Trial {
    run_with(script, settings())
}

#[track_caller]
fn returns(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        assert_eq!(run(script).report.result.as_deref(), Ok(*expected), "{script}");
    }
}

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

#[test]
fn what_a_script_must_not_have_is_not_defined() {
    for name in [
        "fetch",
        "require",
        "process",
        "fs",
        "Deno",
        "Bun",
        "axios",
        "XMLHttpRequest",
        "WebAssembly",
        "std",
        "os",
        "Atomics",
        "SharedArrayBuffer",
        "WeakRef",
        "FinalizationRegistry",
    ] {
        returns(&[(&format!("return typeof {name}"), r#""undefined""#)]);
    }
}

#[test]
fn a_name_that_is_not_there_is_answered_with_what_is() {
    let cases = [
        (
            "await fetch('/x')",
            "fetch is not defined: use `await api.request(method, path, { query, body, headers })`",
        ),
        (
            "const fs = require('fs')",
            "require is not defined: modules are not available, use `api.request(…)` and the language itself",
        ),
        (
            "return process.env",
            "process is not defined: there is no environment here, use `api.request(…)`; the host adds the credentials",
        ),
        (
            "await import('fs')",
            "modules are not available: use `api.request(…)` and the language itself",
        ),
        (
            "await ak.get('/x')",
            "`ak.get` is not a function: use `await ak.request(\"GET\", path, { query, body })`",
        ),
        (
            "const r = await api.request('GET', '/x'); return r.json()",
            "`r.json` is not a function: a response is parsed already, use its `.data`",
        ),
        ("const user = {}; user.name.first()", "cannot read property 'first' of undefined"),
    ];
    for (script, message) in cases {
        assert_eq!(run(script).failure().message, message, "{script}");
    }
    let unknown = run("const x = 1;\nfoo.bar()");
    assert!(
        unknown
            .failure()
            .message
            .starts_with("foo is not defined; available here: `api`, `ak`, `other`, `search`")
    );
    assert_eq!((unknown.failure().frames[0].line, unknown.failure().frames[0].column), (2, 1));
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

#[test]
fn the_console_prints_what_a_reader_needs() {
    let trial = run(
        "console.log('a', 1, { b: [2n] }, null, undefined, new TypeError('t'), () => 1);\
         console.warn('w'); console.error('e'); console.table([{ a: 1 }, { a: 2 }]);\
         const cyclic = {}; cyclic.self = cyclic; console.log(cyclic); console.log(await api.request('GET', '/404'));",
    );
    assert_eq!(
        trial.logs,
        [
            "a 1 {\"b\":[2]} null undefined TypeError: t [function without a name]",
            "warn: w",
            "error: e",
            "{\"a\":1}\n{\"a\":2}",
            "[TypeError: circular reference]",
            "[ApiError: GET /404: gone]",
        ]
    );
}

#[test]
fn logs_end_at_their_limit_and_say_so() {
    let trial = run_with(
        "for (let i = 0; i < 100; i++) console.log('ä'.repeat(50))",
        Run { logs: 1024, ..settings() },
    );
    assert_eq!(trial.logs.len(), 12);
    assert_eq!(trial.logs.last().unwrap(), "(logs cut: the limit is 1 kB)");
    assert!(trial.logs.iter().map(|line| line.len() + 1).sum::<usize>() < 1024 + 40);
}

#[test]
fn timers_fire_in_order_and_can_be_cleared() {
    returns(&[
        (
            "const seen = []; setTimeout(n => seen.push(n), 20, 'b'); setTimeout(() => seen.push('a'), 1); const id = setTimeout(() => seen.push('never'), 5); clearTimeout(id); await sleep(30); return seen",
            r#"["a","b"]"#,
        ),
        ("return await Promise.race([sleep(1), api.request('GET', '/never')])", "null"),
        (
            "try { await sleep(1e6) } catch (e) { return e.message }",
            r#""a wait of 1000000 ms is longer than a script may run (50000 ms)""#,
        ),
    ]);
}

#[test]
fn a_rehearsal_does_not_wait_and_its_clock_shows_it_did() {
    let script = "const from = Date.now(); await Promise.race([sleep(40000), api.request('GET', '/x')]); const between = Date.now(); await sleep(30000); return [between - from, Date.now() - between]";
    let started = Instant::now();
    let trial = run_with(script, Run { pace: Pace::Rehearsal, ..settings() });
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(trial.json(), "[1,30001]");
}

#[test]
fn the_same_seed_and_clock_give_the_same_run() {
    let script = "return [Date.now(), Math.random(), Math.random(), new Date(), Date(), new Date(2020, 0, 2).getTime(), Date.UTC(2020, 0), new Date().constructor === Date, class extends Date {}.name]";
    let ordered = || Run { pace: Pace::Ordered, ..settings() };
    let first = run_with(script, ordered());
    assert_eq!(first.json(), run_with(script, ordered()).json());
    assert!(first.json().starts_with("[1700000000000,0."), "{}", first.json());
    assert_ne!(first.json(), run_with(script, Run { seed: 43, ..ordered() }).json());
    returns(&[
        ("const now = Date.now(); return now >= 1700000000000 && now < 1700000040000", "true"),
        (
            "const all = Array.from({ length: 1000 }, Math.random); return [Math.min(...all) < 0.1, Math.max(...all) > 0.9, all.every(n => n >= 0 && n < 1)]",
            "[true,true,true]",
        ),
    ]);
}

#[test]
fn a_rejection_nobody_handles_is_a_warning() {
    let trial = run("Promise.reject(new Error('lost')); return 1");
    assert_eq!(trial.json(), "1");
    assert_eq!(trial.warnings(), ["a promise was rejected and nobody handled it: Error: lost"]);
    let late = run(
        "const p = Promise.reject(new Error('x')); await null; try { await p } catch {} return 1",
    );
    assert_eq!(late.warnings(), [""; 0]);
    let timer =
        run("setTimeout(() => { throw new Error('in a timer') }, 0); await sleep(5); return 1");
    assert_eq!(
        timer.warnings(),
        ["a promise was rejected and nobody handled it: Error: in a timer"]
    );
    assert_eq!(run("throw new Error('x')").warnings(), [""; 0]);
}

#[test]
fn a_script_that_nothing_can_wake_ends_at_once() {
    let trial = run("await new Promise(() => {})");
    assert!(trial.failure().message.contains("waiting on a promise that can never settle"));
    assert_eq!(trial.report.stop, None);
}

#[test]
fn anything_thrown_can_be_described() {
    let cases = [
        ("throw 'text'", "the script threw text"),
        ("throw { code: 7 }", r#"the script threw {"code":7}"#),
        ("throw Symbol('x')", "the script threw Symbol(x)"),
        ("throw null", "the script threw null"),
        ("throw undefined", "the script threw undefined"),
        (
            "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy",
            "the script threw a value that cannot be read",
        ),
        ("throw new Error('a\\0\\ud800b')", "a\0\u{fffd}b"),
        ("Error.prepareStackTrace = () => { throw new Error('y') }; throw new Error('x')", "x"),
    ];
    for (script, message) in cases {
        assert_eq!(run(script).failure().message, message, "{script}");
    }
    let long = run("throw new Error('x'.repeat(1e6))");
    assert!(long.failure().message.len() < 10_000);
    let own = run("throw Object.assign(new Error('x'), { code: 7, big: 2n ** 60n })");
    assert_eq!(own.failure().properties, r#"{"code":7,"big":1152921504606846976}"#);
}

#[test]
fn a_script_cannot_outrun_its_processor_time() {
    for script in [
        "for (;;);",
        "for (;;) { try { for (;;); } catch {} finally { continue } }",
        "const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
    ] {
        let trial = run_with(script, Run { cpu: Duration::from_millis(50), ..settings() });
        assert_eq!(trial.report.stop, Some(Stop::Cpu), "{script}");
        assert!(trial.report.cpu >= Duration::from_millis(50));
    }
}

#[test]
fn a_script_cannot_wait_longer_than_its_time() {
    let trial = run_with(
        "await api.request('GET', '/never')",
        Run { wall: Duration::from_millis(50), ..settings() },
    );
    assert_eq!(trial.report.stop, Some(Stop::Wall));
}

#[test]
fn a_full_heap_is_named_and_cannot_be_used_to_stay_alive() {
    let small = |cpu| Run { heap: 4 << 20, cpu, ..settings() };
    let plain = run_with(
        "const all = []; for (;;) all.push('x'.repeat(1000) + all.length)",
        small(Duration::from_secs(5)),
    );
    assert_eq!(plain.report.stop, Some(Stop::Memory));
    // With no memory for the error that ends it, the engine would throw a `null` that can be caught.
    let stubborn = run_with(
        "let l = null; try { for (;;) l = { l } } catch {} for (;;) { try { for (;;); } catch {} }",
        small(Duration::from_millis(300)),
    );
    assert_eq!(stubborn.report.stop, Some(Stop::Cpu));
}

#[test]
fn too_many_calls_at_once_are_refused_in_the_script() {
    let script = "const all = []; try { for (;;) { const p = api.request('GET', '/never'); p.catch(e => all.push(e.message)); if (all.length > 0) break; await null } } catch (e) { return e.message } return all[0]";
    assert_eq!(run(script).json(), r#""1000 calls are waiting already: await some first""#);
}

#[test]
fn rewritten_built_ins_harm_only_the_script_itself() {
    returns(&[
        (
            "JSON.stringify = () => '\"stolen\"'; JSON.parse = () => ({}); return (await api.request('GET', '/x')).data",
            r#"["GET","/x"]"#,
        ),
        ("globalThis.JSON = null; return { a: 1 }", r#"{"a":1}"#),
        (
            "Promise.prototype.then = () => { for (;;); }; globalThis.Promise = null; return (await api.request('GET', '/x')).status",
            "200",
        ),
        ("Array.prototype.toJSON = () => 'evil'; await api.request('GET', '/x'); return 1", "1"),
        ("return Function('return this')() === undefined", "false"),
    ]);
    let polluted = run("Array.prototype.toJSON = () => 'evil'; await api.request('GET', '/x')");
    assert_eq!(polluted.calls, [r#"request ["GET","/x"]"#]);
}

#[test]
fn urls_and_text_work_as_in_a_browser() {
    returns(&[
        (
            "const u = new URL('/a b?x=1#h', 'https://example.com:8443/z'); return [u.href, u.origin, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.protocol]",
            r##"["https://example.com:8443/a%20b?x=1#h","https://example.com:8443","example.com:8443","example.com","8443","/a%20b","?x=1","#h","https:"]"##,
        ),
        (
            "const u = new URL('https://e.com/p?a=1'); u.searchParams.append('b', 'x y'); u.pathname = '/q'; u.searchParams.delete('a'); return [u.href, String(u.searchParams), u]",
            r#"["https://e.com/q?b=x+y","b=x+y","https://e.com/q?b=x+y"]"#,
        ),
        (
            "const u = new URL('https://e.com/?a=1'); u.search = '?c=3'; return u.searchParams.get('c')",
            r#""3""#,
        ),
        (
            "try { new URL('nope') } catch (e) { return [e.name, URL.canParse('nope'), URL.canParse('x', 'https://e.com')] }",
            r#"["TypeError",false,true]"#,
        ),
        (
            "const q = new URLSearchParams({ a: 1, b: 'ü&' }); q.append('a', 2); q.set('c', 3); q.set('a', 9); return [q.toString(), q.get('zz'), q.has('b'), q.getAll('a'), [...q], q.size]",
            r#"["a=9&b=%C3%BC%26&c=3",null,true,["9"],[["a","9"],["b","ü&"],["c","3"]],3]"#,
        ),
        ("return [...new URLSearchParams('?x=1&y=a+b').entries()]", r#"[["x","1"],["y","a b"]]"#),
        ("return new TextDecoder().decode(new TextEncoder().encode('hé🦀\\ud800'))", r#""hé🦀�""#),
        (
            "try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name }",
            r#""TypeError""#,
        ),
        ("return [atob(btoa('hi')), typeof queueMicrotask]", r#"["hi","function"]"#),
    ]);
}

#[test]
fn structured_clone_copies_deeply() {
    returns(&[
        (
            "const a = { d: new Date(0), m: new Map([[1, { x: 1 }]]), s: new Set([1]), r: /x/g, n: [1, , 3], b: new Uint8Array([1]) }; a.self = a; const c = structuredClone(a); a.m.get(1).x = 2; return [c !== a, c.self === c, c.d.getTime(), c.m.get(1).x, c.s.has(1), c.r.flags, c.n, c.b[0]]",
            r#"[true,true,0,1,true,"g",[1,null,3],1]"#,
        ),
        (
            "try { structuredClone(() => 1) } catch (e) { return e.message }",
            r#""structuredClone: a function cannot be cloned""#,
        ),
    ]);
}
