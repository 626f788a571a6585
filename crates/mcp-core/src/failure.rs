//! How a failed call reads: the model sees what it can fix, an operator's log the rest.

use api_client::sentry::error::Refusal;
use serde_json::json;

use crate::{
    code_mode,
    error::{ToolError, UserInputError},
    output::Content,
    surfaces::Reach,
};

/// A failure as a paragraph under a heading: the message, then what to do next.
pub(crate) fn text(error: &ToolError, tool: &str, reach: &Reach) -> Content {
    match error {
        ToolError::UserInput(error) => {
            refused(error, tool);
            let mut text = format!("**{}**\n\n{}", error.topic.heading(), sentence(&error.message));
            for hint in error.hints(reach) {
                text.push_str("\n- ");
                text.push_str(&hint);
            }
            Content::error(text)
        }
        ToolError::System(error) => {
            let (event, sentence) = failed(error.as_ref(), tool);
            Content::error(format!("**Error**\n\n{sentence}\n\nEvent ID: {event}"))
        }
    }
}

/// A failure as one JSON object.
pub(crate) fn json(error: &ToolError, tool: &str, reach: &Reach) -> Content {
    let error = match error {
        ToolError::UserInput(error) => {
            refused(error, tool);
            json!({ "message": error.message, "hints": error.hints(reach) })
        }
        ToolError::System(error) => {
            let (event, _) = failed(error.as_ref(), tool);
            json!({ "message": format!("internal error; the server's log has it under event `{event}`") })
        }
    };
    Content::error(json!({ "error": error }).to_string())
}

fn refused(error: &UserInputError, tool: &str) {
    tracing::info!(tool, message = %error.message, "refused");
}

/// Logs a failure in full under an event id, and says as much of it as the model may know.
fn failed(error: &(dyn std::error::Error + Send + Sync + 'static), tool: &str) -> (String, String) {
    let event = code_mode::confirm::random_token().unwrap_or_else(|_| "unknown".to_owned());
    let chain = chain(error);
    tracing::error!(tool, event, error = chain, "internal error");
    let sentence = match error.downcast_ref::<Refusal>() {
        Some(refusal) => format!(
            "Sentry itself failed (HTTP {}); this is not about the arguments. Try again later.",
            refusal.status
        ),
        None => "Something went wrong that other arguments do not change; the server's log has the details."
            .to_owned(),
    };
    (event, sentence)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// A fragment as a sentence.
fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    match letters.next() {
        Some(first) if !fragment.ends_with(['.', '!', '?']) => {
            format!("{}{}.", first.to_uppercase(), letters.as_str())
        }
        Some(first) => format!("{}{}", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_a_heading_a_sentence_and_the_next_steps_this_session_has() {
        let error = ToolError::user("`limit` is wrong")
            .hint("use 1 to 10")
            .hint_tool("find_teams", "list the teams")
            .hint_tool("gone", "do nothing");
        let reach = Reach { direct: vec!["find_teams"], behind: Vec::new() };
        assert_eq!(
            text(&error, "t", &reach),
            Content::error(
                "**Input Error**\n\n`limit` is wrong.\n- use 1 to 10\n- use `find_teams` to list the teams"
            )
        );
    }

    #[test]
    fn a_failure_of_ours_shows_an_event_id_and_nothing_of_its_cause() {
        let error = ToolError::system("SECRET");
        for content in [text(&error, "t", &Reach::default()), json(&error, "t", &Reach::default())]
        {
            assert!(content.is_error && !content.text.contains("SECRET"), "{}", content.text);
            assert!(content.text.to_ascii_lowercase().contains("event"), "{}", content.text);
        }
    }
}
