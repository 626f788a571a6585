//! Turns a YAML document into JSON text in one pass, the way OpenAPI authors mean it.
//!
//! Words such as `on`, `0777` and `12:30` stay text (YAML 1.2), integers of any size keep their
//! digits, `<<` is merged, custom tags keep their value, and the last of two equal keys wins.

mod plain;
mod scalar;

use std::fmt;

use serde::de::{
    DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Aliases may repeat parts of a document, up to this much text.
const MAX_EXPANDED: usize = 128 << 20;

/// Converts the first document of a YAML stream.
pub(super) fn to_json(text: &str) -> Result<String, yaml_serde::Error> {
    plain::to_json(text).map_or_else(|| parsed(text), Ok)
}

/// Whether the two ways to read a text agree. For the fuzz target `yaml`, which sees only what is public.
#[doc(hidden)]
#[must_use]
pub fn yaml_readings_agree(text: &str) -> bool {
    plain::to_json(text).is_none_or(|json| parsed(text).is_ok_and(|full| full == json))
}

/// Reads any YAML.
fn parsed(text: &str) -> Result<String, yaml_serde::Error> {
    let mut json = String::with_capacity(text.len());
    if let Some(document) = yaml_serde::Deserializer::from_str(text).next() {
        Writer { json: &mut json }.deserialize(document)?;
    }
    Ok(json)
}

/// Writes whatever it is shown.
struct Writer<'j> {
    json: &'j mut String,
}

impl Writer<'_> {
    fn again(&mut self) -> Writer<'_> {
        Writer { json: self.json }
    }

    fn string(self, text: &str) {
        write_string(self.json, text);
    }

    fn display(self, value: impl fmt::Display) {
        self.json.push_str(&value.to_string());
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.json.len() > MAX_EXPANDED {
            return Err(D::Error::custom(
                "the document grows beyond 128 MB when its aliases are filled in",
            ));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.json.push_str("null");
        Ok(())
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.display(value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.display(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.display(value);
        Ok(())
    }

    fn visit_i128<E>(self, value: i128) -> Result<(), E> {
        self.display(value);
        Ok(())
    }

    fn visit_u128<E>(self, value: u128) -> Result<(), E> {
        self.display(value);
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        if value.is_finite() {
            self.json.push_str(&serde_json::to_string(&value).map_err(E::custom)?);
            return Ok(());
        }
        self.string(if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        });
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.string(value);
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    /// A custom tag: its value is kept.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        let (_tag, value) = access.variant::<String>()?;
        value.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        self.json.push('[');
        let start = self.json.len();
        while access.next_element_seed(self.again())?.is_some() {
            self.json.push(',');
        }
        close(self.json, start, ']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<(), A::Error> {
        self.json.push('{');
        let start = self.json.len();
        let mut merged = Vec::new();
        while let Some(key) = access.next_key::<Word>()? {
            if key.0 == "<<" {
                let mut json = String::new();
                access.next_value_seed(Writer { json: &mut json })?;
                merged.push(json);
            } else {
                self.again().string(&key.0);
                self.json.push(':');
                access.next_value_seed(self.again())?;
                self.json.push(',');
            }
        }
        close(self.json, start, '}');
        if !merged.is_empty() {
            merge(self.json, start - 1, &merged);
        }
        Ok(())
    }
}

fn write_string(json: &mut String, text: &str) {
    let is_plain = !text.bytes().any(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\'));
    if is_plain {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&Value::from(text).to_string());
    }
}

/// Replaces the comma after the last entry by the bracket that ends the list.
fn close(json: &mut String, start: usize, bracket: char) {
    if json.len() > start {
        json.pop();
    }
    json.push(bracket);
}

/// Adds what `<<` names to the object written at `start`: its own members win, then earlier sources.
fn merge(json: &mut String, start: usize, sources: &[String]) {
    let Some(Ok(Value::Object(mut object))) = json.get(start..).map(serde_json::from_str) else {
        return;
    };
    for source in sources {
        let sources = match serde_json::from_str(source) {
            Ok(Value::Array(sources)) => sources,
            Ok(source) => vec![source],
            Err(_) => continue,
        };
        for (key, value) in sources.into_iter().filter_map(into_object).flatten() {
            object.entry(key).or_insert(value);
        }
    }
    json.truncate(start);
    json.push_str(&Value::Object(object).to_string());
}

fn into_object(value: Value) -> Option<serde_json::Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// A key by its own text: `200`, `true` and `~` are names here.
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, json: &str) {
        assert_eq!(to_json(yaml).unwrap(), json);
    }

    #[test]
    fn words_of_yaml_1_1_stay_text() {
        check(
            "[on, off, yes, NO, y, 0777, 12:30, 1_000, 2020-01-01, true, 'true', ~, 1.5, 0x10]",
            r#"["on","off","yes","NO","y","0777","12:30","1_000","2020-01-01",true,"true",null,1.5,16]"#,
        );
    }

    #[test]
    fn numbers_of_any_size_are_kept() {
        check(
            "[-9223372036854775809, 18446744073709551616, 1e400, .inf, -.inf, .nan, 1.0]",
            r#"[-9223372036854775809,18446744073709551616,"1e400",".inf","-.inf",".nan",1.0]"#,
        );
    }

    #[test]
    fn keys_are_names_whatever_they_look_like() {
        check(
            "{200: a, true: b, ~: c, 0o17: d, on: e, 1.50: f}",
            r#"{"200":"a","true":"b","~":"c","0o17":"d","on":"e","1.50":"f"}"#,
        );
    }

    #[test]
    fn merge_keys_are_applied_below_the_own_members() {
        check(
            "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\nd:\n  <<: *a\n",
            r#"{"a":{"x":1,"y":2},"b":{"y":3,"z":4},"c":{"x":0,"y":2,"z":4},"d":{"x":1,"y":2}}"#,
        );
    }

    #[test]
    fn tags_keep_their_value() {
        check("[!foo bar, !foo {a: !x [1]}, !!str 12, !foo 3]", r#"["bar",{"a":[1]},"12",3]"#);
    }

    #[test]
    fn block_text_and_escapes_survive() {
        check(
            "a: |\n  one\n  \"two\"\t\\\nb: >-\n  x\n  y\n",
            r#"{"a":"one\n\"two\"\t\\\n","b":"x y"}"#,
        );
    }

    /// Texts that are read the short way, as the full parser reads them.
    #[test]
    fn what_documents_are_written_in_is_read_the_short_way() {
        for text in [
            "a: 1\nb:\n- x\n-   y: 2\n    z: [a, \"b\", {c: d}]\n-\n  - 3\nc:\n",
            "a: t\n\n  E\nb: n\n  o\nc: true\n",
            "# note\n\n---x: 1",
            "---\n'a''b': \"c\\\"\\u00e9\\\n  d\"  # note\n",
            "a: one\n two\n\n\n  three # note\nb: 'one\n\n  two '\nc: \"a  \n\n b\\ \n c\"\n",
            "a: |\n  x\n   y\n\n  z\n\n\nb: >-\n\n  x\n  y\n\n   more\n  z\nc: |+\n  x\n\n\nd: >\n  \tx\n",
            "200: 007\ntrue: Null\n~: .5\nno: -0\non: ...\nx: 1e3\ny: 0x1F\nz: 12345678901234567890\n",
            "a: b#c\nhttp://x: y:z\n-x: -\n",
            "a:\n  \"k\" : {}\n  l : []\r\n  m: x\r\n",
            "- - a\n  - b\n-\n- c: |\n    text\n  d:\n  - e\n",
        ] {
            let full = parsed(text);
            let short = plain::to_json(text);
            match full {
                Ok(full) => assert_eq!(short.as_deref().unwrap_or(&full), full, "{text}"),
                Err(error) => assert_eq!(short, None, "{text}: {error}"),
            }
        }
        assert!(plain::to_json("a: 1\nb:\n- x: >\n    y\n").is_some());
    }

    #[test]
    fn the_rest_of_the_language_is_left_to_the_full_parser() {
        for text in [
            "",
            "x",
            "a: &b 1",
            "a: *b",
            "a: !t b",
            "? a\n: b",
            "a: b: c",
            "a: [b,\n c]",
            "a:\tb",
            "\ta: b",
            "<<: {a: b}",
            "a: \"\\q\"",
            "a: 'x",
            "a: \"x\"y",
            "a: |2\n   x",
            "a: b\n---\nc: d",
            "a: - b",
            "a: %b",
            "a: @b",
            "a: b\n c: d",
            "a: \u{7}",
            "a:\n  b\n c: d",
            "a: [b c: d]",
            " a: b\nc: d",
        ] {
            assert_eq!(plain::to_json(text), None, "{text:?}");
        }
        assert_eq!(plain::to_json(&format!("a: {}{}", "[".repeat(200), "]".repeat(200))), None);
    }

    #[test]
    fn bombs_end_with_an_error() {
        let level = |level: usize| {
            let below = format!("*a{},", level - 1).repeat(10);
            format!("a{level}: &a{level} [{below}]\n")
        };
        let bomb = format!("a0: &a0 [x,x]\n{}", (1..12).map(level).collect::<String>());
        assert!(to_json(&bomb).unwrap_err().to_string().contains("repetition limit"));
        assert!(to_json(&"[".repeat(2_000)).is_err());
        assert!(
            to_json(&format!("{}{}", "[".repeat(2_000), "]".repeat(2_000)))
                .unwrap_err()
                .to_string()
                .contains("recursion limit")
        );
    }
}
