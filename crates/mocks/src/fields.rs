//! Request bodies against declared fields, with the answers of Django REST framework.

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::http::{Call, Reply};
use crate::table::Row;
use crate::time::Timestamp;

/// How a body meets the stored row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode<'a> {
    /// POST and PUT: required fields must be there, the others fall back to their defaults.
    Whole,
    /// PATCH: what is not sent stays.
    Part(&'a Row),
    /// What is not sent is left out.
    Sent,
}

impl<'a> Mode<'a> {
    /// How an update of a stored row is meant.
    pub(crate) fn of(call: &Call<'_>, stored: &'a Row) -> Self {
        if call.request.method == Method::PATCH { Self::Part(stored) } else { Self::Whole }
    }
}

/// One writable field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    nullable: bool,
    default: Value,
}

#[derive(Clone, Debug)]
enum Kind {
    Text {
        max: Option<usize>,
        blank: bool,
    },
    Email,
    Flag,
    Integer {
        min: i64,
        max: i64,
    },
    Number,
    Choice(&'static [&'static str]),
    Uuid,
    /// Errors are given by index.
    List(Box<Self>),
    /// Keys of other rows: the first error stands for all.
    Keys(Box<Self>),
    Object,
    Time,
}

impl Field {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: false, default: Value::Null }
    }

    /// Text that may not be blank.
    pub(crate) fn text(name: &'static str) -> Self {
        Self::new(name, Kind::Text { max: None, blank: false })
    }

    pub(crate) fn blank_text(name: &'static str) -> Self {
        Self::new(name, Kind::Text { max: None, blank: true })
    }

    pub(crate) fn short_text(name: &'static str, max: usize) -> Self {
        Self::new(name, Kind::Text { max: Some(max), blank: false })
    }

    pub(crate) fn email(name: &'static str) -> Self {
        Self::new(name, Kind::Email)
    }

    pub(crate) fn flag(name: &'static str) -> Self {
        Self::new(name, Kind::Flag)
    }

    /// A 32-bit column.
    pub(crate) fn integer(name: &'static str) -> Self {
        Self::new(name, Kind::Integer { min: i32::MIN.into(), max: i32::MAX.into() })
    }

    pub(crate) fn big_integer(name: &'static str) -> Self {
        Self::new(name, Kind::Integer { min: i64::MIN, max: i64::MAX })
    }

    pub(crate) fn natural(name: &'static str) -> Self {
        Self::new(name, Kind::Integer { min: 1, max: i32::MAX.into() })
    }

    pub(crate) fn between(name: &'static str, min: i64, max: i64) -> Self {
        Self::new(name, Kind::Integer { min, max })
    }

    pub(crate) fn number(name: &'static str) -> Self {
        Self::new(name, Kind::Number)
    }

    pub(crate) fn choice(name: &'static str, choices: &'static [&'static str]) -> Self {
        Self::new(name, Kind::Choice(choices))
    }

    pub(crate) fn uuid(name: &'static str) -> Self {
        Self::new(name, Kind::Uuid)
    }

    /// A list of what `item` describes.
    pub(crate) fn list(name: &'static str, item: Self) -> Self {
        Self::new(name, Kind::List(Box::new(item.kind))).or(json!([]))
    }

    /// A list of keys, each of which `item` describes.
    pub(crate) fn keys(name: &'static str, item: Self) -> Self {
        Self::new(name, Kind::Keys(Box::new(item.kind))).or(json!([]))
    }

    pub(crate) fn object(name: &'static str) -> Self {
        Self::new(name, Kind::Object).or(json!({}))
    }

    pub(crate) fn time(name: &'static str) -> Self {
        Self::new(name, Kind::Time)
    }

    pub(crate) fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) fn nullable(mut self) -> Self {
        self.nullable = true;
        self
    }

    pub(crate) fn or(mut self, default: impl Into<Value>) -> Self {
        self.default = default.into();
        self
    }

    fn clean(&self, value: &Value) -> Result<Value, Value> {
        if value.is_null() {
            return if self.nullable {
                Ok(Value::Null)
            } else {
                Err(json!(["This field may not be null."]))
            };
        }
        self.kind.clean(value)
    }
}

impl Kind {
    fn clean(&self, value: &Value) -> Result<Value, Value> {
        match self {
            Self::Text { max, blank } => text(value, *max, *blank),
            Self::Email => email(value),
            Self::Flag => flag(value),
            Self::Integer { min, max } => integer(value, *min, *max),
            Self::Number => number(value),
            Self::Choice(choices) => choice(value, choices),
            Self::Uuid => uuid(value),
            Self::List(item) => list(value, item),
            Self::Keys(item) => items(value)?.iter().map(|value| item.clean(value)).collect(),
            Self::Object => object(value),
            Self::Time => time(value),
        }
    }
}

/// A body after the declared checks; a resource adds its own before it takes the row.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) row: Row,
    errors: Map<String, Value>,
}

impl Form {
    /// Unknown fields are ignored, as DRF does.
    pub(crate) fn read(fields: &[Field], body: &Map<String, Value>, mode: Mode<'_>) -> Self {
        let mut form = Self { row: Row::new(), errors: Map::new() };
        for field in fields {
            let stored = match mode {
                Mode::Whole => None,
                Mode::Part(row) => row.get(field.name),
                Mode::Sent if body.contains_key(field.name) => None,
                Mode::Sent => continue,
            };
            let value = match (body.get(field.name), stored) {
                (Some(sent), _) => field.clean(sent),
                (None, Some(stored)) => Ok(stored.clone()),
                (None, None) if field.required => Err(json!(["This field is required."])),
                (None, None) => Ok(field.default.clone()),
            };
            let into = if value.is_ok() { &mut form.row } else { &mut form.errors };
            into.insert(field.name.to_owned(), value.unwrap_or_else(|error| error));
        }
        form
    }

    /// Adds an error to a field; `non_field_errors` is for the whole.
    pub(crate) fn reject(&mut self, field: &str, text: &str) {
        self.reject_parts(field, json!([text]));
    }

    /// Adds the errors of what is nested in a field.
    pub(crate) fn reject_parts(&mut self, field: &str, errors: Value) {
        self.errors.insert(field.to_owned(), errors);
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Checks a key, or each key of a list, that was read without an error.
    pub(crate) fn check_keys(&mut self, field: &str, exists: impl Fn(&str) -> bool) {
        let missing = self.row.get(field).and_then(|value| {
            let keys = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            keys.iter().filter_map(key).find(|key| !exists(key))
        });
        if let Some(key) = missing {
            self.reject(field, &format!("Invalid pk \"{key}\" - object does not exist."));
        }
    }

    /// The row, or the errors by field.
    pub(crate) fn take(self) -> Result<Row, Map<String, Value>> {
        if self.errors.is_empty() { Ok(self.row) } else { Err(self.errors) }
    }

    pub(crate) fn finish(self) -> Result<Row, Reply> {
        self.take().map_err(|errors| Reply::json(400, &errors))
    }
}

fn text(value: &Value, max: Option<usize>, blank: bool) -> Result<Value, Value> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(json!(["Not a valid string."]));
        }
    };
    match max {
        _ if text.is_empty() && !blank => Err(json!(["This field may not be blank."])),
        Some(max) if text.chars().count() > max => {
            Err(json!([format!("Ensure this field has no more than {max} characters.")]))
        }
        Some(_) | None => Ok(text.into()),
    }
}

fn email(value: &Value) -> Result<Value, Value> {
    let cleaned = text(value, Some(254), true)?;
    let address = cleaned.as_str().unwrap_or_default();
    let valid = address.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && !domain.contains('@')
            && domain.split('.').all(|label| !label.is_empty())
            && domain.contains('.')
            && !address.contains(char::is_whitespace)
    });
    if valid || address.is_empty() {
        Ok(cleaned)
    } else {
        Err(json!(["Enter a valid email address."]))
    }
}

fn flag(value: &Value) -> Result<Value, Value> {
    let text = value.as_str().map(str::to_ascii_lowercase);
    match (value, text.as_deref()) {
        (Value::Bool(flag), _) => Ok((*flag).into()),
        (_, Some("true" | "t" | "yes" | "y" | "on" | "1")) => Ok(true.into()),
        (_, Some("false" | "f" | "no" | "n" | "off" | "0")) => Ok(false.into()),
        (Value::Number(number), _) if number.as_i64() == Some(1) => Ok(true.into()),
        (Value::Number(number), _) if number.as_i64() == Some(0) => Ok(false.into()),
        _ => Err(json!(["Must be a valid boolean."])),
    }
}

fn integer(value: &Value, min: i64, max: i64) -> Result<Value, Value> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64(),
    };
    match number {
        None => Err(json!(["A valid integer is required."])),
        Some(number) if number > max => {
            Err(json!([format!("Ensure this value is less than or equal to {max}.")]))
        }
        Some(number) if number < min => {
            Err(json!([format!("Ensure this value is greater than or equal to {min}.")]))
        }
        Some(number) => Ok(number.into()),
    }
}

fn number(value: &Value) -> Result<Value, Value> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.map_or_else(
        || Err(json!(["A valid number is required."])),
        |number: f64| Ok(json!(number)),
    )
}

fn choice(value: &Value, choices: &[&str]) -> Result<Value, Value> {
    match value.as_str() {
        Some(text) if choices.contains(&text) => Ok(value.clone()),
        Some(text) => Err(json!([format!("\"{text}\" is not a valid choice.")])),
        None => Err(json!([format!("\"{value}\" is not a valid choice.")])),
    }
}

fn uuid(value: &Value) -> Result<Value, Value> {
    match value.as_str() {
        Some(text) if is_uuid(text) => Ok(text.to_ascii_lowercase().into()),
        Some(text) => Err(json!([format!("“{text}” is not a valid UUID.")])),
        None => Err(json!([format!("“{value}” is not a valid UUID.")])),
    }
}

pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn items(value: &Value) -> Result<&Vec<Value>, Value> {
    let kind = python_type(value);
    let text = format!("Expected a list of items but got type \"{kind}\".");
    value.as_array().ok_or_else(|| json!([text]))
}

fn list(value: &Value, item: &Kind) -> Result<Value, Value> {
    let mut errors = Map::new();
    let mut cleaned = Vec::new();
    for (index, value) in items(value)?.iter().enumerate() {
        match item.clean(value) {
            Ok(value) => cleaned.push(value),
            Err(error) => {
                errors.insert(index.to_string(), error);
            }
        }
    }
    if errors.is_empty() { Ok(cleaned.into()) } else { Err(errors.into()) }
}

fn object(value: &Value) -> Result<Value, Value> {
    if value.is_object() {
        return Ok(value.clone());
    }
    let kind = python_type(value);
    Err(json!([format!("Expected a dictionary of items but got type \"{kind}\".")]))
}

fn time(value: &Value) -> Result<Value, Value> {
    let wrong = "Datetime has wrong format. Use one of these formats instead: \
                 YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";
    match value.as_str().and_then(Timestamp::parse) {
        Some(at) => Ok(at.to_string().into()),
        None => Err(json!([wrong])),
    }
}

/// A stored key as text; null is none.
pub(crate) fn key(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The name of a value's type in the words of the real servers.
pub(crate) fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(fields: &[Field], body: Value) -> Value {
        let body = crate::table::row(body);
        Value::Object(Form::read(fields, &body, Mode::Whole).errors)
    }

    #[test]
    fn each_kind_of_wrong_value_has_its_message() {
        let fields = [
            Field::short_text("name", 3).required(),
            Field::flag("on"),
            Field::integer("order"),
            Field::number("score"),
            Field::choice("mode", &["all", "any"]),
            Field::uuid("target"),
            Field::keys("groups", Field::uuid("")),
            Field::list("numbers", Field::natural("")),
            Field::email("email"),
            Field::object("attributes"),
        ];
        let body = json!({
            "name": "four",
            "on": "maybe",
            "order": 2_147_483_648_i64,
            "score": "x",
            "mode": "none",
            "target": "7",
            "groups": "a",
            "numbers": ["1", "x", 0],
            "email": "a@b",
            "attributes": [],
        });
        assert_eq!(
            errors(&fields, body),
            json!({
                "name": ["Ensure this field has no more than 3 characters."],
                "on": ["Must be a valid boolean."],
                "order": ["Ensure this value is less than or equal to 2147483647."],
                "score": ["A valid number is required."],
                "mode": ["\"none\" is not a valid choice."],
                "target": ["“7” is not a valid UUID."],
                "groups": ["Expected a list of items but got type \"str\"."],
                "numbers": {
                    "1": ["A valid integer is required."],
                    "2": ["Ensure this value is greater than or equal to 1."],
                },
                "email": ["Enter a valid email address."],
                "attributes": ["Expected a dictionary of items but got type \"list\"."],
            })
        );
    }

    #[test]
    fn required_null_and_blank_are_three_errors() {
        let fields = [Field::text("name").required()];
        let required = json!({ "name": ["This field is required."] });
        assert_eq!(errors(&fields, json!({})), required);
        let null = json!({ "name": ["This field may not be null."] });
        assert_eq!(errors(&fields, json!({ "name": null })), null);
        let blank = json!({ "name": ["This field may not be blank."] });
        assert_eq!(errors(&fields, json!({ "name": "  " })), blank);
    }

    #[test]
    fn a_part_keeps_what_is_not_sent_and_a_whole_falls_back_to_defaults() {
        let fields = [Field::text("name").required(), Field::flag("on").or(true)];
        let stored = crate::table::row(json!({ "name": "old", "on": false }));
        let body = crate::table::row(json!({ "name": "new" }));
        let part = Form::read(&fields, &body, Mode::Part(&stored)).finish().unwrap();
        assert_eq!(Value::Object(part), json!({ "name": "new", "on": false }));
        let whole = Form::read(&fields, &body, Mode::Whole).finish().unwrap();
        assert_eq!(Value::Object(whole), json!({ "name": "new", "on": true }));
    }
}
