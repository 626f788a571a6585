//! Where an organization keeps its data: the region's host, looked up once, checked, and remembered.
//!
//! Only the public service has regions. A self-hosted installation is never left for another host,
//! whatever it answers.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use api_client::{
    Method,
    request::{Location, Parameter, RequestBuilder},
    transport::{Effect, Transport},
};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use crate::{context::Api, openapi::Operation, profile::Regions};

use super::policy::CallArguments;

/// A context that asks for more organizations than this starts over.
const MOST_KNOWN: usize = 1000;

type Region = Arc<OnceCell<Option<Url>>>;

/// The regions of organizations that were looked up; `None` stands for the configured host.
#[derive(Debug, Default)]
pub(crate) struct KnownRegions {
    by_organization: Mutex<HashMap<String, Region>>,
}

impl KnownRegions {
    fn of(&self, organization: &str) -> Region {
        let mut known = self.by_organization.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        Arc::clone(known.entry(organization.to_owned()).or_default())
    }
}

/// What sends a request for `operation`: the API's transport, or the same for the region's host.
pub(super) async fn transport<'a>(
    api: &'a Api,
    operation: &Operation,
    arguments: &CallArguments<'_>,
    deadline: Instant,
) -> Cow<'a, Transport> {
    let here = Cow::Borrowed(&*api.transport);
    let Some((regions, organization)) = organization(api, operation, arguments) else {
        return here;
    };
    let region = api.regions.of(&organization);
    let lookup = || look_up(api, regions, &organization, deadline);
    match region.get_or_try_init(lookup).await {
        Ok(Some(base)) => {
            let mut base = base.clone();
            base.set_path(api.transport.base_url().path());
            api.transport.with_base(base).map_or(here, Cow::Owned)
        }
        Ok(None) | Err(NoAnswer) => here,
    }
}

/// The host of an organization's region, where the service has regions and this is not the
/// configured one. What cannot be found out counts as the configured host.
pub(crate) async fn of_organization(
    api: &Api,
    organization: &str,
    deadline: Instant,
) -> Option<Url> {
    let regions = api.profile.regions.filter(|_| has_regions(api))?;
    let region = api.regions.of(organization);
    let found = region.get_or_try_init(|| look_up(api, regions, organization, deadline)).await;
    found.ok().cloned().flatten()
}

/// Whether a URL leads to the configured host, or to a region of the same service.
pub(super) fn is_home(api: &Api, url: &Url) -> bool {
    let base = api.transport.base_url();
    url.origin() == base.origin() || (has_regions(api) && is_region(api, url))
}

/// The organization whose data an operation is about, where that decides on the host.
fn organization(
    api: &Api,
    operation: &Operation,
    arguments: &CallArguments<'_>,
) -> Option<(Regions, String)> {
    let regions = api.profile.regions.filter(|_| has_regions(api))?;
    if operation.path == regions.lookup {
        return None;
    }
    let named = |(name, _): &&(String, Value)| regions.parameters.contains(&name.as_str());
    let (_, value) = arguments.path.iter().find(named)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Some((regions, text))
}

fn has_regions(api: &Api) -> bool {
    let host = api.transport.base_url().host_str().unwrap_or_default();
    api.profile.regions.is_some() && api.profile.public_hosts.contains(&host)
}

/// There was no answer worth remembering.
struct NoAnswer;

/// Asks the configured host where an organization lives.
async fn look_up(
    api: &Api,
    regions: Regions,
    organization: &str,
    deadline: Instant,
) -> Result<Option<Url>, NoAnswer> {
    let name = regions.lookup.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let parameter = Parameter::new(name.unwrap_or_default().0, Location::Path);
    let request = RequestBuilder::new(Method::GET, regions.lookup)
        .parameter(&parameter, &Value::String(organization.to_owned()))
        .build()
        .map_err(|_| NoAnswer)?;
    let response = match api.transport.send(&request, Effect::Read, deadline).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!("the region of `{organization}` was not found out: {error}");
            return Err(NoAnswer);
        }
    };
    match response.status {
        200..=299 => {}
        // Not for this token to know, or no such organization: the configured host says so itself.
        401 | 403 | 404 => return Ok(None),
        _ => return Err(NoAnswer),
    }
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let Some(named) = body.pointer(regions.pointer).and_then(Value::as_str) else {
        return Ok(None);
    };
    let region = Url::parse(named).ok().filter(|url| is_region(api, url));
    if region.is_none() {
        tracing::warn!("the region of `{organization}` is at an address outside the service");
    }
    Ok(region)
}

/// Whether an address is the bare one of a host of the same service, reached in the same way.
fn is_region(api: &Api, url: &Url) -> bool {
    let base = api.transport.base_url();
    url.scheme() == base.scheme()
        && url.port() == base.port()
        && url.username().is_empty()
        && url.password().is_none()
        && url.host_str().is_some_and(|host| api.profile.is_public_host(host))
}
