//! What is known of each entry: words with their weights, titles in order, method and shape.

use serde::{Deserialize, Serialize};

use super::lexicon::GENERIC;
use super::vocabulary::{Term, Vocabulary};

/// One thing to find, as words. Borrowed from the document it describes.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Identifier, for example `core_users_list`; may be empty.
    pub id: &'a str,
    /// HTTP method, any case.
    pub method: &'a str,
    /// Path template, for example `/users/{id}/`.
    pub path: &'a str,
    /// One line; may be empty.
    pub summary: &'a str,
    /// Plain text; may be empty.
    pub description: &'a str,
    /// Names of the groups it belongs to.
    pub tags: &'a [String],
    /// Names of parameters.
    pub parameters: &'a [String],
    /// Names of body properties and short values they may have.
    pub body: &'a [String],
    /// Names of what goes in and comes back, and of its properties.
    pub answer: &'a [String],
    /// Whether callers are asked to use something else.
    pub deprecated: bool,
}

/// The places a word is found in, in the order of their weights below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Id,
    Path,
    Summary,
    Description,
    Tags,
    Parameters,
    Body,
    Answer,
}

impl Field {
    pub(super) const ALL: [Self; FIELDS] = [
        Self::Id,
        Self::Path,
        Self::Summary,
        Self::Description,
        Self::Tags,
        Self::Parameters,
        Self::Body,
        Self::Answer,
    ];

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Path => "path",
            Self::Summary => "summary",
            Self::Description => "description",
            Self::Tags => "tags",
            Self::Parameters => "parameters",
            Self::Body => "body",
            Self::Answer => "answer",
        }
    }
}

pub(super) const FIELDS: usize = 8;
/// Fields whose words name the entry.
pub(super) const NAMING: u8 = 1 << Field::Id as u8 | 1 << Field::Path as u8;
/// What a word like "items" tells as part of a name, as a share of other words.
const GENERIC_NAME: f32 = 0.3;
/// Ends a path segment, the path and the id in [`Index::titles`]; words are stored plus one.
pub(super) const BREAK: u32 = 0;

/// HTTP method, as far as a question can mean it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Other,
}

impl Method {
    pub(super) fn parse(name: &str) -> Self {
        match name.to_ascii_uppercase().as_str() {
            "GET" => Self::Get,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => Self::Other,
        }
    }
}

/// What ranking needs of an entry besides its words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) method: Method,
    pub(super) deprecated: bool,
    /// Whether the path ends in a parameter: one thing, not a collection.
    pub(super) item: bool,
    /// A POST that only reads, by its name: `search`, `query`.
    pub(super) reads: bool,
    /// Segments of the path.
    pub(super) depth: u8,
    /// Where the path starts, ends, and the title ends in [`Index::titles`].
    pub(super) title: (u32, u32, u32),
    /// Information in the words that name it: the sum of their `idf`.
    pub(super) naming: f32,
}

impl Row {
    /// Whether it changes one existing thing.
    pub(super) fn changes(&self) -> bool {
        match self.method {
            Method::Put | Method::Patch => true,
            Method::Post => self.item,
            Method::Get | Method::Delete | Method::Other => false,
        }
    }
}

/// A word in an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posting {
    pub(super) entry: u32,
    /// Saturated field sum, 0 to 1.
    pub(super) weight: f32,
    /// Bits of [`Field`].
    pub(super) fields: u8,
}

/// A search index over the operations of one API. Cheap to keep (about 1 MB for 1,200 operations)
/// and to store on disk.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Index {
    pub(super) rows: Vec<Row>,
    /// Paths, ids and summaries as words in order.
    pub(super) titles: Vec<u32>,
    pub(super) vocabulary: Vocabulary,
    /// Where the postings of each word end.
    pub(super) ends: Vec<u32>,
    pub(super) entries: Vec<u32>,
    pub(super) weights: Vec<u16>,
    pub(super) fields: Vec<u8>,
    /// Pairs of a word and a longer one it is part of, sorted.
    pub(super) compounds: Vec<(Term, Term)>,
}

impl Index {
    /// How many entries are indexed.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing is indexed.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The entries a word occurs in.
    pub(super) fn postings(&self, term: Term) -> impl Iterator<Item = Posting> {
        let range = self.range(term);
        let entries = self.entries.get(range.clone()).unwrap_or_default();
        let weights = self.weights.get(range.clone()).unwrap_or_default();
        let fields = self.fields.get(range).unwrap_or_default();
        entries.iter().zip(weights).zip(fields).map(|((&entry, &weight), &fields)| Posting {
            entry,
            weight: f32::from(weight) / f32::from(u16::MAX),
            fields,
        })
    }

    /// How much a word tells: high when few entries have it.
    pub(super) fn idf(&self, term: Term) -> f32 {
        idf(self.rows.len(), self.range(term).len())
    }

    /// What a word tells of an entry it names.
    pub(super) fn information(&self, term: Term) -> f32 {
        let generic = self.vocabulary.stem(term).is_some_and(|it| GENERIC.contains(&it));
        self.idf(term) * if generic { GENERIC_NAME } else { 1.0 }
    }

    /// The words of an entry's path with [`BREAK`]s after each segment.
    pub(super) fn path(&self, row: &Row) -> &[u32] {
        self.titles.get(row.title.0 as usize..row.title.1 as usize).unwrap_or_default()
    }

    /// The words of its path, id and summary with [`BREAK`]s between them.
    pub(super) fn title(&self, row: &Row) -> &[u32] {
        self.titles.get(row.title.0 as usize..row.title.2 as usize).unwrap_or_default()
    }

    /// Longer words that hold a word.
    pub(super) fn compounds_of(&self, term: Term) -> impl Iterator<Item = Term> {
        let from = self.compounds.partition_point(|pair| pair.0 < term);
        let pairs = self.compounds.get(from..).unwrap_or_default();
        pairs.iter().take_while(move |pair| pair.0 == term).map(|pair| pair.1)
    }

    pub(super) fn range(&self, term: Term) -> std::ops::Range<usize> {
        let term = term as usize;
        let end = self.ends.get(term).copied().unwrap_or_default();
        let start = term.checked_sub(1).and_then(|it| self.ends.get(it)).copied();
        start.unwrap_or_default() as usize..end as usize
    }
}

fn idf(entries: usize, having: usize) -> f32 {
    let (entries, having) = (entries as f32, having as f32);
    ((entries - having + 0.5) / (having + 0.5)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_survives_the_disk() {
        let words = ["name".to_owned()];
        let entry = Entry {
            id: "listThings",
            method: "get",
            path: "/things",
            summary: "List things",
            description: "All of them.",
            tags: &words,
            parameters: &words,
            body: &words,
            answer: &words,
            deprecated: false,
        };
        let index = Index::build([entry, Entry { id: "other", ..entry }].into_iter());
        let bytes = postcard::to_allocvec(&index).unwrap();
        let back: Index = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(back.len(), 2);
        assert_eq!(back.search("things"), index.search("things"));
        assert_eq!(back.search("things").matched, 2);
    }

    #[test]
    fn a_damaged_index_finds_nothing_and_does_not_panic() {
        let mut index = Index::build([].into_iter());
        index.vocabulary = Vocabulary::from_sorted([("thing", "things")].into_iter());
        index.ends = vec![u32::MAX];
        index.entries = vec![7, 7];
        index.weights = vec![1];
        index.compounds = vec![(0, 900)];
        assert_eq!(index.search("things").matched, 0);
        assert!(!index.explain("things", 7).is_empty());
    }
}
