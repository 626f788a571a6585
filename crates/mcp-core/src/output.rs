//! Results and their size cap: text for the model, cut structurally so that it stays valid JSON.

use indexmap::IndexMap;
use serde_json::{Value, json, value::RawValue};

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The whole answer: complete and useful by itself.
    pub text: String,
    /// The same as a JSON object, where the tool promised a shape.
    pub structured: Option<Value>,
    /// What follows the text.
    pub parts: Vec<Part>,
    /// Whether the call failed in a way the model should see as a failure.
    pub is_error: bool,
}

/// What is no plain answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// More text, such as the label of a picture.
    Text(String),
    /// A picture a model can look at.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// Base64.
        data: String,
    },
    /// A file.
    File {
        /// `file://` and its name.
        uri: String,
        /// Such as `application/pdf`.
        mime_type: String,
        /// Base64.
        data: String,
    },
}

impl Content {
    /// A successful answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, parts: Vec::new(), is_error: false }
    }

    /// A failure, in words for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A JSON object, and the same as text.
    pub fn structured(value: Value) -> Self {
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        Self { structured: Some(value), ..Self::text(text) }
    }

    /// A JSON object, and the same as text without indentation: half the size where much is nested.
    pub fn structured_compact(value: Value) -> Self {
        Self { text: value.to_string(), structured: Some(value), ..Self::text("") }
    }

    /// The answer with something after its text.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

/// Cuts text to about `cap` bytes, at the end of a line where there is one, and says so.
pub(crate) fn cut_text(text: String, cap: usize) -> String {
    if text.len() <= cap {
        return text;
    }
    let end = (0..=cap).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once('\n').map_or(kept, |it| it.0);
    let (shown, total) = (kept.len(), text.len());
    format!(
        "{kept}\n\n… cut: {shown} of {total} bytes are shown; ask for less or narrow the question"
    )
}

/// Deeper than this nothing is kept when a value has to be cut.
const MAX_DEPTH: usize = 48;
/// Room for the marker that says what was cut.
const MARKER: usize = 48;

/// Cuts JSON text to about `budget` bytes, keeping it valid JSON.
///
/// Arrays keep their first elements and end with `{"shown":n,"total":m}`; strings keep their
/// beginning and end with `… {shown: n, total: m}` (in characters); objects keep their keys and share the
/// budget among their values. Numbers are copied digit by digit. Returns `None` when the text fits.
pub fn cut(json: &str, budget: usize) -> Option<String> {
    if json.len() <= budget {
        return None;
    }
    let mut out = String::with_capacity(budget + MARKER);
    write_cut(json, budget, 0, &mut out);
    Some(out)
}

fn write_cut(json: &str, budget: usize, depth: usize, out: &mut String) {
    let json = json.trim();
    if json.len() <= budget {
        out.push_str(json);
    } else if depth >= MAX_DEPTH {
        out.push_str(r#""…""#);
    } else {
        match json.as_bytes().first() {
            Some(b'[') => cut_array(json, budget, depth, out),
            Some(b'{') => cut_object(json, budget, depth, out),
            Some(b'"') => cut_string(json, budget, out),
            _ => out.push_str(json),
        }
    }
}

fn cut_array(json: &str, budget: usize, depth: usize, out: &mut String) {
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json) else {
        out.push_str("null");
        return;
    };
    let mut left = budget.saturating_sub(MARKER);
    let mut shown = 0;
    out.push('[');
    for element in &elements {
        let text = element.get();
        let fits = text.len() < left;
        // A row that can never fit is shown in part; one that merely comes late is not.
        if !fits && (shown > 0 || left < MARKER) {
            break;
        }
        if shown > 0 {
            out.push(',');
        }
        let before = out.len();
        write_cut(text, left, depth + 1, out);
        left = left.saturating_sub(out.len() - before + 1);
        shown += 1;
        if !fits {
            break;
        }
    }
    if shown < elements.len() {
        if shown > 0 {
            out.push(',');
        }
        out.push_str(&json!({ "shown": shown, "total": elements.len() }).to_string());
    }
    out.push(']');
}

fn cut_object(json: &str, budget: usize, depth: usize, out: &mut String) {
    let Ok(fields) = serde_json::from_str::<IndexMap<String, &RawValue>>(json) else {
        out.push_str("null");
        return;
    };
    let keys: Vec<String> =
        fields.keys().map(|key| Value::from(key.as_str()).to_string()).collect();
    let total = keys.len();
    let mut left = budget.saturating_sub(MARKER);
    let shown = keys
        .iter()
        .take_while(|key| {
            let cost = key.len() + 8;
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        })
        .count();
    let allowances = share(fields.values().take(shown).map(|it| it.get().len()).collect(), left);
    out.push('{');
    for (index, ((key, value), allowance)) in
        keys.iter().zip(fields.values()).zip(allowances).enumerate()
    {
        if index > 0 {
            out.push(',');
        }
        out.push_str(key);
        out.push(':');
        // Six bytes of each key's cost were kept back for the smallest of values.
        write_cut(value.get(), allowance + 6, depth + 1, out);
    }
    if shown < total {
        if shown > 0 {
            out.push(',');
        }
        out.push_str(r#""…":"#);
        out.push_str(&json!({ "shown": shown, "total": total }).to_string());
    }
    out.push('}');
}

fn cut_string(json: &str, budget: usize, out: &mut String) {
    let Ok(text) = serde_json::from_str::<String>(json) else {
        out.push_str(r#""…""#);
        return;
    };
    let mut left = budget.saturating_sub(MARKER);
    let mut shown = 0;
    let mut end = 0;
    for (at, character) in text.char_indices() {
        let cost = match character {
            '"' | '\\' => 2,
            '\u{0}'..='\u{1f}' => 6,
            _ => character.len_utf8(),
        };
        if cost > left {
            break;
        }
        left -= cost;
        shown += 1;
        end = at + character.len_utf8();
    }
    let total = text.chars().count();
    let kept = text.get(..end).unwrap_or_default();
    out.push_str(&json!(format!("{kept}… {{shown: {shown}, total: {total}}}")).to_string());
}

/// Shares `budget` among values: small ones get what they need, large ones an equal part of the rest.
fn share(lengths: Vec<usize>, budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| lengths.get(index).copied());
    let mut allowances = vec![0; lengths.len()];
    let mut left = budget;
    for (done, &index) in order.iter().enumerate() {
        let part = left / (order.len() - done);
        if let (Some(allowance), Some(&length)) = (allowances.get_mut(index), lengths.get(index)) {
            *allowance = length.min(part);
            left -= *allowance;
        }
    }
    allowances
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(value: &Value, budget: usize) -> Value {
        let text = cut(&value.to_string(), budget).expect("the value is larger than the budget");
        assert!(
            text.len() <= budget + MARKER,
            "{} bytes for a budget of {budget}: {text}",
            text.len()
        );
        serde_json::from_str(&text).expect("what was cut is still JSON")
    }

    #[test]
    fn text_is_cut_at_the_end_of_a_line_and_says_so() {
        assert_eq!(cut_text("a\nb".to_owned(), 3), "a\nb");
        let cut = cut_text("é first\né second\né third".to_owned(), 16);
        assert_eq!(
            cut,
            "é first\n\n… cut: 8 of 27 bytes are shown; ask for less or narrow the question"
        );
        assert!(cut_text("é".repeat(50), 9).starts_with("éééé\n"));
    }

    #[test]
    fn what_fits_is_left_alone() {
        assert_eq!(cut("[1,2,3]", 7), None);
    }

    #[test]
    fn arrays_keep_their_beginning_and_say_how_many_there_were() {
        let rows: Vec<_> = (0..1000).map(|id| json!({ "id": id })).collect();
        let cut = cut_to(&json!(rows), 200);
        let elements = cut.as_array().unwrap();
        assert_eq!(elements[0], json!({"id": 0}));
        let shown = elements.len() - 1;
        assert_eq!(elements[shown], json!({"shown": shown, "total": 1000}));
        assert!(shown > 10, "only {shown} rows for 200 bytes");
    }

    #[test]
    fn short_rows_keep_far_more_rows_than_long_ones() {
        let short: Vec<_> = (0..5000).map(|id| json!(format!("item {id}"))).collect();
        let long: Vec<_> = (0..5000).map(|_| json!({"blob": "x".repeat(400)})).collect();
        let shown = |rows: Vec<Value>| cut_to(&json!(rows), 20_000).as_array().unwrap().len() - 1;
        assert!(shown(short) > 20 * shown(long));
    }

    #[test]
    fn strings_end_with_how_much_was_shown() {
        let cut = cut_to(&json!("é".repeat(500)), 148);
        assert_eq!(cut, json!(format!("{}… {{shown: 50, total: 500}}", "é".repeat(50))));
    }

    #[test]
    fn objects_keep_small_values_whole_and_cut_the_large_ones() {
        let value = json!({"name": "a", "items": (0..500).collect::<Vec<_>>(), "count": 500, "text": "y".repeat(900)});
        let cut = cut_to(&value, 400);
        assert_eq!((&cut["name"], &cut["count"]), (&json!("a"), &json!(500)));
        let items = cut["items"].as_array().unwrap();
        assert_eq!(items.last().unwrap()["total"], json!(500));
        assert!(cut["text"].as_str().unwrap().ends_with("total: 900}"));
    }

    #[test]
    fn a_row_that_can_never_fit_is_shown_in_part() {
        let cut = cut_to(&json!([{"id": 7, "blob": "z".repeat(5000)}, {"id": 8}]), 300);
        assert_eq!(cut[0]["id"], json!(7));
        assert_eq!(cut[1], json!({"shown": 1, "total": 2}));
    }

    #[test]
    fn digits_beyond_a_double_survive() {
        let text = format!("[123456789012345678901234567890,\"{}\"]", "x".repeat(300));
        assert!(cut(&text, 150).unwrap().starts_with("[123456789012345678901234567890,"));
    }

    #[test]
    fn hostile_shapes_stay_bounded_and_valid() {
        let many_keys: serde_json::Map<_, _> =
            (0..5000).map(|n| (format!("key{n}"), json!(n))).collect();
        let cut = cut_to(&Value::Object(many_keys), 500);
        assert_eq!(cut["…"]["total"], json!(5000));
        let mut deep = json!("x".repeat(1000));
        for _ in 0..100 {
            deep = json!([deep]);
        }
        cut_to(&deep, 600);
    }
}
