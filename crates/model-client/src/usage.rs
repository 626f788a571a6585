//! What a request cost, in four parts that are never mixed.

use serde::{Deserialize, Serialize};

/// Tokens of one request or of several. `None` where a provider does not say: unknown is not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input that came from no cache and went into none.
    pub uncached_input: Option<u64>,
    /// Input that was written to a cache.
    pub cache_creation: Option<u64>,
    /// Input that was read from a cache.
    pub cache_read: Option<u64>,
    /// Output, thoughts included.
    pub output: Option<u64>,
    /// The part of the output that is thoughts.
    pub reasoning_output: Option<u64>,
    /// How many requests were answered.
    pub requests: u32,
}

impl Usage {
    /// Adds what another request cost. A part that one of them does not know is unknown in the sum.
    pub fn add(&mut self, other: &Self) {
        if self.requests == 0 {
            *self = *other;
            return;
        }
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        *self = Self {
            uncached_input: sum(self.uncached_input, other.uncached_input),
            cache_creation: sum(self.cache_creation, other.cache_creation),
            cache_read: sum(self.cache_read, other.cache_read),
            output: sum(self.output, other.output),
            reasoning_output: sum(self.reasoning_output, other.reasoning_output),
            requests: self.requests.saturating_add(other.requests),
        };
    }

    /// All input, where at least the uncached part is known.
    pub fn total_input(&self) -> Option<u64> {
        let cached = self.cache_creation.unwrap_or(0) + self.cache_read.unwrap_or(0);
        Some(self.uncached_input? + cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_one_request_does_not_tell_is_unknown_in_the_sum() {
        let told = Usage {
            uncached_input: Some(3),
            cache_creation: Some(0),
            cache_read: Some(5),
            output: Some(7),
            reasoning_output: None,
            requests: 1,
        };
        let mut sum = Usage::default();
        sum.add(&told);
        assert_eq!(sum, told);
        sum.add(&Usage { cache_creation: None, ..told });
        assert_eq!((sum.uncached_input, sum.cache_read, sum.output), (Some(6), Some(10), Some(14)));
        assert_eq!((sum.cache_creation, sum.reasoning_output, sum.requests), (None, None, 2));
        assert_eq!(sum.total_input(), Some(16));
    }
}
