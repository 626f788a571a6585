//! Deterministic ids and choices: the same seed gives the same world.

use std::collections::BTreeMap;

/// A small seeded generator (SplitMix64); streams with different names are independent.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, stream: &str) -> Self {
        let mixed = stream.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(mixed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `limit` (0 when the limit is 0).
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    pub(crate) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = self.below(choices.len() as u64);
        usize::try_from(index).ok().and_then(|at| choices.get(at)).copied().unwrap_or_default()
    }

    /// Lower-case hex digits.
    pub(crate) fn hex(&mut self, digits: usize) -> String {
        let words = digits.div_ceil(16);
        let mut text: String = (0..words).map(|_| format!("{:016x}", self.next())).collect();
        text.truncate(digits);
        text
    }
}

/// Issues ids, per kind; an id is never issued twice, so "deleted and made again" shows.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    seed: u64,
    issued: BTreeMap<&'static str, u64>,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, issued: BTreeMap::new() }
    }

    /// Consecutive numbers; the seed decides where in the thousand above `base` they start.
    pub(crate) fn number(&mut self, kind: &'static str, base: u64) -> u64 {
        let start = Random::new(self.seed, kind).below(1_000);
        base + start + self.count(kind)
    }

    pub(crate) fn uuid(&mut self, kind: &'static str) -> String {
        let count = self.count(kind);
        let mut random = Random::new(self.seed, &format!("{kind} {count}"));
        let (high, low) = (random.next(), random.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff,
        )
    }

    fn count(&mut self, kind: &'static str) -> u64 {
        let issued = self.issued.entry(kind).or_default();
        *issued += 1;
        *issued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_ids_and_other_seeds_others() {
        let two = |seed| {
            let mut ids = Ids::new(seed);
            (ids.uuid("stage"), ids.uuid("stage"), ids.number("user", 10))
        };
        assert_eq!(two(1), two(1));
        assert_ne!(two(1), two(2));
        let (first, second, _) = two(1);
        assert_ne!(first, second);
        assert_eq!(first.len(), 36);
        assert_eq!(first.as_bytes()[14], b'4');
    }

    #[test]
    fn numbers_are_consecutive() {
        let mut ids = Ids::new(7);
        let first = ids.number("repo", 3_000);
        assert!((3_000..4_001).contains(&first));
        assert_eq!(ids.number("repo", 3_000), first + 1);
    }
}
