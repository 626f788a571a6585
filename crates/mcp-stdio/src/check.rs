//! `mcp-stdio check`: connects, says what was found, and whether the set-up would work.

use std::{
    io::Write as _,
    process::ExitCode,
    time::{Duration, Instant},
};

use api_client::{
    Method,
    request::{Request, RequestBuilder},
    transport::{Effect, Response},
};
use mcp_core::{
    Context,
    code_mode::request_for,
    context::Api,
    openapi::source::{DocumentLocation, Loaded},
    profile::Kind,
    surfaces::Surface,
};
use serde_json::{Value, value::RawValue};
use server_config::{
    config,
    settings::{AccessSettings, ApiSettings, CacheSettings, Confirm, Settings},
};

/// How long a document may take: some instances generate theirs on request.
const PATIENCE: Duration = Duration::from_secs(60);
/// What answers about the token itself in many APIs; only a documented one is asked.
const ABOUT_ME: [&str; 4] = ["/user", "/users/me", "/me", "/user/me"];
/// The most that is shown of a text from upstream.
const SHOWN: usize = 120;

/// Checks the set-up and prints what was found; status 0 when it would work, else 1.
pub(crate) fn run(settings: &Settings) -> anyhow::Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (report, works) = runtime.block_on(async {
        let context = config::context(settings)?;
        anyhow::Ok(report(settings, &context).await)
    })?;
    runtime.shutdown_background();
    // A reader that went away is no reason to fail.
    drop(writeln!(std::io::stdout(), "{}", report.lines.join("\n")));
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Lines of a heading and what stands under it.
#[derive(Debug, Default)]
struct Report {
    lines: Vec<String>,
    problems: Vec<String>,
}

impl Report {
    fn line(&mut self, heading: &str, text: &str) {
        self.lines.push(format!("{heading:<14}{text}"));
    }

    fn gap(&mut self) {
        self.lines.push(String::new());
    }

    fn problem(&mut self, heading: &str, text: String) {
        self.line(heading, &text);
        self.problems.push(text);
    }
}

async fn report(settings: &Settings, context: &Context) -> (Report, bool) {
    let mut report = Report::default();
    report.line(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    match &settings.file {
        Some(path) => report.line("file", &path.display().to_string()),
        None => report.line("file", "none"),
    }
    for warning in settings.warnings() {
        report.line("warning", &warning);
    }
    for (one, api) in settings.apis.iter().zip(&context.apis) {
        report.gap();
        about_api(&mut report, one, api, context.surface).await;
    }
    report.gap();
    for (from, to) in &settings.flows {
        report.line("flow", &format!("what was read from {from} may be sent to {to}"));
    }
    if let Some(rules) = granted(&settings.access) {
        report.line("everywhere", &rules);
    }
    for files in &settings.files {
        report.line("files", &format!("{}, from {}", files.directory.display(), files.from));
    }
    report.line("surface", context.surface.id());
    report.line(
        "confirm",
        match settings.confirm {
            Confirm::Plan => "plan",
            Confirm::Code => "code",
            Confirm::Off => "off",
        },
    );
    report.line(
        "cache",
        &match &settings.cache {
            CacheSettings::User => "the user's cache directory".to_owned(),
            CacheSettings::Directory(path) => path.display().to_string(),
            CacheSettings::Off => "off".to_owned(),
        },
    );
    for limit in &settings.limits_from {
        report.line("limit", limit);
    }
    about_sandbox(&mut report, context).await;
    let works = report.problems.is_empty();
    let verdict = match report.problems.as_slice() {
        [] => "it works".to_owned(),
        [one] => format!("it does not work: {one}"),
        several => format!("it does not work: {} problems, see above", several.len()),
    };
    report.line("result", &verdict);
    (report, works)
}

async fn about_api(report: &mut Report, one: &ApiSettings, api: &Api, surface: Surface) {
    report.line("api", &format!("{} (`{}` in scripts)", api.profile.title, api.profile.binding));
    report.line("base URL", &format!("{}, from {}", one.address.base_url, one.address.from));
    report.line(
        "credential",
        &match one.credential.setting() {
            Some(from) => format!("from {from}"),
            None => "none".to_owned(),
        },
    );
    if let Some(rules) = granted(&one.access) {
        report.line("may", &rules);
    }
    let from = one.document_from.clone().unwrap_or_else(|| "the profile".to_owned());
    report.line("document at", &format!("{}, from {from}", place(&api.profile.document)));
    let loaded = match api.document.get(Instant::now() + PATIENCE).await {
        Ok(loaded) => loaded,
        // The catalog's tools know their requests without it.
        Err(failure) if surface == Surface::Catalog => {
            report.line("document", &format!("not needed: {}", clean(api, &failure.to_string())));
            return about_token(report, one, api, None).await;
        }
        Err(failure) => return report.problem("document", clean(api, &failure.to_string())),
    };
    let document = &loaded.document;
    let title = clean(api, &format!("{} {}", document.title(), document.version()));
    let skipped = document.skipped().len();
    report.line("document", &format!("{title}: {} operations, {skipped} skipped", document.len()));
    for skipped in document.skipped().iter().take(3) {
        report.line("", &clean(api, &format!("{}: {}", skipped.place, skipped.reason)));
    }
    about_token(report, one, api, Some(&loaded)).await;
}

/// Asks the API what the credential can do, where it tells.
async fn about_token(report: &mut Report, one: &ApiSettings, api: &Api, loaded: Option<&Loaded>) {
    let Some(request) = probe(api, loaded) else {
        return report.line("token", "not tried: the API has no operation that tells about it");
    };
    let asked = format!("GET {}", request.path);
    let deadline = Instant::now() + one.network.timeout;
    match api.transport.send(&request, Effect::Read, deadline).await {
        Err(error) => report.problem("token", clean(api, &error.to_string())),
        Ok(response) => match response.status {
            200..=299 => report.line("token", &clean(api, &told(api.profile.kind, &response))),
            status @ (401 | 403) => {
                let setting = one.credential.setting();
                let name = setting.as_deref().unwrap_or("there is no credential, and");
                report.problem(
                    "token",
                    format!(
                        "{name} is refused: {asked} answers {status}: {}",
                        reason(api, &response)
                    ),
                );
            }
            status @ 500.. => report.problem("token", format!("{asked} answers {status}")),
            status => report.line("token", &format!("not told: {asked} answers {status}")),
        },
    }
}

/// A cheap reading request whose answer tells about the credential.
fn probe(api: &Api, loaded: Option<&Loaded>) -> Option<Request> {
    let fixed = |path: &str| RequestBuilder::new(Method::GET, path).build().ok();
    match api.profile.kind {
        Kind::Authentik => fixed("/core/users/me/"),
        Kind::Sentry => fixed("/api/0/"),
        Kind::Custom => ABOUT_ME.iter().find_map(|path| {
            let document = &loaded?.document;
            let found = document.route("GET", path).ok()?;
            let id = &document.summaries().get(found.operation)?.id;
            let nothing = RawValue::from_string("{}".to_owned()).ok()?;
            request_for(api, document, id, &nothing).ok()
        }),
    }
}

/// What a successful answer says of the credential.
fn told(kind: Kind, response: &Response) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let list = |pointer: &str| {
        let items = body.pointer(pointer).and_then(Value::as_array);
        items.map(|items| items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
    };
    let mut parts = vec!["accepted".to_owned()];
    let user = match kind {
        Kind::Authentik => text("/user/username"),
        Kind::Sentry => text("/user/email").or(text("/user/username")),
        Kind::Custom => text("/login").or(text("/username")).or(text("/name")),
    };
    parts.extend(user.map(|user| format!("of `{user}`")));
    match kind {
        Kind::Authentik => {
            let is_superuser = body.pointer("/user/is_superuser").and_then(Value::as_bool);
            parts.extend(is_superuser.filter(|it| *it).map(|_| "a superuser".to_owned()));
            let permissions = list("/user/system_permissions").filter(|it| !it.is_empty());
            parts.extend(permissions.map(|it| format!("permissions: {it}")));
        }
        Kind::Sentry => parts.extend(list("/auth/scopes").map(|it| format!("scopes: {it}"))),
        Kind::Custom => {
            let scopes = response.header("x-oauth-scopes").filter(|it| !it.is_empty());
            parts.extend(scopes.map(|it| format!("scopes: {it}")));
        }
    }
    parts.join(", ")
}

/// What the upstream says of a refusal.
fn reason(api: &Api, response: &Response) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let texts = ["/detail", "/message", "/error", "/error/message"];
    let text = texts.iter().find_map(|it| body.pointer(it).and_then(Value::as_str));
    clean(api, text.unwrap_or("no reason given"))
}

async fn about_sandbox(report: &mut Report, context: &Context) {
    match context.pool.protections().await {
        Ok(held) => {
            let names = [
                (held.seccomp, "seccomp"),
                (held.landlock, "landlock"),
                (held.rlimits, "resource limits"),
                (held.no_new_privs, "no new privileges"),
            ];
            let held = names.iter().filter(|(holds, _)| *holds).map(|(_, name)| *name);
            let held: Vec<_> = held.collect();
            report.line(
                "sandbox",
                &match held.is_empty() {
                    true => "one process for each script, and nothing of the kernel's".to_owned(),
                    false => held.join(", "),
                },
            );
        }
        Err(error) => report.problem("sandbox", format!("no worker starts: {}", error.message)),
    }
}

fn granted(access: &AccessSettings) -> Option<String> {
    let mut rules = Vec::new();
    if access.read_only {
        rules.push("read only".to_owned());
    }
    for (word, patterns) in [("allow", &access.allow), ("deny", &access.deny)] {
        if !patterns.is_empty() {
            let texts: Vec<_> = patterns.iter().map(|it| format!("`{}`", it.text)).collect();
            rules.push(format!("{word} {}", texts.join(" ")));
        }
    }
    (!rules.is_empty()).then(|| rules.join("; "))
}

fn place(location: &DocumentLocation) -> String {
    match location {
        DocumentLocation::File(path) => path.display().to_string(),
        DocumentLocation::Instance { path } => format!("{path} of the instance"),
        DocumentLocation::Url { url, .. } => url.to_string(),
    }
}

/// Text from upstream as one short line without the credential.
fn clean(api: &Api, text: &str) -> String {
    let masked = api.transport.mask(text);
    let plain = masked.chars().map(|it| if it.is_control() { ' ' } else { it });
    let mut shown: String = plain.clone().take(SHOWN * 3).collect();
    if plain.count() > SHOWN * 3 {
        shown.push('…');
    }
    shown
}
