//! What people call things in HTTP APIs: words of like meaning, phrases, and what verbs intend.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lexicon::{
    INTENTS, OPPOSITES, PHRASES, RELATED, SYNONYMS, TOWARDS, VERB_RELATED, VERB_SYNONYMS,
    VERB_TOWARDS,
};
use super::tokenize::stem;

/// What the verb of a question wants to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Many things.
    List,
    /// One thing.
    Read,
    Create,
    Update,
    Delete,
    /// Something a method has no name for: merge, approve, start.
    Act,
    /// The reverse of that: cancel, revoke, unlink.
    Undo,
    /// A change of state: enable, archive, close.
    Switch,
}

/// Weight of a word that means the same in API talk.
pub(super) const SAME: f32 = 0.85;
/// Weight of a word that often stands for it.
const NEAR: f32 = 0.55;

/// Stems of words that may stand in a document for the word with this stem, with their weights.
pub(super) fn alternatives(stem: &str) -> &'static [(String, f32)] {
    TABLES.words.get(stem).map_or(&[], Vec::as_slice)
}

/// The same for a word that says what to do: "*open* an issue", not "an *open* issue".
pub(super) fn verb_alternatives(stem: &str) -> &'static [(String, f32)] {
    TABLES.verbs.get(stem).map_or(&[], Vec::as_slice)
}

/// Whether two stems mean the same.
pub(super) fn are_synonyms(one: &str, other: &str) -> bool {
    alternatives(one).iter().any(|(stem, weight)| stem == other && *weight >= SAME)
}

/// Stems of verbs that undo what the verb with this stem does.
pub(super) fn opposites(stem: &str) -> &'static [String] {
    TABLES.opposites.get(stem).map_or(&[], Vec::as_slice)
}

/// What a verb may want, by its stem; nothing when it is no verb.
pub(super) fn intents(stem: &str) -> &'static [Intent] {
    TABLES.intents.get(stem).map_or(&[], Vec::as_slice)
}

/// A phrase at the start of `stems`: the positions it takes besides the first, and the words it
/// stands for. A phrase with a particle may be split: "log a user out".
pub(super) fn phrase(stems: &[String]) -> Option<(Vec<usize>, &'static str)> {
    let candidates = TABLES.phrases.get(stems.first()?)?;
    candidates.iter().find_map(|(rest, meaning)| {
        if stems.get(1..=rest.len()) == Some(rest.as_slice()) {
            return Some(((1..=rest.len()).collect(), *meaning));
        }
        let [particle] = rest.as_slice() else { return None };
        if !PARTICLES.contains(&particle.as_str()) {
            return None;
        }
        let at = stems.iter().take(MAX_SPLIT + 2).position(|stem| stem == particle)?;
        Some((vec![at], *meaning))
    })
}

/// How many words may stand between a verb and its particle.
const MAX_SPLIT: usize = 4;
const PARTICLES: [&str; 5] = ["back", "down", "off", "out", "up"];

/// Weighted stems, by stem.
type Alternatives = HashMap<String, Vec<(String, f32)>>;

struct Tables {
    words: Alternatives,
    verbs: Alternatives,
    opposites: HashMap<String, Vec<String>>,
    /// By first stem: the stems that follow, longest phrase first, and what the phrase stands for.
    phrases: HashMap<String, Vec<(Vec<String>, &'static str)>>,
    intents: HashMap<String, Vec<Intent>>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);

impl Tables {
    fn new() -> Self {
        let mut opposites = HashMap::<String, Vec<String>>::new();
        for pair in entries(OPPOSITES) {
            for from in stems(pair) {
                let others = stems(pair).filter(|to| *to != from);
                opposites.entry(from.clone()).or_default().extend(others);
            }
        }
        let mut phrases = HashMap::<String, Vec<(Vec<String>, &'static str)>>::new();
        for (phrase, meaning) in entries(PHRASES).filter_map(|entry| entry.split_once(": ")) {
            let mut stems = stems(phrase);
            if let Some(first) = stems.next() {
                phrases.entry(first).or_default().push((stems.collect(), meaning));
            }
        }
        for candidates in phrases.values_mut() {
            candidates.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        let mut intents = HashMap::<String, Vec<Intent>>::new();
        for (verbs, intent) in INTENTS {
            for verb in stems(verbs) {
                intents.entry(verb).or_default().push(intent);
            }
        }
        Self {
            words: relate(SYNONYMS, RELATED, TOWARDS),
            verbs: relate(VERB_SYNONYMS, VERB_RELATED, VERB_TOWARDS),
            opposites,
            phrases,
            intents,
        }
    }
}

fn relate(same: &'static str, near: &'static str, towards: &'static str) -> Alternatives {
    let same = entries(same).map(|words| (words, words, SAME));
    let near = entries(near).map(|words| (words, words, NEAR));
    let towards = entries(towards).filter_map(|entry| entry.split_once(": "));
    let towards = towards.map(|(from, to)| (from, to, NEAR));
    let mut alternatives = Alternatives::new();
    for (from, to, weight) in same.chain(near).chain(towards) {
        for from in stems(from) {
            let known = alternatives.entry(from.clone()).or_default();
            for to in stems(to).filter(|to| *to != from) {
                match known.iter_mut().find(|it| it.0 == to) {
                    Some(it) => it.1 = it.1.max(weight),
                    None => known.push((to, weight)),
                }
            }
        }
    }
    alternatives
}

/// The entries of a table in `lexicon.rs`.
fn entries(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.split(',').map(str::trim)
}

fn stems(words: &str) -> impl Iterator<Item = String> {
    words.split_whitespace().map(|word| stem(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(from: &str, to: &str) -> Option<f32> {
        let to = stem(to);
        alternatives(&stem(from)).iter().find(|it| it.0 == to).map(|it| it.1)
    }

    fn meaning(text: &str) -> Option<(Vec<usize>, &'static str)> {
        phrase(&stems(text).collect::<Vec<_>>())
    }

    #[test]
    fn synonyms_go_both_ways_and_generalisations_one_way() {
        assert_eq!(weight("ticket", "issue"), Some(SAME));
        assert_eq!(weight("issue", "ticket"), Some(SAME));
        assert_eq!(weight("coworker", "user"), Some(NEAR));
        assert_eq!(weight("user", "coworker"), None);
        assert_eq!(weight("issue", "issues"), None);
    }

    #[test]
    fn verbs_have_alternatives_of_their_own() {
        let open = stem("open");
        let posts = verb_alternatives(&open).iter().any(|it| it.0 == stem("create"));
        assert!(posts);
        assert_eq!(weight("open", "create"), None);
    }

    #[test]
    fn the_longest_phrase_wins() {
        assert_eq!(meaning("two factor authentication device"), Some((vec![1, 2], "mfa")));
        assert_eq!(meaning("two factor device"), Some((vec![1], "mfa")));
        assert_eq!(meaning("two devices"), None);
    }

    #[test]
    fn a_verb_and_its_particle_may_be_apart() {
        assert_eq!(meaning("log the user out of everything"), Some((vec![3], "logout")));
        assert_eq!(meaning("turned off"), Some((vec![1], "disable")));
        assert_eq!(meaning("log one two three four five out"), None);
    }

    #[test]
    fn every_phrase_and_generalisation_has_a_meaning() {
        for table in [PHRASES, TOWARDS, VERB_TOWARDS] {
            for entry in entries(table) {
                let sides = entry.split(": ").filter(|side| !side.is_empty()).count();
                assert_eq!(sides, 2, "{entry}");
            }
        }
    }

    #[test]
    fn opposites_are_pairs() {
        assert_eq!(opposites(&stem("assign")), [stem("unassign").into_owned()]);
        assert_eq!(opposites(&stem("unassign")), [stem("assign").into_owned()]);
        assert!(entries(OPPOSITES).all(|pair| pair.split(' ').count() == 2));
    }
}
