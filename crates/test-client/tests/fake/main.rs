//! A small MCP server over stdio for the tests of the client: JSON lines by hand, both eras.
//!
//! `--legacy` knows no `server/discover`, `--noise` writes a stray line, `--silent` never answers,
//! `--die` says why on stderr and ends.

mod protocol;

use std::io::{self, BufRead as _, Write as _};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use protocol::{answer, error, result};

fn main() -> io::Result<()> {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| flags.iter().any(|it| it == flag);
    if has("--die") {
        writeln!(io::stderr(), "no configuration")?;
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if has("--noise") {
        writeln!(io::stdout(), "loading …")?;
    }
    let (sender, messages) = channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(message) => sender.send(message).ok(),
                Err(_) => writeln!(io::stderr(), "undecodable line").ok(),
            };
        }
    });
    while let Ok(message) = messages.recv() {
        if !has("--silent") {
            serve(&message, &messages, has("--legacy"))?;
        }
    }
    Ok(())
}

fn serve(message: &Value, messages: &Receiver<Value>, legacy: bool) -> io::Result<()> {
    let tool = message.pointer("/params/name").and_then(Value::as_str);
    match (message["method"].as_str(), tool) {
        (Some("server/discover"), _) if legacy => {
            send(&error(&message["id"], -32601, "Method not found"))
        }
        (Some("tools/call"), Some("slow")) => slow(message, messages),
        (Some("tools/call"), Some("ask")) => ask(message, messages),
        _ => answer(message).map_or(Ok(()), |reply| send(&reply)),
    }
}

/// Reports progress until it is cancelled; gives up after five seconds.
fn slow(call: &Value, messages: &Receiver<Value>) -> io::Result<()> {
    let token = &call["params"]["_meta"]["progressToken"];
    for step in 1..=50 {
        send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": step, "total": 50, "message": format!("step {step}"),
        }}))?;
        if let Ok(message) = messages.recv_timeout(Duration::from_millis(100))
            && message["method"] == "notifications/cancelled"
            && message["params"]["requestId"] == call["id"]
        {
            return writeln!(io::stderr(), "cancelled at step {step}");
        }
    }
    send(&result(&call["id"], json!({ "content": [{ "type": "text", "text": "finished" }] })))
}

/// Asks the person for a name, in the way of the legacy era.
fn ask(call: &Value, messages: &Receiver<Value>) -> io::Result<()> {
    send(&json!({ "jsonrpc": "2.0", "id": "question", "method": "elicitation/create", "params": {
        "message": "Who is it?",
        "requestedSchema": {
            "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
        },
    }}))?;
    let reply = messages.recv().unwrap_or_default();
    let said = json!([reply["result"]["action"], reply["result"]["content"]]);
    send(&result(&call["id"], json!({ "content": [{ "type": "text", "text": said.to_string() }] })))
}

fn send(message: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{message}")?;
    stdout.flush()
}
