//! Profiles: flame graphs of many, and the samples of one transaction or one stretch of time.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::Client;
use super::error::Error;
use super::lenient::{aligned, field, list, optional_id};

/// Stacks of many profiles, laid over each other.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Flamegraph {
    /// The SDK's platform.
    #[serde(deserialize_with = "field")]
    pub platform: Option<String>,
    /// The transaction, where one was asked for.
    #[serde(rename = "transactionName", deserialize_with = "field")]
    pub transaction_name: Option<String>,
    /// One for each thread; their samples point into the shared frames.
    #[serde(deserialize_with = "list")]
    pub profiles: Vec<SampledProfile>,
    /// What the samples point at.
    #[serde(deserialize_with = "field")]
    pub shared: Shared,
}

/// What samples point at.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Shared {
    /// The functions.
    #[serde(deserialize_with = "aligned")]
    pub frames: Vec<Frame>,
    /// Numbers of each function, in the same order.
    #[serde(deserialize_with = "aligned")]
    pub frame_infos: Vec<FrameInfo>,
    /// The profiles it was made of.
    #[serde(deserialize_with = "list")]
    pub profiles: Vec<Map<String, Value>>,
}

/// Samples of one thread.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SampledProfile {
    /// The name of the thread.
    #[serde(deserialize_with = "field")]
    pub name: Option<String>,
    /// The number of the thread.
    #[serde(rename = "threadID", deserialize_with = "optional_id")]
    pub thread_id: Option<String>,
    /// What `weights` count, as in `nanoseconds` or `count`.
    #[serde(deserialize_with = "field")]
    pub unit: Option<String>,
    /// Stacks, the outermost frame first; numbers of shared frames.
    #[serde(deserialize_with = "aligned")]
    pub samples: Vec<Vec<usize>>,
    /// What each stack weighs.
    #[serde(deserialize_with = "aligned")]
    pub weights: Vec<f64>,
    /// How long each stack took, in nanoseconds.
    #[serde(deserialize_with = "aligned")]
    pub sample_durations_ns: Vec<f64>,
    /// How often each stack was seen.
    #[serde(deserialize_with = "aligned")]
    pub sample_counts: Vec<f64>,
}

/// A function on a stack. SDKs and Sentry name its parts in different ways.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Map<String, Value>")]
pub struct Frame {
    /// The name of the function.
    pub name: Option<String>,
    /// Its file.
    pub file: Option<String>,
    /// Its module or package.
    pub module: Option<String>,
    /// The line in the file.
    pub line: Option<u64>,
    /// Whether it is the app's own code.
    pub in_app: Option<bool>,
    /// The same for the same function in any profile.
    pub fingerprint: Option<u64>,
}

impl From<Map<String, Value>> for Frame {
    fn from(fields: Map<String, Value>) -> Self {
        let text = |names: &[&str]| {
            let texts = names.iter().filter_map(|name| fields.get(*name)?.as_str());
            texts.map(str::trim).find(|it| !it.is_empty()).map(str::to_owned)
        };
        let number = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_u64());
        let flag = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_bool());
        Self {
            name: text(&["name", "function"]),
            file: text(&["file", "filename", "path", "abs_path"]),
            module: text(&["module", "image", "package"]),
            line: number(&["line", "lineno"]).filter(|line| *line > 0),
            in_app: flag(&["is_application", "in_app"]),
            fingerprint: number(&["fingerprint"]),
        }
    }
}

/// How long the calls of a function took.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct FrameInfo {
    /// How many calls.
    #[serde(deserialize_with = "field")]
    pub count: Option<f64>,
    /// Nanoseconds of all calls.
    #[serde(deserialize_with = "field")]
    pub sum_duration: Option<f64>,
    /// The same without what they called.
    #[serde(deserialize_with = "field")]
    pub sum_self_time: Option<f64>,
    /// Nanoseconds that three of four calls stay within.
    #[serde(deserialize_with = "field")]
    pub p75_duration: Option<f64>,
    /// Nanoseconds that 95 % of the calls stay within.
    #[serde(deserialize_with = "field")]
    pub p95_duration: Option<f64>,
    /// Nanoseconds that 99 % of the calls stay within.
    #[serde(deserialize_with = "field")]
    pub p99_duration: Option<f64>,
}

/// The profile of a transaction, or a stretch of a continuous one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// The profile's id.
    #[serde(deserialize_with = "optional_id")]
    pub profile_id: Option<String>,
    /// The same, as SDKs name it.
    #[serde(deserialize_with = "optional_id")]
    pub event_id: Option<String>,
    /// The continuous profiler's id.
    #[serde(deserialize_with = "optional_id")]
    pub profiler_id: Option<String>,
    /// The id of the stretch.
    #[serde(deserialize_with = "optional_id")]
    pub chunk_id: Option<String>,
    /// The SDK's platform.
    #[serde(deserialize_with = "field")]
    pub platform: Option<String>,
    /// Where it ran.
    #[serde(deserialize_with = "field")]
    pub environment: Option<String>,
    /// A version, or an object that has it.
    #[serde(deserialize_with = "field")]
    pub release: Option<Value>,
    /// When it began.
    #[serde(deserialize_with = "field")]
    pub timestamp: Option<Value>,
    /// Nanoseconds.
    #[serde(rename = "durationNS", deserialize_with = "field")]
    pub duration_ns: Option<f64>,
    /// The transaction it belongs to.
    #[serde(deserialize_with = "field")]
    pub transaction: ProfiledTransaction,
    /// The transaction's name, where Sentry has sorted the samples.
    #[serde(rename = "transactionName", deserialize_with = "field")]
    pub transaction_name: Option<String>,
    /// The samples as the SDK sent them.
    #[serde(deserialize_with = "field")]
    pub profile: Samples,
    /// The samples by thread, where Sentry has sorted them.
    #[serde(deserialize_with = "list")]
    pub profiles: Vec<SampledProfile>,
    /// What the sorted samples point at.
    #[serde(deserialize_with = "field")]
    pub shared: Shared,
}

/// The transaction of a profile.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ProfiledTransaction {
    /// Its id.
    #[serde(deserialize_with = "optional_id")]
    pub id: Option<String>,
    /// Its name.
    #[serde(deserialize_with = "field")]
    pub name: Option<String>,
    /// Its trace.
    #[serde(deserialize_with = "optional_id")]
    pub trace_id: Option<String>,
    /// The thread it ran on.
    #[serde(deserialize_with = "optional_id")]
    pub active_thread_id: Option<String>,
}

/// Samples as an SDK sends them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Samples {
    /// The functions.
    #[serde(deserialize_with = "aligned")]
    pub frames: Vec<Frame>,
    /// Stacks, the innermost frame first; numbers of frames.
    #[serde(deserialize_with = "aligned")]
    pub stacks: Vec<Vec<usize>>,
    /// What was seen when.
    #[serde(deserialize_with = "list")]
    pub samples: Vec<Sample>,
    /// Names of threads, by number.
    #[serde(deserialize_with = "field")]
    pub thread_metadata: Map<String, Value>,
}

/// One look at a thread.
#[derive(Debug, Clone, Deserialize)]
pub struct Sample {
    /// The number of the stack.
    pub stack_id: usize,
    /// The thread.
    #[serde(default, deserialize_with = "optional_id")]
    pub thread_id: Option<String>,
    /// Nanoseconds since the beginning, which SDKs write as text.
    #[serde(default, deserialize_with = "field")]
    pub elapsed_since_start_ns: Value,
    /// Seconds since 1970, in stretches of continuous profiles.
    #[serde(default, deserialize_with = "field")]
    pub timestamp: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Chunk {
    chunk: Profile,
}

/// A stretch of a continuous profile.
#[derive(Debug, Clone, Copy)]
pub struct ChunkRange<'a> {
    /// The continuous profiler's id.
    pub profiler: &'a str,
    /// The project's numeric id.
    pub project: &'a str,
    /// The first moment.
    pub start: &'a str,
    /// The last moment.
    pub end: &'a str,
}

impl Client {
    /// Lays the profiles of a project over each other.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn flamegraph(
        &self,
        organization: &str,
        project_id: &str,
        period: &str,
        query: &str,
    ) -> Result<Flamegraph, Error> {
        self.get("/api/0/organizations/{organization}/profiling/flamegraph/")
            .path("organization", organization)
            .query("project", project_id)
            .query("statsPeriod", period)
            .query("query", query)
            .entity()
            .await
    }

    /// Returns the profile of a transaction.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn transaction_profile(
        &self,
        organization: &str,
        project: &str,
        profile: &str,
    ) -> Result<Profile, Error> {
        self.get("/api/0/projects/{organization}/{project}/profiling/profiles/{profile}/")
            .path("organization", organization)
            .path("project", project)
            .path("profile", profile)
            .entity()
            .await
    }

    /// Returns a stretch of a continuous profile.
    ///
    /// # Errors
    /// A refusal, or no usable answer.
    pub async fn profile_chunk(
        &self,
        organization: &str,
        range: ChunkRange<'_>,
    ) -> Result<Profile, Error> {
        let found: Chunk = self
            .get("/api/0/organizations/{organization}/profiling/chunks/")
            .path("organization", organization)
            .query("profiler_id", range.profiler)
            .query("project", range.project)
            .query("start", range.start)
            .query("end", range.end)
            .entity()
            .await?;
        Ok(found.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Server, json};
    use super::*;

    #[tokio::test]
    async fn a_flamegraph_keeps_its_places() {
        let body = r#"{"platform":"python","transactionName":"/pay","profiles":[{"threadID":1,"unit":"nanoseconds",
            "samples":[[0,1],"x",[0,-1]],"weights":[5,null,7]},3],"shared":{"frames":[{"name":"main","is_application":true,"line":0},
            7,{"function":"pay","filename":"pay.py","lineno":4,"in_app":false,"fingerprint":9}],"frame_infos":[{"count":3,"p75Duration":1.5},null]}}"#;
        let server = Server::start(vec![json(200, body)]).await;
        let graph = server.client().flamegraph("acme", "7", "7d", "transaction:\"/pay\"").await;
        let graph = graph.unwrap();
        assert_eq!(graph.profiles[0].samples, [vec![0, 1], vec![], vec![]]);
        assert_eq!(graph.profiles[0].weights, [5.0, 0.0, 7.0]);
        let names: Vec<_> = graph.shared.frames.iter().map(|it| it.name.as_deref()).collect();
        assert_eq!(names, [Some("main"), None, Some("pay")]);
        assert_eq!(graph.shared.frames[2].line, Some(4));
        assert_eq!(graph.shared.frame_infos[0].p75_duration, Some(1.5));
        let line = "GET /api/0/organizations/acme/profiling/flamegraph/?project=7&statsPeriod=7d\
                    &query=transaction%3A%22%2Fpay%22";
        assert_eq!(server.lines(), [line]);
    }

    #[tokio::test]
    async fn a_profile_is_read_as_sent_and_a_chunk_out_of_its_envelope() {
        let body = r#"{"event_id":"ab","release":"1.0","transaction":{"name":"/pay","trace_id":"c"},
            "profile":{"frames":[{"function":"f"}],"stacks":[[0]],"thread_metadata":{"1":{"name":"main"}},
            "samples":[{"stack_id":0,"thread_id":"1","elapsed_since_start_ns":"10"},{"stack_id":-1}]}}"#;
        let chunk = r#"{"chunk":{"profiler_id":"p","profile":{"samples":[{"stack_id":0,"timestamp":1.5}]}}}"#;
        let server = Server::start(vec![json(200, body), json(200, chunk)]).await;
        let client = server.client();
        let profile = client.transaction_profile("acme", "shop", "ab").await.unwrap();
        assert_eq!((profile.event_id.as_deref(), profile.profile.samples.len()), (Some("ab"), 1));
        assert_eq!(profile.transaction.trace_id.as_deref(), Some("c"));
        let range = ChunkRange { profiler: "p", project: "7", start: "a", end: "b" };
        let chunk = client.profile_chunk("acme", range).await.unwrap();
        assert_eq!(chunk.profile.samples[0].timestamp, Some(1.5));
        assert_eq!(
            server.lines(),
            [
                "GET /api/0/projects/acme/shop/profiling/profiles/ab/",
                "GET /api/0/organizations/acme/profiling/chunks/?profiler_id=p&project=7&start=a&end=b",
            ]
        );
    }
}
