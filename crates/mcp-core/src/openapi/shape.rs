//! One level of a schema: references followed, `allOf` merged, every way to say "or null" read.

use std::borrow::Cow;
use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::document::{ComponentKind, Document};
use super::resolve::reference_name;
use super::text::{Json, Key, Kind};

/// Schemas read for one level. Real documents need a dozen; `allOf` trees made to explode stop here.
const MAX_PARTS: usize = 64;

/// What a schema says at its own level.
#[derive(Debug, Default)]
pub(super) struct Shape<'a> {
    /// The component it is, when it comes by a reference.
    pub(super) name: Option<Cow<'a, str>>,
    /// The last part of a reference that leads nowhere.
    pub(super) missing: Option<Cow<'a, str>>,
    /// The types it names, without `null`.
    pub(super) types: Vec<Cow<'a, str>>,
    pub(super) nullable: bool,
    pub(super) format: Option<Cow<'a, str>>,
    pub(super) constant: Option<Json<'a>>,
    pub(super) values: Option<Json<'a>>,
    pub(super) properties: IndexMap<Cow<'a, str>, Json<'a>>,
    pub(super) required: HashSet<Cow<'a, str>>,
    /// `additionalProperties`, or the first of `patternProperties`.
    pub(super) additional: Option<Json<'a>>,
    /// `additionalProperties: false`.
    closed: bool,
    /// How many schemas gave it properties.
    sources: usize,
    pub(super) items: Option<Json<'a>>,
    pub(super) tuple: Option<Json<'a>>,
    /// Each `oneOf` or `anyOf`, as the branches that say something about the value's form.
    pub(super) unions: Vec<Vec<Json<'a>>>,
    /// Sets of properties of which one must be there: `anyOf` branches of nothing but `required`.
    pub(super) alternatives: Vec<Json<'a>>,
    pub(super) discriminator: Option<Json<'a>>,
    pub(super) description: Option<Cow<'a, str>>,
    pub(super) default: Option<Json<'a>>,
    pub(super) deprecated: bool,
    pub(super) read_only: bool,
    pub(super) write_only: bool,
    /// The schema `false`: nothing fits.
    pub(super) never: bool,
    parts: usize,
    trail: Vec<usize>,
}

impl Shape<'_> {
    pub(super) fn is_object(&self) -> bool {
        !self.properties.is_empty()
            || self.additional.is_some()
            || self.types.iter().any(|it| it == "object")
    }
}

impl Document {
    pub(super) fn shape<'a>(&'a self, schema: Json<'a>) -> Shape<'a> {
        let mut shape = Shape::default();
        self.gather(schema, &mut shape);
        shape
    }

    /// One schema for one level of a value: references followed and `allOf` merged. Schemas of
    /// properties and elements stay as they are written, references included.
    #[must_use]
    pub fn flatten(&self, schema: &Value) -> Value {
        let text = schema.to_string();
        let shape = self.shape(Json::new(&text));
        let Value::Object(own) = schema else { return schema.clone() };
        if !own.contains_key("$ref") && !own.contains_key("allOf") {
            return schema.clone();
        }
        shape.into_value()
    }

    /// Adds what a schema says to a shape; what is said later, or nearer, wins.
    fn gather<'a>(&'a self, schema: Json<'a>, shape: &mut Shape<'a>) {
        if !schema.is_object() {
            shape.never |= schema.text() == "false";
            return;
        }
        if shape.parts >= MAX_PARTS || shape.trail.contains(&schema.address()) {
            return;
        }
        shape.parts += 1;
        shape.trail.push(schema.address());
        let members = schema.object();
        for (key, value) in members.iter() {
            match key.raw() {
                "$ref" => self.gather_reference(value, shape),
                "allOf" => value.elements().for_each(|part| self.gather(part, shape)),
                _ => {}
            }
        }
        for (key, value) in members.iter() {
            shape.keyword(key.raw(), value);
        }
        shape.trail.pop();
    }

    fn gather_reference<'a>(&'a self, value: Json<'a>, shape: &mut Shape<'a>) {
        let Some(reference) = value.as_str() else { return };
        match self.lookup(&reference) {
            Some(target) => {
                if shape.name.is_none() && shape.properties.is_empty() {
                    shape.name = self.schema_name(&reference, target);
                }
                self.gather(target, shape);
            }
            None => shape.missing = Some(reference_name(&reference)),
        }
    }

    /// The name by which what a reference leads to can be asked for.
    fn schema_name(&self, reference: &str, target: Json<'_>) -> Option<Cow<'static, str>> {
        let name = reference_name(reference);
        let schema = self.component(ComponentKind::Schema, &name)?;
        (schema.address() == target.address()).then_some(name)
    }
}

impl<'a> Shape<'a> {
    fn keyword(&mut self, name: &str, value: Json<'a>) {
        match name {
            "type" => self.set_types(value),
            "nullable" | "x-nullable" => self.nullable |= value.as_bool() == Some(true),
            "format" => self.format = value.as_str(),
            "const" => self.constant = Some(value),
            "enum" if value.kind() == Kind::Array => {
                self.nullable |= value.elements().any(|it| it.kind() == Kind::Null);
                self.values = Some(value);
            }
            "properties" => {
                self.sources += 1;
                for (name, property) in value.members() {
                    self.properties.insert(name.name(), property);
                }
            }
            "required" => self.required.extend(value.strings()),
            "additionalProperties" => {
                self.closed = value.text() == "false";
                self.additional = (!self.closed).then_some(value);
            }
            "patternProperties" if self.additional.is_none() => {
                self.additional = value.members().next().map(|(_, schema)| schema);
            }
            "items" if value.kind() == Kind::Array => self.tuple = Some(value),
            "items" => self.items = Some(value),
            "prefixItems" => self.tuple = Some(value),
            "oneOf" | "anyOf" => self.union(value),
            "discriminator" => self.discriminator = Some(value),
            "description" => self.description = value.as_str(),
            "default" => self.default = Some(value),
            "deprecated" => self.deprecated = value.as_bool() == Some(true),
            "readOnly" => self.read_only = value.as_bool() == Some(true),
            "writeOnly" => self.write_only = value.as_bool() == Some(true),
            _ => {}
        }
    }

    fn set_types(&mut self, value: Json<'a>) {
        let types = value.as_str().into_iter().chain(value.strings());
        let (null, types): (Vec<_>, Vec<_>) = types.partition(|it| it == "null");
        self.nullable |= !null.is_empty();
        if !types.is_empty() {
            self.types = types;
        }
    }

    fn union(&mut self, branches: Json<'a>) {
        let mut union = Vec::new();
        for branch in branches.elements() {
            if is_null(branch) {
                self.nullable = true;
            } else if only_requires(branch) {
                self.alternatives.push(branch);
            } else {
                union.push(branch);
            }
        }
        if !union.is_empty() {
            self.unions.push(union);
        }
    }

    fn into_value(self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            object.extend(value.map(|value| (key.to_owned(), value)));
        };
        let parse = |list: Vec<Json<'_>>| Value::Array(list.into_iter().map(Json::parse).collect());
        let flag = |set: bool| set.then_some(Value::Bool(true));
        put(
            "type",
            match self.types.as_slice() {
                [] => None,
                [one] => Some(Value::from(one.as_ref())),
                types => Some(types.iter().map(AsRef::as_ref).collect()),
            },
        );
        put("nullable", flag(self.nullable));
        put("format", self.format.map(|it| Value::from(it.as_ref())));
        put("const", self.constant.map(Json::parse));
        put("enum", self.values.map(Json::parse));
        if !self.properties.is_empty() {
            let properties =
                self.properties.into_iter().map(|(name, json)| (name.into_owned(), json.parse()));
            put("properties", Some(Value::Object(properties.collect())));
        }
        if !self.required.is_empty() {
            let mut required: Vec<_> = self.required.iter().map(AsRef::as_ref).collect();
            required.sort_unstable();
            put("required", Some(required.into_iter().collect()));
        }
        // In a merged schema each part would forbid what the others bring.
        let closed = self.closed && self.sources <= 1;
        put(
            "additionalProperties",
            self.additional.map(Json::parse).or(closed.then_some(Value::Bool(false))),
        );
        put("items", self.items.map(Json::parse));
        put("prefixItems", self.tuple.map(Json::parse));
        let unions: Vec<_> = self.unions.into_iter().map(parse).collect();
        match <[Value; 1]>::try_from(unions) {
            Ok([union]) => put("anyOf", Some(union)),
            Err(unions) if unions.is_empty() => {}
            Err(unions) => {
                let each = unions.into_iter().map(|union| json!({"anyOf": union}));
                put("allOf", Some(each.collect()));
            }
        }
        put("discriminator", self.discriminator.map(Json::parse));
        put("description", self.description.map(|it| Value::from(it.as_ref())));
        put("default", self.default.map(Json::parse));
        put("readOnly", flag(self.read_only));
        put("writeOnly", flag(self.write_only));
        Value::Object(object)
    }
}

/// True for `{"required": [...]}` and nothing that says what the value is.
fn only_requires(schema: Json<'_>) -> bool {
    let mut requires = false;
    for (key, _) in schema.members() {
        match key.raw() {
            "required" => requires = true,
            "title" | "description" | "type" => {}
            _ => return false,
        }
    }
    requires
}

/// True for a branch that only says "or null".
fn is_null(schema: Json<'_>) -> bool {
    let null = |it: Json<'_>| it.kind() == Kind::Null;
    schema.get_str("type").is_some_and(|it| it == "null")
        || schema.get("const").is_some_and(null)
        || schema
            .get("enum")
            .is_some_and(|it| it.elements().next().is_some() && it.elements().all(null))
        || only_nullable(schema)
}

/// True for `{"nullable": true}`, which some generators write for "or null".
fn only_nullable(schema: Json<'_>) -> bool {
    let says_more = |(key, _): (Key<'_>, Json<'_>)| {
        !matches!(key.raw(), "nullable" | "x-nullable" | "title" | "description")
    };
    (schema.flag("nullable") || schema.flag("x-nullable")) && !schema.members().any(says_more)
}
