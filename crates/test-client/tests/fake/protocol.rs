//! What the fake server answers, whatever the transport: a pure function of the message.

use serde_json::{Value, json};

/// The line that confirms the fake's one plan.
const CONFIRM: &str = "id.example.com: POST 1 (/things/) #k7f3q9w2x5";

/// The answer to a request; nothing to a notification.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|_| message.get("method").is_some())?;
    let params = &message["params"];
    Some(match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(
            id,
            json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "fake", "version": "1.2.3" },
                "instructions": "Only for tests.",
            }),
        ),
        "server/discover" => result(
            id,
            json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "instructions": "Only for tests.",
                "_meta": {
                    "io.modelcontextprotocol/serverInfo": { "name": "fake", "version": "1.2.3" }
                },
            }),
        ),
        "tools/list" => {
            let page = usize::from(params["cursor"] == "two");
            let mut list = json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools(page)
            });
            if page == 0 {
                list["nextCursor"] = json!("two");
            }
            result(id, list)
        }
        "tools/call" => call(id, params),
        other => error(id, -32601, &format!("Method not found: {other}")),
    })
}

pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn tools(page: usize) -> Value {
    let code = json!({ "type": "object", "properties": { "code": { "type": "string" } }, "required": ["code"] });
    let any = json!({ "type": "object" });
    if page == 0 {
        return json!([
            {
                "name": "search",
                "description": "Finds operations, e.g. by words. A second sentence.",
                "inputSchema": {
                    "type": "object",
                    "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } },
                },
                "annotations": { "readOnlyHint": true, "openWorldHint": false },
            },
            {
                "name": "execute", "description": "Runs a script that reads",
                "inputSchema": code, "annotations": { "readOnlyHint": true },
            },
        ]);
    }
    json!([
        {
            "name": "execute_write", "description": "Runs a script that writes.", "inputSchema": code,
            "annotations": { "title": "Write", "readOnlyHint": false, "destructiveHint": true },
        },
        { "name": "note", "description": "Adds a note.", "inputSchema": any, "annotations": { "destructiveHint": false } },
        { "name": "add", "inputSchema": any },
        { "name": "fail", "inputSchema": any },
        { "name": "slow", "inputSchema": any },
        { "name": "ask", "inputSchema": any },
    ])
}

fn call(id: &Value, params: &Value) -> Value {
    let arguments = &params["arguments"];
    match params["name"].as_str().unwrap_or_default() {
        "search" => text(id, &json!({ "found": arguments })),
        "execute" => text(id, &json!({ "result": { "ran": arguments["code"] }, "calls": [] })),
        "execute_write" => write(id, arguments),
        "add" => {
            let sum = arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0);
            let sum = json!({ "sum": sum });
            let content = json!([{ "type": "text", "text": sum.to_string() }, { "type": "text", "text": "done" }]);
            result(
                id,
                json!({ "resultType": "complete", "content": content, "structuredContent": sum }),
            )
        }
        "fail" => result(
            id,
            json!({
                "resultType": "complete", "isError": true,
                "content": [{ "type": "text", "text": "it did not work" }],
            }),
        ),
        other => error(id, -32602, &format!("unknown tool `{other}`")),
    }
}

/// `execute_write` with the code `plan`, `old` (a plan without its requests), `huge` (a plan that
/// cannot be confirmed), `again` (the confirmed run ends with the plan for the rest) or no write.
fn write(id: &Value, arguments: &Value) -> Value {
    let code = arguments["code"].as_str().unwrap_or_default().trim();
    let confirmed = arguments["confirm"] == CONFIRM;
    let mut reply = json!({
        "status": "needs_confirmation", "confirm": CONFIRM, "expires": "2026-11-30T12:10:00Z",
        "plan": [
            { "n": 1, "api": "ak", "method": "POST", "path": "/things/", "operation": "things_create",
              "body": { "name": "a\u{1b}[2Jb", "order": 15 } },
            { "n": 2, "api": "ak", "method": "PATCH", "path": "/things/«1.id»/", "operation": "things_update",
              "query": { "dry": true }, "body": { "order": 2 }, "before": { "order": 1 } },
        ],
        "complete": true, "warnings": ["line 3 reads what was written"], "preview": code,
        "message": "Nothing has been sent.",
    });
    match (code, confirmed) {
        ("plan" | "old", true) => {
            reply = json!({ "result": "written", "journal": [{ "n": 1, "outcome": "applied" }] });
        }
        ("plan" | "again", _) => {}
        ("old", false) => {
            if let Some(reply) = reply.as_object_mut() {
                reply.remove("plan");
            }
        }
        ("huge", _) => {
            reply = json!({ "status": "needs_confirmation", "message": "Split the script." });
        }
        _ => reply = json!({ "result": null, "calls": [] }),
    }
    text(id, &reply)
}

fn text(id: &Value, value: &Value) -> Value {
    let content = json!([{ "type": "text", "text": value.to_string() }]);
    result(id, json!({ "resultType": "complete", "content": content }))
}
