//! The stacks of a profile, in whichever form Sentry hands them out: which were seen, how often, and
//! how long they took.

use std::collections::HashMap;

use api_client::sentry::profiles::{Flamegraph, Frame, Profile, SampledProfile, Samples, Shared};
use serde_json::Value;

/// Frames of a stack that count; of deeper ones the outermost are left out.
const DEEPEST: usize = 500;

/// A stack that was seen, and what it weighs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stack {
    /// Places of frames, the outermost first.
    pub(super) frames: Vec<usize>,
    /// How often it was seen.
    pub(super) samples: f64,
    /// How long it took, where that is known.
    pub(super) nanoseconds: f64,
}

/// A thread that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thread {
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) samples: f64,
}

/// All stacks of a profile.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    pub(super) frames: Vec<Frame>,
    pub(super) stacks: Vec<Stack>,
    pub(super) threads: Vec<Thread>,
    /// From the first sample to the last, in nanoseconds, where that is known.
    pub(super) span: Option<f64>,
    /// Whether it is known how long stacks took, not only how often they were seen.
    timed: bool,
}

impl Stacks {
    /// Of a flame graph.
    pub(crate) fn of_flamegraph(graph: &Flamegraph) -> Self {
        Self::of_sorted(&graph.profiles, &graph.shared)
    }

    /// Of one profile, as it was sent or as Sentry has sorted it.
    pub(crate) fn of_profile(profile: &Profile) -> Self {
        if profile.profile.samples.is_empty() {
            Self::of_sorted(&profile.profiles, &profile.shared)
        } else {
            Self::of_samples(&profile.profile)
        }
    }

    fn of_sorted(profiles: &[SampledProfile], shared: &Shared) -> Self {
        let mut stacks = Self { frames: shared.frames.clone(), ..Self::default() };
        for profile in profiles {
            let amount = |list: &[f64], place: usize| {
                list.get(place).copied().filter(|it| it.is_finite() && *it >= 0.0)
            };
            let is_time = profile.unit.as_deref().is_none_or(|it| it == "nanoseconds");
            let mut seen = 0.0;
            for (place, frames) in profile.samples.iter().enumerate() {
                let samples = amount(&profile.sample_counts, place).unwrap_or(1.0);
                let weight = amount(&profile.weights, place).filter(|_| is_time);
                let time = amount(&profile.sample_durations_ns, place).or(weight);
                seen += samples;
                stacks.add(frames.iter().copied(), samples, time.unwrap_or(0.0));
            }
            let id = profile.thread_id.clone().unwrap_or_else(|| "?".to_owned());
            stacks.threads.push(Thread { id, name: profile.name.clone(), samples: seen });
        }
        stacks
    }

    fn of_samples(sent: &Samples) -> Self {
        let mut stacks = Self { frames: sent.frames.clone(), ..Self::default() };
        let mut seen: HashMap<usize, f64> = HashMap::new();
        let mut by_thread: HashMap<&str, f64> = HashMap::new();
        let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
        for sample in &sent.samples {
            *seen.entry(sample.stack_id).or_default() += 1.0;
            *by_thread.entry(sample.thread_id.as_deref().unwrap_or("?")).or_default() += 1.0;
            let at = elapsed(&sample.elapsed_since_start_ns);
            let at = at.or(sample.timestamp.map(|it| it * 1e9)).filter(|it| it.is_finite());
            if let Some(at) = at {
                (first, last) = (first.min(at), last.max(at));
            }
        }
        for (stack, samples) in seen {
            if let Some(frames) = sent.stacks.get(stack) {
                stacks.add(frames.iter().rev().copied(), samples, 0.0);
            }
        }
        let name =
            |id: &str| sent.thread_metadata.get(id)?.get("name")?.as_str().map(str::to_owned);
        let threads = by_thread.into_iter();
        stacks.threads = threads
            .map(|(id, samples)| Thread { id: id.to_owned(), name: name(id), samples })
            .collect();
        stacks.span = Some(last - first).filter(|it| it.is_finite());
        stacks.sort();
        stacks
    }

    fn add(&mut self, frames: impl Iterator<Item = usize>, samples: f64, nanoseconds: f64) {
        let known = self.frames.len();
        let mut frames: Vec<usize> = frames.filter(|it| *it < known).collect();
        if frames.is_empty() {
            return;
        }
        frames.drain(..frames.len().saturating_sub(DEEPEST));
        self.timed |= nanoseconds > 0.0;
        self.stacks.push(Stack { frames, samples, nanoseconds });
    }

    /// In an order that does not change from one look to the next.
    fn sort(&mut self) {
        self.stacks
            .sort_by(|a, b| b.samples.total_cmp(&a.samples).then_with(|| a.frames.cmp(&b.frames)));
        self.threads.sort_by(|a, b| b.samples.total_cmp(&a.samples).then_with(|| a.id.cmp(&b.id)));
    }

    /// Whether nothing was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Whether it is known how long stacks took, not only how often they were seen.
    pub(super) fn has_time(&self) -> bool {
        self.timed
    }

    /// What a stack counts for: its time, or where that is not known, how often it was seen.
    pub(super) fn weight(&self, stack: &Stack) -> f64 {
        if self.timed { stack.nanoseconds } else { stack.samples }
    }

    /// Looks that were taken.
    pub(super) fn samples(&self) -> f64 {
        self.stacks.iter().map(|it| it.samples).sum()
    }

    pub(super) fn nanoseconds(&self) -> f64 {
        self.stacks.iter().map(|it| it.nanoseconds).sum()
    }

    /// Whether a frame is the app's own.
    pub(super) fn is_own(&self, frame: usize) -> bool {
        self.frames.get(frame).is_some_and(|it| it.in_app == Some(true))
    }
}

/// SDKs write nanoseconds as text.
fn elapsed(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_come_to_the_same_stacks() {
        let sent: Profile = serde_json::from_value(json!({"profile": {
            "frames": [{"function": "main"}, {"function": "pay"}],
            "stacks": [[1, 0], [0], [9]],
            "samples": [
                {"stack_id": 0, "thread_id": 1, "elapsed_since_start_ns": "100"},
                {"stack_id": 0, "thread_id": 1, "elapsed_since_start_ns": "900"},
                {"stack_id": 1, "thread_id": 2}, {"stack_id": 2}, {"stack_id": 7}],
            "thread_metadata": {"1": {"name": "MainThread"}},
        }}))
        .unwrap();
        let sent = Stacks::of_profile(&sent);
        let stack = |frames: &[usize], samples| Stack {
            frames: frames.to_vec(),
            samples,
            nanoseconds: 0.0,
        };
        assert_eq!(sent.stacks, [stack(&[0, 1], 2.0), stack(&[0], 1.0)]);
        assert_eq!((sent.threads[0].name.as_deref(), sent.span), (Some("MainThread"), Some(800.0)));
        assert!(!sent.has_time());
        let sorted: Profile = serde_json::from_value(json!({
            "profiles": [{"name": "MainThread", "threadID": 1, "unit": "nanoseconds", "samples": [[0, 1], [0], []], "weights": [200, 100, 5]}],
            "shared": {"frames": [{"name": "main"}, {"name": "pay"}]},
        }))
        .unwrap();
        let sorted = Stacks::of_profile(&sorted);
        assert_eq!(
            sorted.stacks[0],
            Stack { frames: vec![0, 1], samples: 1.0, nanoseconds: 200.0 }
        );
        assert_eq!((sorted.nanoseconds(), sorted.stacks.len()), (300.0, 2));
    }
}
