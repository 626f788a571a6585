//! Ranks entries for a question: what its words weigh in each, times the factors of `factors.rs`.

use super::groups::Group;
use super::index::{Field, Index, NAMING, Row};
use super::lexicon;
use super::query::{Filter, Query, Role};
use super::thesaurus;

/// An entry that answers a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Position of the entry when the index was built.
    pub entry: usize,
    /// Higher is better; comparable within one answer only.
    pub score: f32,
}

/// What a question found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// The best hits, best first, at most [`Results::MAX_HITS`].
    pub hits: Vec<Hit>,
    /// How many entries matched, also beyond `hits`.
    pub matched: usize,
}

impl Results {
    /// How many hits an answer holds at most.
    pub const MAX_HITS: usize = 200;
}

impl Index {
    /// Finds the entries that answer `query`, best first. The same question always has the same
    /// answer; equal scores keep the order of the entries. `tag:x`, `tag:"x y"` and `method:post`
    /// in a question restrict it; alone they list what they name.
    pub fn search(&self, query: &str) -> Results {
        let query = Query::parse(query);
        let groups = self.groups(&query);
        Scores::new(self, &query, &groups).rank()
    }
}

/// Bit of a word that says "thing".
pub(super) const GENERIC: u32 = 1 << 31;
/// Bit of a verb that undoes what the question wants.
pub(super) const OPPOSITE: u32 = 1 << 30;
/// Bits of the groups.
pub(super) const GROUPS: u32 = OPPOSITE - 1;

/// A hit has at least this share of the best score.
const MIN_SHARE: f32 = 0.05;
/// What a change counts at least for a word among its body's fields: "rename", "archive".
const CHANGED_FIELD: f32 = 0.3;

/// Scores of all entries for one question.
pub(super) struct Scores<'a> {
    pub(super) index: &'a Index,
    pub(super) query: &'a Query,
    pub(super) groups: &'a [Group],
    /// The groups of what is asked for, and of the verbs, as bits.
    pub(super) heads: u32,
    pub(super) verbs: u32,
    /// BM25 sum over the groups, by entry.
    sums: Vec<f32>,
    /// Information of the naming words that the question says, by entry.
    pub(super) named: Vec<f32>,
    /// The groups that an entry has, as bits.
    pub(super) found: Vec<u32>,
    /// The groups that a word belongs to, [`GENERIC`] and [`OPPOSITE`], as bits, by word.
    pub(super) masks: Vec<u32>,
    /// Entries that have any group.
    touched: Vec<u32>,
}

impl<'a> Scores<'a> {
    pub(super) fn new(index: &'a Index, query: &'a Query, groups: &'a [Group]) -> Self {
        let entries = index.len();
        let mut scores = Self {
            index,
            query,
            groups,
            heads: groups_of(groups, |role| role == Role::Head),
            verbs: groups_of(groups, |role| role == Role::Verb),
            sums: vec![0.0; entries],
            named: vec![0.0; entries],
            found: vec![0; entries],
            masks: vec![0; index.vocabulary.len()],
            touched: Vec::new(),
        };
        scores.mark(&lexicon::GENERIC, GENERIC);
        for verb in query.words.iter().filter(|word| word.role == Role::Verb) {
            scores.mark(thesaurus::opposites(&verb.stem), OPPOSITE);
        }
        scores.add_words();
        scores.add_names();
        scores
    }

    fn mark(&mut self, stems: &[impl AsRef<str>], bit: u32) {
        for term in stems.iter().filter_map(|stem| self.index.vocabulary.find(stem.as_ref())) {
            if let Some(mask) = self.masks.get_mut(term as usize) {
                *mask |= bit;
            }
        }
    }

    /// Each group counts with the best of its words.
    fn add_words(&mut self) {
        let changes = self.query.wants_change();
        let mut best = vec![0.0_f32; self.index.len()];
        for (number, group) in self.groups.iter().enumerate() {
            let bit = 1 << number;
            for &(term, weight) in &group.terms {
                if let Some(mask) = self.masks.get_mut(term as usize) {
                    *mask |= bit;
                }
                let factor = group.factor(self.index, term, weight);
                for posting in self.index.postings(term) {
                    let entry = posting.entry as usize;
                    let (Some(best), Some(found)) =
                        (best.get_mut(entry), self.found.get_mut(entry))
                    else {
                        continue;
                    };
                    if *found == 0 {
                        self.touched.push(posting.entry);
                    }
                    *found |= bit;
                    let is_field = changes && posting.fields & Field::Body.bit() != 0;
                    let row = self.index.rows.get(entry).filter(|_| is_field);
                    let least = if row.is_some_and(Row::changes) { CHANGED_FIELD } else { 0.0 };
                    *best = best.max(factor * posting.weight.max(least));
                }
            }
            for &entry in &self.touched {
                if let (Some(sum), Some(best)) =
                    (self.sums.get_mut(entry as usize), best.get_mut(entry as usize))
                {
                    *sum += std::mem::take(best);
                }
            }
        }
    }

    /// Each naming word counts once, with its best weight.
    fn add_names(&mut self) {
        let mut weights = vec![0.0_f32; self.index.vocabulary.len()];
        for &(term, weight) in self.groups.iter().flat_map(|group| &group.terms) {
            if let Some(known) = weights.get_mut(term as usize) {
                *known = known.max(weight);
            }
        }
        for (term, weight) in (0..).zip(weights).filter(|it| it.1 > 0.0) {
            let information = weight * self.index.information(term);
            for posting in self.index.postings(term).filter(|it| it.fields & NAMING != 0) {
                if let Some(named) = self.named.get_mut(posting.entry as usize) {
                    *named += information;
                }
            }
        }
    }

    fn rank(&self) -> Results {
        let content = groups_of(self.groups, |role| !matches!(role, Role::Verb | Role::Question));
        let mut hits = Vec::new();
        if self.query.words.is_empty() && !self.query.filters.is_empty() {
            hits.extend((0..self.index.len()).map(|entry| Hit { entry, score: 1.0 }));
        }
        for &entry in &self.touched {
            let entry = entry as usize;
            // A verb alone is no answer where there is more to go by.
            if content != 0 && self.found.get(entry).is_none_or(|found| found & content == 0) {
                continue;
            }
            hits.push(Hit { entry, score: self.sum(entry) * self.factors(entry).product() });
        }
        self.restrict(&mut hits);
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        hits.retain(|hit| hit.score > 0.0 && hit.score >= best * MIN_SHARE);
        hits.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
        let matched = hits.len();
        hits.truncate(Results::MAX_HITS);
        Results { hits, matched }
    }

    fn restrict(&self, hits: &mut Vec<Hit>) {
        let index = self.index;
        for filter in &self.query.filters {
            match filter {
                Filter::Method(method) => {
                    let has =
                        |hit: &Hit| index.rows.get(hit.entry)?.method.eq(method).then_some(());
                    hits.retain(|hit| has(hit).is_some());
                }
                Filter::Tag(stems) => {
                    for stem in stems {
                        let postings = index.vocabulary.find(stem).map(|term| index.postings(term));
                        let tagged: Vec<_> = postings
                            .into_iter()
                            .flatten()
                            .filter(|it| it.fields & Field::Tags.bit() != 0)
                            .map(|it| it.entry as usize)
                            .collect();
                        hits.retain(|hit| tagged.binary_search(&hit.entry).is_ok());
                    }
                }
            }
        }
    }

    /// The score of an entry's words, before the factors.
    pub(super) fn sum(&self, entry: usize) -> f32 {
        self.sums.get(entry).copied().unwrap_or_default()
    }
}

/// The groups of some roles that the index knows words for, as bits.
fn groups_of(groups: &[Group], has: impl Fn(Role) -> bool) -> u32 {
    let groups = (0..).zip(groups).filter(|(_, it)| has(it.role) && !it.terms.is_empty());
    groups.fold(0, |bits, (number, _)| bits | 1_u32 << number)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::index::Entry;
    use super::*;

    const SHOP: &[(&str, &str, &str, &str)] = &[
        ("listUsers", "GET", "/api/v1/users", "List users"),
        ("createUser", "POST", "/api/v1/users", "Create a user"),
        ("getUser", "GET", "/api/v1/users/{id}", "Get a user"),
        ("updateUser", "PATCH", "/api/v1/users/{id}", "Update a user"),
        ("deleteUser", "DELETE", "/api/v1/users/{id}", "Delete a user"),
        ("endSessions", "DELETE", "/api/v1/users/{id}/sessions", "End the sessions of a user"),
        ("listMembers", "GET", "/api/v1/groups/{id}/members", "List the members of a group"),
        ("addMember", "POST", "/api/v1/groups/{id}/add_user", "Add a user to a group"),
        ("removeMember", "POST", "/api/v1/groups/{id}/remove_user", "Take a user out of a group"),
        ("listOrders", "GET", "/api/v1/orders", "List orders"),
        ("refundOrder", "POST", "/api/v1/orders/{id}/refund", "Refund an order"),
        ("cancelOrder", "POST", "/api/v1/orders/{id}/cancel", "Cancel an order"),
        ("orderLines", "GET", "/api/v1/orders/{id}/lines", "List the lines of an order"),
        ("rotateKey", "POST", "/api/v1/certificatekeys/{id}/rotate", "Rotate a key"),
        ("certificates", "GET", "/api/v1/certificate", "The certificate of the service"),
        ("renew", "POST", "/api/v1/certificate/renew", "Renew the certificate"),
        ("listKeys", "GET", "/api/v1/keys", "List keys"),
        ("enable2fa", "POST", "/api/v1/users/{id}/mfa/enable", "Enable two-factor authentication"),
        ("disable2fa", "POST", "/api/v1/users/{id}/mfa/disable", "Disable two-factor sign-in"),
        ("searchOrders", "POST", "/api/v1/orders/search", "Find orders by a filter"),
    ];

    fn shop() -> Index {
        let tags = ["Shop".to_owned(), "user accounts".to_owned()];
        let body = ["archived".to_owned(), "email".to_owned()];
        Index::build(SHOP.iter().map(|&(id, method, path, summary)| Entry {
            id,
            method,
            path,
            summary,
            description: "",
            tags: if path.contains("users") { tags.get(1..).unwrap() } else { &tags[..1] },
            parameters: &[],
            body: if method == "PATCH" { &body } else { &[] },
            answer: &[],
            deprecated: false,
        }))
    }

    fn ids(index: &Index, query: &str) -> Vec<&'static str> {
        index.search(query).hits.iter().map(|hit| SHOP[hit.entry].0).collect()
    }

    #[test]
    fn the_operation_that_was_meant_comes_first() {
        let index = shop();
        for (query, expected) in [
            ("list all users", "listUsers"),
            ("create a user", "createUser"),
            ("show me one user", "getUser"),
            ("remove an account", "deleteUser"),
            ("rename a user", "updateUser"),
            ("change a user's email", "updateUser"),
            ("archive a user", "updateUser"),
            ("log a user out", "endSessions"),
            ("who is in a group", "listMembers"),
            ("add user to group", "addMember"),
            ("kick a user out of the group", "removeMember"),
            ("give the money back for an order", "refundOrder"),
            ("lines of an order", "orderLines"),
            ("turn off 2FA for a user", "disable2fa"),
            ("enable two factor authentication", "enable2fa"),
            ("find orders", "searchOrders"),
            ("cancle order", "cancelOrder"),
        ] {
            assert_eq!(ids(&index, query).first(), Some(&expected), "{query}");
        }
    }

    #[test]
    fn words_written_as_one_are_found_by_their_parts() {
        let index = shop();
        assert!(ids(&index, "rotate the keys of a certificate").starts_with(&["rotateKey"]));
        assert!(ids(&index, "certificate").contains(&"rotateKey"));
    }

    #[test]
    fn a_verb_alone_does_not_match_where_a_noun_does() {
        let index = shop();
        let found = ids(&index, "list orders");
        assert!(!found.contains(&"listUsers"), "{found:?}");
        assert_eq!(index.search("list orders").matched, found.len());
        assert!(ids(&index, "list").contains(&"listUsers"));
    }

    #[test]
    fn filters_restrict_and_alone_list_what_they_name() {
        let index = shop();
        assert_eq!(ids(&index, "user method:delete"), ["deleteUser", "endSessions"]);
        assert_eq!(ids(&index, "method:patch"), ["updateUser"]);
        assert_eq!(ids(&index, "tag:\"user accounts\" method:get"), ["listUsers", "getUser"]);
        assert!(ids(&index, "tag:nothing user").is_empty());
    }

    #[test]
    fn nothing_known_finds_nothing() {
        let index = shop();
        assert_eq!(index.search("zebra quantum"), Results::default());
        assert_eq!(index.search("").matched, 0);
        assert_eq!(Index::build([].into_iter()).search("users").matched, 0);
    }

    #[test]
    fn the_same_question_has_the_same_answer_from_every_build() {
        let (one, other) = (shop(), shop());
        for (_, _, _, summary) in SHOP {
            assert_eq!(one.search(summary), other.search(summary));
        }
        assert_eq!(postcard::to_allocvec(&one).unwrap(), postcard::to_allocvec(&other).unwrap());
    }

    #[test]
    fn equal_entries_keep_their_order() {
        let entry = Entry {
            id: "same",
            method: "GET",
            path: "/same",
            summary: "",
            description: "",
            tags: &[],
            parameters: &[],
            body: &[],
            answer: &[],
            deprecated: false,
        };
        let old = Entry { deprecated: true, ..entry };
        let index = Index::build([old, entry, entry].into_iter());
        let order: Vec<_> = index.search("same").hits.iter().map(|hit| hit.entry).collect();
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn hostile_questions_take_bounded_time() {
        let index = shop();
        let started = Instant::now();
        for query in [
            "user ".repeat(100_000),
            (0..100_000).map(|it| format!("{it:x} ")).collect(),
            "tag:\"".repeat(50_000),
            "log out ".repeat(50_000),
            "a".repeat(1_000_000),
            "\u{202e}\u{0}\u{feff}".repeat(100_000),
            "((((::::////".repeat(50_000),
        ] {
            let results = index.search(&query);
            assert!(results.hits.len() <= Results::MAX_HITS);
        }
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}
