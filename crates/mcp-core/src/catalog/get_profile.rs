//! `get_profile`: where a transaction spends its time over many profiles, and what has changed.

use futures::future::try_join;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    constraints::Capability,
    error::ToolError,
    params::{Limit, Period, yes},
    profiling::{ProfileRef, ProfileTarget},
    render::{Page, inline, profile, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Mode, Spec},
};

const USUAL_PERIOD: &str = "7d";

#[derive(Debug)]
pub(super) struct GetProfile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    named: ProfileRef,
    /// as in `/api/pay`; all transactions when left out
    #[schemars(length(min = 1, max = 400))]
    transaction_name: Option<String>,
    /// how far back, as in `24h`, `7d`, `2w`; default 7d
    period: Option<Period>,
    /// a period to compare with, such as `30d`
    compare_against_period: Option<Period>,
    /// whether to leave libraries out
    #[serde(default = "yes")]
    focus_on_user_code: bool,
    #[serde(default)]
    max_hot_paths: Limit<10, 20>,
}

impl CuratedTool for GetProfile {
    const SPEC: Spec = Spec {
        name: "get_profile",
        title: "Get profile",
        description: "Analyse the profiles of a transaction as one flame graph: hot paths through the code, slow functions with percentiles, what stands out; with `compareAgainstPeriod` also what became slower or faster. For one profile by its id use `get_profile_details`.",
        skills: &[Skill::Inspect],
        scopes: &["event:read"],
        requires: &[Capability::Profiles],
        mode: Mode::NotExperimental,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let target = params.named.named(cx)?.look_up(cx).await?;
        let period = params.period.as_deref().unwrap_or(USUAL_PERIOD);
        let query = query(params.transaction_name.as_deref());
        let graph = |period: &'_ str| {
            let period = period.to_owned();
            let (target, query) = (&target, &query);
            async move {
                let ProfileTarget { sentry, organization, project_id, .. } = target;
                sentry.flamegraph(organization, project_id, &period, query).await
            }
        };
        let baseline = async {
            match params.compare_against_period.as_deref() {
                Some(period) => graph(period).await.map(Some),
                None => Ok(None),
            }
        };
        let (now, baseline) = try_join(graph(period), baseline).await?;
        let project = inline(&target.project);
        let mut page = Page::new(format!("Profiles of {project} in {}", target.organization));
        page.fact("Period", period).maybe("Compared with", params.compare_against_period.as_ref());
        if profile::is_empty(&now) {
            return Ok(nothing(page, cx, &params, period));
        }
        if let Some(id) = profile::example(&now) {
            let path = format!(
                "/explore/profiling/profile/{}/{}/flamegraph/",
                segment(&target.project),
                segment(id)
            );
            page.fact("Example", cx.web_url(&target.organization, &path));
        }
        let baseline_lacks = baseline.as_ref().is_some_and(profile::is_empty);
        let view = profile::View {
            own_code: params.focus_on_user_code,
            paths: params.max_hot_paths.get(),
        };
        let baseline = baseline.as_ref().filter(|_| !baseline_lacks);
        page.untrusted(&profile::analysis(&now, baseline, view));
        if baseline_lacks {
            page.paragraph("The period to compare with has no profiles, so nothing was compared: a longer one, or one before the SDK's update, may have some.");
        }
        let example = profile::example(&now)
            .map(|it| format!("see one of the profiles by itself, with `profileId` `{it}`"));
        page.next_steps([
            example.and_then(|it| cx.hint("get_profile_details", &it)),
            params.compare_against_period.is_none().then(|| {
                "call this again with `compareAgainstPeriod`, such as `30d`, to see what changed".to_owned()
            }),
            cx.hint("search_events", "find single profiles, in the dataset `profiles`"),
        ]);
        Ok(page.finish())
    }
}

/// Profiles of transactions, or of one; what has a meaning in Sentry's queries is escaped.
fn query(transaction: Option<&str>) -> String {
    let mut query = "event.type:transaction".to_owned();
    if let Some(name) = transaction {
        let mut quoted = String::with_capacity(name.len());
        for character in name.trim().chars() {
            if matches!(character, '"' | '\\' | '*') {
                quoted.push('\\');
            }
            quoted.push(character);
        }
        query.push_str(" transaction:\"");
        query.push_str(&quoted);
        query.push('"');
    }
    query
}

/// Why there may be nothing, and what to try.
fn nothing(mut page: Page, cx: &Call<'_>, params: &Params, period: &str) -> Markdown {
    let of = params
        .transaction_name
        .as_deref()
        .map(|it| format!(" of the transaction `{}`", inline(it)));
    page.paragraph(format!(
        "There are no profiles{} in the last {period}.",
        of.unwrap_or_default()
    ));
    page.item("The SDK may not send profiles, or so few that none fell into this period.");
    if params.transaction_name.is_some() {
        page.item("The transaction may be called otherwise: names are compared letter by letter.");
    }
    page.next_steps([
        Some("try a longer `period`, such as `30d`".to_owned()),
        params
            .transaction_name
            .is_some()
            .then(|| "leave `transactionName` out to see all of them".to_owned()),
        cx.hint("search_events", "see which transactions have profiles, in the dataset `profiles`"),
    ]);
    page.finish()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::Sentry;

    fn asked(more: Value) -> Value {
        let mut arguments = json!({"organizationSlug": "harbor-lantern", "projectSlugOrId": "quay-api", "transactionName": "/api/pay"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    #[tokio::test]
    async fn a_transaction_is_analysed_over_its_profiles() {
        assert_snapshot!(Sentry::new().call("get_profile", asked(json!({}))).await);
    }

    #[tokio::test]
    async fn a_comparison_says_what_became_slower() {
        let sentry = Sentry::new();
        let text = sentry.call("get_profile", asked(json!({"compareAgainstPeriod": "30d"}))).await;
        assert!(text.contains("+67 % charge (quay/payments/gateway.py:58)"), "{text}");
        let periods: Vec<_> =
            sentry.requests().into_iter().filter(|it| it.contains("flamegraph")).collect();
        assert!(periods.iter().any(|it| it.contains("statsPeriod=30d")), "{periods:?}");
    }

    #[tokio::test]
    async fn a_project_without_profiles_says_why_and_what_to_try() {
        let arguments = asked(json!({"projectSlugOrId": "tide-worker", "period": "24h"}));
        assert_snapshot!(Sentry::new().call("get_profile", arguments).await);
    }

    #[tokio::test]
    async fn a_baseline_without_profiles_costs_the_comparison_alone() {
        let arguments = asked(json!({"compareAgainstPeriod": "1h"}));
        let text = Sentry::new().call("get_profile", arguments).await;
        assert!(text.contains("so nothing was compared") && text.contains("Hot paths"), "{text}");
    }

    #[tokio::test]
    async fn a_number_names_the_project_without_a_look_up() {
        let sentry = Sentry::new();
        let id = sentry.mock.state();
        let projects = id["projects"].as_object().unwrap().values();
        let id = projects.into_iter().find(|it| it["slug"] == "quay-api").unwrap()["id"].clone();
        let number: u64 = id.as_str().unwrap().parse().unwrap();
        let text = sentry.call("get_profile", asked(json!({"projectSlugOrId": number}))).await;
        assert!(text.contains("Hot paths") && sentry.requests().len() == 1, "{text}");
    }

    #[tokio::test]
    async fn the_name_of_a_transaction_cannot_leave_its_quotes() {
        let sentry = Sentry::new();
        sentry.call("get_profile", asked(json!({"transactionName": "a\" OR \\*"}))).await;
        let sent = sentry.requests().pop().unwrap();
        assert!(sent.contains("transaction%3A%22a%5C%22%20OR%20%5C%5C%5C%2A%22"), "{sent}");
    }

    #[tokio::test]
    async fn what_names_no_project_is_refused_before_anything_is_sent() {
        for (arguments, words) in [
            (json!({"organizationSlug": "harbor-lantern"}), "No project is named"),
            (json!({"profileUrl": "https://acme.sentry.io/issues/A-1/"}), "but of: issue"),
            (asked(json!({"period": "7 days"})), "period"),
            (asked(json!({"maxHotPaths": 21})), "maxHotPaths"),
        ] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("get_profile", arguments).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_project_is_named() {
        let arguments = asked(json!({"projectSlugOrId": "nowhere"}));
        assert_snapshot!(Sentry::new().call("get_profile", arguments).await);
    }

    #[tokio::test]
    async fn experimental_mode_does_without_it() {
        let sentry = Sentry::new().with(|cx| cx.experimental = true);
        let text = sentry.call_failing("get_profile", asked(json!({}))).await;
        assert!(!text.contains("Hot paths"), "{text}");
    }
}
