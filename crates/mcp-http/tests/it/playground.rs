//! The playground: who gets the page, and what a person can do with it in a real browser.

use std::process::Command;

use axum::{
    Json, Router,
    extract::Path,
    http::Method as Verb,
    response::{IntoResponse as _, Response},
};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::support::{Server, against, authentik, browser};

/// WebDriver's names for keys.
const CONTROL: char = '\u{e009}';
const SHIFT: char = '\u{e008}';
const ENTER: char = '\u{e007}';
const DOWN: char = '\u{e015}';
const RIGHT: char = '\u{e014}';

const READ: &str = "const { items, total } = await ak.paginate('/core/users/', { maxItems: 40 });\n\
     console.log('people', total);\n\
     return items.slice(0, 6).map(({ pk, username, email, is_active }) => ({ pk, username, email, is_active }));";
const WRITE: &str = "const { items } = await ak.paginate('/core/users/', { query: { search: 'wren' } });\n\
     const [ada] = items;\n\
     const { data: crew } = await ak.request('POST', '/core/groups/', { body: { name: 'night-crew' } });\n\
     await ak.request('PATCH', `/core/users/${ada.pk}/`, { body: { name: 'Ada Wren-Hart', type: 'internal', groups: [crew.pk] } });\n\
     return 'moved';";

/// The binary with a playground.
fn shown(mut command: Command) -> Command {
    command.arg("--playground");
    command
}

#[tokio::test]
async fn the_page_is_there_when_asked_for_and_for_this_machine() {
    let mock = authentik();
    let without = Server::start(against(&mock));
    let answer = without.request(Method::GET, "/").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);

    let server = Server::start(shown(against(&mock)));
    let answer = server.request(Method::GET, "/").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    let policy = header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(
        (header("x-frame-options"), header("cache-control")),
        ("DENY".into(), "no-store".into())
    );
    assert!(!answer.text().await.unwrap().contains(&mock.token));
    for (name, value) in
        [("host", "evil.test"), ("via", "1.1 proxy"), ("x-forwarded-for", "1.1.1.1")]
    {
        let answer = server.request(Method::GET, "/").header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}");
    }
}

#[tokio::test]
async fn browsers_elsewhere_get_the_page_where_the_operator_says_so() {
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    std::fs::write(&file, "").unwrap();
    for (more, expected) in
        [(None, StatusCode::FORBIDDEN), (Some("--playground-remote"), StatusCode::OK)]
    {
        let mut command = shown(against(&mock));
        command.arg("--shared-credential").arg("--callers").arg(&file).args(more);
        let server = Server::start(command);
        let request = server.request(Method::GET, "/").header("x-forwarded-for", "1.1.1.1");
        assert_eq!(request.send().await.unwrap().status(), expected, "{more:?}");
    }
}

#[tokio::test]
async fn a_person_searches_and_runs_a_script_and_sees_its_calls_logs_and_result() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let server = Server::start(shown(against(&mock)));
    browser.open(&server.base).await;
    browser.shows("#status", "3 tools").await;
    browser.shows("#overview", "core").await;

    // By keyboard alone: to the search, through the hits, into a signature.
    browser.press("/create group").await;
    browser.shows("#hits", "/core/groups/").await;
    browser.press(&format!("{DOWN}{DOWN}{ENTER}")).await;
    browser.shows("#signature", "->").await;
    let selected = browser.text(".hit[aria-selected='true']").await;
    let heading = browser.text("#operation-heading").await;
    assert!(!heading.is_empty() && !selected.is_empty(), "{heading} {selected}");
    browser.click("#insert").await;
    let script = browser.script("return document.querySelector('#code').value").await;
    assert!(script.as_str().unwrap().contains(&format!(".call(\"{heading}\", ")), "{script}");

    browser.write("#code", READ).await;
    browser.chord(&[CONTROL], ENTER).await;
    browser.shows("#outcome", "ada.wren").await;
    let outcome = browser.text("#outcome").await;
    for seen in ["Result", "Calls", "/core/users/", "sent 200", "Logs", "people"] {
        assert!(outcome.contains(seen), "{seen}: {outcome}");
    }
    browser.picture("light").await;
    browser.prefers("dark").await;
    browser.picture("dark").await;
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn only_a_persons_click_sends_what_was_planned() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let server = Server::start(shown(against(&mock)));
    browser.open(&server.base).await;
    browser.shows("#status", "3 tools").await;
    browser.write("#code", WRITE).await;
    browser.chord(&[CONTROL, SHIFT], ENTER).await;
    browser.shows(".plan", "Nothing has been written yet").await;
    let plan = browser.text(".plan").await;
    for seen in [
        "POST",
        "/core/groups/",
        "night-crew",
        "PATCH",
        "Ada Wren-Hart",
        "unchanged",
        "Send 2 writes",
        "expires in",
    ] {
        assert!(plan.contains(seen), "{seen}: {plan}");
    }
    let changed = browser
        .script("return [...document.querySelectorAll('.plan del')].map(it => it.innerText)")
        .await;
    assert_eq!(changed[0], "\"Ada Wren\"", "{changed}");
    browser.picture("plan").await;
    browser.prefers("dark").await;
    browser.picture("plan-dark").await;

    // No script's click does it, nor a key pressed by one.
    browser.until("return !document.querySelector('.decide .danger').disabled").await;
    browser
        .script(
            "const it = document.querySelector('.decide .danger'); it.click(); \
             it.dispatchEvent(new MouseEvent('click', { bubbles: true })); \
             it.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))",
        )
        .await;
    browser.shows(".plan", "Nothing has been written yet").await;
    assert_eq!(mock.writes().len(), 0);

    browser.click(".decide .danger").await;
    browser.shows("#outcome", "Sent as planned").await;
    let outcome = browser.text("#outcome").await;
    assert!(outcome.contains("applied 201") && outcome.contains("\"moved\""), "{outcome}");
    assert_eq!(mock.writes().len(), 2);
    browser.picture("sent").await;
    assert_eq!(browser.complaints().await, [""; 0]);
}

#[tokio::test]
async fn a_plan_is_withdrawn_when_its_script_changes() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let server = Server::start(shown(against(&mock)));
    browser.open(&server.base).await;
    browser.shows("#status", "3 tools").await;
    browser.write("#code", WRITE).await;
    browser.click("#plan").await;
    browser.shows(".plan", "Nothing has been written yet").await;
    browser.click("#code").await;
    browser.press(" ").await;
    browser.shows(".plan", "The script has changed: plan again").await;
    assert_eq!(browser.script("return document.querySelectorAll('.decide').length").await, 0);
    browser.click("#plan").await;
    browser.shows(".plan", "Nothing has been written yet").await;
    browser.click(".decide button:not(.danger)").await;
    browser.shows(".plan", "Discarded: nothing was written").await;
    assert_eq!(mock.writes().len(), 0);
}

/// What would be a script if it were markup.
const HOSTILE: &str =
    "</pre><img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\u{202e}";

async fn hostile_answer(verb: Verb, path: Option<Path<String>>) -> Response {
    let thing = json!({ "id": path.map_or("7".to_owned(), |it| it.0), "name": HOSTILE, "__proto__": { "hacked": 1 }, "big": 9_007_199_254_740_993_u64 });
    let body = if verb == Verb::GET { thing } else { json!({ "name": HOSTILE }) };
    Json(body).into_response()
}

/// The address of an API whose every word is hostile, and its document.
async fn hostile() -> (String, tempfile::NamedTempFile) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/things/{id}", axum::routing::any(hostile_answer));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" }, "description": HOSTILE });
    let body = json!({ "content": { "application/json": { "schema": { "type": "object", "description": HOSTILE, "properties": { "name": { "type": "string", "description": HOSTILE } } } } } });
    let answer = json!({ "200": { "description": HOSTILE } });
    let document = json!({
        "openapi": "3.0.3",
        "info": { "title": HOSTILE, "version": HOSTILE },
        "paths": { "/things/{id}": {
            "get": { "operationId": "getThing", "summary": HOSTILE, "tags": [HOSTILE], "parameters": [id], "responses": answer },
            "patch": { "operationId": "changeThing", "summary": HOSTILE, "parameters": [id], "requestBody": body, "responses": answer },
        } },
    });
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    std::fs::write(file.path(), document.to_string()).unwrap();
    (base, file)
}

#[tokio::test]
async fn what_an_api_says_is_text_and_never_markup() {
    let Some(browser) = browser().await else { return };
    let (base, document) = hostile().await;
    let mut command = shown(crate::support::binary());
    command.arg("--openapi").arg(document.path()).args(["--base-url", &base]);
    let server = Server::start(command);
    browser.open(&server.base).await;
    browser.shows("#overview", "onerror").await;
    browser.write("#query", "thing").await;
    browser.shows("#hits", "/things/{id}").await;
    browser.click("#hits .hit").await;
    browser.shows("#signature", "Thing").await;
    browser.write("#code", "console.log((await api.call('getThing', { id: '7' })).data.name); return (await api.call('getThing', { id: '7' })).data").await;
    browser.click("#run").await;
    browser.shows("#outcome", "<img src=x").await;
    let outcome = browser.text("#outcome").await;
    assert!(outcome.contains("\\u{202e}") && !outcome.contains('\u{202e}'), "{outcome}");
    assert!(outcome.contains("9007199254740993"), "every digit is kept: {outcome}");
    browser.write("#code", "const { data } = await api.call('getThing', { id: '7' }); await api.call('changeThing', { id: '7', body: { name: data.name + '!' } })").await;
    browser.click("#plan").await;
    browser.shows(".plan", "<img src=x").await;
    browser.click(".decide .danger").await;
    browser.shows("#outcome", "Sent as planned").await;
    let found = browser
        .script(
            "return [window.hacked, ({}).hacked, document.images.length, document.scripts.length, \
             document.querySelectorAll('iframe, object, embed').length]",
        )
        .await;
    assert_eq!(found, json!([null, null, 0, 1, 0]));
    // And if some day it were made markup, the browser itself would refuse.
    let refused = browser
        .script("try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch (error) { return error.name }")
        .await;
    assert_eq!(refused, "TypeError");
}

#[tokio::test]
async fn everything_has_a_name_and_enough_contrast_and_can_be_reached_by_keyboard() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let server = Server::start(shown(against(&mock)));
    browser.open(&server.base).await;
    browser.shows("#status", "3 tools").await;
    browser.press("/users").await;
    browser.shows("#hits", "/core/users/").await;
    browser.write("#code", WRITE).await;
    browser.chord(&[CONTROL, SHIFT], ENTER).await;
    browser.shows(".plan", "Nothing has been written yet").await;
    browser.until("return !document.querySelector('.decide .danger').disabled").await;
    // The plan is read first, and the button that sends it does not have the focus.
    let focused = browser.script("return document.activeElement.innerText").await;
    assert_eq!(focused, "Nothing has been written yet");
    for scheme in ["light", "dark"] {
        browser.prefers(scheme).await;
        let faint = browser.script(FAINT).await;
        assert_eq!(faint, json!([]), "{scheme}");
    }
    browser.click("#tab-script").await;
    browser.press(&RIGHT.to_string()).await;
    assert_eq!(browser.text("[role='tab'][aria-selected='true']").await, "Tools");
    browser.click("details.tool summary").await;
    browser.picture("tools").await;
    browser.script("document.querySelectorAll('details').forEach(it => (it.open = true))").await;
    assert_eq!(browser.script(FAINT).await, json!([]));
    let marked = browser
        .script(
            "return [...document.querySelectorAll('button, input, select, textarea, [role=listbox], [role=tabpanel]')]\
             .filter(it => it.checkVisibility()).map((it, at) => (it.dataset.at = at))",
        )
        .await;
    for at in marked.as_array().unwrap() {
        let selector = format!("[data-at='{at}']");
        let label = browser.label(&selector).await;
        let element = browser
            .script(&format!("return document.querySelector({}).outerHTML", json!(selector)))
            .await;
        assert!(!label.trim().is_empty(), "no name: {element}");
    }
}

/// Texts with a contrast below what WCAG asks for (AA): 4.5, or 3 where they are large.
const FAINT: &str = r"
    const channels = (color) => {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = (rgb) => {
        const [r, g, b] = rgb.map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        for (let it = element; it; it = it.parentElement) {
            const color = channels(getComputedStyle(it).backgroundColor);
            if (color[3] > 250) return color;
        }
        return channels('Canvas');
    };
    const found = [];
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].filter((it) => it.nodeType === 3).map((it) => it.data.trim()).join('');
        if (!own || !element.checkVisibility() || element.closest('.unseen, .skip, :disabled, noscript')) continue;
        const style = getComputedStyle(element);
        const [text, behind] = [channels(style.color), ground(element)].map((it) => light(it.slice(0, 3)));
        if (style.color === 'rgba(0, 0, 0, 0)') continue;
        const contrast = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
        if (contrast < 4.5) found.push(`${element.className} ${own.slice(0, 30)}: ${contrast.toFixed(2)}`);
    }
    return found;
";

#[tokio::test]
async fn whoever_has_to_say_who_they_are_is_asked_and_told() {
    let Some(browser) = browser().await else { return };
    let mock = authentik();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("callers");
    let made =
        Command::new(env!("CARGO_BIN_EXE_mcp-http")).args(["token", "ann"]).output().unwrap();
    std::fs::write(
        &file,
        format!("{} skills=api-read\n", String::from_utf8(made.stdout).unwrap().trim()),
    )
    .unwrap();
    let said = String::from_utf8(made.stderr).unwrap();
    let token = said.trim().rsplit(' ').next().unwrap().to_owned();
    let mut command = shown(against(&mock));
    command.arg("--shared-credential").arg("--callers").arg(&file);
    let server = Server::start(command);
    browser.open(&server.base).await;
    browser.shows("#credentials", "Token for this server").await;
    browser.write("#credential-0", "mcp_wrong").await;
    browser.click("#credentials .primary").await;
    browser.shows("#status", "the token is not known").await;
    browser.write("#credential-0", &token).await;
    browser.click("#credentials .primary").await;
    browser.shows("#status", "2 tools").await;
    let seen = browser.script("return [document.querySelector('#plan').hidden, localStorage.length, sessionStorage.length]").await;
    assert_eq!(seen[0], json!(true), "a caller who may not write is not offered to");
    assert_eq!((&seen[1], &seen[2]), (&json!(0), &json!(0)), "the token is kept nowhere");
    assert_eq!(browser.text("#code-note").await, "This server only reads.");
}
