//! Whoever sits outside: gets the address and the prompt, and leaves the answer in a file.

use std::io::Write as _;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::json;

use crate::agent::{Agent, Client, End, Job, Transcript};

/// The file an answer is expected in, in the job's directory.
pub const ANSWER: &str = "answer.txt";
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug)]
pub struct External;

#[async_trait]
impl Agent for External {
    fn client(&self) -> Client {
        Client { kind: "external".to_owned(), ..Client::default() }
    }

    async fn run(&self, job: &Job) -> Transcript {
        let file = job.directory.join(ANSWER);
        let line = json!({
            "mcpUrl": job.mcp.url, "task": job.task, "prompt": job.prompt, "answerFile": file,
        });
        if let Err(error) = writeln!(std::io::stdout(), "{line}") {
            return Transcript::ended(End::Infra(format!("nobody listens: {error}")));
        }
        let deadline = Instant::now() + job.budgets.wall();
        while Instant::now() < deadline {
            if let Ok(final_text) = tokio::fs::read_to_string(&file).await {
                return Transcript { final_text, ..Transcript::ended(End::Completed) };
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Transcript::ended(End::Timeout)
    }
}
