//! The words of an index: sorted stems, each with a form a person would read.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Position of a word in the vocabulary.
pub(super) type Term = u32;

/// Two stems with this many first letters in common are taken for relatives: `regist`(er),
/// `registr`(ation).
const ROOT: usize = 6;
/// How much of a relative may differ after the common root.
const ENDING: usize = 4;
/// Shorter words are too often one edit away from an unrelated one.
const MIN_TYPO: usize = 5;

/// Sorted stems with their readable forms.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Vocabulary {
    stems: Strings,
    surfaces: Strings,
}

impl Vocabulary {
    /// Takes (stem, readable form) pairs sorted by stem.
    pub(super) fn from_sorted<'a>(words: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut vocabulary = Self::default();
        for (stem, surface) in words {
            vocabulary.stems.push(stem);
            vocabulary.surfaces.push(surface);
        }
        vocabulary
    }

    pub(super) fn len(&self) -> usize {
        self.stems.len()
    }

    pub(super) fn find(&self, stem: &str) -> Option<Term> {
        let term = self.first_from(stem);
        (self.stems.get(term) == Some(stem)).then_some(term)
    }

    pub(super) fn stem(&self, term: Term) -> Option<&str> {
        self.stems.get(term)
    }

    /// The readable form of a word; empty when there is no such word.
    pub(super) fn surface(&self, term: Term) -> &str {
        self.surfaces.get(term).unwrap_or_default()
    }

    /// Other words that begin with `prefix`.
    pub(super) fn starting_with(&self, prefix: &str) -> impl Iterator<Item = Term> {
        self.range(prefix).filter(move |&term| self.stems.get(term) != Some(prefix))
    }

    /// Words of the same root with another ending.
    pub(super) fn relatives(&self, stem: &str) -> impl Iterator<Item = Term> {
        let root = stem.get(..ROOT);
        root.map_or(0..0, |root| self.range(root)).filter(move |&term| {
            let other = self.stems.get(term).unwrap_or_default();
            let common = common_prefix(stem, other);
            other != stem && stem.len() <= common + ENDING && other.len() <= common + ENDING
        })
    }

    /// Words one typing error away: a letter more, less, other, or two swapped.
    pub(super) fn typos(&self, stem: &str) -> impl Iterator<Item = Term> {
        let terms = if stem.len() >= MIN_TYPO { 0..self.end() } else { 0..0 };
        terms.filter(move |&term| {
            self.stems.get(term).is_some_and(|other| is_one_edit(stem.as_bytes(), other.as_bytes()))
        })
    }

    /// All words.
    pub(super) fn terms(&self) -> Range<Term> {
        0..self.end()
    }

    fn end(&self) -> Term {
        self.len() as Term
    }

    fn range(&self, prefix: &str) -> Range<Term> {
        let start = self.first_from(prefix);
        let end = partition(start..self.end(), |term| {
            self.stems.get(term).is_some_and(|stem| stem.starts_with(prefix))
        });
        start..end
    }

    fn first_from(&self, stem: &str) -> Term {
        partition(0..self.end(), |term| self.stems.get(term).is_some_and(|it| it < stem))
    }
}

/// The first term of a sorted range for which `before` no longer holds.
fn partition(mut terms: Range<Term>, before: impl Fn(Term) -> bool) -> Term {
    while terms.start < terms.end {
        let middle = terms.start + (terms.end - terms.start) / 2;
        if before(middle) {
            terms.start = middle + 1;
        } else {
            terms.end = middle;
        }
    }
    terms.start
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn is_one_edit(a: &[u8], b: &[u8]) -> bool {
    if a.len().abs_diff(b.len()) > 1 || a.first() != b.first() {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    match (a, b) {
        ([], [_]) | ([_], []) => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => true,
        ([_, rest @ ..], other) if rest == other => true,
        (rest, [_, other @ ..]) if rest == other => true,
        ([p, q, rest @ ..], [r, s, other @ ..]) => p == s && q == r && rest == other,
        ([] | [_], _) | (_, [] | [_]) => false,
    }
}

/// Many short texts in one allocation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: u32) -> Option<&str> {
        let index = index as usize;
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.text.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(vocabulary: &Vocabulary, terms: impl Iterator<Item = Term>) -> Vec<&str> {
        terms.map(|term| vocabulary.surface(term)).collect()
    }

    fn sample() -> Vocabulary {
        let words = ["classif", "classifi", "config", "regist", "registr", "user", "webhook"];
        Vocabulary::from_sorted(words.into_iter().map(|word| (word, word)))
    }

    #[test]
    fn words_are_found_by_stem_and_by_prefix() {
        let vocabulary = sample();
        assert_eq!(vocabulary.find("config"), Some(2));
        assert_eq!(vocabulary.find("conf"), None);
        assert_eq!(found(&vocabulary, vocabulary.starting_with("conf")), ["config"]);
        assert_eq!(found(&vocabulary, vocabulary.starting_with("zzz")), Vec::<&str>::new());
    }

    #[test]
    fn relatives_share_a_root_and_differ_in_the_ending() {
        let vocabulary = sample();
        assert_eq!(found(&vocabulary, vocabulary.relatives("regist")), ["registr"]);
        assert_eq!(found(&vocabulary, vocabulary.relatives("user")), Vec::<&str>::new());
    }

    #[test]
    fn typos_are_one_edit_away() {
        let vocabulary = sample();
        for typo in ["webhok", "webhoook", "webhoak", "wehbook"] {
            assert_eq!(found(&vocabulary, vocabulary.typos(typo)), ["webhook"], "{typo}");
        }
        assert_eq!(found(&vocabulary, vocabulary.typos("wbhok")), Vec::<&str>::new());
        assert_eq!(found(&vocabulary, vocabulary.typos("usre")), Vec::<&str>::new());
    }
}
