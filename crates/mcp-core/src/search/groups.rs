//! Finds what may stand for each word of a question: synonyms, relatives, guesses.

use super::index::Index;
use super::query::{Query, Role, Word};
use super::thesaurus;
use super::tokenize;
use super::vocabulary::Term;

/// Weight of a word joined with its neighbour, or of a part it was split into.
const JOINED: f32 = 0.9;
/// Weight of a longer word that holds it: `certificatekeypairs`.
const COMPOUND: f32 = 0.6;
/// Weight of a word of the same root.
const RELATIVE: f32 = 0.6;
/// Weight of a guess at what an unknown word abbreviates or misspells.
const GUESS: f32 = 0.5;
/// How many guesses are made.
const MAX_GUESSES: usize = 12;

/// A word of the question with everything that may stand for it.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) role: Role,
    /// Words of the index with their weights, the word itself first.
    pub(super) terms: Vec<(Term, f32)>,
    /// How much it tells, before weights.
    pub(super) idf: f32,
}

impl Group {
    /// What a posting's weight counts. A synonym tells no more than the word that was asked for.
    pub(super) fn factor(&self, index: &Index, term: Term, weight: f32) -> f32 {
        let role = match self.role {
            Role::Verb => 0.8,
            Role::Head => 1.0,
            Role::Detail | Role::Question => 0.85,
            Role::State => 0.6,
        };
        weight * role * index.idf(term).min(self.idf)
    }
}

impl Index {
    /// One group for each word of the question.
    pub(super) fn groups(&self, query: &Query) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::with_capacity(query.words.len());
        for (at, word) in query.words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| query.words.get(at));
            let after = query.words.get(at + 1);
            let terms = self.terms(word, before, after, query);
            let known = |weight: f32| word.role == Role::Verb && weight >= thesaurus::SAME;
            // A verb tells as little as its most common synonym: documents choose one of them.
            let mut idf = terms.first().map_or(0.0, |first| self.idf(first.0));
            for &(term, _) in terms.iter().filter(|it| known(it.1)) {
                idf = idf.min(self.idf(term));
            }
            let mut group = Group { role: word.role, terms, idf };
            if let (Some(before), Some(last)) = (before, groups.last_mut())
                && before.role == word.role
                && thesaurus::are_synonyms(&before.stem, &word.stem)
            {
                // "user account": one thing said twice.
                last.terms.append(&mut group.terms);
                last.idf = last.idf.min(group.idf);
            }
            groups.push(group);
        }
        groups
    }

    fn terms(
        &self,
        word: &Word,
        before: Option<&Word>,
        after: Option<&Word>,
        query: &Query,
    ) -> Vec<(Term, f32)> {
        let mut terms = Terms::default();
        if word.role != Role::Question {
            terms.extend(self.vocabulary.find(&word.stem), 1.0);
        }
        let verbs = match word.role {
            Role::Verb => thesaurus::verb_alternatives(&word.stem),
            Role::Head | Role::Detail | Role::State | Role::Question => &[],
        };
        for (stem, weight) in thesaurus::alternatives(&word.stem).iter().chain(verbs) {
            // What is asked for by its own name is not asked for by another one as well.
            if !query.words.iter().any(|other| other.stem == *stem) {
                terms.extend(self.vocabulary.find(stem), *weight);
            }
        }
        for (first, second) in [(before, Some(word)), (Some(word), after)] {
            if let (Some(first), Some(second)) = (first, second) {
                let joined = format!("{}{}", first.text, second.text);
                terms.extend(self.vocabulary.find(&tokenize::stem(&joined)), JOINED);
            }
        }
        terms.extend(self.vocabulary.relatives(&word.stem), RELATIVE);
        if terms.0.is_empty() {
            self.guess(word, &mut terms);
        }
        for at in 0..terms.0.len() {
            if let Some(&(term, weight)) = terms.0.get(at)
                && weight >= thesaurus::SAME
            {
                terms.extend(self.compounds_of(term), weight * COMPOUND);
            }
        }
        terms.0
    }

    /// What an unknown word may mean: its parts, what it abbreviates, what it misspells.
    fn guess(&self, word: &Word, terms: &mut Terms) {
        let text = word.text.as_str();
        for at in 3..text.len().saturating_sub(2) {
            if let Some((first, second)) = text.split_at_checked(at)
                && let Some(first) = self.vocabulary.find(&tokenize::stem(first))
                && let Some(second) = self.vocabulary.find(&tokenize::stem(second))
            {
                terms.extend([first, second], JOINED);
            }
        }
        terms.extend(text.strip_suffix('s').and_then(|it| self.vocabulary.find(it)), JOINED);
        if text.len() >= 3 && terms.0.is_empty() {
            terms.extend(self.vocabulary.starting_with(&word.stem).take(MAX_GUESSES), GUESS);
        }
        if terms.0.is_empty() {
            terms.extend(self.vocabulary.typos(&word.stem).take(MAX_GUESSES), GUESS);
        }
    }
}

/// Words with weights, each once.
#[derive(Default)]
struct Terms(Vec<(Term, f32)>);

impl Terms {
    fn extend(&mut self, terms: impl IntoIterator<Item = Term>, weight: f32) {
        for term in terms {
            match self.0.iter_mut().find(|known| known.0 == term) {
                Some(known) => known.1 = known.1.max(weight),
                None => self.0.push((term, weight)),
            }
        }
    }
}
