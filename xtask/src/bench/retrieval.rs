//! `cargo xtask bench retrieval`: how often `search` finds the right operation, beside counting shared
//! words, and what an answer costs beside the operations as plain JSON.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use mcp_core::{
    openapi::{self, Document, LoadOptions, Operation, Summary, source::Loaded},
    search::{Entry, Index},
};
use serde_json::{Map, Value, json};

/// Hits that are looked at: the default length of an answer.
pub(crate) const SHOWN: usize = 20;
/// Nodes of an operation after which its plain JSON counts as endless.
const MAX_NODES: usize = 100_000;
/// Timed runs of each query.
const RUNS: usize = 5;

/// What is printed beside the table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// One JSON object instead of a table.
    pub(crate) json: bool,
    /// Why each wrong first hit stands before the right one; not with `json`.
    pub(crate) explain: bool,
    /// The same queries on documents that have lost ids, summaries or descriptions.
    pub(crate) worn: bool,
}

/// A file of questions about one document.
struct Questions {
    api: String,
    spec: String,
    /// Each with the ids of which any one is right.
    queries: Vec<(String, Vec<String>)>,
}

/// Measures every file of questions in `queries` (a folder or one file) on its document in `specs`.
/// `answer` is what the search tool says to a query.
pub(crate) fn run(
    specs: &Path,
    queries: &Path,
    options: Options,
    answer: impl Fn(&Loaded, &str) -> String,
) -> Result<()> {
    let mut apis = BTreeMap::new();
    let mut worn: Vec<Score> = vec![Score::default(); Wear::ALL.len()];
    for questions in read_questions(queries)? {
        let path = specs.join(&questions.spec);
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let document = openapi::load(&bytes, &LoadOptions::default())
            .with_context(|| format!("cannot load `{}`", path.display()))?;
        let loaded = Loaded::new(document);
        let figures =
            Figures::measure(&loaded, &questions, options.explain && !options.json, &answer);
        if options.worn {
            for (score, wear) in worn.iter_mut().zip(Wear::ALL) {
                let index = wear.index(&loaded.document);
                for (query, right) in &questions.queries {
                    let ranked = index.search(query).hits.into_iter().map(|hit| hit.entry);
                    score.add(rank(&loaded.document, ranked, right));
                }
            }
        }
        apis.insert(questions.api, figures);
    }
    let worn = options.worn.then_some(worn.as_slice());
    if options.json {
        println!("{}", report(&apis, worn));
    } else {
        print(&apis, worn);
    }
    Ok(())
}

fn read_questions(path: &Path) -> Result<Vec<Questions>> {
    let mut files: Vec<PathBuf> = if path.is_dir() {
        let entries =
            fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        files.filter(|file| file.extension().is_some_and(|it| it == "json")).collect()
    } else {
        vec![path.to_owned()]
    };
    files.sort();
    ensure!(!files.is_empty(), "no file of queries in `{}`", path.display());
    files.iter().map(|file| Questions::read(file)).collect()
}

impl Questions {
    fn read(file: &Path) -> Result<Self> {
        let place = || format!("`{}` is no file of queries", file.display());
        let bytes = fs::read(file).with_context(place)?;
        let value: Value = serde_json::from_slice(&bytes).with_context(place)?;
        let spec = value["spec"].as_str().context("no `spec`").with_context(place)?.to_owned();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let api = value["api"].as_str().map_or(stem, str::to_owned);
        let mut queries = Vec::new();
        for entry in value["queries"].as_array().context("no `queries`").with_context(place)? {
            let query = entry["query"].as_str().context("no `query`").with_context(place)?;
            let right = entry["gold"].as_array().context("no `gold`").with_context(place)?;
            let right = right.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            queries.push((query.to_owned(), right));
        }
        Ok(Self { api, spec, queries })
    }
}

/// How good a ranking is, summed over queries.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    queries: f64,
    first: f64,
    in_five: f64,
    in_ten: f64,
    reciprocal: f64,
}

impl Score {
    /// Counts a query whose right answer has this rank, from 0.
    fn add(&mut self, rank: Option<usize>) {
        self.queries += 1.0;
        let Some(rank) = rank.filter(|rank| *rank < SHOWN) else { return };
        self.first += f64::from(u8::from(rank < 1));
        self.in_five += f64::from(u8::from(rank < 5));
        self.in_ten += f64::from(u8::from(rank < 10));
        self.reciprocal += 1.0 / (rank as f64 + 1.0);
    }

    fn merge(&mut self, other: &Self) {
        self.queries += other.queries;
        self.first += other.first;
        self.in_five += other.in_five;
        self.in_ten += other.in_ten;
        self.reciprocal += other.reciprocal;
    }

    fn shares(&self) -> [(&'static str, f64); 4] {
        let share = |sum: f64| sum / self.queries.max(1.0);
        [
            ("recall@1", share(self.first)),
            ("recall@5", share(self.in_five)),
            ("recall@10", share(self.in_ten)),
            ("mrr", share(self.reciprocal)),
        ]
    }

    fn json(&self) -> Map<String, Value> {
        let rounded = |share: f64| json!((share * 10_000.0).round() / 10_000.0);
        let shares = self.shares().map(|(name, share)| (name.to_owned(), rounded(share)));
        [("queries".to_owned(), json!(self.queries as u64))].into_iter().chain(shares).collect()
    }

    fn columns(&self) -> String {
        let shares = self.shares().map(|(_, share)| format!("{share:>9.3}"));
        format!("{:>8}{}", self.queries, shares.concat())
    }
}

/// What is measured for one API.
#[derive(Debug, Default)]
struct Figures {
    search: Score,
    baseline: Score,
    times: Vec<Duration>,
    /// Bytes of all answers, and of the same hits as plain JSON.
    answer_bytes: usize,
    naive_bytes: usize,
    /// Whether plain JSON was cut at [`MAX_NODES`].
    endless: bool,
}

impl Figures {
    fn measure(
        loaded: &Loaded,
        questions: &Questions,
        explain: bool,
        answer: impl Fn(&Loaded, &str) -> String,
    ) -> Self {
        let Loaded { document, index } = loaded;
        let mut figures = Self::default();
        let mut naive = Naive::new(document);
        for (query, right) in &questions.queries {
            for _ in 0..RUNS {
                let started = Instant::now();
                std::hint::black_box(index.search(query));
                figures.times.push(started.elapsed());
            }
            let hits: Vec<_> = index.search(query).hits.iter().map(|hit| hit.entry).collect();
            let found = rank(document, hits.iter().copied(), right);
            figures.search.add(found);
            figures.baseline.add(rank(document, shared_words(document, query), right));
            figures.answer_bytes += answer(loaded, query).len();
            for &hit in hits.iter().take(SHOWN) {
                let (bytes, endless) = naive.bytes(hit);
                figures.naive_bytes += bytes;
                figures.endless |= endless;
            }
            if explain && found != Some(0) {
                explain_miss(loaded, query, hits.first().copied(), right, found);
            }
        }
        figures.times.sort();
        figures
    }

    fn p50_ms(&self) -> f64 {
        self.times.get(self.times.len() / 2).map_or(0.0, |it| it.as_secs_f64() * 1_000.0)
    }

    /// Average bytes for one query.
    fn average(&self, bytes: usize) -> f64 {
        bytes as f64 / self.search.queries.max(1.0)
    }
}

/// The place of the first right operation in a ranking.
fn rank(
    document: &Document,
    mut ranked: impl Iterator<Item = usize>,
    right: &[String],
) -> Option<usize> {
    let id = |index: usize| document.summaries().get(index).map(|it| &it.id);
    ranked.position(|index| id(index).is_some_and(|id| right.contains(id)))
}

/// The baseline: operations by how many words of the query occur in path, id, summary and tags.
fn shared_words(document: &Document, query: &str) -> impl Iterator<Item = usize> {
    let query = query.to_lowercase();
    let words: Vec<_> =
        query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let shared = |it: &Summary| {
        let tags = it.tags.join(" ");
        let text = format!("{} {} {} {tags}", it.path, it.id, it.summary).to_lowercase();
        words.iter().filter(|word| text.contains(**word)).count()
    };
    let mut ranked: Vec<_> = document.summaries().iter().map(shared).enumerate().collect();
    ranked.sort_by_key(|(index, shared)| (std::cmp::Reverse(*shared), *index));
    ranked.into_iter().map(|(index, _)| index)
}

fn explain_miss(
    loaded: &Loaded,
    query: &str,
    first: Option<usize>,
    right: &[String],
    found: Option<usize>,
) {
    let place = found.map_or_else(|| "not found".to_owned(), |rank| format!("rank {}", rank + 1));
    println!("\n\"{query}\": {place}");
    let wanted = right.iter().find_map(|id| loaded.document.find_id(id));
    for (label, index) in [("first", first), ("right", wanted)] {
        let Some(index) = index else { continue };
        let id = loaded.document.summaries().get(index).map_or("", |it| it.id.as_str());
        println!("{label}: {id}\n{}", loaded.index.explain(query, index));
    }
}

/// Sizes of operations as minified JSON with every reference put in, as a server without
/// signatures would answer.
struct Naive<'a> {
    document: &'a Document,
    schemas: HashMap<String, Option<Value>>,
    known: HashMap<usize, (usize, bool)>,
}

impl<'a> Naive<'a> {
    fn new(document: &'a Document) -> Self {
        Self { document, schemas: HashMap::new(), known: HashMap::new() }
    }

    /// Bytes of an operation, and whether it was cut.
    fn bytes(&mut self, index: usize) -> (usize, bool) {
        if let Some(&known) = self.known.get(&index) {
            return known;
        }
        let Some(operation) = self.document.operation(index) else { return (0, false) };
        let mut nodes = MAX_NODES;
        let size = self.size(&plain(&operation), &mut Vec::new(), &mut nodes);
        self.known.insert(index, (size, nodes == 0));
        (size, nodes == 0)
    }

    fn size(&mut self, value: &Value, open: &mut Vec<String>, nodes: &mut usize) -> usize {
        if *nodes == 0 {
            return 0;
        }
        *nodes -= 1;
        match value {
            Value::Array(items) => {
                let sizes = items.iter().map(|item| self.size(item, open, nodes) + 1);
                sizes.sum::<usize>().max(1) + 1
            }
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    return self.referenced(reference, open, nodes);
                }
                let sizes = fields
                    .iter()
                    .map(|(name, field)| name.len() + 4 + self.size(field, open, nodes));
                sizes.sum::<usize>().max(1) + 1
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                value.to_string().len()
            }
        }
    }

    /// A cycle ends where it closes.
    fn referenced(&mut self, name: &str, open: &mut Vec<String>, nodes: &mut usize) -> usize {
        if open.iter().any(|it| it == name) {
            return "{}".len();
        }
        let document = self.document;
        let schema = self.schemas.entry(name.to_owned()).or_insert_with(|| document.resolve(name));
        let Some(schema) = schema.clone() else { return "{}".len() };
        open.push(name.to_owned());
        let size = self.size(&schema, open, nodes);
        open.pop();
        size
    }
}

fn plain(operation: &Operation) -> Value {
    let content = |content: &[openapi::MediaType]| -> Map<String, Value> {
        content.iter().map(|it| (it.content_type.clone(), json!({ "schema": it.schema }))).collect()
    };
    let parameters: Vec<_> = operation
        .parameters
        .iter()
        .map(|it| {
            json!({
                "name": it.name,
                "in": format!("{:?}", it.location).to_lowercase(),
                "required": it.required,
                "description": it.description,
                "schema": it.schema,
            })
        })
        .collect();
    let responses: Map<String, Value> = operation
        .responses
        .iter()
        .map(|it| {
            let answer = json!({ "description": it.description, "content": content(&it.content) });
            (it.status.clone(), answer)
        })
        .collect();
    json!({
        "operationId": operation.id,
        "method": operation.method.as_str(),
        "path": operation.path,
        "summary": operation.summary,
        "description": operation.description,
        "tags": operation.tags,
        "parameters": parameters,
        "requestBody": operation.body.as_ref().map(|it| json!({ "content": content(&it.content) })),
        "responses": responses,
    })
}

/// What a document may have lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wear {
    Ids,
    Summaries,
    Descriptions,
    SummariesAndDescriptions,
    AllButPaths,
}

impl Wear {
    const ALL: [Self; 5] = [
        Self::Ids,
        Self::Summaries,
        Self::Descriptions,
        Self::SummariesAndDescriptions,
        Self::AllButPaths,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Ids => "no ids",
            Self::Summaries => "no summaries",
            Self::Descriptions => "no descriptions",
            Self::SummariesAndDescriptions => "no summaries and descriptions",
            Self::AllButPaths => "no ids, tags, summaries, descriptions",
        }
    }

    fn index(self, document: &Document) -> Index {
        let all = self == Self::AllButPaths;
        let texts = self == Self::SummariesAndDescriptions || all;
        let ids = self == Self::Ids || all;
        let summaries = self == Self::Summaries || texts;
        let descriptions = self == Self::Descriptions || texts;
        let fields = document.search_fields();
        Index::build(document.summaries().iter().zip(&fields).map(|(it, fields)| Entry {
            id: if ids { "" } else { &it.id },
            method: it.method.as_str(),
            path: &it.path,
            summary: if summaries { "" } else { &it.summary },
            description: if descriptions { "" } else { &it.description },
            tags: if all { &[] } else { &it.tags },
            parameters: &fields.parameters,
            body: &fields.body,
            answer: &fields.answer,
            deprecated: it.deprecated,
        }))
    }
}

fn totals(apis: &BTreeMap<String, Figures>) -> (Score, Score) {
    let (mut search, mut baseline) = (Score::default(), Score::default());
    for figures in apis.values() {
        search.merge(&figures.search);
        baseline.merge(&figures.baseline);
    }
    (search, baseline)
}

fn report(apis: &BTreeMap<String, Figures>, worn: Option<&[Score]>) -> Value {
    let (search, baseline) = totals(apis);
    let each: Map<String, Value> = apis
        .iter()
        .map(|(name, figures)| {
            let mut fields = figures.search.json();
            fields.insert("p50_ms".to_owned(), json!(figures.p50_ms()));
            let bytes =
                [("answer_bytes", figures.answer_bytes), ("naive_bytes", figures.naive_bytes)];
            for (name, bytes) in bytes {
                fields.insert(name.to_owned(), json!(figures.average(bytes).round()));
            }
            fields.insert("naive_cut".to_owned(), json!(figures.endless));
            (name.clone(), Value::Object(fields))
        })
        .collect();
    let mut report = json!({ "overall": search.json(), "apis": each, "baseline": baseline.json() });
    if let Some(worn) = worn {
        let variants = Wear::ALL.iter().zip(worn);
        let variants: Map<String, Value> =
            variants.map(|(wear, score)| (wear.name().to_owned(), score.json().into())).collect();
        report["worn"] = Value::Object(variants);
    }
    report
}

fn print(apis: &BTreeMap<String, Figures>, worn: Option<&[Score]>) {
    const NAME: usize = 38;
    let heading = ["recall@1", "recall@5", "@10", "MRR"].map(|it| format!("{it:>9}")).concat();
    println!("{:NAME$}{:>8}{heading}{:>11}{:>11}{:>11}", "", "queries", "p50", "answer", "as JSON");
    for (name, figures) in apis {
        let more = if figures.endless { ">" } else { "" };
        let naive = format!("{more}{:.1} kB", figures.average(figures.naive_bytes) / 1_000.0);
        println!(
            "{name:NAME$}{}{:>8.3} ms{:>8.1} kB{naive:>11}",
            figures.search.columns(),
            figures.p50_ms(),
            figures.average(figures.answer_bytes) / 1_000.0,
        );
    }
    let (search, baseline) = totals(apis);
    println!("{:NAME$}{}", "overall", search.columns());
    println!("{:NAME$}{}", "baseline: shared words", baseline.columns());
    for (wear, score) in Wear::ALL.iter().zip(worn.into_iter().flatten()) {
        println!("{:NAME$}{}", wear.name(), score.columns());
    }
}
