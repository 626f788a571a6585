//! What the server asks or tells in the middle of a call, at the terminal.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Map, Value};
use test_client::{Answer, Elicitation, Options, Progress};

use crate::commands::is_yes;
use crate::show::{self, Paint};

/// Offers what the terminal can do: progress where it is seen, questions where they are answered.
pub(crate) fn offer(options: Options, stderr: bool, stdin: bool, paint: Paint) -> Options {
    let options = if stderr { options.on_progress(move |it| tell(&it, paint)) } else { options };
    if stdin && stderr {
        options.on_elicitation(|question| ask(&question).unwrap_or(Answer::Cancel))
    } else {
        options
    }
}

fn tell(progress: &Progress, paint: Paint) {
    let steps = match progress.total {
        Some(total) => format!("{}/{total}", progress.progress),
        None => progress.progress.to_string(),
    };
    let message = show::clean(progress.message.as_deref().unwrap_or_default());
    // A terminal that is gone shows no progress either.
    writeln!(io::stderr(), "{}", paint.dim(&format!("  … {steps} {message}"))).ok();
}

fn ask(question: &Elicitation) -> io::Result<Answer> {
    writeln!(io::stderr(), "{}", show::clean(&question.message))?;
    if let Some(url) = &question.url {
        writeln!(io::stderr(), "Visit: {}", show::clean(url))?;
    }
    let fields = question.schema.as_ref().and_then(|it| it.get("properties")?.as_object());
    if !is_yes(&prompt("Answer? [y/N] ")?) {
        return Ok(Answer::Decline);
    }
    let mut content = Map::new();
    for (name, schema) in fields.into_iter().flatten() {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string");
        let line = prompt(&show::clean(&format!("{name} ({kind}): ")))?;
        if line.is_empty() {
            continue;
        }
        match typed(&line, Some(schema)) {
            Some(value) => drop(content.insert(name.clone(), value)),
            None => return Ok(Answer::Cancel),
        }
    }
    Ok(Answer::Accept(Value::Object(content)))
}

fn prompt(text: &str) -> io::Result<String> {
    write!(io::stderr(), "{text}")?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// A typed-in value as the schema's type; without one, JSON where it reads as such, else text.
pub(crate) fn typed(text: &str, schema: Option<&Value>) -> Option<Value> {
    let kind = schema.and_then(|it| it.get("type")?.as_str());
    let parsed = serde_json::from_str::<Value>(text).ok();
    let fits = |value: &Value, kind| match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    match kind {
        Some("string") => Some(Value::from(text)),
        Some(kind) => parsed.filter(|it| fits(it, kind)),
        None => Some(parsed.unwrap_or_else(|| Value::from(text))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_typed_in_value_takes_the_declared_type() {
        for (text, kind, value) in [
            ("10", "string", Some(json!("10"))),
            ("10", "integer", Some(json!(10))),
            ("1.5", "integer", None),
            ("yes", "boolean", None),
            ("true", "boolean", Some(json!(true))),
            ("[1]", "array", Some(json!([1]))),
        ] {
            assert_eq!(typed(text, Some(&json!({ "type": kind }))), value, "{text} as {kind}");
        }
        assert_eq!(typed("10", None), Some(json!(10)));
        assert_eq!(typed("ten", None), Some(json!("ten")));
    }
}
