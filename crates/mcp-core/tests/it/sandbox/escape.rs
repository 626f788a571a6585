//! What hostile scripts look for: a secret, a file, another script's state. None is there.

use serde_json::Value;

use super::*;

/// The result of a script that must succeed, as JSON.
async fn result(pool: &Pool, source: &str) -> Value {
    let outcome = run(pool, source, &limits()).await;
    let json = outcome.result.unwrap_or_else(|error| panic!("{error}: {source}"));
    serde_json::from_str(&json).unwrap()
}

#[tokio::test]
async fn constructors_of_whatever_is_at_hand_lead_nowhere() {
    let pool = pool();
    for origin in [
        "api.request",
        "api.search.constructor",
        "console.log",
        "sleep",
        "(async () => {})",
        "(function* () {})",
        "(async function* () {})",
        "new (class extends Array {})().map",
        "(await api.request('GET', '/1')).headers.toString",
        "(await api.request('GET', '/refused').catch((error) => error)).constructor",
    ] {
        let source = format!(
            "const make = ({origin}).constructor;\n\
             const made = make('return [typeof process, typeof require, typeof module, typeof fetch, typeof std, typeof os]');\n\
             let it = await made(); if (it.next) it = (await it.next()).value;\n\
             return it"
        );
        let seen = result(&pool, &source).await;
        assert_eq!(seen, serde_json::json!(vec!["undefined"; 6]), "{origin}");
    }
}

/// Walks over everything reachable, the inside of functions and errors included.
const HUNT: &str = r#"
const seen = new Set(), texts = new Set(), frames = [], open = [];
const note = (it) => {
  if (typeof it === "string") texts.add(it);
  else if ((typeof it === "object" || typeof it === "function") && it !== null && !seen.has(it)) {
    seen.add(it);
    open.push(it);
  }
};
Error.prepareStackTrace = (error, sites) => { frames.push(...sites.map((site) => String(site))); return sites };
note(globalThis);
note(new Error("x").stack);
note(await api.request("GET", "/1"));
note(await api.request("GET", "/refused").catch((error) => error));
note(frames);
for (let it; (it = open.pop()) !== undefined; ) {
  if (typeof it === "function") note(Function.prototype.toString.call(it));
  for (const key of Reflect.ownKeys(it)) {
    note(String(key));
    const { value, get, set } = Object.getOwnPropertyDescriptor(it, key);
    note(value); note(get); note(set);
    if (get) { try { note(get.call(it)) } catch (error) { note(error) } }
  }
  note(Object.getPrototypeOf(it));
}
return [...texts].join("\n");"#;

/// P24: no secret, environment, file or program name is inside.
#[tokio::test]
async fn nothing_a_script_can_reach_tells_of_the_host() {
    let text = result(&pool(), HUNT).await;
    let text = text.as_str().unwrap();
    assert!(text.contains("request") && text.len() > 5_000, "the walk saw little: {}", text.len());
    let environment = std::env::vars().filter(|(_, value)| value.len() > 6);
    for secret in environment.map(|(_, value)| value).chain([
        program().display().to_string(),
        env!("CARGO_MANIFEST_DIR").to_owned(),
        "--mcp-sandbox-worker".to_owned(),
        "/proc/".to_owned(),
    ]) {
        assert!(!text.contains(&secret), "a script can read `{secret}`");
    }
}

#[tokio::test]
async fn a_script_that_rewrites_the_language_leaves_the_next_one_untouched() {
    let pool = pool();
    let look = "return [typeof globalThis.left, [].left, {}.left, (() => 1).left, ''.left, Symbol.for('left').description, \
                JSON.stringify({ a: 1 }), await Promise.resolve(2), [3, 1, 2].sort(), `${[..'ab']}`, \
                (await api.request('GET', '/1')).data]";
    let look = look.replace("[..'ab']", "[...'ab']");
    let clean = result(&pool, &look).await;
    for damage in [
        "globalThis.left = 1; for (const it of [Object, Array, Function, String, Promise]) it.prototype.left = 'x'",
        "JSON.stringify = () => '\"stolen\"'; JSON.parse = () => 'stolen'",
        "Promise.prototype.then = function () { return this }; Promise.resolve = () => 'stolen'",
        "Symbol.for('left').left = 1; Object.defineProperty(Symbol.prototype, 'description', { get: () => 'stolen' })",
        "Array.prototype[Symbol.iterator] = function* () { yield 'stolen' }; Array.prototype.sort = () => 'stolen'",
        "Object.prototype.toJSON = () => 'stolen'; Object.defineProperty(Object.prototype, 'status', { get: () => 'stolen' })",
        "try { api.request = () => 'stolen' } catch {} globalThis.sleep = globalThis.search = null",
    ] {
        // How the damaged script itself fares is its own affair.
        run(&pool, &format!("{damage}; return 1"), &limits()).await;
        assert_eq!(result(&pool, &look).await, clean, "{damage}");
    }
}

#[tokio::test]
async fn tampering_does_not_change_what_the_host_is_asked() {
    let pool = pool();
    for tampering in [
        "JSON.stringify = () => '[\"GET\",\"/9\"]'",
        "Array.prototype.toJSON = () => ['GET', '/9']",
        "Array.prototype.map = Array.prototype.join = () => 'GET /9'",
        "String.prototype.toWellFormed = () => '[\"GET\",\"/9\"]'",
        "globalThis.String = Object = Array = Promise = null",
        "Object.defineProperty(Object.prototype, 'convert', { value: () => 'stolen' })",
        "Function.prototype.call = Function.prototype.bind = Function.prototype.apply = () => '/9'",
    ] {
        let source = format!("{tampering}; return (await api.request('GET', '/1')).data");
        let outcome = run(&pool, &source, &limits()).await;
        // A script may break its own result, as long as nothing else was asked.
        if let Ok(json) = outcome.result {
            assert!(!json.contains("/9"), "{tampering}: {json}");
        }
    }
}

/// The program of this test never calls `worker_main` and starts itself as a worker.
#[test]
fn an_embedder_that_forgets_worker_main_starts_no_chain_of_processes() {
    let examples = program().with_file_name("examples");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("forgetful");
    std::fs::copy(examples.join(format!("forgetful{}", std::env::consts::EXE_SUFFIX)), &copy)
        .unwrap();
    let output = std::process::Command::new(&copy).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("no sandbox worker could be started"), "{said}");
    assert!(said.contains("`worker_main`"), "{said}");
    let starts = std::fs::read_to_string(folder.path().join("starts")).unwrap();
    let (workers, others): (Vec<_>, Vec<_>) =
        starts.lines().partition(|line| line.contains("--mcp-sandbox-worker"));
    assert_eq!(others.len(), 1, "{starts}");
    assert!((1..=4).contains(&workers.len()), "{starts}");
}
