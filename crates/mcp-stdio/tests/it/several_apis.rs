//! Several APIs in one server: each its own binding, credential and rules, and nothing between them
//! that the configuration does not allow.

use serde_json::{Value, json};
use test_client::raw::Session;

use crate::{
    support::{self, PATIENCE},
    upstream::Upstream,
};

/// A document with one read and one write, called after the API.
fn document(name: &str) -> String {
    let ok = json!({ "200": { "description": "", "content": { "application/json": { "schema": { "type": "object" } } } } });
    json!({
        "openapi": "3.0.3",
        "info": { "title": name, "version": "1" },
        "paths": {
            "/things": {
                "get": { "operationId": format!("{name}List"), "summary": "List things", "responses": ok },
                "post": {
                    "operationId": format!("{name}Create"),
                    "summary": "Create a thing",
                    "requestBody": { "content": { "application/json": { "schema": { "type": "object", "properties": { "name": { "type": "string" } } } } } },
                    "responses": ok,
                },
            },
            "/secrets": { "get": { "operationId": format!("{name}Secrets"), "responses": ok } },
        },
    })
    .to_string()
}

/// Two upstreams and the text of a configuration for both.
struct Two {
    one: Upstream,
    two: Upstream,
    text: String,
}

impl Two {
    fn start(more: &str) -> Self {
        let answers = |_: &_| (200, String::new(), r#"{"value":"v"}"#.to_owned());
        let one = Upstream::answering(&document("alpha"), answers);
        let two = Upstream::answering(&document("beta"), answers);
        let api = |name: &str, upstream: &Upstream, token: &str| {
            format!(
                "[[api]]\nname = \"{name}\"\ndocument = \"{0}/spec.json\"\nbase_url = \"{0}\"\n\
                 token = \"{token}\"\ntrusted = true\n",
                upstream.base
            )
        };
        let text = format!(
            "confirm = \"off\"\n{}{}{more}",
            api("alpha", &one, "TOKEN-ALPHA"),
            api("beta", &two, "TOKEN-BETA")
        );
        Self { one, two, text }
    }

    async fn connect(&self) -> (tempfile::TempDir, Session) {
        let (directory, path) = support::configured(&self.text);
        let mut command = support::binary();
        command.arg("--config").arg(path);
        (directory, support::connect(command).await)
    }

    /// Methods and tokens that arrived at each.
    fn seen(&self) -> (Vec<String>, Vec<String>) {
        let of = |upstream: &Upstream| {
            let all = upstream.received();
            all.iter().map(|it| format!("{} {}", it.method, it.header("authorization"))).collect()
        };
        (of(&self.one), of(&self.two))
    }
}

async fn run(session: &mut Session, tool: &str, code: &str) -> (bool, Value) {
    let (is_error, text) = support::call(session, tool, json!({ "code": code })).await;
    (is_error, serde_json::from_str(&text).unwrap())
}

const COPY: &str = "const { data } = await alpha.request('GET', '/things');
    return (await beta.request('POST', '/things', { body: { name: data.value } })).status";
const BACK: &str = "await beta.request('GET', '/things');
    return (await alpha.request('GET', '/things')).status";

/// P56: each API sees its own token, and only that.
#[tokio::test]
async fn each_api_has_its_own_binding_and_credential() {
    let two = Two::start("");
    let (_directory, mut session) = two.connect().await;
    for name in ["alpha", "beta"] {
        let code = format!("return (await {name}.request('GET', '/things')).data.value");
        let (is_error, answer) = run(&mut session, "execute", &code).await;
        assert!(!is_error, "{answer}");
        assert_eq!(answer["result"], json!("v"));
        assert_eq!(answer["calls"][0]["api"], json!(name), "{answer}");
    }
    let expected =
        (vec!["GET Bearer TOKEN-ALPHA".to_owned()], vec!["GET Bearer TOKEN-BETA".to_owned()]);
    assert_eq!(two.seen(), expected);
    let foreign = format!("return (await alpha.request('GET', '{}/things')).status", two.two.base);
    let (is_error, answer) = run(&mut session, "execute", &foreign).await;
    assert!(is_error && answer["error"]["rule"] == json!("origin"), "{answer}");
    let (is_error, answer) = run(&mut session, "execute", "return typeof api").await;
    assert!(!is_error && answer["result"] == json!("undefined"), "{answer}");
    assert_eq!(two.seen(), expected);
}

#[tokio::test]
async fn without_a_flow_nothing_that_was_read_from_one_reaches_the_other() {
    let two = Two::start("");
    let (_directory, mut session) = two.connect().await;
    let (is_error, answer) = run(&mut session, "execute_write", COPY).await;
    assert!(is_error, "{answer}");
    assert_eq!(answer["error"]["rule"], json!("flow"), "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`[[flow]] from = \"alpha\" to = \"beta\"`"), "{message}");
    assert_eq!(answer["calls"][1]["outcome"], json!("refused"), "{answer}");
    assert_eq!(two.seen(), (vec!["GET Bearer TOKEN-ALPHA".to_owned()], Vec::new()));
    // Another script has read nothing yet.
    let (is_error, answer) =
        run(&mut session, "execute", "return (await beta.request('GET', '/things')).status").await;
    assert!(!is_error, "{answer}");
}

#[tokio::test]
async fn a_flow_lets_through_what_it_names_and_not_the_other_direction() {
    let two = Two::start("[[flow]]\nfrom = \"alpha\"\nto = \"beta\"\n");
    let (_directory, mut session) = two.connect().await;
    let (is_error, answer) = run(&mut session, "execute_write", COPY).await;
    assert!(!is_error && answer["result"] == json!(200), "{answer}");
    let expected =
        (vec!["GET Bearer TOKEN-ALPHA".to_owned()], vec!["POST Bearer TOKEN-BETA".to_owned()]);
    assert_eq!(two.seen(), expected);
    assert_eq!(two.two.received()[0].body, r#"{"name":"v"}"#);
    let (is_error, answer) = run(&mut session, "execute", BACK).await;
    assert!(is_error && answer["error"]["rule"] == json!("flow"), "{answer}");
    assert_eq!(two.seen().0, expected.0, "nothing came back");
}

#[tokio::test]
async fn rules_of_one_api_leave_the_other_alone() {
    let mut two = Two::start("");
    // The last table is beta's.
    two.text.push_str("read_only = true\ndeny = [\"GET /secrets\"]\n");
    let (_directory, mut session) = two.connect().await;
    let (is_error, answer) = run(
        &mut session,
        "execute_write",
        "const seen = {};
         for (const [name, one] of Object.entries({ alpha, beta })) {
           try { seen[name] = (await one.request('POST', '/things', { body: {} })).status } catch (error) { seen[name] = error.rule }
         }
         return seen",
    )
    .await;
    assert!(!is_error, "{answer}");
    assert_eq!(answer["result"], json!({ "alpha": 200, "beta": "not-granted" }), "{answer}");
    let (_, answer) =
        run(&mut session, "execute_write", "await beta.request('POST', '/things', { body: {} })")
            .await;
    assert_eq!(answer["error"]["rule"], json!("not-granted"), "{answer}");
    let found = support::ok(&mut session, "search", json!({ "query": "secrets" })).await;
    assert!(found["alpha"].to_string().contains("/secrets"), "{found}");
    assert!(!found["beta"].to_string().contains("/secrets"), "{found}");
}

#[tokio::test]
async fn search_covers_all_apis_or_the_one_that_is_named() {
    let two = Two::start("");
    let (_directory, mut session) = two.connect().await;
    let all =
        support::ok(&mut session, "search", json!({ "query": "list things", "limit": 2 })).await;
    for name in ["alpha", "beta"] {
        let operations = all[name]["operations"].as_array().unwrap();
        assert_eq!(operations.len(), 1, "the limit is shared: {all}");
        assert!(operations[0].as_str().unwrap().contains(&format!("{name}List")), "{all}");
    }
    let one =
        support::ok(&mut session, "search", json!({ "query": "list things", "api": "beta" })).await;
    assert!(one["operations"][0].as_str().unwrap().contains("betaList"), "{one}");
    let (is_error, text) =
        support::call(&mut session, "search", json!({ "query": "x", "api": "gamma" })).await;
    assert!(is_error && text.contains("`gamma`") && text.contains("`alpha`, `beta`"), "{text}");
}

#[tokio::test]
async fn an_api_whose_document_cannot_be_read_does_not_hinder_the_other() {
    let mut two = Two::start("");
    two.text = two
        .text
        .replace(&format!("{}/spec.json", two.one.base), &format!("{}/spec.html", two.one.base));
    let (_directory, mut session) = two.connect().await;
    let all = support::ok(&mut session, "search", json!({ "query": "list things" })).await;
    assert!(all["alpha"]["error"].as_str().unwrap().contains("HTML"), "{all}");
    assert!(all["beta"]["operations"][0].as_str().unwrap().contains("betaList"), "{all}");
    let (is_error, answer) =
        run(&mut session, "execute", "return (await beta.request('GET', '/things')).status").await;
    assert!(!is_error && answer["result"] == json!(200), "{answer}");
    let (is_error, answer) =
        run(&mut session, "execute", "return (await alpha.request('GET', '/things')).status").await;
    assert!(is_error && answer["error"]["name"] == json!("DocumentError"), "{answer}");
}

/// P17: also with several APIs, and with files.
#[tokio::test]
async fn definitions_for_several_apis_stay_below_800_tokens() {
    let known = "[[api]]\nprofile = \"authentik\"\nbase_url = \"https://id.test\"\ntoken = \"t-1\"\n\
                 [[api]]\nprofile = \"sentry\"\ntoken = \"t-2\"\n";
    let others = ["gitea", "github", "jira"].map(|name| {
        format!(
            "[[api]]\nname = \"{name}\"\ndocument = \"http://127.0.0.1:9/{name}.json\"\ntoken = \"t-3\"\n"
        )
    });
    let text = format!("{known}{}", others.concat());
    let (directory, path) = support::configured(&text);
    let mut command = support::binary();
    command.arg("--config").arg(path).arg("--files").arg(directory.path());
    let mut session = support::connect(command).await;
    let id = session.request("tools/list", json!({})).await.unwrap();
    let list = session.response(id, PATIENCE).await.unwrap();
    let tools = &list["result"]["tools"];
    let bpe = tiktoken_rs::o200k_base().unwrap();
    let tokens = bpe.encode_ordinary(&tools.to_string()).len();
    assert!(tokens <= 800, "{tokens}: {tools}");
    let execute = tools[1]["description"].as_str().unwrap();
    for name in ["ak", "sentry", "gitea", "github", "jira"] {
        assert!(execute.contains(name), "{execute}");
    }
}

/// A confirmed write goes to the API it was planned for, and to no other.
#[tokio::test]
async fn a_write_that_would_go_to_another_api_is_not_sent() {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };
    let elsewhere = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&elsewhere);
    let one = Upstream::answering(&document("alpha"), move |_: &_| {
        let value = if asked.load(Ordering::Relaxed) { "beta" } else { "alpha" };
        (200, String::new(), json!({ "value": value }).to_string())
    });
    let two = Upstream::answering(&document("beta"), |_: &_| (200, String::new(), "{}".to_owned()));
    let api = |name: &str, base: &str| {
        format!(
            "[[api]]\nname = \"{name}\"\ndocument = \"{base}/spec.json\"\nbase_url = \"{base}\"\ntoken = \"T\"\ntrusted = true\n"
        )
    };
    let flow = "[[flow]]\nfrom = \"alpha\"\nto = \"beta\"\n";
    let text = format!("{}{}{flow}", api("alpha", &one.base), api("beta", &two.base));
    let (_directory, path) = support::configured(&text);
    let mut command = support::binary();
    command.arg("--config").arg(path);
    let mut session = support::connect(command).await;
    let code =
        "const to = (await alpha.request('GET', '/things')).data.value === 'beta' ? beta : alpha;
        await to.request('POST', '/things', { body: { name: 'x' } });";
    let (_, planned) = run(&mut session, "execute_write", code).await;
    assert_eq!(planned["plan"][0]["api"], json!("alpha"), "{planned}");
    elsewhere.store(true, Ordering::Relaxed);
    let confirmed = json!({ "code": code, "confirm": planned["confirm"] });
    let (is_error, text) = support::call(&mut session, "execute_write", confirmed).await;
    assert!(is_error && text.contains("PlanError"), "{text}");
    let posts =
        |upstream: &Upstream| upstream.received().iter().filter(|it| it.method == "POST").count();
    assert_eq!((posts(&one), posts(&two)), (0, 0));
}
