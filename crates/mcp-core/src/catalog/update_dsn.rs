//! `update_dsn`: changes settings of a client key.

use api_client::sentry::project_keys::{KeyChanges, LoaderOptions, ProjectKey, RateLimit};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::ToolError,
    params::{OrganizationSlug, ProjectSlug, RegionUrl, ResourceId},
    render::Page,
    skill::Skill,
    tool::{Call, CuratedTool, Effect, Markdown, Spec},
};

#[derive(Debug)]
pub(super) struct UpdateDsn;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    organization_slug: OrganizationSlug,
    region_url: Option<RegionUrl>,
    project_slug: ProjectSlug,
    /// the id that `find_dsns` gives
    key_id: ResourceId,
    #[schemars(length(max = 64))]
    name: Option<String>,
    /// whether events sent with it are taken
    is_active: Option<bool>,
    /// seconds; together with `rateLimitCount`, 0 lifts the limit
    #[schemars(range(min = 0, max = 86400))]
    rate_limit_window: Option<u64>,
    /// events in the window
    #[schemars(range(min = 0))]
    rate_limit_count: Option<u64>,
    disable_rate_limit: Option<bool>,
    /// such as latest or 10.x
    browser_sdk_version: Option<String>,
    loader_has_replay: Option<bool>,
    loader_has_performance: Option<bool>,
    loader_has_debug: Option<bool>,
    loader_has_feedback: Option<bool>,
    loader_has_logs_and_metrics: Option<bool>,
}

impl CuratedTool for UpdateDsn {
    const SPEC: Spec = Spec {
        name: "update_dsn",
        title: "Update DSN",
        description: "Change a client key (DSN): name, whether it is active, rate limit, and what the browser loader switches on. Get its id from `find_dsns` first.",
        effect: Effect::Replace,
        skills: &[Skill::ProjectManagement],
        scopes: &["project:write"],
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let loader = LoaderOptions {
            has_replay: params.loader_has_replay,
            has_performance: params.loader_has_performance,
            has_debug: params.loader_has_debug,
            has_feedback: params.loader_has_feedback,
            has_logs_and_metrics: params.loader_has_logs_and_metrics,
        };
        let changes = KeyChanges {
            name: params.name.as_deref(),
            is_active: params.is_active,
            rate_limit: rate_limit(&params)?,
            browser_sdk_version: params.browser_sdk_version.as_deref(),
            dynamic_sdk_loader_options: Some(loader).filter(|it| *it != LoaderOptions::default()),
        };
        let applied = applied(&changes);
        if applied.is_empty() {
            return Err(ToolError::user("nothing is to be changed")
                .hint("give at least one setting, such as `name` or `isActive`"));
        }
        let sentry = cx.sentry_in(params.region_url.as_deref())?;
        let (organization, project) = (&params.organization_slug, &params.project_slug);
        let key = sentry.update_key(organization, project, &params.key_id, &changes).await?;
        Ok(page(&key, &applied).finish())
    }
}

/// What becomes of the limit: nothing, another one, or none.
fn rate_limit(params: &Params) -> Result<Option<Option<RateLimit>>, ToolError> {
    let lifted = params.disable_rate_limit == Some(true);
    match (params.rate_limit_window, params.rate_limit_count) {
        (None, None) if lifted => Ok(Some(None)),
        (None, None) => Ok(None),
        (_, _) if lifted => Err(ToolError::user("`disableRateLimit` contradicts a rate limit")
            .hint("give either `disableRateLimit` or `rateLimitWindow` with `rateLimitCount`")),
        (Some(0), Some(_)) | (Some(_), Some(0)) => Ok(Some(None)),
        (Some(window), Some(count)) => Ok(Some(Some(RateLimit { window, count }))),
        (Some(_), None) | (None, Some(_)) => {
            Err(ToolError::user("`rateLimitWindow` and `rateLimitCount` belong together")
                .hint("give both, or `disableRateLimit`"))
        }
    }
}

/// The changes, in words.
fn applied(changes: &KeyChanges<'_>) -> Vec<String> {
    let switch = |name: &str, flag: Option<bool>| flag.map(|it| format!("{name}: {}", on_off(it)));
    let mut applied = Vec::new();
    applied.extend(changes.name.map(|it| format!("name: {it}")));
    applied.extend(switch("active", changes.is_active));
    applied.extend(changes.rate_limit.map(|it| format!("rate limit: {}", limit_text(it))));
    applied.extend(changes.browser_sdk_version.map(|it| format!("browser SDK: {it}")));
    if let Some(loader) = &changes.dynamic_sdk_loader_options {
        applied.extend(loader_parts(loader).filter_map(|(name, flag)| switch(name, flag)));
    }
    applied
}

fn page(key: &ProjectKey, applied: &[String]) -> Page {
    let mut page = Page::new("DSN updated");
    page.fact("ID", &key.id);
    page.maybe("Name", key.name.as_deref());
    page.maybe("DSN", key.dsn.public.as_deref());
    page.maybe("Active", key.is_active.map(on_off));
    page.fact("Rate limit", limit_text(key.rate_limit));
    page.maybe("Browser SDK", key.browser_sdk_version.as_deref());
    for (name, flag) in loader_parts(&key.dynamic_sdk_loader_options) {
        page.maybe(&format!("Loader, {name}"), flag.map(on_off));
    }
    page.heading("Changes");
    for change in applied {
        page.item(change);
    }
    page
}

fn loader_parts(loader: &LoaderOptions) -> impl Iterator<Item = (&'static str, Option<bool>)> {
    [
        ("replay", loader.has_replay),
        ("performance", loader.has_performance),
        ("debug", loader.has_debug),
        ("feedback", loader.has_feedback),
        ("logs and metrics", loader.has_logs_and_metrics),
    ]
    .into_iter()
}

fn limit_text(limit: Option<RateLimit>) -> String {
    match limit {
        Some(RateLimit { window, count }) => format!("{count} events in {window} s"),
        None => "none".to_owned(),
    }
}

fn on_off(flag: bool) -> &'static str {
    if flag { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    async fn kiosk(sentry: &Sentry, more: Value) -> Value {
        let state = sentry.mock.state();
        let mut keys = state["keys"].as_object().unwrap().values();
        let key = keys.find(|it| it["name"] == "Kiosk terminals").unwrap();
        let mut arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "keyId": key["id"],
        });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn the_key_is_shown_as_it_is_now_with_what_changed() {
        let sentry = Sentry::new();
        let more = json!({
            "isActive": true, "rateLimitWindow": 3600, "rateLimitCount": 50, "loaderHasDebug": true,
        });
        let arguments = kiosk(&sentry, more).await;
        assert_snapshot!(sentry.call("update_dsn", arguments).await);
    }

    #[tokio::test]
    async fn a_limit_is_lifted_by_a_zero_and_by_saying_so() {
        for more in
            [json!({"disableRateLimit": true}), json!({"rateLimitWindow": 0, "rateLimitCount": 5})]
        {
            let sentry = Sentry::new();
            let arguments = kiosk(&sentry, more).await;
            let answer = sentry.content("update_dsn", arguments).await.text;
            assert!(answer.contains("rate limit: none"), "{answer}");
            assert!(sentry.requests()[0].ends_with(r#"{"rateLimit":null}"#));
        }
    }

    #[tokio::test]
    async fn what_contradicts_itself_is_refused_before_anything_is_sent() {
        for (more, words) in [
            (json!({}), "Nothing is to be changed"),
            (json!({"disableRateLimit": false}), "Nothing is to be changed"),
            (json!({"rateLimitWindow": 60}), "belong together"),
            (json!({"rateLimitCount": 60}), "belong together"),
            (
                json!({"rateLimitCount": 6, "rateLimitWindow": 6, "disableRateLimit": true}),
                "contradicts",
            ),
            (json!({"rateLimitCount": 6, "rateLimitWindow": 86_401}), "`rateLimitWindow`"),
            (json!({"name": "x".repeat(65)}), "`name`"),
        ] {
            let sentry = Sentry::new();
            let arguments = kiosk(&sentry, more).await;
            let text = sentry.call_failing("update_dsn", arguments).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_key_is_the_callers_to_fix() {
        let arguments = json!({
            "organizationSlug": "harbor-lantern", "projectSlug": "quay-web", "keyId": "none", "isActive": true,
        });
        let text = Sentry::new().call_failing("update_dsn", arguments).await;
        assert!(text.contains("`keyId` `none`"), "{text}");
    }
}
