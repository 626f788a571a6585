//! Says why an entry has its place, and what words the index knows instead of unknown ones.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::index::{Field, Index};
use super::query::Query;
use super::rank::Scores;

/// Fields whose words are worth suggesting.
const SUGGESTED: [Field; 4] = [Field::Id, Field::Path, Field::Summary, Field::Tags];
/// Words less alike than this (Dice coefficient of letter pairs) are not suggested.
const MIN_LIKENESS: f32 = 0.4;

impl Index {
    /// Why `entry` has its score for `query`: one line for the score and its factors, one for each
    /// word of the question.
    pub fn explain(&self, query: &str, entry: usize) -> String {
        let query = Query::parse(query);
        let groups = self.groups(&query);
        let scores = Scores::new(self, &query, &groups);
        let factors = scores.factors(entry);
        let sum = scores.sum(entry);
        let mut text = format!("score {:.2} = words {sum:.2}", sum * factors.product());
        for (name, factor) in factors.named() {
            // Writing to a string cannot fail.
            let _ = write!(text, " × {name} {factor:.2}");
        }
        for (word, group) in query.words.iter().zip(&groups) {
            let best = group
                .terms
                .iter()
                .filter_map(|&(term, weight)| {
                    let posting = self.postings(term).find(|it| it.entry as usize == entry)?;
                    let score = group.factor(self, term, weight) * posting.weight;
                    Some((score, term, posting.fields))
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let _ = match best {
                None if group.terms.is_empty() => {
                    write!(text, "\n  {}: unknown, or said by the word before", word.text)
                }
                None => write!(text, "\n  {}: not found", word.text),
                Some((score, term, fields)) => {
                    let fields: Vec<_> = Field::ALL
                        .iter()
                        .filter(|field| fields & field.bit() != 0)
                        .map(|field| field.name())
                        .collect();
                    let surface = self.vocabulary.surface(term);
                    write!(
                        text,
                        "\n  {}: {score:.2} by `{surface}` in {}",
                        word.text,
                        fields.join(", ")
                    )
                }
            };
        }
        text
    }

    /// Up to `n` words of the index that look most like the words of `query` it does not know.
    pub fn nearest_words(&self, query: &str, n: usize) -> Vec<String> {
        let unknown: Vec<_> = Query::parse(query)
            .words
            .into_iter()
            .filter(|word| self.vocabulary.find(&word.stem).is_none())
            .map(|word| pairs(&word.text))
            .collect();
        let suggested = SUGGESTED.iter().fold(0, |bits, field| bits | field.bit());
        let mut found = Vec::new();
        for term in self.vocabulary.terms() {
            let surface = self.vocabulary.surface(term);
            let own = pairs(surface);
            let alike = unknown.iter().map(|it| likeness(it, &own)).fold(0.0, f32::max);
            if alike >= MIN_LIKENESS && self.postings(term).any(|it| it.fields & suggested != 0) {
                found.push((alike, surface));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        found.into_iter().take(n).map(|(_, surface)| surface.to_owned()).collect()
    }
}

/// The letter pairs of a word, with its edges.
fn pairs(word: &str) -> HashMap<(char, char), usize> {
    let mut pairs = HashMap::new();
    let mut before = ' ';
    for c in word.chars().chain([' ']) {
        *pairs.entry((before, c)).or_default() += 1;
        before = c;
    }
    pairs
}

/// Dice's coefficient, 0 to 1.
fn likeness(a: &HashMap<(char, char), usize>, b: &HashMap<(char, char), usize>) -> f32 {
    let common: usize = a.iter().map(|(pair, n)| b.get(pair).map_or(0, |m| *n.min(m))).sum();
    let all: usize = a.values().chain(b.values()).sum();
    2.0 * common as f32 / (all as f32).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::*;

    fn index() -> Index {
        let entry = Entry {
            id: "listWebhooks",
            method: "GET",
            path: "/webhooks",
            summary: "List webhooks",
            description: "",
            tags: &[],
            parameters: &[],
            body: &[],
            answer: &[],
            deprecated: false,
        };
        let other = Entry { id: "listUsers", path: "/users", summary: "List users", ..entry };
        Index::build([entry, other].into_iter())
    }

    #[test]
    fn an_explanation_names_words_fields_and_factors() {
        let text = index().explain("list hooks of zebras", 0);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("score "), "{text}");
        assert!(lines[0].contains("× intent 1.30"), "{text}");
        assert!(lines[2].starts_with("  hooks: "), "{text}");
        assert!(lines[2].ends_with("by `webhooks` in id, path, summary"), "{text}");
        assert_eq!(lines[3], "  zebras: unknown, or said by the word before");
    }

    #[test]
    fn an_entry_that_is_not_there_has_no_score() {
        assert!(index().explain("users", 99).starts_with("score 0.00"));
    }

    #[test]
    fn unknown_words_are_answered_with_their_likes() {
        assert_eq!(index().nearest_words("webbhoks", 3), ["webhooks"]);
        assert_eq!(index().nearest_words("users", 3), Vec::<String>::new());
        assert_eq!(index().nearest_words("webbhoks userz", 1).len(), 1);
    }
}
