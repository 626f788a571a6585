//! What a script can reach: every host function of a run ends here, and only here a script's wish
//! becomes a request.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use serde_json::{Value, value::RawValue};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use api_client::{
    Method,
    error::Progress,
    request::Request,
    transport::{Effect as WireEffect, Response, Transport},
};
use url::Url;

use crate::{
    context::{Api, Context},
    openapi::{Operation, source::Loaded},
    sandbox::{Host, HostCall, HostError, HostReply},
};

use super::{
    answer, budget, call,
    files::Save,
    journal::{CallOutcome, CallRecord, Journal},
    paginate,
    plan::{self, Asked, Decision, Gate, Made, Saving, Ticket},
    policy::{CallArguments, Effect, Mode, Policy, Refusal, Sources},
    region, response,
};

/// The most characters that are kept of a refused call's path: nobody sent it, and a script may write
/// any length of it any number of times.
const LONGEST_REFUSED: usize = 1_000;

/// The host side of one run.
#[derive(Debug)]
pub(super) struct ScriptApi {
    cx: Context,
    mode: Mode,
    gate: Gate,
    deadline: Instant,
    end: CancellationToken,
    halted: OnceLock<HostError>,
    journal: Journal,
    requests: AtomicUsize,
    bytes: AtomicUsize,
    untrusted: AtomicBool,
    slots: Semaphore,
    /// Confirmed writes go out one after the other: a later one must not overtake a check.
    turn: tokio::sync::Mutex<()>,
    documents: Vec<OnceCell<Arc<Loaded>>>,
    warnings: Mutex<Vec<String>>,
    sources: Sources,
}

/// A response with what the journal and the result need to know.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) response: Response,
    pub(super) operation: Operation,
    /// Where it was sent.
    pub(super) url: Url,
    /// What the script gets in place of the body, in a rehearsal; as the worker reads it.
    pub(super) placeholder: Option<String>,
}

impl ScriptApi {
    /// The host of a run that must end by `deadline`; it cancels `end` where the run has to stop.
    pub(super) fn new(
        cx: &Context,
        mode: Mode,
        gate: Gate,
        deadline: Instant,
        end: CancellationToken,
    ) -> Self {
        Self {
            mode,
            gate,
            deadline,
            end,
            halted: OnceLock::new(),
            journal: Journal::default(),
            requests: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            untrusted: AtomicBool::new(false),
            slots: Semaphore::new(cx.limits.concurrent_requests),
            turn: tokio::sync::Mutex::default(),
            documents: cx.apis.iter().map(|_| OnceCell::new()).collect(),
            warnings: Mutex::default(),
            sources: Sources::default(),
            cx: cx.clone(),
        }
    }

    /// The calls of the run so far.
    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.journal.calls()
    }

    /// What was odd about calls that were sent all the same.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the run read text that outsiders can write.
    pub(super) fn untrusted(&self) -> bool {
        self.untrusted.load(Ordering::Relaxed)
    }

    fn api(&self, call: &HostCall) -> Result<&Arc<Api>, HostError> {
        self.cx.api(call.binding).ok_or_else(|| HostError::new("TypeError", "no such API"))
    }

    /// The API's document: the same one to the end of the run, whatever is refreshed meanwhile.
    async fn loaded(&self, api: &Api) -> Result<Arc<Loaded>, HostError> {
        let load = || async {
            let loaded = api.document.get(self.deadline).await;
            loaded.map_err(|failure| HostError::new("DocumentError", failure.to_string()))
        };
        match self.documents.get(self.binding(api)) {
            Some(pinned) => pinned.get_or_try_init(load).await.cloned(),
            None => load().await,
        }
    }

    /// Hashes of the documents that the run has used, by API; empty where it used none.
    pub(super) fn documents(&self) -> Vec<String> {
        let hash = |it: &OnceCell<Arc<Loaded>>| {
            it.get().map_or_else(String::new, |loaded| loaded.document.hash().to_owned())
        };
        self.documents.iter().map(hash).collect()
    }

    pub(super) fn policy<'a>(&'a self, api: &'a Api, loaded: &'a Loaded) -> Policy<'a> {
        Policy { api, loaded, access: &self.cx.access, mode: self.mode, surface: self.cx.surface }
    }

    async fn request(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let form = call::RequestForm::parse(arguments)?;
        let loaded = self.loaded(api).await?;
        let policy = self.policy(api, &loaded);
        let routed = call::local_path(&form.path, api.transport.base_url())
            .and_then(|path| policy.route(&form.method, &path))
            .map_err(|refusal| self.refuse(api, &form.method, &form.path, &refusal))?;
        let arguments = CallArguments {
            path: routed
                .values
                .into_iter()
                .map(|(name, value)| (name, Value::String(value)))
                .collect(),
            query: form.query,
            headers: form.headers,
            body: form.body.as_deref(),
        };
        let answered = self.perform(api, &loaded, routed.index, &arguments).await?;
        self.reply(api, &answered)
    }

    async fn call_by_id(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let (id, arguments) = named(arguments, "api.call(operationId, { ...parameters, body })")?;
        let loaded = self.loaded(api).await?;
        let index = self
            .policy(api, &loaded)
            .by_id(&id)
            .map_err(|refusal| self.refuse(api, "CALL", &id, &refusal))?;
        let operation = operation(&loaded, index)?;
        let form = call::sort_arguments(&operation, arguments.as_deref(), &[])?;
        let answered = self.perform(api, &loaded, index, &form.arguments()).await?;
        self.reply(api, &answered)
    }

    async fn paginate(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let (target, arguments) = named(
            arguments,
            "api.paginate(path | operationId, { ...parameters, maxItems, from })",
        )?;
        let loaded = self.loaded(api).await?;
        paginate::run(self, api, &loaded, &target, arguments.as_deref()).await
    }

    /// Checks, builds and sends one request; the one place where a script reaches the network.
    pub(super) async fn perform(
        &self,
        api: &Api,
        loaded: &Loaded,
        index: usize,
        arguments: &CallArguments<'_>,
    ) -> Result<Answered, HostError> {
        let policy = self.policy(api, loaded);
        let operation = operation(loaded, index)?;
        let method = operation.method.as_str().to_owned();
        let refuse = |refusal: &Refusal| self.refuse(api, &method, &operation.path, refusal);
        let effect = policy.admit(index).map_err(|it| refuse(&it))?;
        let flows = &self.cx.flows;
        self.sources.admit(flows, &api.profile.binding).map_err(|it| refuse(&it))?;
        let warnings = policy.check(&operation, arguments).map_err(|it| refuse(&it))?;
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
        let request =
            call::build(api, &loaded.document, &operation, arguments).map_err(|it| refuse(&it))?;
        policy.check_query(&request.query).map_err(|it| refuse(&it))?;
        if self.requests.fetch_add(1, Ordering::Relaxed) >= self.cx.limits.requests {
            return Err(HostError::new(
                "LimitError",
                format!(
                    "limit of {} requests in one script reached: narrow the query, or go on in another script",
                    self.cx.limits.requests
                ),
            ));
        }
        let asked = Asked {
            cx: &self.cx,
            api,
            binding: self.binding(api),
            loaded,
            index,
            operation: &operation,
            effect,
            arguments,
            request: &request,
        };
        if let Some(error) = self.halted.get() {
            self.end.cancel();
            return Err(error.clone());
        }
        match self.gate.decide(&asked) {
            Decision::Send(ticket) => self.send(&asked, &ticket).await,
            Decision::Answer(made) => Ok(self.answer(&asked, made)),
            Decision::Halt(error) => Err(self.halt(&asked, error)),
        }
    }

    /// Sends what every check has passed.
    async fn send(&self, asked: &Asked<'_>, ticket: &Ticket) -> Result<Answered, HostError> {
        let Asked { api, loaded, operation, effect, request, .. } = *asked;
        let _turn = match effect {
            Effect::Write if self.gate.is_plan() => Some(self.turn.lock().await),
            Effect::Write | Effect::Read => None,
        };
        let _slot = self.slot().await?;
        let started = Instant::now();
        let deadline = self.deadline.min(started + self.cx.limits.request);
        if let Some(before) = &ticket.before
            && !plan::still_holds(asked, before, deadline).await
        {
            let message = format!(
                "what `{} {}` would change is no longer as it was shown with the plan: it was not sent, nor was anything after it",
                request.method, request.path
            );
            return Err(self.halt(asked, HostError::new("PlanError", message)));
        }
        let with_files = match self.with_files(asked).await {
            Ok(request) => request,
            Err(error) => return Err(self.halt(asked, error)),
        };
        let request = with_files.as_ref().unwrap_or(request);
        let transport = region::transport(api, operation, asked.arguments, deadline).await;
        // Another call may have ended the run while this one waited.
        if let Some(error) = self.halted.get() {
            self.end.cancel();
            return Err(error.clone());
        }
        self.gate.starting(ticket);
        let path = path_and_query(request);
        let at = self
            .journal
            .add(CallRecord { stale: ticket.stale, ..self.record(asked, CallOutcome::Unknown) });
        let wire_effect = match effect {
            Effect::Read => WireEffect::Read,
            Effect::Write => WireEffect::Write,
        };
        let policy = self.policy(api, loaded);
        // A redirect re-enters the policy: it must lead to a read the script could have made.
        let redirect = |method: &Method, path: &str, query: &str| {
            policy.check_query(query).map_err(|it| it.message)?;
            let routed = policy.route(method.as_str(), path).map_err(|it| it.message)?;
            match policy.admit(routed.index) {
                Ok(Effect::Read) => Ok(()),
                Ok(Effect::Write) => Err("it can change things".to_owned()),
                Err(refusal) => Err(refusal.message),
            }
        };
        match transport.send_checked(request, wire_effect, deadline, &redirect).await {
            Ok(response) => {
                self.sources.note(&api.profile.binding);
                let (outcome, _) = outcome_of(Progress::Answered(response.status), effect);
                self.journal.finish(at, outcome, Some(response.status), started.elapsed());
                if outcome == CallOutcome::Unknown {
                    self.journal.check(at, check(asked));
                }
                if api.profile.outsiders_write(&operation.path) {
                    self.untrusted.store(true, Ordering::Relaxed);
                }
                let placeholder = self.gate.answered(asked, ticket, &response);
                self.account(response.body.len())?;
                let operation = operation.clone();
                Ok(Answered { response, operation, url: address(&transport, &path), placeholder })
            }
            Err(error) => {
                let (outcome, status) = outcome_of(error.progress(), effect);
                if outcome != CallOutcome::NotSent {
                    self.sources.note(&api.profile.binding);
                }
                self.journal.finish(at, outcome, status, started.elapsed());
                if outcome == CallOutcome::Unknown {
                    self.journal.check(at, check(asked));
                }
                Err(network_error(&error, operation, outcome))
            }
        }
    }

    async fn slot(&self) -> Result<SemaphorePermit<'_>, HostError> {
        let slot = self.slots.acquire().await;
        slot.map_err(|_| HostError::new("LimitError", "the run is over"))
    }

    /// Answers without sending.
    fn answer(&self, asked: &Asked<'_>, made: Made) -> Answered {
        let Made { response, placeholder, past } = made;
        // It stands for an answer that the confirmed run will have.
        self.sources.note(&asked.api.profile.binding);
        if past && asked.api.profile.outsiders_write(&asked.operation.path) {
            self.untrusted.store(true, Ordering::Relaxed);
        }
        if asked.effect == Effect::Write && !past {
            self.journal.add(self.record(asked, CallOutcome::Planned));
        }
        Answered {
            response,
            operation: asked.operation.clone(),
            url: address(&asked.api.transport, &path_and_query(asked.request)),
            placeholder,
        }
    }

    /// Lets nothing more of this run out; a script that goes on all the same is ended.
    fn halt(&self, asked: &Asked<'_>, error: HostError) -> HostError {
        self.journal.add(self.record(asked, CallOutcome::Refused));
        drop(self.halted.set(error.clone()));
        error
    }

    /// Why nothing more was sent, if so.
    pub(super) fn halted(&self) -> Option<&HostError> {
        self.halted.get()
    }

    /// What stands between the script and the network.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    fn record(&self, asked: &Asked<'_>, outcome: CallOutcome) -> CallRecord {
        let path = path_and_query(asked.request);
        CallRecord {
            api: self.api_name(asked.api),
            method: asked.request.method.to_string(),
            path: asked.api.transport.mask(&path).into_owned(),
            write: asked.effect == Effect::Write,
            ..CallRecord::new(outcome)
        }
    }

    fn binding(&self, api: &Api) -> usize {
        self.cx.apis.iter().position(|it| std::ptr::eq(&raw const **it, api)).unwrap_or_default()
    }

    /// The same request with files in the place of their handles, if it has any.
    async fn with_files(&self, asked: &Asked<'_>) -> Result<Option<Request>, HostError> {
        let Some(body) = asked.arguments.body else { return Ok(None) };
        let Some(body) = self.cx.files.expand(body).await? else { return Ok(None) };
        let arguments = CallArguments { body: Some(&body), ..asked.arguments.clone() };
        call::build(asked.api, &asked.loaded.document, asked.operation, &arguments)
            .map(Some)
            .map_err(|it| refused(&it))
    }

    /// Answers a call of `files`; saving goes by the same gate as a request that writes.
    async fn files(&self, function: &str, arguments: &str) -> Result<HostReply, HostError> {
        let _slot = self.slot().await?;
        if let Some(error) = self.halted.get() {
            self.end.cancel();
            return Err(error.clone());
        }
        if function != "save" {
            return self.cx.files.call(function, arguments).await;
        }
        let save = Save::parse(arguments)?;
        if self.mode == Mode::Read {
            return Err(refused(&Save::refusal()));
        }
        let record = |outcome| CallRecord {
            method: "SAVE".to_owned(),
            path: save.name.clone(),
            write: true,
            ..CallRecord::new(outcome)
        };
        match self.gate.save(&save) {
            Ok(Saving::Planned) => {
                self.journal.add(record(CallOutcome::Planned));
                Ok(save.reply())
            }
            Ok(Saving::Now) => {
                let at = self.journal.add(record(CallOutcome::Unknown));
                let started = Instant::now();
                let saved = self.cx.files.save(save).await;
                let outcome =
                    if saved.is_ok() { CallOutcome::Applied } else { CallOutcome::Refused };
                self.journal.finish(at, outcome, None, started.elapsed());
                saved
            }
            Err(error) => {
                self.journal.add(record(CallOutcome::Refused));
                drop(self.halted.set(error.clone()));
                Err(error)
            }
        }
    }

    /// Keeps what all responses of a run may bring into the script.
    fn account(&self, bytes: usize) -> Result<(), HostError> {
        let sum = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if sum > self.cx.limits.responses {
            return Err(HostError::new(
                "LimitError",
                format!(
                    "limit of {} MB for all responses of one script reached with this one of {bytes} bytes: ask for smaller pages or fewer fields, or go on in another script",
                    self.cx.limits.responses / 1_000_000
                ),
            ));
        }
        Ok(())
    }

    pub(super) fn reply(&self, api: &Api, answered: &Answered) -> Result<HostReply, HostError> {
        response::to_reply(answered, api)
    }

    /// A refusal, noted and worded for the script.
    pub(super) fn refuse(
        &self,
        api: &Api,
        method: &str,
        path: &str,
        refusal: &Refusal,
    ) -> HostError {
        self.journal.add(CallRecord {
            api: self.api_name(api),
            method: start_of(method, LONGEST_REFUSED),
            path: start_of(path, LONGEST_REFUSED),
            ..CallRecord::new(CallOutcome::Refused)
        });
        refused(refusal)
    }

    fn api_name(&self, api: &Api) -> Option<String> {
        (self.cx.apis.len() > 1).then(|| api.profile.binding.clone())
    }

    /// How many more requests the run may make.
    pub(super) fn requests_left(&self) -> usize {
        self.cx.limits.requests.saturating_sub(self.requests.load(Ordering::Relaxed))
    }

    /// How many more bytes of responses the run may take in.
    pub(super) fn bytes_left(&self) -> usize {
        self.cx.limits.responses.saturating_sub(self.bytes.load(Ordering::Relaxed))
    }

    /// When the run has to be over.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    async fn search(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let given: Vec<Value> = parse(arguments)?;
        let query = given.first().and_then(Value::as_str).unwrap_or_default();
        let limit = given.get(1).and_then(Value::as_u64).unwrap_or(10).clamp(1, 50);
        let loaded = self.loaded(api).await?;
        let rows = answer::rows(
            api,
            &loaded,
            &self.cx.access,
            query,
            usize::try_from(limit).unwrap_or(10),
        );
        Ok(HostReply { json: Value::Array(rows).to_string(), big_integers: false })
    }

    async fn describe(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let given: Vec<Value> = parse(arguments)?;
        let id = given.first().and_then(Value::as_str).unwrap_or_default();
        let loaded = self.loaded(api).await?;
        let Some(text) = answer::exact(api, &loaded, &self.cx.access, id) else {
            let refusal = self.policy(api, &loaded).by_id(id).err();
            let message = refusal.map_or_else(|| format!("`{id}` is not granted"), |it| it.message);
            return Err(HostError::new("RefusedError", message));
        };
        Ok(HostReply { json: Value::String(text).to_string(), big_integers: false })
    }

    async fn operations(&self, api: &Api, arguments: &str) -> Result<HostReply, HostError> {
        let given: Vec<Value> = parse(arguments)?;
        let offset = given.first().and_then(Value::as_u64).unwrap_or(0);
        let loaded = self.loaded(api).await?;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let page = answer::operations(api, &loaded, &self.cx.access, offset);
        Ok(HostReply { json: page.to_string(), big_integers: false })
    }
}

#[async_trait]
impl Host for ScriptApi {
    async fn call(&self, call: HostCall) -> Result<HostReply, HostError> {
        let arguments = call.arguments.as_str();
        if call.binding == self.cx.apis.len() {
            return self.files(&call.function, arguments).await;
        }
        let api = Arc::clone(self.api(&call)?);
        match call.function.as_str() {
            "request" => self.request(&api, arguments).await,
            "call" => self.call_by_id(&api, arguments).await,
            "paginate" => self.paginate(&api, arguments).await,
            "search" => self.search(&api, arguments).await,
            "describe" => self.describe(&api, arguments).await,
            "operations" => self.operations(&api, arguments).await,
            "budget" => {
                let json = budget::of(&api.transport).to_string();
                Ok(HostReply { json, big_integers: false })
            }
            other => {
                Err(HostError::new("TypeError", format!("`{other}` is not a function of the API")))
            }
        }
    }
}

/// What became of a call that came so far, and its status if it was answered.
fn outcome_of(progress: Progress, effect: Effect) -> (CallOutcome, Option<u16>) {
    match (progress, effect) {
        (Progress::NotSent, _) => (CallOutcome::NotSent, None),
        (Progress::Sent, Effect::Read) => (CallOutcome::Sent, None),
        (Progress::Sent, Effect::Write) => (CallOutcome::Unknown, None),
        (Progress::Answered(status), Effect::Read) => (CallOutcome::Sent, Some(status)),
        (Progress::Answered(status), Effect::Write) => {
            let outcome = match status {
                200..300 => CallOutcome::Applied,
                307 | 308 | 400..500 => CallOutcome::Refused,
                // A server that failed, or led elsewhere, may have done it all the same.
                _ => CallOutcome::Unknown,
            };
            (outcome, Some(status))
        }
    }
}

/// The path with its query.
fn path_and_query(request: &Request) -> String {
    if request.query.is_empty() {
        request.path.clone()
    } else {
        format!("{}?{}", request.path, request.query)
    }
}

/// How to find out what became of a write.
fn check(asked: &Asked<'_>) -> String {
    let reads = asked.loaded.document.find_route("GET", &asked.operation.path);
    match reads {
        Some(_) => format!("GET {}", asked.request.path),
        None => "read what it would have changed before trying again".to_owned(),
    }
}

/// The address of a request, for links that are relative to it.
pub(super) fn address(transport: &Transport, path_and_query: &str) -> Url {
    let base = transport.base_url();
    let full = format!("{}{path_and_query}", base.as_str().trim_end_matches('/'));
    Url::parse(&full).unwrap_or_else(|_| base.clone())
}

fn operation(loaded: &Loaded, index: usize) -> Result<Operation, HostError> {
    loaded.document.operation(index).ok_or_else(|| {
        HostError::new("DocumentError", "the operation cannot be read from the document")
    })
}

/// The start of a text, with a mark where the rest is left out.
fn start_of(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    match end.and_then(|end| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

/// What a script catches when a request was refused.
pub(super) fn refused(refusal: &Refusal) -> HostError {
    HostError::new("RefusedError", refusal.message.clone())
        .with("status", 403)
        .with("refused", true)
        .with("rule", refusal.rule.name())
}

fn named(arguments: &str, usage: &str) -> Result<(String, Option<Box<RawValue>>), HostError> {
    let wrong = || HostError::new("TypeError", format!("write `{usage}`"));
    let mut given =
        serde_json::from_str::<Vec<Box<RawValue>>>(arguments).map_err(|_| wrong())?.into_iter();
    let name = given.next().ok_or_else(wrong)?;
    let name: String = serde_json::from_str(name.get()).map_err(|_| wrong())?;
    Ok((name, given.next()))
}

fn parse(arguments: &str) -> Result<Vec<Value>, HostError> {
    serde_json::from_str(arguments).map_err(|error| {
        HostError::new("TypeError", format!("the arguments are not JSON: {error}"))
    })
}

fn network_error(
    error: &api_client::error::Error,
    operation: &Operation,
    outcome: CallOutcome,
) -> HostError {
    let mut message = error.to_string();
    if outcome == CallOutcome::Unknown {
        message.push_str(
            "; it may have happened all the same: read the present state before trying again",
        );
    }
    HostError::new("NetworkError", message)
        .with("operation", operation.id.as_str())
        .with("outcomeUnknown", outcome == CallOutcome::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_refused_path_ends_with_a_mark() {
        assert_eq!(start_of("/a", 2), "/a");
        assert_eq!(start_of("/äöü", 2), "/ä…");
    }
}
