//! `get_profile_details`: one profile by its id, or a stretch of a continuous one.

use api_client::sentry::{
    profiles::ChunkRange,
    time::{TimeRange, epoch},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    constraints::Capability,
    error::ToolError,
    params::yes,
    profiling::{self, ProfileRef, ProfileTarget},
    render::{Page, inline, is_id, profile, segment},
    skill::Skill,
    tool::{Call, CuratedTool, Markdown, Mode, Spec},
};

#[derive(Debug)]
pub(super) struct GetProfileDetails;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    #[serde(flatten)]
    named: ProfileRef,
    /// a transaction's profile
    #[schemars(length(min = 1, max = 100))]
    profile_id: Option<String>,
    /// a continuous profiler; with `start` and `end`
    #[schemars(length(min = 1, max = 100))]
    profiler_id: Option<String>,
    /// ISO 8601
    start: Option<String>,
    /// ISO 8601
    end: Option<String>,
    /// whether to leave libraries out
    #[serde(default = "yes")]
    focus_on_user_code: bool,
}

impl CuratedTool for GetProfileDetails {
    const SPEC: Spec = Spec {
        name: "get_profile_details",
        title: "Get profile details",
        description: "Show one profile: what it is of, threads, hot paths, the functions seen most. Name it by `profileUrl`; or by organization, project and `profileId`; or, for a continuous profile, by `profilerId`, `start` and `end`. For a transaction over many profiles use `get_profile`.",
        skills: &[Skill::Inspect],
        scopes: &["event:read"],
        requires: &[Capability::Profiles],
        mode: Mode::NotExperimental,
        ..Spec::READ
    };
    type Params = Params;
    type Output = Markdown;

    async fn call(&self, cx: &Call<'_>, params: Params) -> Result<Markdown, ToolError> {
        let named = params.named.named(cx)?;
        let wanted = Wanted::of(&params, &named.page)?;
        let target = named.look_up(cx).await?;
        let ProfileTarget { organization, project, project_id, sentry } = &target;
        let (found, path) = match &wanted {
            Wanted::Transaction { id } => {
                let found = sentry.transaction_profile(organization, project, id).await?;
                (found, format!("{}/flamegraph/", segment(id)))
            }
            Wanted::Stretch { profiler, start, end } => {
                let range = ChunkRange { profiler, project: project_id, start, end };
                let found = sentry.profile_chunk(organization, range).await?;
                let (profiler, start, end) = (segment(profiler), segment(start), segment(end));
                let query = format!("profilerId={profiler}&start={start}&end={end}");
                (found, format!("flamegraph/?{query}"))
            }
        };
        let path = format!("/explore/profiling/profile/{}/{path}", segment(project));
        let mut page = Page::new(wanted.title(organization));
        page.fact("Link", cx.web_url(organization, &path)).fact("Project", project);
        if let Wanted::Stretch { start, end, .. } = &wanted {
            page.fact("From", start).fact("To", end);
        }
        let trace = found.transaction.trace_id.as_deref().filter(|it| is_id(it));
        page.maybe("Trace", trace);
        page.untrusted(&profile::one(&found, params.focus_on_user_code));
        let name = found.transaction.name.as_deref().or(found.transaction_name.as_deref());
        page.next_steps([
            trace.and_then(|it| {
                cx.hint(
                    "get_trace_details",
                    &format!("see what happened meanwhile, in the trace `{it}`"),
                )
            }),
            name.and_then(|_| {
                cx.hint(
                    "get_profile",
                    "analyse all profiles of its transaction, by `transactionName`",
                )
            }),
        ]);
        Ok(page.finish())
    }
}

/// Which profile is asked for.
#[derive(Debug)]
enum Wanted {
    Transaction { id: String },
    Stretch { profiler: String, start: String, end: String },
}

impl Wanted {
    /// What the arguments say, else what the address says.
    fn of(params: &Params, page: &profiling::Page) -> Result<Self, ToolError> {
        let given = |own: &Option<String>, of_page: &Option<String>| {
            let text = own.as_deref().or(of_page.as_deref()).map(str::trim);
            text.filter(|it| !it.is_empty()).map(str::to_owned)
        };
        let both =
            "a profile is named either by `profileId`, or by `profilerId`, `start` and `end`";
        let id = given(&params.profile_id, &page.id);
        let profiler = given(&params.profiler_id, &page.profiler);
        let (start, end) = (given(&params.start, &page.start), given(&params.end, &page.end));
        match (id, profiler, start, end) {
            (Some(id), None, None, None) => Ok(Self::Transaction { id: id.replace('-', "") }),
            (None, Some(profiler), Some(start), Some(end)) => {
                let ends = TimeRange::of(None, Some(&start), Some(&end), "");
                ends.map_err(|error| ToolError::user(error.to_string()))?;
                Ok(Self::Stretch { profiler, start, end })
            }
            (Some(_), _, _, _) => {
                Err(ToolError::user("two kinds of profile are named at once").hint(both))
            }
            (None, Some(_), _, _) => Err(ToolError::user("`profilerId` needs `start` and `end`")
                .hint("a profile's address as `profileUrl` names all three")),
            (None, None, _, _) => Err(ToolError::user("no profile is named")
                .hint(both)
                .hint_tool("search_events", "find profiles, in the dataset `profiles`")),
        }
    }

    fn title(&self, organization: &str) -> String {
        match self {
            Self::Transaction { id } => format!("Profile {} in {organization}", inline(id)),
            Self::Stretch { profiler, start, end } => {
                let seconds = epoch(end).zip(epoch(start)).map(|(end, start)| end - start);
                let length = seconds.map(|it| format!(", {it} s")).unwrap_or_default();
                format!("Continuous profile {}{length} in {organization}", inline(profiler))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::{Value, json};

    use crate::test_support::{Sentry, fault};

    const PROFILE: &str = "7f3b9c2ad1e84056b1c29e7d0a4f5c86";
    const PROFILER: &str = "c2a96f0b7e314d58a0f7d3b6e5914c27";
    const ROUTE: &str = "/api/0/projects/{o}/{p}/profiling/profiles/{id}/";

    fn asked(more: Value) -> Value {
        let mut arguments =
            json!({"organizationSlug": "harbor-lantern", "projectSlugOrId": "quay-api"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    }

    fn stretch() -> Value {
        json!({"profilerId": PROFILER, "start": "2026-05-04T08:31:00Z", "end": "2026-05-04T08:31:02Z"})
    }

    #[tokio::test]
    async fn a_transactions_profile_shows_threads_paths_and_functions() {
        let arguments = asked(json!({ "profileId": PROFILE }));
        assert_snapshot!(Sentry::new().call("get_profile_details", arguments).await);
    }

    #[tokio::test]
    async fn a_stretch_of_a_continuous_profile_is_asked_for_by_its_ends() {
        assert_snapshot!(Sentry::new().call("get_profile_details", asked(stretch())).await);
    }

    #[tokio::test]
    async fn an_address_will_do_for_both_kinds() {
        let base = "https://harbor-lantern.sentry.io/explore/profiling/profile/quay-api";
        for (url, words) in [
            (
                format!("{base}/{PROFILE}/flamegraph/"),
                format!("# Profile {PROFILE} in harbor-lantern"),
            ),
            (
                format!(
                    "{base}/flamegraph/?profilerId={PROFILER}&start=2026-05-04T08:31:00.000&end=2026-05-04T08:31:02.000"
                ),
                format!("# Continuous profile {PROFILER}, 2 s in harbor-lantern"),
            ),
        ] {
            let text =
                Sentry::new().call("get_profile_details", json!({ "profileUrl": url })).await;
            assert!(text.contains(&words) && text.contains("Hot paths"), "{text}");
            let resource = Sentry::new().call("get_sentry_resource", json!({ "url": url })).await;
            assert!(resource.contains(&words), "{resource}");
        }
    }

    #[tokio::test]
    async fn an_address_of_another_project_is_refused() {
        let url = format!(
            "https://harbor-lantern.sentry.io/explore/profiling/profile/quay-api/{PROFILE}/flamegraph/"
        );
        let sentry = Sentry::new().pinned("harbor-lantern", Some("quay-web"));
        let text = sentry.call_failing("get_profile_details", json!({ "profileUrl": url })).await;
        assert!(text.contains("belongs to the project `quay-api`, not to `quay-web`"), "{text}");
    }

    #[tokio::test]
    async fn what_names_no_profile_or_two_is_refused_before_anything_is_sent() {
        let mut mixed = stretch();
        mixed["profileId"] = json!(PROFILE);
        let mut backwards = stretch();
        backwards["end"] = json!("2026-05-04T08:30:00Z");
        for (more, words) in [
            (json!({}), "No profile is named"),
            (mixed, "Two kinds of profile"),
            (
                json!({"profilerId": PROFILER, "start": "2026-05-04T08:31:00Z"}),
                "needs `start` and `end`",
            ),
            (backwards, "must lie before"),
        ] {
            let sentry = Sentry::new();
            let text = sentry.call_failing("get_profile_details", asked(more)).await;
            assert!(text.contains(words), "{text}");
            assert_eq!(sentry.requests(), Vec::<String>::new());
        }
    }

    #[tokio::test]
    async fn an_unknown_profile_is_named() {
        let arguments = asked(json!({"profileId": "0".repeat(32)}));
        assert_snapshot!(Sentry::new().call("get_profile_details", arguments).await);
    }

    #[tokio::test]
    async fn a_profile_without_samples_says_so() {
        let sentry = Sentry::with_fault(fault(
            "GET",
            ROUTE,
            200,
            r#"{"platform":"go","profile":{"samples":[]}}"#,
        ));
        let text = sentry.call("get_profile_details", asked(json!({ "profileId": PROFILE }))).await;
        assert!(text.contains("The profile has no samples."), "{text}");
    }

    #[tokio::test]
    async fn a_hundred_thousand_samples_are_bounded() {
        let frames: Vec<Value> = (0..2_000).map(|n| json!({"function": format!("step_{n}"), "filename": "steps.py", "lineno": n, "in_app": n % 3 == 0})).collect();
        let stacks: Vec<Value> = (0..3_000)
            .map(|n| json!((0..30).map(|it| (n * 7 + it * 13) % 2_000).collect::<Vec<_>>()))
            .collect();
        let samples: Vec<Value> = (0..100_000).map(|n| json!({"stack_id": n % 3_000, "thread_id": (n % 40).to_string(), "elapsed_since_start_ns": (n * 10_000).to_string()})).collect();
        let profile = json!({"platform": "python", "profile": {"frames": frames, "stacks": stacks, "samples": samples}});
        let sentry = Sentry::with_fault(fault("GET", ROUTE, 200, &profile.to_string()));
        let text = sentry.call("get_profile_details", asked(json!({ "profileId": PROFILE }))).await;
        assert!(text.len() < 26_000, "{} bytes", text.len());
        assert!(
            text.contains("100000 samples of 40 threads") && text.contains("more paths"),
            "{text}"
        );
        assert!(text.contains("… 20 more\n") && text.contains("more functions"), "{text}");
    }
}
