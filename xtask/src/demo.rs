//! `cargo xtask demo`: the real server against a mock authentik, from the handshake to a confirmed
//! write, each step checked. No network, no credentials.

mod transcript;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use mocks::Entry;
use serde_json::{Value, json};
use test_client::{Client, ToolInfo, ToolResult};

use transcript::Transcript;
use world::World;

const FLOW: &str = "default-authentication-flow";
const MAX_TOKENS: usize = 800;

const READ: &str = r#"
const flow = (await ak.request("GET", "/flows/instances/default-authentication-flow/")).data;
const bound = await ak.paginate("/flows/bindings/", {
  query: { target: flow.pk, ordering: "order" },
});
return bound.items.map((it) => [it.order, it.stage_obj.name]);"#;

const FORBIDDEN: &str = r#"
return await ak.request("DELETE", "/stages/captcha/00000000-0000-0000-0000-000000000000/");"#;

const WRITE: &str = r#"
const flow = (await ak.request("GET", "/flows/instances/default-authentication-flow/")).data;
const stage = (await ak.request("POST", "/stages/captcha/", {
  body: { name: "login-captcha", public_key: "site-key", private_key: "server-key" },
})).data;
const binding = (await ak.request("POST", "/flows/bindings/", {
  body: { target: flow.pk, stage: stage.pk, order: 15 },
})).data;
return { stage: stage.name, order: binding.order };"#;

/// Plays the demo; an error when a check fails.
pub(crate) fn run() -> Result<()> {
    let world = World::start()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut transcript = Transcript::new();
    runtime.block_on(play(&world, &mut transcript))?;
    let (passed, failed) = transcript.count();
    ensure!(failed == 0, "demo: {passed} checks passed, {failed} failed");
    transcript.line(&format!("\ndemo: {passed} checks passed"))
}

/// `cargo xtask test-client …`: the test client, against the demo world where no server is named.
pub(crate) fn test_client(arguments: &[String]) -> Result<ExitCode> {
    let mut command = Command::new(world::binary("test-client")?);
    let names_server = |it: &String| {
        ["--stdio", "--url", "--help", "-h", "--version", "-V"].contains(&it.as_str())
            || it.starts_with("--stdio=")
            || it.starts_with("--url=")
    };
    let world = if arguments.iter().any(names_server) { None } else { Some(World::start()?) };
    if let Some(world) = &world {
        world.furnish(&mut command);
        command.arg("--stdio").arg(&world.server).args(World::ARGUMENTS).arg("--");
    }
    command.args(arguments);
    let status = tokio::runtime::Runtime::new()?.block_on(async {
        let mut child = tokio::process::Command::from(command).spawn()?;
        loop {
            tokio::select! {
                status = child.wait() => break status,
                // Ctrl-C is for the client; the world lasts as long as it does.
                interrupted = tokio::signal::ctrl_c() => interrupted?,
            }
        }
    })?;
    let code = status.code().and_then(|it| u8::try_from(it).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn play(world: &World, transcript: &mut Transcript) -> Result<()> {
    let before = world.mock.state();
    let rows = |table: &str| before[table].as_object().map_or(0, serde_json::Map::len);
    let (users, flows, stages) = (rows("users"), rows("flows"), rows("stages"));
    transcript.line(&format!(
        "A mock authentik at {} ({users} users, {flows} flows, {stages} stages).\n\
         Stages of the login flow:",
        world.mock.base_url
    ))?;
    show_stages(&before, transcript)?;

    transcript.step("Handshake")?;
    let started = Instant::now();
    let mut demo = Demo { client: Client::stdio(world.command()).await?, world, said: Vec::new() };
    let server = demo.client.server().clone();
    transcript.request("server/discover")?;
    let greeting = format!("{} {}, MCP {}", server.name, server.version, server.protocol);
    transcript
        .answer(&format!("{greeting}, {} ms after its start", started.elapsed().as_millis()), 1)?;
    transcript.check("the server says what it is", server.name == "authentik-code-mode")?;

    demo.tools(transcript).await?;
    demo.search(transcript).await?;
    demo.read(&before, transcript).await?;
    demo.write(&before, transcript).await?;

    transcript.step("Goodbye")?;
    let Demo { client, mut said, .. } = demo;
    said.push(client.stderr());
    client.close().await?;
    let leaked = said.iter().any(|it| it.contains(&world.mock.token));
    transcript.check("the token is in nothing that the server said", !leaked)?;
    let stray = world.mock.log().into_iter().filter(|it| it.unimplemented).count();
    transcript.check("every request was to an operation that exists", stray == 0)
}

/// The server under demonstration and everything it has said.
struct Demo<'w> {
    client: Client,
    world: &'w World,
    said: Vec<String>,
}

impl Demo<'_> {
    async fn tools(&mut self, transcript: &mut Transcript) -> Result<()> {
        transcript.step("The tools, and what they cost in every conversation")?;
        transcript.request("tools/list")?;
        let tools = self.client.list().await?;
        let marks = |it: &ToolInfo| (it.is_read_only(), it.is_destructive());
        let line = |it: &ToolInfo| {
            let mark = match marks(it) {
                (true, _) => "read-only",
                (false, true) => "destructive",
                (false, false) => "writes",
            };
            let sentence = it.description.split_inclusive(". ").next().unwrap_or_default();
            format!("{:13}  {mark:11}  {sentence}\n", it.name)
        };
        transcript.answer(&tools.iter().map(line).collect::<String>(), 12)?;
        let definitions: Vec<_> = tools.iter().map(|it| &it.definition).collect();
        let text = json!(definitions).to_string();
        let tokens = tiktoken_rs::o200k_base()?.encode_ordinary(&text).len();
        self.said.push(text);

        let found: Vec<_> = tools.iter().map(|it| (it.name.as_str(), marks(it))).collect();
        let reads = (true, false);
        let expected = [("search", reads), ("execute", reads), ("execute_write", (false, true))];
        transcript
            .check("two tools are read-only, one asks before it writes", found == expected)?;
        let cost =
            format!("all definitions together cost {tokens} tokens (o200k), at most {MAX_TOKENS}");
        transcript.check(&cost, tokens <= MAX_TOKENS)
    }

    async fn search(&mut self, transcript: &mut Transcript) -> Result<()> {
        transcript.step("A search")?;
        let found =
            self.call("search", json!({ "query": "create a captcha stage" }), transcript).await?;
        transcript.answer(&readable(&found), 14)?;
        let others = ["stages_captcha_list", "stages_captcha_update", "stages_all_list"];
        let first = found.text.find("stages_captcha_create");
        let is_first = first.is_some()
            && others.iter().filter_map(|it| found.text.find(it)).all(|it| first < Some(it));
        transcript.check("the right operation comes first", is_first && !found.is_error)
    }

    async fn read(&mut self, before: &Value, transcript: &mut Transcript) -> Result<()> {
        transcript.step("A script that reads")?;
        let read = self.call("execute", json!({ "code": READ.trim() }), transcript).await?;
        transcript.answer(&readable(&read), 8)?;
        let result = result_of(&read);
        transcript
            .check("its result is what the mock holds", result == json!(stages_of_flow(before)))?;

        transcript.step("A script that reads cannot write")?;
        let refused = self.call("execute", json!({ "code": FORBIDDEN.trim() }), transcript).await?;
        transcript.answer(&readable(&refused), 6)?;
        let held = refused.is_error && self.world.mock.writes().is_empty();
        transcript.check("the deletion was refused before it left", held)
    }

    async fn write(&mut self, before: &Value, transcript: &mut Transcript) -> Result<()> {
        transcript.step("A script that writes waits for a person")?;
        let planned =
            self.call("execute_write", json!({ "code": WRITE.trim() }), transcript).await?;
        transcript.answer(&readable(&planned), 24)?;
        let reply = planned.json().unwrap_or_default();
        let confirm = reply["confirm"].as_str().context("no `confirm` in the reply")?.to_owned();
        let waits = reply["status"] == "needs_confirmation" && self.world.mock.state() == *before;
        transcript.check("it waits for a confirmation, and nothing has changed", waits)?;

        transcript.step("A confirmation that a model made up")?;
        let invented = json!({ "code": WRITE.trim(), "confirm": "yes" });
        let again = self.client.call("execute_write", invented).await?;
        transcript.request(r#"execute_write { the same code, "confirm": "yes" }"#)?;
        let reply = again.json().unwrap_or_default();
        transcript.answer(&verdict(&reply), 4)?;
        self.said.push(again.text);
        let held = reply["status"] == "needs_confirmation" && self.world.mock.writes().is_empty();
        transcript.check("it is worth nothing", held)?;

        transcript.step("The confirmation that a person gave")?;
        let confirmed = json!({ "code": WRITE.trim(), "confirm": confirm });
        transcript
            .request(&format!("execute_write {{ the same code, \"confirm\": \"{confirm}\" }}"))?;
        let written = self.client.call("execute_write", confirmed.clone()).await?;
        transcript.answer(&readable(&written), 16)?;
        let expected = json!({ "stage": "login-captcha", "order": 15 });
        transcript.check("the script ran to its end", result_of(&written) == expected)?;
        self.said.push(written.text);
        transcript
            .check("exactly the two requests were sent", are_the_two(&self.world.mock.writes()))?;

        let after = self.world.mock.state();
        transcript.line("Stages of the login flow now:")?;
        show_stages(&after, transcript)?;
        let mut stages = stages_of_flow(before);
        stages.insert(1, (15, "login-captcha".to_owned()));
        transcript
            .check("the captcha stands before the password", stages_of_flow(&after) == stages)?;
        let new = [("flow_stage_bindings", 1), ("stages", 1)];
        transcript.check("and nothing else changed", growth(before, &after) == Some(new.into()))?;

        transcript.step("The same confirmation once more")?;
        transcript.request("execute_write { the same code, the same confirmation }")?;
        let again = self.client.call("execute_write", confirmed).await?;
        let reply = again.json().unwrap_or_default();
        transcript.answer(&verdict(&reply), 4)?;
        self.said.push(again.text);
        transcript.check("it works only once", self.world.mock.writes().len() == 2)
    }

    /// Calls a tool and shows the call, script text as it is.
    async fn call(
        &mut self,
        tool: &str,
        arguments: Value,
        transcript: &Transcript,
    ) -> Result<ToolResult> {
        match arguments["code"].as_str() {
            Some(code) => transcript.request(&format!("{tool}\n{code}"))?,
            None => transcript.request(&format!("{tool} {arguments}"))?,
        }
        let result = self.client.call(tool, arguments).await?;
        self.said.push(result.text.clone());
        Ok(result)
    }
}

/// An answer for a reader: top-level fields one a line, text of several lines as such.
fn readable(result: &ToolResult) -> String {
    let Some(Value::Object(fields)) = result.json() else { return result.text.clone() };
    let field = |(name, value): (String, Value)| match value {
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Array(items) => {
            let items: String = items
                .iter()
                .map(|it| format!("\n  {}", text_of(it).replace('\n', "\n  ")))
                .collect();
            format!("{name}:{items}\n")
        }
        Value::String(text) if text.contains('\n') => {
            format!("{name}:\n  {}\n", text.replace('\n', "\n  "))
        }
        Value::Object(error) if name == "error" => {
            let said = |key| error.get(key).map(text_of).unwrap_or_default();
            format!("{name}: {}: {}\n", said("name"), said("message"))
        }
        value => format!("{name}: {}\n", text_of(&value)),
    };
    fields.into_iter().map(field).collect()
}

/// The status of a reply and why it is so.
fn verdict(reply: &Value) -> String {
    let why = reply.get("reason").or_else(|| reply.get("message")).map(text_of);
    format!("{}: {}", text_of(&reply["status"]), why.unwrap_or_default())
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn result_of(result: &ToolResult) -> Value {
    result.json().map(|mut it| it["result"].take()).unwrap_or_default()
}

fn show_stages(state: &Value, transcript: &Transcript) -> Result<()> {
    stages_of_flow(state)
        .iter()
        .try_for_each(|(order, name)| transcript.line(&format!("  {order:>4}  {name}")))
}

/// The login flow's stages by order, from the raw rows.
fn stages_of_flow(state: &Value) -> Vec<(i64, String)> {
    let rows = |table: &str| state[table].as_object().into_iter().flat_map(|it| it.values());
    let flow = rows("flows").find(|it| it["slug"] == FLOW).map(|it| &it["pk"]);
    let mut stages: Vec<_> = rows("flow_stage_bindings")
        .filter(|it| Some(&it["target"]) == flow)
        .map(|it| {
            let name = rows("stages").find(|stage| stage["pk"] == it["stage"]);
            let name = name.and_then(|stage| stage["name"].as_str()).unwrap_or("?");
            (it["order"].as_i64().unwrap_or_default(), name.to_owned())
        })
        .collect();
    stages.sort();
    stages
}

/// Whether the writes are the captcha stage and its binding, in this order, answered 201.
fn are_the_two(writes: &[Entry]) -> bool {
    let [stage, binding] = writes else { return false };
    let body = |entry: &Entry| entry.body.clone().unwrap_or_default();
    let is_create =
        |entry: &Entry, path| entry.method == "POST" && entry.path == path && entry.status == 201;
    is_create(stage, "/api/v3/stages/captcha/")
        && body(stage)
            == json!({ "name": "login-captcha", "public_key": "site-key", "private_key": "server-key" })
        && is_create(binding, "/api/v3/flows/bindings/")
        && body(binding)["order"] == 15
}

/// How many rows each table has gained; nothing when an old row is gone or differs.
fn growth<'t>(before: &'t Value, after: &Value) -> Option<BTreeMap<&'t str, usize>> {
    let mut growth = BTreeMap::new();
    for (table, rows) in before.as_object()? {
        let (old, new) = (rows.as_object()?, after[table].as_object()?);
        if old.iter().any(|(key, row)| new.get(key) != Some(row)) {
            return None;
        }
        if new.len() > old.len() {
            growth.insert(table.as_str(), new.len() - old.len());
        }
    }
    Some(growth)
}
