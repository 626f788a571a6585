//! Builds an index: counts words by entry and field, then weighs and sorts them.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::rc::Rc;

use super::index::{BREAK, Entry, FIELDS, Field, Index, Method, NAMING, Row};
use super::tokenize;
use super::vocabulary::{Term, Vocabulary};

/// What a word counts in each [`Field`].
const WEIGHTS: [f32; FIELDS] = [2.0, 1.6, 3.0, 1.0, 1.0, 0.3, 0.2, 0.15];
/// How much more the fields after it count where nothing has a description.
const UNDESCRIBED: f32 = 2.0;
/// How much a long field thins its words out (BM25's b).
const LENGTH: [f32; FIELDS] = [0.5, 0.5, 0.5, 0.6, 0.2, 0.5, 0.6, 0.6];
/// How soon repeating a word stops helping (BM25's k1).
const SATURATION: f32 = 1.2;
/// Words of this length may be several written as one: `cronjobs`.
const MIN_COMPOUND: usize = 8;
const MIN_PART: usize = 3;
const MAX_PARTS: usize = 3;

impl Index {
    /// Indexes entries; a hit names them by their position here.
    pub fn build<'a>(entries: impl Iterator<Item = Entry<'a>>) -> Self {
        let entries: Vec<_> = entries.collect();
        let common = common_segments(&entries);
        let mut builder = Builder::default();
        for entry in &entries {
            builder.add(entry, &common);
        }
        builder.finish()
    }
}

/// Segments of more than nine paths in ten, such as `api` and `v1`: they tell nothing.
fn common_segments<'a>(entries: &[Entry<'a>]) -> Vec<&'a str> {
    let mut counts = HashMap::<&str, (usize, usize)>::new();
    for (number, entry) in entries.iter().enumerate() {
        for segment in segments(entry.path) {
            let (count, last) = counts.entry(segment).or_insert((0, usize::MAX));
            *count += usize::from(*last != number);
            *last = number;
        }
    }
    let is_common = |count: usize| entries.len() >= 10 && count * 10 > entries.len() * 9;
    counts.into_iter().filter(|(_, (count, _))| is_common(*count)).map(|it| it.0).collect()
}

fn segments(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '#', '?']).filter(|segment| !segment.is_empty())
}

/// The parts of a segment that are not values: `{id}:cancel` has `:cancel`, `users({id})` `users(`.
fn literals(segment: &str) -> impl Iterator<Item = &str> {
    segment.split('{').enumerate().filter_map(|(number, part)| match number {
        0 => Some(part),
        _ => part.split_once('}').map(|it| it.1),
    })
}

/// Whether an operation on this path is about one thing of a collection.
fn is_item(path: &str) -> bool {
    segments(path).next_back().is_some_and(|last| last.ends_with(['}', ')']) && last.contains('{'))
}

/// Whether its name says that a POST changes nothing.
fn names_a_read(entry: &Entry<'_>) -> bool {
    let is_reading = |word: &str| {
        ["count", "filter", "find", "get", "list", "lookup", "query", "search"].contains(&word)
    };
    let mut reads = false;
    tokenize::words(segments(entry.path).next_back().unwrap_or_default(), |word| {
        reads |= is_reading(word);
    });
    let mut words = Vec::new();
    tokenize::words(entry.id, |word| words.push(is_reading(word)));
    reads || words.first() == Some(&true) || words.last() == Some(&true)
}

/// Counts while entries come in. Words are numbered as they are first seen.
#[derive(Default)]
struct Builder {
    rows: Vec<Row>,
    titles: Vec<u32>,
    /// The word of every form seen; stop words have none.
    forms: HashMap<String, Option<Term>>,
    stems: HashMap<String, Term>,
    /// The words of every name seen: many entries have the same parameters and properties.
    names: HashMap<String, Rc<[Term]>>,
    /// The shortest form of each word.
    surfaces: Vec<String>,
    postings: Vec<Counts>,
    lengths: Vec<[u16; FIELDS]>,
    /// Where the postings of the current entry start.
    first: usize,
    /// How many postings there were after the latest of each word.
    latest: Vec<usize>,
}

/// How often a word is in each field of an entry.
struct Counts {
    term: Term,
    entry: u32,
    fields: [u8; FIELDS],
}

impl Builder {
    fn add(&mut self, entry: &Entry<'_>, common: &[&str]) {
        self.first = self.postings.len();
        self.lengths.push([0; FIELDS]);
        let start = self.titles.len() as u32;
        let mut depth = 0_u8;
        for segment in segments(entry.path).filter(|segment| !common.contains(segment)) {
            depth = depth.saturating_add(1);
            for literal in literals(segment) {
                self.title(literal, Field::Path);
            }
            self.titles.push(BREAK);
        }
        let path_end = self.titles.len() as u32;
        self.title(entry.id, Field::Id);
        self.titles.push(BREAK);
        self.title(entry.summary, Field::Summary);
        let end = self.titles.len() as u32;
        self.text(entry.description, Field::Description);
        for (texts, field) in [
            (entry.tags, Field::Tags),
            (entry.parameters, Field::Parameters),
            (entry.body, Field::Body),
            (entry.answer, Field::Answer),
        ] {
            for name in texts {
                self.name(name, field);
            }
        }
        let method = Method::parse(entry.method);
        self.rows.push(Row {
            method,
            deprecated: entry.deprecated,
            item: is_item(entry.path),
            reads: method == Method::Post && names_a_read(entry),
            depth,
            title: (start, path_end, end),
            naming: 0.0,
        });
    }

    fn title(&mut self, text: &str, field: Field) {
        tokenize::words(text, |word| {
            if let Some(term) = self.term(word) {
                self.titles.push(term + 1);
                self.count(term, field);
            }
        });
    }

    fn text(&mut self, text: &str, field: Field) {
        tokenize::words(text, |word| {
            if let Some(term) = self.term(word) {
                self.count(term, field);
            }
        });
    }

    fn name(&mut self, name: &str, field: Field) {
        let known = self.names.get(name).cloned();
        let terms = known.unwrap_or_else(|| {
            let mut terms = Vec::new();
            tokenize::words(name, |word| terms.extend(self.term(word)));
            let terms: Rc<[Term]> = terms.into();
            self.names.insert(name.to_owned(), Rc::clone(&terms));
            terms
        });
        for &term in terms.iter() {
            self.count(term, field);
        }
    }

    fn count(&mut self, term: Term, field: Field) {
        let entry = self.rows.len() as u32;
        let Some(latest) = self.latest.get_mut(term as usize) else { return };
        if *latest <= self.first {
            self.postings.push(Counts { term, entry, fields: [0; FIELDS] });
            *latest = self.postings.len();
        }
        let field = field as usize;
        let counts = latest.checked_sub(1).and_then(|at| self.postings.get_mut(at));
        if let Some(count) = counts.and_then(|it| it.fields.get_mut(field)) {
            *count = count.saturating_add(1);
        }
        if let Some(length) = self.lengths.last_mut().and_then(|it| it.get_mut(field)) {
            *length = length.saturating_add(1);
        }
    }

    fn term(&mut self, word: &str) -> Option<Term> {
        if let Some(&known) = self.forms.get(word) {
            return known;
        }
        let term = (!tokenize::is_stop_word(word)).then(|| self.stem(word));
        self.forms.insert(word.to_owned(), term);
        term
    }

    fn stem(&mut self, word: &str) -> Term {
        match self.stems.entry(tokenize::stem(word).into_owned()) {
            Slot::Occupied(known) => {
                let term = *known.get();
                if let Some(surface) = self.surfaces.get_mut(term as usize)
                    && word.len() < surface.len()
                {
                    word.clone_into(surface);
                }
                term
            }
            Slot::Vacant(new) => {
                self.surfaces.push(word.to_owned());
                self.latest.push(0);
                *new.insert(self.surfaces.len() as Term - 1)
            }
        }
    }

    fn finish(mut self) -> Index {
        let vocabulary = self.sort_vocabulary();
        // Stable: the entries of a word stay in order.
        self.postings.sort_by_key(|posting| posting.term);
        let averages = averages(&self.lengths);
        let weights = weights(&averages);
        let mut index =
            Index { rows: self.rows, titles: self.titles, vocabulary, ..Index::default() };
        for posting in &self.postings {
            // Words come in order and every word has a posting.
            if posting.term as usize == index.ends.len() {
                index.ends.push(0);
            }
            let lengths = self.lengths.get(posting.entry as usize).unwrap_or(&[0; FIELDS]);
            index.entries.push(posting.entry);
            index.weights.push(posting.weight(lengths, &averages, &weights));
            index.fields.push(posting.bits());
            if let Some(end) = index.ends.last_mut() {
                *end = index.entries.len() as u32;
            }
        }
        for term in index.vocabulary.terms() {
            let information = index.information(term);
            for at in index.range(term) {
                let names = index.fields.get(at).is_some_and(|fields| fields & NAMING != 0);
                let entry = index.entries.get(at).filter(|_| names);
                if let Some(row) = entry.and_then(|&entry| index.rows.get_mut(entry as usize)) {
                    row.naming += information;
                }
            }
        }
        index.compounds = compounds(&index, &self.forms);
        index
    }

    /// Numbers the words anew, by stem.
    fn sort_vocabulary(&mut self) -> Vocabulary {
        let mut words: Vec<_> = self.stems.drain().collect();
        words.sort_unstable();
        let mut renamed = vec![0; words.len()];
        for (new, (_, old)) in (0..).zip(&words) {
            if let Some(renamed) = renamed.get_mut(*old as usize) {
                *renamed = new;
            }
        }
        let renamed = |old: Term| renamed.get(old as usize).copied().unwrap_or_default();
        for word in self.titles.iter_mut().filter(|word| **word != BREAK) {
            *word = renamed(*word - 1) + 1;
        }
        for posting in &mut self.postings {
            posting.term = renamed(posting.term);
        }
        for term in self.forms.values_mut().flatten() {
            *term = renamed(*term);
        }
        let surface = |old: Term| self.surfaces.get(old as usize).map_or("", String::as_str);
        Vocabulary::from_sorted(words.iter().map(|(stem, old)| (stem.as_str(), surface(*old))))
    }
}

impl Counts {
    /// The saturated sum of the counts over the fields, as a share of 65,535.
    fn weight(
        &self,
        lengths: &[u16; FIELDS],
        averages: &[f32; FIELDS],
        weights: &[f32; FIELDS],
    ) -> u16 {
        let mut sum = 0.0;
        let fields = self.fields.iter().zip(lengths).zip(averages).zip(weights.iter().zip(LENGTH));
        for (((&count, &length), &average), (weight, b)) in fields.filter(|it| *it.0.0.0 > 0) {
            sum += weight * f32::from(count) / (1.0 - b + b * f32::from(length) / average);
        }
        (sum / (SATURATION + sum) * f32::from(u16::MAX)) as u16
    }

    fn bits(&self) -> u8 {
        let fields = Field::ALL.iter().zip(self.fields).filter(|(_, count)| *count > 0);
        fields.fold(0, |bits, (field, _)| bits | field.bit())
    }
}

/// [`WEIGHTS`], as far as there are descriptions: else names have to tell what they would.
fn weights(averages: &[f32; FIELDS]) -> [f32; FIELDS] {
    let mut weights = WEIGHTS;
    let description = Field::Description as usize;
    if averages.get(description).is_some_and(|&length| length <= 0.0) {
        weights.iter_mut().skip(description + 1).for_each(|weight| *weight *= UNDESCRIBED);
    }
    weights
}

/// The average length of each field.
fn averages(lengths: &[[u16; FIELDS]]) -> [f32; FIELDS] {
    let mut averages = [0.0; FIELDS];
    for length in lengths {
        for (sum, &length) in averages.iter_mut().zip(length) {
            *sum += f32::from(length) / lengths.len() as f32;
        }
    }
    averages
}

/// Pairs of a word and a longer one in a name that is made of it and other known words, sorted.
fn compounds(index: &Index, forms: &HashMap<String, Option<Term>>) -> Vec<(Term, Term)> {
    let known = |form: &str| forms.get(form).copied().flatten();
    let mut pairs = Vec::new();
    for (form, whole) in forms {
        let Some(whole) = *whole else { continue };
        let names = index.postings(whole).any(|posting| posting.fields & NAMING != 0);
        if names && form.len() >= MIN_COMPOUND {
            let part = |part: &str| {
                known(part).filter(|&term| term != whole && index.range(term).len() > 1)
            };
            let parts = split(form, MAX_PARTS, &part).unwrap_or_default();
            pairs.extend(parts.into_iter().map(|part| (part, whole)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Splits a text into at most `most` parts that are all known, the first as long as possible.
fn split(text: &str, most: usize, known: &impl Fn(&str) -> Option<Term>) -> Option<Vec<Term>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let most = most.checked_sub(1)?;
    (MIN_PART..=text.len()).rev().find_map(|at| {
        let (part, rest) = text.split_at_checked(at)?;
        let part = known(part)?;
        let mut parts = split(rest, most, known)?;
        parts.insert(0, part);
        Some(parts)
    })
}
