//! What is there beside the API: the console, time, URLs; and what is not.

use std::time::{Duration, Instant};

use super::{
    super::super::protocol::{Pace, Run},
    returns, run, run_with, settings,
};

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
