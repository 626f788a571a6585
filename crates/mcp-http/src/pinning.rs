//! The organization and project that a request is limited to: looked up once with the caller's own
//! credential, then kept for a while.

use std::time::{Duration, Instant};

use api_client::sentry::{Client, error::Error, projects::Project, region};
use http::{StatusCode, header};
use mcp_core::{Context, constraints::Capabilities, profile::Kind};
use serde::{Deserialize, Serialize};

use crate::{memo::Memo, refusal::Refusal};

/// How long an answer counts.
const LIFETIME: Duration = Duration::from_secs(15 * 60);
/// How long Sentry may take to say that there is such an organization.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what a project can do is waited for; without it no tool is left out.
const PROJECT_PATIENCE: Duration = Duration::from_secs(5);

/// What is known of an organization or a project that is there.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Found {
    region: Option<String>,
    capabilities: Option<Abilities>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Abilities {
    profiles: bool,
    replays: bool,
    logs: bool,
    traces: bool,
}

/// Makes sure that what the context is limited to is there for this caller, and adds what is known of
/// it. `challenge` asks for another credential, where the caller brought the one that is used.
///
/// # Errors
/// There is no such organization or project for this credential, or nobody can tell.
pub(crate) async fn verify(
    cx: &mut Context,
    memo: &dyn Memo,
    challenge: Option<&str>,
) -> Result<(), Refusal> {
    let sentry = cx.apis.iter().find(|api| api.profile.kind == Kind::Sentry);
    let (Some(sentry), Some(organization)) = (sentry, cx.constraints.organization.clone()) else {
        return Ok(());
    };
    let project = cx.constraints.project.clone();
    let client = Client::new(sentry.transport.as_ref().clone(), Instant::now() + PATIENCE);
    let name = project.as_deref().unwrap_or_default();
    let key = format!("{}\n{}\n{organization}\n{name}", cx.caller, client.base_url());
    let kept = memo.recall(&key).await.and_then(|text| serde_json::from_str(&text).ok());
    let found: Found = match kept {
        Some(found) => found,
        None => {
            let (found, is_whole) = look_up(&client, &organization, project.as_deref())
                .await
                .map_err(|(what, error)| refusal(&what, &error, challenge))?;
            if let (true, Ok(text)) = (is_whole, serde_json::to_string(&found)) {
                memo.keep(&key, text, LIFETIME).await;
            }
            found
        }
    };
    cx.constraints.region = found.region;
    cx.constraints.capabilities = found.capabilities.map(Into::into);
    Ok(())
}

/// Asks Sentry; with whether the answer is all there is to know.
async fn look_up(
    client: &Client,
    organization: &str,
    project: Option<&str>,
) -> Result<(Found, bool), (String, Error)> {
    let fault = |error| (format!("organization `{organization}`"), error);
    let answer = client.organization(organization).await.map_err(fault)?;
    // A region that tools could not name is looked up by them.
    let region = answer.region_url().and_then(|it| region::named(client.base_url(), it).ok());
    let mut found = Found {
        region: region.as_ref().map(|it| it.as_str().trim_end_matches('/').to_owned()),
        capabilities: None,
    };
    let Some(project) = project else { return Ok((found, true)) };
    let fault = |error| (format!("project `{organization}/{project}`"), error);
    let host = match &region {
        Some(region) => client.at(region).map_err(|error| fault(error.into()))?,
        None => client.clone(),
    };
    match tokio::time::timeout(PROJECT_PATIENCE, host.project(organization, project)).await {
        Ok(answer) => {
            found.capabilities = Some(Abilities::from(&answer.map_err(fault)?));
            Ok((found, true))
        }
        Err(_) => Ok((found, false)),
    }
}

fn refusal(what: &str, error: &Error, challenge: Option<&str>) -> Refusal {
    match (error.status(), challenge) {
        (Some(404), _) => Refusal::not_found(format!("there is no {what} for this credential")),
        (Some(401), Some(challenge)) => {
            let message = "Sentry does not accept the token: send one that has not expired";
            Refusal::new(StatusCode::UNAUTHORIZED, message)
                .header(header::WWW_AUTHENTICATE, challenge)
        }
        (Some(403), _) => Refusal::forbidden(format!("this credential may not see the {what}")),
        _ => {
            tracing::warn!(%error, "what a request is limited to cannot be looked up");
            let message = format!("nobody can tell whether there is the {what}: try again later");
            Refusal::busy(StatusCode::BAD_GATEWAY, 5, message)
        }
    }
}

impl From<&Project> for Abilities {
    fn from(project: &Project) -> Self {
        Self {
            profiles: project.has_profiles == Some(true),
            replays: project.has_replays == Some(true),
            logs: project.has_logs == Some(true),
            traces: project.first_transaction_event == Some(true),
        }
    }
}

impl From<Abilities> for Capabilities {
    fn from(it: Abilities) -> Self {
        Self { profiles: it.profiles, replays: it.replays, logs: it.logs, traces: it.traces }
    }
}
