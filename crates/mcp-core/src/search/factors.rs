//! What tells apart entries that have the same words: how they are named, and what their method does.

use super::index::{BREAK, Method, Row};
use super::rank::{GENERIC, GROUPS, OPPOSITE, Scores};
use super::thesaurus::Intent;

/// What the score of an entry's words is multiplied with.
#[derive(Debug, Default)]
pub(super) struct Factors {
    /// How much of the entry's name the question says: of two that say all of a question, the one
    /// with less besides is meant.
    precision: f32,
    /// How well its method does what the verb wants.
    intent: f32,
    head: f32,
    adjacency: f32,
    opposite: f32,
    depth: f32,
    deprecated: f32,
}

impl Factors {
    pub(super) fn named(&self) -> [(&'static str, f32); 7] {
        [
            ("precision", self.precision),
            ("intent", self.intent),
            ("head", self.head),
            ("adjacency", self.adjacency),
            ("opposite", self.opposite),
            ("depth", self.depth),
            ("deprecated", self.deprecated),
        ]
    }

    pub(super) fn product(&self) -> f32 {
        self.named().iter().map(|it| it.1).product()
    }
}

/// How well a method does what the verb of a question wants.
fn fit(intent: Intent, row: &Row) -> f32 {
    let on = |item: f32, collection: f32| if row.item { item } else { collection };
    match (intent, row.method) {
        (Intent::List, Method::Get) => on(1.1, 1.3),
        (Intent::Read, Method::Get) => on(1.3, 1.25),
        (Intent::List | Intent::Read, Method::Post) if row.reads => 1.15,
        (Intent::List | Intent::Read, Method::Delete) => 0.5,
        (Intent::List | Intent::Read, Method::Post | Method::Put | Method::Patch) => 0.7,
        (Intent::Create, Method::Post) => on(1.15, 1.3),
        (Intent::Create, Method::Put) => 1.05,
        (Intent::Create, Method::Patch) => 0.85,
        (Intent::Update, Method::Put | Method::Patch) => 1.3,
        (Intent::Update, Method::Post) => on(1.25, 1.0),
        (Intent::Create | Intent::Update, Method::Get) => 0.7,
        (Intent::Create | Intent::Update, Method::Delete) => 0.5,
        (Intent::Delete, Method::Delete) => 1.3,
        (Intent::Delete, Method::Post) => 0.9,
        (Intent::Delete, Method::Put | Method::Patch) => 0.8,
        (Intent::Delete, Method::Get) => 0.5,
        (Intent::Act, Method::Post | Method::Put | Method::Patch) => 1.25,
        (Intent::Act, Method::Delete) => 0.85,
        (Intent::Act, Method::Get) => 0.7,
        (Intent::Switch, Method::Put | Method::Patch) => 1.3,
        (Intent::Switch, Method::Post) => 1.2,
        (Intent::Switch, Method::Delete) => 0.9,
        (Intent::Switch, Method::Get) => 0.65,
        (Intent::Undo, Method::Delete) => 1.25,
        (Intent::Undo, Method::Post) => 1.2,
        (Intent::Undo, Method::Put | Method::Patch) => 1.05,
        (Intent::Undo, Method::Get) => 0.6,
        (_, Method::Other) => 0.5,
    }
}

impl Scores<'_> {
    pub(super) fn factors(&self, entry: usize) -> Factors {
        let Some(row) = self.index.rows.get(entry) else { return Factors::default() };
        let named = self.named.get(entry).copied().unwrap_or_default();
        let says = self.found.get(entry).is_some_and(|found| found & self.verbs != 0);
        let intents = self.query.intents.iter().map(|&intent| match (intent, row.method) {
            // What removes by another method says so.
            (Intent::Delete, Method::Post | Method::Put | Method::Patch) if !says => 0.5,
            _ => fit(intent, row),
        });
        // Without a verb the question more often wants to read.
        let reading = if row.method == Method::Get { 1.05 } else { 1.0 };
        Factors {
            precision: 0.55 + 0.45 * (named / row.naming.max(f32::MIN_POSITIVE)).min(1.0),
            intent: intents.reduce(f32::max).unwrap_or(reading),
            head: self.head(row),
            adjacency: self.adjacency(row),
            opposite: self.opposite(row),
            depth: 1.0 / (1.0 + 0.02 * f32::from(row.depth)),
            deprecated: if row.deprecated { 0.85 } else { 1.0 },
        }
    }

    /// Whether the path ends in what is asked for: "members" of "members of a team".
    fn head(&self, row: &Row) -> f32 {
        let information = |bits: u32| -> f32 {
            let groups = (0..).zip(self.groups);
            groups.filter(|(number, _)| bits & 1 << number != 0).map(|it| it.1.idf).sum()
        };
        let mut open = self.heads;
        let mut hit = 0.0;
        let segments = self.index.path(row).rsplit(|&word| word == BREAK);
        let telling = segments.filter(|it| !it.iter().all(|&word| self.mask(word) & GENERIC != 0));
        for (segment, weight) in telling.zip([1.0, 0.5]) {
            let said = segment.iter().map(|&word| self.mask(word) & GROUPS);
            let share =
                said.clone().filter(|mask| *mask != 0).count() as f32 / segment.len() as f32;
            let mask = said.fold(0, |all, mask| all | mask) & open;
            open &= !mask;
            hit += weight * share * information(mask);
        }
        1.0 + 0.3 * hit / information(self.heads).max(f32::MIN_POSITIVE)
    }

    /// Whether neighbours in the question are neighbours in the title.
    fn adjacency(&self, row: &Row) -> f32 {
        let mut before = 0_u32;
        for &word in self.index.title(row) {
            let mask = self.mask(word) & GROUPS;
            if before << 1 & mask != 0 {
                return 1.15;
            }
            before = mask;
        }
        1.0
    }

    /// Whether the title says the reverse of what is wanted.
    fn opposite(&self, row: &Row) -> f32 {
        let title = self.index.title(row);
        let said = title.iter().fold(0, |said, &word| said | self.mask(word));
        if said & OPPOSITE != 0 && said & self.verbs == 0 { 0.6 } else { 1.0 }
    }

    /// The groups of a word in a title.
    fn mask(&self, word: u32) -> u32 {
        let term = word.checked_sub(1);
        term.and_then(|term| self.masks.get(term as usize)).copied().unwrap_or_default()
    }
}
