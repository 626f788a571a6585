//! A session against a mock Sentry on a real socket, for the tests in the tools' own files.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use api_client::{
    auth::{Credential, SecretSource},
    sentry::docs::Docs,
    transport::{Transport, TransportOptions},
};
use async_trait::async_trait;
use mocks::{Action, Fault, Mock, Phase, Running, World};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

use crate::{
    agents::{AgentFailure, QueryAgent, Question, Translated},
    caller::{Answer, Caller},
    code_mode::policy::Access,
    constraints::Constraints,
    context::{Api, Clock, Context, Identity},
    docs::DocsSource,
    openapi::source::{DocumentLocation, DocumentSource, SourceOptions},
    output::{Content, Part},
    profile::Profile,
    sandbox::{Pool, PoolOptions},
    session::Session,
    skill::Skills,
    special,
    surfaces::Surface,
};

/// A mock Sentry, and what a session with it is made of.
pub(crate) struct Sentry {
    pub(crate) mock: Running,
    context: Context,
}

impl Sentry {
    /// The seeded world: the organization `harbor-lantern` with its projects and teams.
    pub(crate) fn new() -> Self {
        Self::with_faults(Vec::new())
    }

    /// The same, where one route answers something else.
    pub(crate) fn with_fault(fault: Fault) -> Self {
        Self::with_faults(vec![fault])
    }

    /// The same, where several do.
    pub(crate) fn with_faults(faults: Vec<Fault>) -> Self {
        let mock = Mock::start(World { faults, ..World::sentry() }).unwrap();
        let context = context(&mock.base_url, &mock.token);
        Self { mock, context }
    }

    /// Pins the session to an organization, and perhaps to a project.
    pub(crate) fn pinned(self, organization: &str, project: Option<&str>) -> Self {
        self.constrained(Constraints {
            organization: Some(organization.to_owned()),
            project: project.map(str::to_owned),
            ..Constraints::default()
        })
    }

    /// Pins the session.
    pub(crate) fn constrained(mut self, constraints: Constraints) -> Self {
        self.context.constraints = constraints;
        self
    }

    /// Grants these skills alone.
    pub(crate) fn skills(mut self, names: &str) -> Self {
        self.context.skills = Skills::parse(names).unwrap();
        self
    }

    /// Grants no writing.
    pub(crate) fn read_only(mut self) -> Self {
        self.context.access = Access { read_only: true, ..Access::default() };
        self
    }

    /// Shows this surface.
    pub(crate) fn surface(mut self, surface: Surface) -> Self {
        self.context.surface = surface;
        self
    }

    /// Takes the documentation from there.
    pub(crate) fn docs(mut self, pages: &Pages) -> Self {
        let base: url::Url = pages.base_url.parse().unwrap();
        let transport = Transport::new(TransportOptions::new(base.clone())).unwrap();
        self.context.docs = Some(DocsSource::new(Docs::new(transport)).mirrored_at(base));
        self
    }

    /// Has an agent that always answers this.
    pub(crate) fn agent(self, answer: Result<Translated, AgentFailure>) -> Self {
        self.with(|context| context.agent = Some(Arc::new(FakeAgent(answer))))
    }

    /// Changes the context in another way.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Context)) -> Self {
        change(&mut self.context);
        self
    }

    /// The session, as the server would make it.
    pub(crate) fn session(&self) -> Session {
        Session::new(self.context.clone())
    }

    /// Names of the tools of `tools/list`.
    pub(crate) fn shown(&self) -> Vec<&'static str> {
        self.session().shown().iter().map(|it| it.definition.name).collect()
    }

    /// Calls a tool the way a client would: directly where it is shown, else through the gateway.
    pub(crate) async fn content(&self, tool: &str, arguments: Value) -> Content {
        let session = self.session();
        let is_shown = session.shown().iter().any(|it| it.definition.name == tool);
        let (name, arguments) = if is_shown {
            (tool, arguments)
        } else {
            (special::EXECUTE, json!({ "name": tool, "arguments": arguments }))
        };
        let arguments: Map<_, _> = serde_json::from_value(arguments).unwrap();
        let content = session.call(name, arguments, &Silent::default()).await.unwrap();
        if let Some(structured) = &content.structured {
            assert!(!content.is_error, "an error is text alone");
            let text: Value = serde_json::from_str(&content.text).unwrap();
            assert_eq!(text, *structured, "the text is the same as the structured answer");
        }
        content
    }

    /// The requests that were sent and the answer, for a snapshot; what moves has a fixed name.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> String {
        let content = self.content(tool, arguments).await;
        let kind = match (&content.structured, content.is_error) {
            (Some(_), _) => "structured",
            (None, true) => "error",
            (None, false) => "text",
        };
        let mut shown = self.requests();
        shown.push(format!("--- {kind}"));
        shown.push(content.text);
        shown.extend(content.parts.iter().map(show));
        self.still(&shown.join("\n"))
    }

    /// The structured answer of a call that must succeed.
    pub(crate) async fn call_structured(&self, tool: &str, arguments: Value) -> Value {
        let content = self.content(tool, arguments).await;
        content.structured.unwrap_or_else(|| panic!("no structured answer: {}", content.text))
    }

    /// The text of a call that must fail.
    pub(crate) async fn call_failing(&self, tool: &str, arguments: Value) -> String {
        let content = self.content(tool, arguments).await;
        assert!(content.is_error, "expected a failure: {}", content.text);
        self.still(&content.text)
    }

    /// Every request so far, with its body where it has one.
    pub(crate) fn requests(&self) -> Vec<String> {
        let shown = |entry: mocks::Entry| {
            let query =
                if entry.query.is_empty() { String::new() } else { format!("?{}", entry.query) };
            let body = entry.body.map(|body| format!(" {body}")).unwrap_or_default();
            format!("{} {}{query}{body}", entry.method, entry.path)
        };
        self.mock.log().into_iter().map(shown).collect()
    }

    /// Puts fixed names in place of what differs from run to run: the port, random marks.
    fn still(&self, text: &str) -> String {
        let mut text = text.replace(&self.mock.base_url, "http://sentry.test");
        if let Some((_, after)) = text.split_once("Event ID: ") {
            let event: String = after.chars().take_while(|it| it.is_ascii_alphanumeric()).collect();
            text = text.replace(&event, "EVENT");
        }
        let marks: Vec<String> = text
            .split("up to the mark ")
            .skip(1)
            .map(|after| after.chars().take_while(|it| it.is_ascii_alphanumeric()).collect())
            .collect();
        marks.iter().fold(text, |text, mark| text.replace(mark, "MARK"))
    }
}

fn show(part: &Part) -> String {
    match part {
        Part::Text(text) => text.clone(),
        Part::Image { mime_type, data } => format!("[image {mime_type}, {} letters]", data.len()),
        Part::File { uri, mime_type, data } => {
            format!("[file {uri}, {mime_type}, {} letters]", data.len())
        }
    }
}

/// One route that answers something else. Placeholders may have any name: `/api/0/projects/{o}/{p}/`.
pub(crate) fn fault(method: &str, route: &str, status: u16, body: &str) -> Fault {
    fault_with(method, route, status, "application/json", body)
}

/// The same with a content type.
pub(crate) fn fault_with(
    method: &str,
    route: &str,
    status: u16,
    content_type: &str,
    body: &str,
) -> Fault {
    let content_type = ("content-type".to_owned(), content_type.to_owned());
    let action =
        Action::Respond { status, headers: BTreeMap::from([content_type]), body: body.to_owned() };
    Fault::new("fault", method, route, Phase::Before, action)
}

/// A JSON list of so many made-up rows.
pub(crate) fn rows(count: usize, row: impl Fn(usize) -> Value) -> String {
    Value::from((0..count).map(row).collect::<Vec<_>>()).to_string()
}

/// A context for a Sentry at that address.
pub(crate) fn context(base_url: &str, token: &str) -> Context {
    let mut options = TransportOptions::new(base_url.parse().unwrap());
    options.credential =
        Credential::Bearer(SecretSource::literal("SENTRY_AUTH_TOKEN", token).unwrap());
    options.retries = false;
    let transport = Arc::new(Transport::new(options).unwrap());
    let profile = Profile::sentry();
    let document = DocumentSource::new(SourceOptions {
        title: profile.title.clone(),
        location: DocumentLocation::File("/nowhere.json".into()),
        transport: Arc::clone(&transport),
        credential_setting: None,
        cache: None,
        objection: None,
    });
    let api = Api::new(profile, transport, Arc::new(document));
    let identity = Identity { name: "sentry-mcp".to_owned(), version: "0.0.0".to_owned() };
    Context::builder(identity, Arc::new(Pool::new(PoolOptions::default())), api).build()
}

/// A web site of one answer, on a real socket.
pub(crate) struct Pages {
    base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Pages {
    pub(crate) async fn serve(status: u16, content_type: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                drop(stream.write_all(answer.as_bytes()).await);
            }
        });
        Self { base_url, requests }
    }

    /// Every request so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads a request to the end of its body.
async fn read_request(stream: &mut tokio::net::TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |it| it.trim().parse().unwrap());
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => text.push_str(&String::from_utf8_lossy(&buffer[..read])),
            _ => return text,
        }
    }
}

/// A clock on which waiting takes no time.
#[derive(Debug)]
pub(crate) struct Leap(Mutex<SystemTime>);

impl Leap {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Self::begin())))
    }

    /// When it begins: the present of the mock's world.
    fn begin() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_777_885_200)
    }

    /// How much was waited.
    pub(crate) fn waited(&self) -> Duration {
        self.now().duration_since(Self::begin()).unwrap()
    }
}

#[async_trait]
impl Clock for Leap {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap()
    }

    async fn sleep(&self, duration: Duration) {
        *self.0.lock().unwrap() += duration;
        tokio::task::yield_now().await;
    }
}

/// An agent whose answer is known beforehand.
#[derive(Debug)]
struct FakeAgent(Result<Translated, AgentFailure>);

#[async_trait]
impl QueryAgent for FakeAgent {
    async fn translate(&self, question: &Question<'_>) -> Result<Translated, AgentFailure> {
        assert!(!question.organization.is_empty());
        self.0.clone()
    }
}

/// A client that hears nothing and says nothing.
#[derive(Default)]
pub(crate) struct Silent(CancellationToken);

#[async_trait]
impl Caller for Silent {
    fn cancelled(&self) -> &CancellationToken {
        &self.0
    }

    fn wants_progress(&self) -> bool {
        false
    }

    async fn progress(&self, _step: f64, _message: &str) {}

    async fn ask(&self, _question: &str) -> Answer {
        Answer::Unavailable
    }
}
