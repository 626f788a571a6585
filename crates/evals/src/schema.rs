//! The form of reports, and whether one has it.
//!
//! Only the words that [`schema`] itself uses are understood; an unknown one is an error, so that
//! nothing passes unread.

use serde_json::Value;

use crate::report::Report;

/// What a report looks like, as it is committed in `schema/report.json`.
pub fn schema() -> Value {
    schemars::schema_for!(Report).to_value()
}

/// Holds a document against a schema; the error names the place.
pub fn check(schema: &Value, document: &Value) -> Result<(), String> {
    visit(schema, schema, document, "")
}

fn visit(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let rules = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(rules) => rules,
        _ => return Err(format!("{at}: nothing is allowed here")),
    };
    for (word, rule) in rules {
        match word.as_str() {
            "$ref" => {
                let target = rule.as_str().and_then(|it| root.pointer(it.strip_prefix('#')?));
                visit(root, target.ok_or_else(|| format!("no schema {rule}"))?, value, at)?;
            }
            "type" => {
                let types = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
                if !types.iter().any(|it| it.as_str().is_some_and(|it| is_of(it, value))) {
                    return Err(format!("{at}: {value} is no {rule}"));
                }
            }
            "enum" if rule.as_array().is_none_or(|it| !it.contains(value)) => {
                return Err(format!("{at}: {value} is none of {rule}"));
            }
            "const" if rule != value => return Err(format!("{at}: {value} is not {rule}")),
            "anyOf" | "oneOf" => {
                let options = rule.as_array().into_iter().flatten();
                let mut fits = options.filter(|it| visit(root, it, value, at).is_ok());
                fits.next().ok_or_else(|| format!("{at}: {value} has none of the forms"))?;
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        visit(root, rule, value, &format!("{at}/{name}"))?;
                    }
                }
            }
            "additionalProperties" => {
                let known = rules.get("properties").and_then(Value::as_object);
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|it| !it.contains_key(name)) {
                        visit(root, rule, value, &format!("{at}/{name}"))?;
                    }
                }
            }
            "required" => {
                let names = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                let mut missing = names.filter(|it| value.is_object() && value.get(it).is_none());
                if let Some(name) = missing.next() {
                    return Err(format!("{at}: `{name}` is missing"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    visit(root, rule, item, &format!("{at}/{index}"))?;
                }
            }
            "minimum" if value.as_f64().is_some_and(|it| Some(it) < rule.as_f64()) => {
                return Err(format!("{at}: {value} is less than {rule}"));
            }
            "maximum" if value.as_f64().is_some_and(|it| Some(it) > rule.as_f64()) => {
                return Err(format!("{at}: {value} is more than {rule}"));
            }
            "enum" | "const" | "minimum" | "maximum" | "$schema" | "$defs" | "title"
            | "description" | "format" | "default" => {}
            other => return Err(format!("{at}: the schema's `{other}` is not understood")),
        }
    }
    Ok(())
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_committed_schema_is_that_of_reports() {
        let committed = include_str!("../schema/report.json");
        let text = format!("{:#}\n", schema());
        if std::env::var_os("INSTA_UPDATE").is_some_and(|it| it == "always") {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report.json");
            std::fs::write(path, &text).unwrap();
            return;
        }
        assert_eq!(committed, text, "write it anew with INSTA_UPDATE=always");
    }

    #[test]
    fn a_flaw_is_named_by_its_place() {
        let schema = json!({
            "type": "object", "required": ["a"], "$defs": { "n": { "type": ["integer", "null"] } },
            "properties": { "a": { "type": "array", "items": { "$ref": "#/$defs/n" } } },
        });
        assert_eq!(check(&schema, &json!({ "a": [1, null] })), Ok(()));
        for (document, flaw) in [
            (json!({}), ": `a` is missing"),
            (json!({ "a": [1, "x"] }), "/a/1: \"x\" is no [\"integer\",\"null\"]"),
            (json!([]), ": [] is no \"object\""),
        ] {
            assert_eq!(check(&schema, &document).unwrap_err(), flaw);
        }
        let unknown = json!({ "patternProperties": {} });
        assert!(check(&unknown, &json!(1)).unwrap_err().contains("not understood"));
    }
}
