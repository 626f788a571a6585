//! A token that a command prints: a password manager, a keyring, a cloud's own login.

use std::{process::Stdio, time::Duration};

use api_client::{
    auth::{Supplier, Supply},
    error::ConfigError,
    secret::Secret,
};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::{io::AsyncReadExt as _, process::Command};

use crate::given::{Given, SetupError};

/// The longest time a command may take.
const LONGEST: Duration = Duration::from_secs(30);
/// The most it may print; a token is far shorter.
const LARGEST: u64 = 64 * 1024;

/// A program and its arguments. Started directly, without a shell.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenCommand {
    program: String,
    arguments: Vec<String>,
    /// The option or variable, in backticks.
    pub from: String,
}

/// Arguments may be secret.
impl std::fmt::Debug for TokenCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCommand").field("program", &self.program).finish_non_exhaustive()
    }
}

impl TokenCommand {
    /// Splits a command as a shell splits words: quotes and backslashes count, `$`, `|` and `*` are
    /// ordinary letters.
    pub fn parse(given: &Given) -> Result<Self, SetupError> {
        let words = shlex::split(&given.text).filter(|words| !words.is_empty());
        let mut words = words.map(Vec::into_iter).ok_or_else(|| {
            SetupError::new(
                format!("{} has a quote that is not closed", given.from),
                "quote as for a shell, for example 'op read \"op://vault/api/token\"'",
            )
        })?;
        let program = words.next().unwrap_or_default();
        Ok(Self { program, arguments: words.collect(), from: given.from.clone() })
    }

    /// Runs the command once and returns what it printed.
    async fn run(&self) -> Result<Supply, ConfigError> {
        let Self { program, arguments, from } = self;
        let by_hand = "run it by hand, as this user, to see what it says";
        let fail = |what: String| ConfigError::new(format!("{from}: `{program}` {what}"), by_hand);
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // What such programs say when they fail can hold what they know.
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| fail(format!("cannot be started: {error}")))?;
        let output = child.stdout.take();
        let finish = async {
            let mut text = String::new();
            if let Some(output) = output {
                output.take(LARGEST).read_to_string(&mut text).await?;
            }
            Ok::<_, std::io::Error>((text, child.wait().await?))
        };
        let (text, status) = match tokio::time::timeout(LONGEST, finish).await {
            Ok(Ok(finished)) => finished,
            Ok(Err(_)) => return Err(fail("printed something that is not text".to_owned())),
            Err(_) => return Err(fail(format!("did not end within {} s", LONGEST.as_secs()))),
        };
        if !status.success() {
            return Err(fail(format!("failed ({status})")));
        }
        Ok(Supply { secret: Secret::new(text), lives: None })
    }
}

impl Supplier for TokenCommand {
    fn supply(&self) -> BoxFuture<'_, Result<Supply, ConfigError>> {
        self.run().boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Result<TokenCommand, SetupError> {
        TokenCommand::parse(&Given { text: text.to_owned(), from: "`--token-command`".to_owned() })
    }

    #[test]
    fn words_are_split_as_a_shell_does_and_nothing_is_expanded() {
        let parsed = command(r#"'/opt/my tools/op' read "op://vault/a b" $HOME | * c\ d"#).unwrap();
        assert_eq!(parsed.program, "/opt/my tools/op");
        assert_eq!(parsed.arguments, ["read", "op://vault/a b", "$HOME", "|", "*", "c d"]);
        let error = command("op 'read").unwrap_err().to_string();
        assert!(error.starts_with("`--token-command` has a quote that is not closed"), "{error}");
        assert!(!format!("{:?}", command("op SECRET").unwrap()).contains("SECRET"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_a_command_prints_is_the_token_and_its_failures_are_named() {
        let run = async |text: &str| command(text).unwrap().run().await;
        let supply = run("printf 'tok%s\\n' 7").await.unwrap();
        assert_eq!(supply.lives, None);
        for (text, expected) in [
            ("/no/such/program x", "`--token-command`: `/no/such/program` cannot be started: "),
            (
                "sh -c 'echo SECRET; echo SECRET >&2; exit 3'",
                "`--token-command`: `sh` failed (exit",
            ),
            (r"printf \\377", "`--token-command`: `printf` printed something that is not text"),
        ] {
            let error = run(text).await.unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains("SECRET"), "{error}");
        }
    }
}
