//! The playground: one page, complete in itself, that tries the tools from a browser.
//!
//! The page is an ordinary client of `/mcp`: it may do what its person may, and nothing more. A write
//! is confirmed by a person's click alone. The content security policy lets in the page's own script
//! and style, by hash, and nothing from elsewhere; it also forbids the script to make markup of text.

pub(crate) mod chat;
pub(crate) mod settings;
mod talk;

use std::{net::IpAddr, sync::Arc};

use aws_lc_rs::digest::{SHA256, digest};
use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use mcp_core::Context;
use model_client::Model;
use serde_json::{Value, json};

use self::settings::Audience;
use crate::{
    app::App,
    endpoint::Peer,
    gate::{self, Gate},
    refusal::Refusal,
    serving::{Doors, Serving},
};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// One module: what stands first is there for what follows.
const SCRIPT: &str = concat!(
    include_str!("json.js"),
    include_str!("dom.js"),
    include_str!("mcp.js"),
    include_str!("editor.js"),
    include_str!("search.js"),
    include_str!("answers.js"),
    include_str!("plan.js"),
    include_str!("script.js"),
    include_str!("tools.js"),
    include_str!("chat.js"),
    include_str!("main.js"),
);

/// The page, ready to be sent.
#[derive(Debug)]
pub(crate) struct Playground {
    page: String,
    policy: String,
    audience: Audience,
    /// Whom the chat is with, if it is there.
    model: Option<Model>,
}

impl Playground {
    pub(crate) fn new(serving: &Serving, cx: &Context) -> Option<Self> {
        let settings = &serving.playground;
        if settings.audience == Audience::Nobody {
            return None;
        }
        let page = page(&setup(&serving.doors, settings.model.as_ref(), cx));
        let (audience, model) = (settings.audience, settings.model.clone());
        Some(Self { page, policy: policy(), audience, model })
    }

    /// Refuses those the page is not for.
    pub(crate) fn admit(
        &self,
        gate: &Gate,
        uri: &Uri,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<(), Refusal> {
        gate.check_host(uri, headers)?;
        gate.check_way(headers)?;
        let is_near = peer.is_some_and(|it| it.to_canonical().is_loopback())
            && gate::proxy_mark(headers).is_none();
        match self.audience {
            Audience::Anybody => Ok(()),
            Audience::ThisMachine if is_near => Ok(()),
            Audience::ThisMachine | Audience::Nobody => Err(Refusal::forbidden(
                "the playground is for browsers on the server's own machine: whoever runs it can \
                 serve it to others with `--playground-remote`",
            )),
        }
    }

    fn response(&self) -> Response {
        let mut response = Response::new(Body::from(self.page.clone()));
        let headers = response.headers_mut();
        let set = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (header::CONTENT_SECURITY_POLICY, &self.policy),
        ];
        for (name, value) in set {
            headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
        }
        response
    }
}

/// Answers `GET /`.
pub(crate) async fn answer(State(app): State<Arc<App>>, request: Request) -> Response {
    let Some(playground) = &app.playground else {
        return crate::routes::nothing(request).await;
    };
    let peer = request.extensions().get::<Peer>().map(|Peer(it)| it.ip());
    match playground.admit(&app.gate, request.uri(), request.headers(), peer) {
        Ok(()) => playground.response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// What the page has to know before it asks: nothing that a stranger may not.
fn setup(doors: &Doors, model: Option<&Model>, cx: &Context) -> Value {
    let apis =
        cx.apis.iter().map(|it| json!({ "name": it.profile.binding, "title": it.profile.title }));
    let field = |label: &str, header: &str, prefix: &str| json!({ "label": label, "header": header, "prefix": prefix });
    let mut credentials = Vec::new();
    if doors.knows_callers() {
        credentials.push(field("Token for this server", "authorization", "Bearer "));
    }
    if doors.pass_through {
        credentials.push(field("Your Sentry token", "authorization", "Sentry-Bearer "));
    }
    let forwarded = doors.forwarded.iter();
    credentials.extend(forwarded.map(|it| field(&format!("Your credential ({it})"), it, "")));
    json!({
        "name": cx.identity.name,
        "version": cx.identity.version,
        "apis": apis.collect::<Vec<_>>(),
        "example": cx.apis.first().map(|it| it.profile.example.code.as_str()).unwrap_or_default(),
        "credentials": credentials,
        "chat": model.map(|it| json!({ "model": it.settings().model, "place": it.place() })),
    })
}

fn page(setup: &Value) -> String {
    let filled = |mark: &str| match mark {
        "style" => Some(STYLE.to_owned()),
        "script" => Some(SCRIPT.to_owned()),
        "setup" => Some(attribute(&setup.to_string())),
        _ => None,
    };
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + 1024);
    let mut parts = PAGE.split("{{");
    page.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (mark, rest) = part.split_once("}}").unwrap_or_default();
        page.push_str(&filled(mark).unwrap_or_default());
        page.push_str(rest);
    }
    page
}

/// Text for inside a quoted attribute.
fn attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(digest(&SHA256, text.as_bytes()).as_ref());
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_page_is_told_cannot_leave_its_attribute() {
        let page = page(&json!({ "name": "a\"><script>alert(1)</script>&{{script}}" }));
        let start = page.find("data-setup=\"").unwrap() + "data-setup=\"".len();
        let (inside, _) = page[start..].split_once('"').unwrap();
        assert_eq!(
            inside,
            "{&quot;name&quot;:&quot;a\\&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;{{script}}&quot;}"
        );
        assert_eq!(page.matches("<script").count(), 1);
    }

    #[test]
    fn the_policy_names_the_very_script_and_style_of_the_page() {
        let page = page(&json!({}));
        let between = |from: &str, to: &str| {
            let inside = page.split_once(from).unwrap().1;
            STANDARD.encode(digest(&SHA256, inside.split_once(to).unwrap().0.as_bytes()).as_ref())
        };
        let policy = policy();
        let script = between("<script type=\"module\">", "</script>");
        assert!(policy.contains(&format!("script-src 'sha256-{script}';")), "{policy}");
        let style = between("<style>", "</style>");
        assert!(policy.contains(&format!("style-src 'sha256-{style}';")), "{policy}");
        for source in ["unsafe", "http", "*"] {
            assert!(!policy.contains(source), "{policy}");
        }
    }

    #[test]
    fn the_page_names_nothing_elsewhere_and_makes_no_markup_of_text() {
        let page = page(&json!({}));
        let icon = page.find("xmlns='http://www.w3.org/2000/svg'").unwrap();
        assert_eq!(page.find("http://"), Some(icon + "xmlns='".len()));
        assert_eq!(page.matches("http://").count() + page.matches("https://").count(), 1);
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        for attribute in [" onclick=", " onload=", " style=", "javascript:"] {
            assert!(!PAGE.contains(attribute), "{attribute}");
        }
    }
}
