//! How runs end: thrown values, limits, and scripts that fight them.

use std::time::Duration;

use super::{
    super::super::{limits::Stop, protocol::Run},
    returns, run, run_with, settings,
};

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
fn long_properties_of_an_error_are_shortened_and_say_so() {
    let thrown = |properties: &str| {
        let trial = run(&format!("throw Object.assign(new Error('x'), {properties})"));
        serde_json::from_str::<serde_json::Value>(&trial.failure().properties).unwrap()
    };
    let cut = thrown(
        "{ status: 400, text: 'ü'.repeat(2e6), rows: Array.from({ length: 1e5 }, (_, n) => n), \
         deep: { a: 'x'.repeat(1e6) }, after: [1] }",
    );
    assert_eq!((&cut["status"], &cut["after"]), (&400.into(), &serde_json::json!([1])));
    let text = cut["text"].as_str().unwrap();
    assert!(text.starts_with("üü") && text.ends_with("ü… (2000000 characters)"), "{}", text.len());
    let rows = cut["rows"].as_array().unwrap();
    assert_eq!((&rows[7], rows.last().unwrap()), (&7.into(), &"… (100000 in all)".into()));
    assert_eq!(cut["deep"], "(1000008 characters of JSON)");
    let many = thrown("Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => [`key${n}`, n]))");
    assert_eq!((&many["key199"], &many["…"]), (&199.into(), &"100000 properties in all".into()));
    assert_eq!(many.as_object().unwrap().len(), 201);
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
    // Where not even the error has room, the engine leaves a `null`, and the host looks at the process.
    match plain.report.stop {
        None => assert!(plain.failure().hollow),
        stop => assert_eq!(stop, Some(Stop::Memory)),
    }
    // With no memory for the error that ends it, the engine would throw a `null` that can be caught.
    let stubborn = run_with(
        "let l = null; try { for (;;) l = { l } } catch {} for (;;) { try { for (;;); } catch {} }",
        small(Duration::from_millis(300)),
    );
    assert_eq!(stubborn.report.stop, Some(Stop::Cpu));
}

/// P26: the limits on calls are tripped, and say so.
#[test]
fn too_many_calls_at_once_are_refused_in_the_script() {
    let script = "const all = []; try { for (;;) { const p = api.request('GET', '/never'); p.catch(e => all.push(e.message)); if (all.length > 0) break; await null } } catch (e) { return e.message } return all[0]";
    assert_eq!(run(script).json(), r#""1000 calls are waiting already: await some first""#);
}

#[test]
fn what_calls_carry_is_bounded_in_all() {
    let script = "const path = '/' + 'x'.repeat(1e6); for (let n = 0; ; n++) { try { await api.request('GET', path) } catch (e) { return [n, e.message] } }";
    assert_eq!(
        run(script).json(),
        r#"[33,"the arguments of a script's calls can have 32 MB together"]"#
    );
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
