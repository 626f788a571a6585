//! Across APIs: what a script read from one may be sent to another only where the operator said so.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use super::{Refusal, Rule};

/// The flows the operator allows between APIs; by default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flows {
    allowed: BTreeSet<(String, String)>,
}

impl Flows {
    /// Whether what was read from `from` may be sent to `to`.
    pub fn allows(&self, from: &str, to: &str) -> bool {
        from == to || self.allowed.iter().any(|(one, other)| one == from && other == to)
    }
}

impl FromIterator<(String, String)> for Flows {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self { allowed: pairs.into_iter().collect() }
    }
}

/// The APIs that a run has had answers from. An answer to a write is one, and so is a failure: the
/// script can read it.
#[derive(Debug, Default)]
pub(in crate::code_mode) struct Sources {
    names: Mutex<BTreeSet<String>>,
}

impl Sources {
    /// Whether a request to `to` may be sent after all that was read.
    ///
    /// # Errors
    /// Names the API whose answers must not get there, and what the operator could add.
    pub(in crate::code_mode) fn admit(&self, flows: &Flows, to: &str) -> Result<(), Refusal> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(from) = names.iter().find(|from| !flows.allows(from, to)) else {
            return Ok(());
        };
        Err(Refusal::new(
            Rule::Flow,
            format!(
                "this script has read from `{from}`, and the configuration lets nothing of that go to `{to}`: nothing was sent; use another script for `{to}`, or ask the operator for `[[flow]] from = \"{from}\" to = \"{to}\"`"
            ),
        ))
    }

    /// Notes an answer of `from`.
    pub(in crate::code_mode) fn note(&self, from: &str) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if !names.contains(from) {
            names.insert(from.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(pairs: &[(&str, &str)]) -> Flows {
        pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
    }

    #[test]
    fn a_flow_has_a_direction_and_is_not_passed_on() {
        let flows = flows(&[("a", "b"), ("b", "c")]);
        let sources = Sources::default();
        assert_eq!(sources.admit(&flows, "c"), Ok(()), "nothing was read yet");
        sources.note("a");
        assert_eq!(sources.admit(&flows, "a"), Ok(()));
        assert_eq!(sources.admit(&flows, "b"), Ok(()));
        sources.note("b");
        let refusal = sources.admit(&flows, "c").unwrap_err();
        assert_eq!(refusal.rule, Rule::Flow);
        assert!(refusal.message.contains("`[[flow]] from = \"a\" to = \"c\"`"), "{refusal}");
        assert!(sources.admit(&flows, "a").is_err(), "b to a is the other direction");
    }
}
