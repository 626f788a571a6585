//! Files that came with an event; read only.

use serde_json::{Value, json};

use super::{State, not_found, page, project};
use crate::http::{Answer, Call, Reply};
use crate::route::{Route, get};
use crate::seed::Random;
use crate::table::{Columns as _, Row, row};

const LIST: &str =
    "/projects/{organization_id_or_slug}/{project_id_or_slug}/events/{event_id}/attachments/";
const ONE: &str = "/projects/{organization_id_or_slug}/{project_id_or_slug}/events/{event_id}/attachments/{attachment_id}/";

/// A picture of one transparent pixel.
pub(super) const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4,
    0x89, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x64, 0x60, 0xf8, 0x5f,
    0x0f, 0x00, 0x02, 0x87, 0x01, 0x80, 0xeb, 0x47, 0xba, 0x92, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45,
    0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];
const LOG: &[u8] = b"09:00:01 basket opened\n09:00:04 payment refused: insufficient light\n";

pub(super) fn routes() -> Vec<Route<State>> {
    vec![get(LIST, list), get(ONE, retrieve)]
}

/// Three files of one event of quay-web; the picture calls itself text.
pub(super) fn seed(state: &mut State, mut random: Random) {
    let project = state.projects.find("slug", "quay-web").map(|it| it.value("id"));
    let event = random.hex(32);
    for (name, kind, mimetype, size) in [
        ("checkout.log", "event.attachment", "text/plain", LOG.len()),
        ("screenshot.png", "event.attachment", "text/plain", PNG.len()),
        ("view-hierarchy.json", "event.view_hierarchy", "application/json", 2),
    ] {
        let id = state.ids.number("attachment", 1_200);
        let columns = json!({
            "id": id.to_string(),
            "project_id": project,
            "event_id": event,
            "name": name,
            "type": kind,
            "mimetype": mimetype,
            "size": size,
            "sha1": random.hex(40),
            "date_created": "2026-05-04T08:31:00Z",
        });
        state.attachments.insert(id, row(columns));
    }
}

fn list(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id");
    let rows: Vec<&Row> = state
        .attachments
        .rows()
        .filter(|it| it.text("project_id") == project && it.text("event_id") == call.value(2))
        .collect();
    page::answer(call, &rows, view)
}

/// The file itself when `download` is asked for, else what is known of it.
fn retrieve(state: &State, call: &Call<'_>) -> Answer {
    let project = project(state, call)?.text("id");
    let found = state
        .attachments
        .get(call.value(3))
        .filter(|it| it.text("project_id") == project && it.text("event_id") == call.value(2));
    let attachment = found.ok_or_else(not_found)?;
    if call.query("download").is_none() {
        return Ok(Reply::json(200, &view(attachment)));
    }
    let (content_type, body) = match attachment.text("name") {
        "screenshot.png" => ("image/png", PNG),
        "checkout.log" => ("text/plain; charset=utf-8", LOG),
        _ => ("application/json", &b"{}"[..]),
    };
    let reply = Reply { status: 200, body: body.to_vec(), ..Reply::default() };
    Ok(reply.header("content-type", content_type))
}

fn view(attachment: &Row) -> Value {
    json!({
        "id": attachment.text("id"),
        "event_id": attachment.text("event_id"),
        "type": attachment.text("type"),
        "name": attachment.text("name"),
        "mimetype": attachment.text("mimetype"),
        "dateCreated": attachment.text("date_created"),
        "size": attachment.integer("size"),
        "headers": { "Content-Type": attachment.text("mimetype") },
        "sha1": attachment.text("sha1"),
    })
}
