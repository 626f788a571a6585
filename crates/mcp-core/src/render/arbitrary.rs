//! Arbitrary JSON to throw at renders: any type anywhere, huge texts, deep nesting.

use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
};
use serde_json::{Map, Value};

/// Any JSON; objects have fields of these names, so that they are looked into.
pub(crate) fn any_json(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    leaf().prop_recursive(8, 64, 6, move |inner| {
        prop_oneof![vec(inner.clone(), 0..6).prop_map(Value::from), any_object(names, inner, 0..8),]
    })
}

/// An object with some of these fields.
pub(crate) fn any_object(
    names: &'static [&'static str],
    values: impl Strategy<Value = Value>,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Value> {
    vec((select(names), values), count).prop_map(|fields| {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        Value::Object(fields.collect::<Map<_, _>>())
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0_u64..6).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        select(vec![
            "a.py",
            "src/a.rs",
            "A.java",
            "\u{202e}```",
            "\n\n# heading\n",
            "",
            " ",
            "a::b",
            "1e999",
            "2026-05-04T09:00:00Z",
            "error",
            "navigation",
            "resource.fetch",
            "breadcrumb",
            "performanceSpan",
            "nanoseconds",
        ])
        .prop_map(Value::from),
        (1_usize..60_000).prop_map(|length| Value::from("é`\n".repeat(length))),
        select(vec![1_001, 1_006, 1_018, 8_001, 6_001]).prop_map(Value::from),
    ]
}

/// Puts a value in place of one of the nodes.
pub(crate) fn replace(node: &mut Value, mut at: usize, with: Value) {
    fn walk(node: &mut Value, at: &mut usize, with: &mut Option<Value>) {
        if *at == 0 {
            if let Some(with) = with.take() {
                *node = with;
            }
            return;
        }
        *at -= 1;
        let nested: Vec<&mut Value> = match node {
            Value::Array(items) => items.iter_mut().collect(),
            Value::Object(fields) => fields.values_mut().collect(),
            _ => Vec::new(),
        };
        for nested in nested {
            walk(nested, at, with);
            if with.is_none() {
                return;
            }
        }
    }
    walk(node, &mut at, &mut Some(with));
}

/// How many nodes a value has.
pub(crate) fn size(node: &Value) -> usize {
    1 + match node {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// Whether a text says something, stays within bounds and has nothing that leads a reader astray.
pub(crate) fn assert_sound(text: &str, most: usize) {
    assert!(!text.trim().is_empty(), "the answer is empty");
    assert!(text.len() <= most, "{} bytes of {most}", text.len());
    let harmless = |it: char| {
        it == '\n' || it == '\t' || !(it.is_control() || ('\u{202a}'..='\u{202e}').contains(&it))
    };
    assert!(text.chars().all(harmless), "{text:?}");
}
