//! Placeholders: what a recorded write answers in a rehearsal, made from the response's schema.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json, value::RawValue};

use crate::openapi::{Document, Operation};

use super::symbol::{self, Found};

/// Objects deeper than this become values of unknown form.
const MAX_DEPTH: usize = 6;
/// Fields of one placeholder, all levels together.
const MAX_FIELDS: usize = 2_000;

/// What a script gets in place of a value.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    /// One value of a known type.
    Scalar(String, Kind),
    /// A value of unknown form: any property of it is a symbol.
    Open(String),
    /// Its name and its fields.
    Object(String, Vec<(String, Self)>),
    /// A list of unknown length.
    List(String),
    /// JSON the script sent itself, or the upstream.
    Known(String),
}

/// What a scalar can be, for values that stand in for it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kind {
    basic: Basic,
    nullable: bool,
    /// One of these, where the schema lists them.
    values: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq)]
enum Basic {
    Integer,
    Number,
    Boolean,
    /// With its `format`.
    Text(String),
}

/// The answer to a recorded call: the lowest documented 2xx with what its schema says. `None` for
/// an answer without a body.
///
/// `body` is what the script sent: fields of the answer that it names keep these values.
pub(super) fn of(
    document: &Document,
    operation: &Operation,
    name: &str,
    body: Option<&str>,
) -> (u16, Option<Tree>) {
    let documented = operation.responses.iter().filter_map(|it| {
        let status = match it.status.to_ascii_uppercase().as_str() {
            "2XX" => 200,
            "DEFAULT" => 299,
            other => other.parse::<u16>().ok()?,
        };
        (200..300).contains(&status).then_some((status, it))
    });
    let Some((status, response)) = documented.min_by_key(|(status, _)| *status) else {
        return (200, Some(Tree::Open(name.to_owned())));
    };
    let status = if status == 299 { 200 } else { status };
    if status == 204 {
        return (status, None);
    }
    let Some(media) = response.content.first() else {
        return (status, Some(Tree::Open(name.to_owned())));
    };
    let mut growth = Growth { document, fields: 0 };
    let tree = growth.tree(&media.schema, name, 0, body);
    (status, Some(tree))
}

struct Growth<'a> {
    document: &'a Document,
    fields: usize,
}

impl Growth<'_> {
    fn tree(&mut self, schema: &Value, name: &str, depth: usize, sent: Option<&str>) -> Tree {
        let open = || Tree::Open(name.to_owned());
        let Some(schema) = self.level(schema) else { return open() };
        let kinds = types(&schema);
        if let Some(sent) = sent
            && depth > 0
        {
            // Another form than the answer's, as an id where the answer has the whole object.
            return if fits(&kinds, sent) {
                Tree::Known(sent.to_owned())
            } else {
                self.tree(&schema, name, depth, None)
            };
        }
        match kinds.first().map(String::as_str) {
            Some("object") if depth < MAX_DEPTH => match schema.get("properties") {
                Some(Value::Object(properties)) if !properties.is_empty() => {
                    self.object(properties, name, depth, sent)
                }
                _ => open(),
            },
            Some("array") => Tree::List(name.to_owned()),
            Some("object") | None => open(),
            Some(basic) => Tree::Scalar(name.to_owned(), kind(&schema, basic)),
        }
    }

    fn object(
        &mut self,
        properties: &Map<String, Value>,
        name: &str,
        depth: usize,
        sent: Option<&str>,
    ) -> Tree {
        let sent: IndexMap<String, Box<RawValue>> =
            sent.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
        let mut fields = Vec::new();
        for (key, schema) in properties {
            self.fields += 1;
            if self.fields > MAX_FIELDS || !is_word(key) {
                continue;
            }
            let own = sent.get(key).map(|it| it.get());
            fields.push((key.clone(), self.tree(schema, &format!("{name}.{key}"), depth + 1, own)));
        }
        Tree::Object(name.to_owned(), fields)
    }

    /// The schema with references followed, down to the one branch that a union leaves.
    fn level(&self, schema: &Value) -> Option<Value> {
        let mut schema = self.document.flatten(schema);
        for _ in 0..4 {
            let union = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(*it)?.as_array());
            let Some(union) = union.filter(|_| schema.get("properties").is_none()) else {
                return schema.is_object().then_some(schema);
            };
            let mut branches =
                union.iter().filter(|it| it.get("type").and_then(Value::as_str) != Some("null"));
            let (Some(only), None) = (branches.next(), branches.next()) else { return None };
            let mut flat = self.document.flatten(only);
            if branches_with_null(union)
                && let Some(fields) = flat.as_object_mut()
            {
                fields.insert("nullable".to_owned(), json!(true));
            }
            schema = flat;
        }
        None
    }
}

fn branches_with_null(union: &[Value]) -> bool {
    union.iter().any(|it| it.get("type").and_then(Value::as_str) == Some("null"))
}

/// The types a schema names, without `null`; an object that only lists properties is one.
fn types(schema: &Value) -> Vec<String> {
    let named: Vec<String> = match schema.get("type") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
        }
        _ if schema.get("properties").is_some() => vec!["object".to_owned()],
        _ if schema.get("items").is_some() => vec!["array".to_owned()],
        _ if schema.get("enum").is_some() => vec!["string".to_owned()],
        _ => Vec::new(),
    };
    let types: Vec<String> = named.into_iter().filter(|it| it != "null").collect();
    if types.len() > 1 { Vec::new() } else { types }
}

/// Whether what was sent has the form that the answer is documented to have.
fn fits(kinds: &[String], sent: &str) -> bool {
    let Some(kind) = kinds.first() else { return true };
    match sent.trim_start().as_bytes().first() {
        Some(b'"') => kind == "string" || sent.contains('·'),
        Some(b'{') => kind == "object",
        Some(b'[') => kind == "array",
        Some(b't' | b'f') => kind == "boolean",
        Some(b'n') => true,
        _ => kind == "integer" || kind == "number",
    }
}

fn kind(schema: &Value, basic: &str) -> Kind {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let basic = match basic {
        "integer" => Basic::Integer,
        "number" => Basic::Number,
        "boolean" => Basic::Boolean,
        _ => Basic::Text(format.to_owned()),
    };
    let has_null = |it: &Value| it.as_array().is_some_and(|all| all.iter().any(|it| it == "null"));
    let nullable =
        ["nullable", "x-nullable"].iter().any(|it| schema.get(*it) == Some(&Value::Bool(true)))
            || schema.get("type").is_some_and(has_null);
    let values = schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    Kind { basic, nullable, values }
}

/// A property that can be part of a symbol's name.
pub(super) fn is_word(key: &str) -> bool {
    let mut bytes = key.bytes();
    key.len() <= 64
        && bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-')
}

impl Tree {
    /// As the worker reads it: `s` a scalar, `a` anything, `l` a list, `o` and `f` an object and its
    /// fields, `v` a known value.
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Scalar(name, _) => json!({ "s": name }).to_string(),
            Self::Open(name) => json!({ "a": name }).to_string(),
            Self::List(name) => json!({ "l": name }).to_string(),
            Self::Known(json) => format!("{{\"v\":{json}}}"),
            Self::Object(name, fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, tree)| format!("{}:{}", Value::from(key.as_str()), tree.to_json()))
                    .collect();
                format!("{{\"o\":{},\"f\":{{{}}}}}", Value::from(name.as_str()), fields.join(","))
            }
        }
    }

    /// The placeholder with the fields that were sent later.
    pub(super) fn overlaid(mut self, body: &str) -> Self {
        let Ok(sent) = serde_json::from_str::<IndexMap<String, Box<RawValue>>>(body) else {
            return self;
        };
        match &mut self {
            Self::Object(_, fields) => {
                for (key, value) in sent {
                    if let Some((_, field)) = fields.iter_mut().find(|(name, _)| *name == key) {
                        *field = Self::Known(value.get().to_owned());
                    }
                }
            }
            Self::Known(json) => *json = overlay(json, body),
            Self::Scalar(..) | Self::Open(_) | Self::List(_) => {}
        }
        self
    }

    /// The placeholder with made-up values in place of its scalars, each noted by its name.
    ///
    /// `used` tells which symbols the plan depends on: these are never null.
    pub(super) fn faked(
        &self,
        nonce: &str,
        fakes: &mut HashMap<String, String>,
        used: &dyn Fn(&str) -> bool,
    ) -> Self {
        match self {
            Self::Scalar(name, kind) => {
                let count = fakes.len();
                let json = fakes
                    .entry(name.clone())
                    .or_insert_with(|| kind.fake(count, used(name)).to_string());
                Self::Known(json.clone())
            }
            Self::Object(name, fields) => Self::Object(
                name.clone(),
                fields
                    .iter()
                    .map(|(key, it)| (key.clone(), it.faked(nonce, fakes, used)))
                    .collect(),
            ),
            Self::Known(json) => {
                let value = |name: &str| {
                    fakes.get(name).map_or(Found::Symbol, |it| Found::Json(it.clone()))
                };
                let resolved = symbol::resolve_json(json, nonce, &value);
                Self::Known(resolved.unwrap_or_else(|_| json.clone()))
            }
            Self::Open(_) | Self::List(_) => self.clone(),
        }
    }
}

/// JSON of an object with the fields of another over it; texts that are no objects stay.
pub(super) fn overlay(json: &str, body: &str) -> String {
    type Fields = IndexMap<String, Box<RawValue>>;
    let (Ok(mut fields), Ok(over)) =
        (serde_json::from_str::<Fields>(json), serde_json::from_str::<Fields>(body))
    else {
        return json.to_owned();
    };
    for (key, value) in over {
        // What the answer does not have, as a password, it will not have afterwards.
        if fields.contains_key(&key) {
            fields.insert(key, value);
        }
    }
    serde_json::to_string(&fields).unwrap_or_else(|_| json.to_owned())
}

impl Kind {
    /// A value unlike any that a script expects; booleans are false and what may be null is.
    fn fake(&self, number: usize, used: bool) -> Value {
        if self.nullable && !used {
            return Value::Null;
        }
        if let Some(last) = self.values.iter().rfind(|it| !it.is_null()) {
            return last.clone();
        }
        let text = |format: &str| match format {
            "uuid" => format!("f1f2f3f4-0000-4000-8000-{number:012x}"),
            "date-time" => format!("2031-02-03T04:05:{:02}Z", number % 60),
            "date" => "2031-02-03".to_owned(),
            "email" => format!("made-up-{number}@example.com"),
            "uri" | "url" => format!("https://example.com/made-up-{number}"),
            _ => format!("made-up-{number}"),
        };
        match &self.basic {
            Basic::Integer => json!(1_900_000_001 + number as u64),
            Basic::Number => json!(1_900_000_000.5 + number as f64),
            Basic::Boolean => json!(false),
            Basic::Text(format) => json!(text(format)),
        }
    }
}
