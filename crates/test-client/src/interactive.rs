//! The session at the prompt: a line at a time, with history and completion.

use std::io::IsTerminal as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Editor, Helper, Highlighter, Hinter};
use serde_json::{Map, Value, json};
use test_client::ToolInfo;

use crate::commands::{Commands, Outcome, is_yes, note, print, question};
use crate::questions::typed;
use crate::{show, words};

const HELP: &str = "\
  tools               what the server offers
  TOOL {json}         call a tool with these arguments
  TOOL key=value …    the same, each value read as the type that the tool declares
  search words …      call `search` with these words
  js CODE             run code with `execute`
  run FILE            run a script file with `execute`
  write FILE          run a script file with `execute_write`: plan, question, confirmation
  exit                leave (also Ctrl-D; Ctrl-C cancels a call)

A backslash at the end of a line continues it.
";

const COMMANDS: [&str; 8] = ["tools", "help", "search", "js", "run", "write", "exit", "quit"];

type Prompt = Editor<Completion, FileHistory>;

/// Reads lines until the end; at a terminal a failed command does not fail the session.
pub(crate) async fn session(commands: &Commands, history: Option<&Path>) -> Result<Outcome> {
    let terminal = std::io::stdin().is_terminal();
    let tools = commands.tools().await?;
    if terminal {
        let server = show::server(commands.client.server(), commands.paint);
        print(&format!("{server}{} tools; `help` says what can be typed\n", tools.len()))?;
    }
    let mut prompt = prompt(tools, history)?;
    let mut outcome = Outcome::Done;
    while let Some(line) = next_line(&mut prompt)? {
        let ended = tokio::select! {
            ended = obey(commands, &mut prompt, &line) => ended,
            _ = tokio::signal::ctrl_c() => {
                note(commands.paint.yellow("cancelled"))?;
                Ok(Step::Ended(Outcome::Failed))
            }
        };
        match ended {
            Ok(Step::Leave) => break,
            Ok(Step::Ended(Outcome::Done)) => {}
            Ok(Step::Ended(Outcome::Failed)) => outcome = Outcome::Failed,
            Err(error) if is_fatal(&error) => return Err(error),
            Err(error) => {
                note(commands.paint.red(&show::clean(&format!("{error:#}"))))?;
                outcome = Outcome::Failed;
            }
        }
    }
    if let Some(file) = history {
        prompt.save_history(file).with_context(|| format!("writing `{}`", file.display()))?;
    }
    Ok(if terminal { Outcome::Done } else { outcome })
}

enum Step {
    Ended(Outcome),
    Leave,
}

async fn obey(commands: &Commands, prompt: &mut Prompt, line: &str) -> Result<Step> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let ended = match word {
        "exit" | "quit" => return Ok(Step::Leave),
        "" => Outcome::Done,
        "help" => {
            print(HELP)?;
            Outcome::Done
        }
        "tools" => commands.list().await?,
        "js" => commands.call("execute", json!({ "code": rest })).await?,
        "run" => commands.run(Path::new(rest)).await?,
        "write" => {
            let paint = commands.paint;
            let mut ask = |confirm: &str| {
                let question = question(confirm, paint);
                // The editor's prompt is one line: the last of the question.
                let (text, last) = question.rsplit_once('\n').unwrap_or(("", &question));
                print(&format!("{text}\n"))?;
                match tokio::task::block_in_place(|| prompt.readline(last)) {
                    Ok(answer) => Ok(is_yes(&answer)),
                    Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(false),
                    Err(error) => Err(error.into()),
                }
            };
            commands.write(Path::new(rest), &mut ask).await?
        }
        "search" if !rest.starts_with('{') => {
            commands.call("search", json!({ "query": rest })).await?
        }
        tool => {
            let known = prompt.helper().map(|it| it.tools.as_slice()).unwrap_or_default();
            let Some(tool) = known.iter().find(|it| it.name == tool) else {
                bail!("`{tool}` is neither a tool nor a command; `help` lists them");
            };
            commands.call(&tool.name, arguments(rest, &tool.input_schema)?).await?
        }
    };
    Ok(Step::Ended(ended))
}

/// `{json}`, or `key=value` words typed by the tool's schema.
fn arguments(text: &str, schema: &Value) -> Result<Value> {
    if text.starts_with('{') {
        return serde_json::from_str(text).context("the arguments are not JSON");
    }
    let mut arguments = Map::new();
    for word in words::split(text)? {
        let Some((key, value)) = word.split_once('=') else {
            bail!("`{word}` is neither `key=value` nor a JSON object");
        };
        let declared = schema.get("properties").and_then(|it| it.get(key));
        let Some(value) = typed(value, declared) else {
            let kind = declared.and_then(|it| it.get("type")).map(show::plain).unwrap_or_default();
            bail!("`{key}` takes a value of type {kind}, not `{value}`");
        };
        arguments.insert(key.to_owned(), value);
    }
    Ok(Value::Object(arguments))
}

fn prompt(tools: Vec<ToolInfo>, history: Option<&Path>) -> Result<Prompt> {
    let config =
        Config::builder().history_ignore_space(true).completion_type(CompletionType::List).build();
    let mut prompt = Editor::with_config(config)?;
    if let Some(file) = history.filter(|it| it.exists()) {
        prompt.load_history(file).with_context(|| format!("reading `{}`", file.display()))?;
    }
    prompt.set_helper(Some(Completion { tools, files: FilenameCompleter::new() }));
    Ok(prompt)
}

/// The next line, continued lines joined; `None` at the end of the input.
fn next_line(prompt: &mut Prompt) -> Result<Option<String>> {
    loop {
        match tokio::task::block_in_place(|| prompt.readline("mcp> ")) {
            Ok(line) => {
                prompt.add_history_entry(&line)?;
                return Ok(Some(line.replace("\\\n", "\n").trim().to_owned()));
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_fatal(error: &anyhow::Error) -> bool {
    error.is::<std::io::Error>()
        || matches!(error.downcast_ref(), Some(test_client::Error::Connection(_)))
}

/// Completes commands, tools, their parameters and file names.
#[derive(Helper, Hinter, Highlighter)]
struct Completion {
    tools: Vec<ToolInfo>,
    files: FilenameCompleter,
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..position).unwrap_or_default();
        let start = typed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let command = typed.split_whitespace().next().unwrap_or_default();
        if start > 0 && matches!(command, "run" | "write") {
            return self.files.complete(line, position, context);
        }
        let word = typed.get(start..).unwrap_or_default();
        Ok((start, self.words(command, start > 0, word)))
    }
}

impl Completion {
    fn words(&self, command: &str, has_command: bool, start: &str) -> Vec<Pair> {
        let mut words: Vec<String> = if has_command {
            let tool = self.tools.iter().find(|it| it.name == command);
            let fields = tool.and_then(|it| it.input_schema.get("properties")?.as_object());
            fields.into_iter().flat_map(Map::keys).map(|it| format!("{it}=")).collect()
        } else {
            let tools = self.tools.iter().map(|it| it.name.clone());
            COMMANDS.iter().map(|&it| it.to_owned()).chain(tools).map(|it| it + " ").collect()
        };
        words.retain(|it| it.starts_with(start));
        words.sort();
        words.dedup();
        words.into_iter().map(|it| Pair { display: it.clone(), replacement: it }).collect()
    }
}

impl Validator for Completion {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let open = context.input().ends_with('\\');
        Ok(if open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_json_or_words_of_the_declared_types() {
        let schema = json!({ "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } } });
        let read = |text| arguments(text, &schema).map_err(|it| it.to_string());
        assert_eq!(read(r#"{"limit": 1}"#), Ok(json!({ "limit": 1 })));
        assert_eq!(read("query='1 2' limit=3"), Ok(json!({ "query": "1 2", "limit": 3 })));
        assert_eq!(read(""), Ok(json!({})));
        assert_eq!(
            read("limit=many"),
            Err("`limit` takes a value of type integer, not `many`".to_owned())
        );
        assert_eq!(read("many"), Err("`many` is neither `key=value` nor a JSON object".to_owned()));
    }

    #[test]
    fn completion_knows_tools_and_their_parameters() {
        let tool = |name: &str| ToolInfo {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({ "properties": { "code": {}, "confirm": {} } }),
            annotations: test_client::Annotations::default(),
            definition: Value::Null,
        };
        let completion = Completion {
            tools: vec![tool("search"), tool("execute"), tool("execute_write")],
            files: FilenameCompleter::new(),
        };
        let words = |command, has_command, start| -> Vec<String> {
            let pairs = completion.words(command, has_command, start);
            pairs.into_iter().map(|it| it.replacement).collect()
        };
        assert_eq!(words("ex", false, "ex"), ["execute ", "execute_write ", "exit "]);
        assert_eq!(words("sea", false, "sea"), ["search "]);
        assert_eq!(words("execute", true, "con"), ["confirm="]);
        assert_eq!(words("unknown", true, ""), [""; 0]);
    }
}
