//! `api.paginate`: follows pages until the end, the budget, or a page that does not move on.

use serde_json::{Map, Value, json, value::RawValue};

use api_client::{
    pagination::{self, Next, Page, Visited},
    request::Location,
};

use crate::{
    context::Api,
    openapi::{Operation, source::Loaded},
    sandbox::{HostError, HostReply},
};

use super::{
    call::{self, CallForm},
    policy::{Refusal, Rule},
    region,
    response::{self, Data},
    script_api::{ScriptApi, address, refused},
};

/// Runs a whole pagination for the script.
///
/// # Errors
/// The failure of the first page. A failure further on ends with `complete: false` and what was read.
pub(super) async fn run(
    host: &ScriptApi,
    api: &Api,
    loaded: &Loaded,
    target: &str,
    arguments: Option<&RawValue>,
) -> Result<HostReply, HostError> {
    let (index, operation, mut form) = start(host, api, loaded, target, arguments)?;
    let limit = form.options.get("maxItems").and_then(Value::as_u64).map(|it| it as usize);
    if let Some(Value::String(from)) = form.options.remove("from") {
        resume(&mut form, &operation, &from, api)?;
    }
    let declared = query_names(&operation);

    let mut pages = Pages::default();
    let mut visited = Visited::default();
    loop {
        let answered = host.perform(api, loaded, index, &form.arguments()).await;
        let answered = match answered {
            Ok(answered) => answered,
            Err(error) if pages.count == 0 => return Err(error),
            Err(error) => {
                pages.stop(error.message);
                pages.next = Some(encode(&form.query));
                break;
            }
        };
        if answered.placeholder.is_some() {
            return Ok(unknown_list());
        }
        let data = Data::of(&answered.response, &api.transport);
        if answered.response.status >= 400 {
            let message = response::failure(&answered.response, &operation, &data, api);
            if pages.count == 0 {
                return Err(HostError::new("ApiError", message)
                    .with("status", answered.response.status)
                    .with("operation", operation.id.as_str()));
            }
            pages.stop(message);
            pages.next = Some(encode(&form.query));
            break;
        }
        let Some(text) = data.json_text() else {
            return Err(HostError::new(
                "TypeError",
                format!("`{}` does not answer with JSON: use `api.request`", operation.id),
            ));
        };
        let body: Value = serde_json::from_str(text).map_err(|error| {
            HostError::new("TypeError", format!("the page is not JSON: {error}"))
        })?;
        let Some(items) = pagination::items_of(&body) else {
            return Err(HostError::new(
                "TypeError",
                format!("`{}` does not answer with a list: use `api.request`", operation.id),
            ));
        };
        if !visited.is_new(answered.url.as_str(), &body) {
            pages.stop("the server answered with a page that was read already".to_owned());
            break;
        }
        pages.add(text, &items.path)?;
        if pages.total.is_none() {
            pages.total = pagination::total_of(&answered.response.headers, &body);
        }
        let next = pagination::next_page(&Page {
            url: &answered.url,
            headers: &answered.response.headers,
            body: &body,
            declared: &declared,
            first_page: first_page(&operation),
        });
        match next {
            Next::End => {
                pages.complete = true;
                break;
            }
            // A list that says nothing of further pages, and has no parameter to ask for them.
            Next::Unknown => {
                pages.complete = pages.total.is_none_or(|total| pages.items.len() as u64 >= total);
                if !pages.complete {
                    pages.stop(
                        "the answer names a larger total but no way to the next page".to_owned(),
                    );
                }
                break;
            }
            Next::Url(url) => form.query = follow(&url, api, &answered.url, &operation)?,
            Next::Query(changes) => merge(&mut form.query, changes),
        }
        if limit.is_some_and(|limit| pages.items.len() >= limit) {
            pages.next = Some(encode(&form.query));
            break;
        }
        if host.requests_left() == 0
            || host.bytes_left() == 0
            || host.deadline() <= std::time::Instant::now()
        {
            pages.stop("the script's budget of requests, bytes or time is used up".to_owned());
            pages.next = Some(encode(&form.query));
            break;
        }
    }
    Ok(pages.into_reply(limit))
}

/// The arguments that ask for the page after this one; `None` at the end, and where there are none.
pub(super) fn next_arguments(
    api: &Api,
    operation: &str,
    path: &str,
    headers: &Map<String, Value>,
    data: &RawValue,
) -> Option<Map<String, Value>> {
    let loaded = api.document.current()?;
    let operation = loaded.document.operation(loaded.document.find_id(operation)?)?;
    let body: Value = serde_json::from_str(data.get()).ok()?;
    if operation.method.as_str() != "GET" || pagination::items_of(&body).is_none() {
        return None;
    }
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    let headers: Vec<_> = headers.iter().filter_map(text).collect();
    let next = pagination::next_page(&Page {
        url: &address(&api.transport, path),
        headers: &headers,
        body: &body,
        declared: &query_names(&operation),
        first_page: first_page(&operation),
    });
    let pairs = match next {
        Next::End | Next::Unknown => return None,
        Next::Query(changes) => changes,
        Next::Url(url) => {
            let url = address(&api.transport, path).join(&url).ok()?;
            url.query_pairs().into_owned().collect()
        }
    };
    Some(pairs.into_iter().map(|(name, value)| (name, Value::String(value))).collect())
}

fn query_names(operation: &Operation) -> Vec<String> {
    let in_query = operation.parameters.iter().filter(|it| it.location == Location::Query);
    in_query.map(|it| it.name.clone()).collect()
}

/// In a rehearsal: the list of an item that is not there yet.
fn unknown_list() -> HostReply {
    let tree = json!({
        "o": "list",
        "f": { "items": { "l": "list.items" }, "complete": { "v": true }, "pages": { "v": 1 } },
    });
    let placeholder = json!({ "placeholder": { "tree": tree, "nonce": "" } });
    HostReply { json: placeholder.to_string(), big_integers: false }
}

fn start(
    host: &ScriptApi,
    api: &Api,
    loaded: &Loaded,
    target: &str,
    arguments: Option<&RawValue>,
) -> Result<(usize, Operation, CallForm), HostError> {
    const OPTIONS: &[&str] = &["maxItems", "from"];
    let policy = host.policy(api, loaded);
    let is_path = target.contains('/') && loaded.document.find_id(target).is_none();
    let (index, path_values, query) = if is_path {
        let target = target.strip_prefix("GET ").unwrap_or(target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let routed = call::local_path(path, api.transport.base_url())
            .and_then(|path| policy.route("GET", &path))
            .map_err(|refusal| host.refuse(api, "GET", target, &refusal))?;
        (routed.index, routed.values, call::parse_query(query))
    } else {
        let index =
            policy.by_id(target).map_err(|refusal| host.refuse(api, "GET", target, &refusal))?;
        (index, Vec::new(), Vec::new())
    };
    let operation = loaded
        .document
        .operation(index)
        .ok_or_else(|| HostError::new("DocumentError", "the operation cannot be read"))?;
    if operation.method.as_str() != "GET" {
        let refusal = Refusal::new(
            Rule::ReadOnly,
            format!(
                "`{}` is a {}: `api.paginate` reads lists with GET",
                operation.id,
                operation.method.as_str()
            ),
        );
        return Err(host.refuse(api, operation.method.as_str(), &operation.path, &refusal));
    }
    let mut form = call::sort_arguments(&operation, arguments, OPTIONS)?;
    form.path.extend(path_values.into_iter().map(|(name, value)| (name, Value::String(value))));
    form.query.splice(0..0, query);
    Ok((index, operation, form))
}

/// Where the operation numbers its pages from: 1, unless its page parameter starts at 0.
fn first_page(operation: &Operation) -> u64 {
    let counts_from_zero = operation.parameters.iter().any(|it| {
        matches!(it.name.as_str(), "page" | "page_number" | "pageNumber")
            && [it.schema.get("default"), it.schema.get("minimum")].contains(&Some(&json!(0)))
    });
    u64::from(!counts_from_zero)
}

/// What the pages brought.
#[derive(Debug, Default)]
struct Pages {
    items: Vec<Box<RawValue>>,
    total: Option<u64>,
    count: usize,
    complete: bool,
    next: Option<String>,
    stopped: Option<String>,
}

impl Pages {
    fn add(&mut self, text: &str, path: &[&str]) -> Result<(), HostError> {
        let array = raw_at(text, path)
            .and_then(|raw| serde_json::from_str::<Vec<Box<RawValue>>>(raw.get()).ok())
            .ok_or_else(|| HostError::new("TypeError", "the page's list cannot be read"))?;
        self.items.extend(array);
        self.count += 1;
        Ok(())
    }

    fn stop(&mut self, reason: String) {
        self.complete = false;
        self.stopped = Some(reason);
    }

    fn into_reply(mut self, limit: Option<usize>) -> HostReply {
        if let Some(limit) = limit
            && self.items.len() > limit
        {
            self.items.truncate(limit);
            self.complete = false;
        }
        let mut json = String::from("{\"items\":[");
        for (at, item) in self.items.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            json.push_str(item.get());
        }
        json.push(']');
        let mut rest = Map::new();
        if let Some(total) = self.total {
            rest.insert("total".to_owned(), json!(total));
        }
        rest.insert("complete".to_owned(), json!(self.complete));
        rest.insert("pages".to_owned(), json!(self.count));
        if let Some(next) = self.next {
            rest.insert("next".to_owned(), json!(next));
        }
        if let Some(stopped) = self.stopped {
            rest.insert("stopped".to_owned(), json!(stopped));
        }
        let rest = Value::Object(rest).to_string();
        json.push(',');
        json.push_str(rest.strip_prefix('{').unwrap_or("}"));
        let big_integers = response::has_big_integers(&json);
        HostReply { json, big_integers }
    }
}

/// The value behind some keys, with its exact text.
fn raw_at(text: &str, path: &[&str]) -> Option<Box<RawValue>> {
    let mut raw: Box<RawValue> = serde_json::from_str(text).ok()?;
    for key in path {
        let mut fields: indexmap::IndexMap<String, Box<RawValue>> =
            serde_json::from_str(raw.get()).ok()?;
        raw = fields.swap_remove(*key)?;
    }
    Some(raw)
}

/// The query of a next link, which must lead to the same route of the same API.
fn follow(
    url: &str,
    api: &Api,
    from: &url::Url,
    operation: &Operation,
) -> Result<Vec<(String, Value)>, HostError> {
    let refuse = || {
        refused(&Refusal::new(
            Rule::Origin,
            format!(
                "the next link of `{}` leads to another place than the list; it was not followed",
                operation.id
            ),
        ))
    };
    let target = from.join(url).map_err(|_| refuse())?;
    let same_place = region::is_home(api, &target)
        && target.path().trim_end_matches('/') == from.path().trim_end_matches('/');
    if !same_place {
        return Err(refuse());
    }
    Ok(target
        .query_pairs()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect())
}

/// Sets the query to what an earlier `next` said.
fn resume(
    form: &mut CallForm,
    operation: &Operation,
    from: &str,
    api: &Api,
) -> Result<(), HostError> {
    if from.starts_with("http") {
        let url = url::Url::parse(from).map_err(|_| {
            HostError::new("TypeError", "`from` must be the `next` of an earlier answer")
        })?;
        if !region::is_home(api, &url) {
            return Err(HostError::new(
                "RefusedError",
                format!("`from` of `{}` leads elsewhere", operation.id),
            ));
        }
        merge(&mut form.query, pairs(url.query().unwrap_or_default()));
    } else {
        merge(&mut form.query, pairs(from));
    }
    Ok(())
}

fn pairs(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.trim_start_matches('?').as_bytes()).into_owned().collect()
}

fn merge(query: &mut Vec<(String, Value)>, changes: Vec<(String, String)>) {
    for (name, _) in &changes {
        query.retain(|(known, _)| known != name);
    }
    query.extend(changes.into_iter().map(|(name, value)| (name, Value::String(value))));
}

fn encode(query: &[(String, Value)]) -> String {
    let mut text = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in query {
        text.append_pair(name, value.as_str().unwrap_or(&value.to_string()));
    }
    text.finish()
}
