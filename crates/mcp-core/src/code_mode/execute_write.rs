//! The `execute_write` tool: shows the code, asks for a confirmation, and runs it once with that.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{
    caller::{Answer, Caller},
    context::Context,
    error::ToolError,
    output::Content,
    tool::{Definition, Tool},
};

use super::{
    confirm::{self, ConfirmMode, LIFETIME, Subject, Unconfirmed},
    definitions,
    policy::Mode,
    run,
};

pub(super) struct ExecuteWrite;

#[async_trait]
impl Tool for ExecuteWrite {
    fn definition(&self, cx: &Context) -> Definition {
        definitions::execute_write(cx)
    }

    async fn call(
        &self,
        cx: &Context,
        caller: &dyn Caller,
        arguments: &Map<String, Value>,
    ) -> Result<Content, ToolError> {
        let code = arguments.get("code").and_then(Value::as_str).unwrap_or_default();
        // A script that cannot be read is not worth a confirmation.
        let prepared = match run::prepare(cx, code) {
            Ok(prepared) => prepared,
            Err(answer) => return Ok(answer),
        };
        if cx.confirm == ConfirmMode::Off {
            return run::run(cx, caller, prepared, Mode::Write).await;
        }
        let subject = Subject::new(&cx.caller, code, &target(cx).await);
        let confirmed = match arguments.get("confirm").and_then(Value::as_str) {
            None => Err(Unconfirmed::Missing),
            Some(line) => cx.confirmations.take(&subject, line.trim(), cx.clock.now()).await,
        };
        match confirmed {
            Ok(()) => run::run(cx, caller, prepared, Mode::Write).await,
            Err(reason) => match ask(cx, caller, code, reason).await {
                Answer::Accepted => run::run(cx, caller, prepared, Mode::Write).await,
                Answer::Declined => Ok(Content::error(
                    json!({ "status": "declined", "message": "the person declined; nothing ran" })
                        .to_string(),
                )),
                Answer::Unavailable => issue(cx, subject, code, reason).await,
            },
        }
    }
}

/// What the code would run against: a confirmation for one API or document is none for another.
async fn target(cx: &Context) -> String {
    let mut target = String::new();
    for api in &cx.apis {
        let hash = match api.document.get(std::time::Instant::now() + cx.limits.request).await {
            Ok(loaded) => loaded.document.hash().to_owned(),
            Err(_) => String::new(),
        };
        target.push_str(api.transport.base_url().as_str());
        target.push(' ');
        target.push_str(&hash);
        target.push('\n');
    }
    target
}

/// Asks the person directly, where the client can.
async fn ask(cx: &Context, caller: &dyn Caller, code: &str, reason: Unconfirmed) -> Answer {
    const SHOWN: usize = 4_000;
    // A wrong confirmation is the model's mistake: it is told so, the person is not asked again.
    if reason != Unconfirmed::Missing || code.len() > SHOWN {
        return Answer::Unavailable;
    }
    let question = format!(
        "Run this script with write access to {}? Its writes are not known beforehand.\n\n{}",
        hosts(cx),
        visible(code)
    );
    caller.ask(&question).await
}

async fn issue(
    cx: &Context,
    subject: Subject,
    code: &str,
    reason: Unconfirmed,
) -> Result<Content, ToolError> {
    let token = confirm::random_token().map_err(ToolError::system)?;
    let lines = code.lines().count();
    let line = format!(
        "{}: run {} with write access (code {}) #{token}",
        hosts(cx),
        if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") },
        subject.fingerprint()
    );
    let now = cx.clock.now();
    if !cx.confirmations.issue(subject, line.clone(), now).await {
        return Err(ToolError::user("no confirmation can be issued right now; nothing ran")
            .hint("try again in a moment"));
    }
    let mut answer = json!({
        "status": "needs_confirmation",
        "confirm": line,
        "expires": rfc3339(now + LIFETIME),
        "preview": visible(code),
    });
    if reason != Unconfirmed::Missing {
        answer["reason"] = json!(format!("{reason}; nothing ran"));
    }
    answer["message"] = json!(
        "Nothing has run yet. To run exactly this code with write access, call `execute_write` again with the identical `code` and this `confirm`, once, within ten minutes. Only the code is shown here: which requests it will send is not checked beforehand."
    );
    Ok(Content::text(answer.to_string()))
}

fn hosts(cx: &Context) -> String {
    cx.apis.iter().map(|api| api.host()).collect::<Vec<_>>().join(", ")
}

/// Text with control, format and bidirectional characters escaped, so that what is read is what runs.
fn visible(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    for character in code.chars() {
        let hidden = match character {
            '\n' | '\t' => false,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
            '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
            other => other.is_control(),
        };
        if hidden {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    text
}

/// `2026-11-30T16:05:00Z`.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil date from days, counting years from March so that the leap day comes last.
    let era_day = days + 719_468;
    let era = era_day / 146_097;
    let day_of_era = era_day % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3_600,
        rest % 3_600 / 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        let at = |seconds| rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(at(1_796_054_400), "2026-11-30T16:00:00Z");
    }

    #[test]
    fn hidden_characters_are_shown_escaped() {
        assert_eq!(visible("a\u{202e}b\u{200b}\u{7}\n\tc"), "a\\u{202e}b\\u{200b}\\u{7}\n\tc");
    }
}
