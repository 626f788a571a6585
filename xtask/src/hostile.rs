//! `cargo xtask hostile --dir DIR`: runs every program of a folder through one session of the real
//! server, and checks after each that the server, the next script and the memory are as before.

use std::{
    fmt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json, value::RawValue};
use test_client::raw::Session;

use crate::{
    demo::world::World,
    memory::{RESIDENT, megabytes},
};

/// The server's own limits, for which no option was given.
const CPU: f64 = 5.0;
const WALL: f64 = 50.0;
/// What a stop may take beyond the deadline.
const GRACE: Duration = Duration::from_millis(500);
/// Time an answer gets beyond that before it is given up: long enough to see how late it was.
const PATIENCE: Duration = Duration::from_secs(20);
/// Resident megabytes the server may keep beyond those it had before the first program.
const ROOM: f64 = 40.0;
/// Time the server gets to return memory.
const RETURN: Duration = Duration::from_secs(2);

/// What a clean script sees of its surroundings: every name there is, and what built-ins do.
const SURROUNDINGS: &str = r#"
const seen = [];
const look = (path, it) => {
  for (const key of Reflect.ownKeys(it)) {
    const { value, get, writable, configurable } = Object.getOwnPropertyDescriptor(it, key);
    seen.push(`${path}.${String(key)} ${typeof value} ${typeof get} ${writable} ${configurable}`);
  }
};
look("globalThis", globalThis);
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const it = globalThis[name];
  if ((typeof it !== "function" && typeof it !== "object") || it === null || it === globalThis) continue;
  look(name, it);
  if (typeof it === "function" && it.prototype) look(`${name}.prototype`, it.prototype);
}
return [JSON.stringify({ a: [1, "b"] }), `${[3, 1, 2].sort()}`, await Promise.resolve(4), seen];"#;

/// How the server is to be started; text is passed on as it was given.
#[derive(Debug)]
pub(crate) struct Limits {
    arguments: Vec<String>,
    deadline: Duration,
}

impl Limits {
    /// The limits as options name them.
    pub(crate) fn read(cpu: Option<&str>, wall: Option<&str>) -> Result<Self> {
        let mut arguments = Vec::new();
        let mut seconds = |name: &str, value: Option<&str>, default: f64| {
            let Some(text) = value else { return Ok(default) };
            arguments.extend([name.to_owned(), text.to_owned()]);
            let number = text.parse().ok().filter(|it| *it > 0.0 && *it < 1e6);
            number.with_context(|| format!("`{name}` is `{text}`, which is no number of seconds"))
        };
        let cpu = seconds("--cpu", cpu, CPU)?;
        let wall = seconds("--wall", wall, WALL)?;
        ensure!(cpu <= wall, "`--cpu` is more than `--wall`: no script could use it up");
        Ok(Self { arguments, deadline: Duration::from_secs_f64(wall) })
    }
}

/// Runs every program of the folder and prints a line for each; whether all passed.
pub(crate) fn run(dir: &Path, limits: &Limits) -> Result<bool> {
    let mut programs = Vec::new();
    collect(dir, &mut programs)?;
    programs.sort();
    ensure!(
        !programs.is_empty(),
        "no program in `{}`: a program is a file that ends in .js",
        dir.display()
    );
    let world = World::start()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut passed, mut failed) = (0, 0);
        let mut host = Host::start(&world, limits).await?;
        println!("{:<9}{:>9}{:>9}  program: how it ended", "", "time", "resident");
        for program in programs {
            let name = program.strip_prefix(dir).unwrap_or(&program).display();
            let trial = host.try_out(&program, limits).await;
            let mark = if trial.faults.is_empty() { "ok" } else { "FAILED" };
            println!("{mark:<9}{trial}  {name}: {}", trial.outcome);
            if trial.faults.is_empty() {
                passed += 1;
            } else {
                failed += 1;
                for fault in &trial.faults {
                    println!("{:29}{fault}", "");
                }
                // What one program broke is not held against the next.
                host = Host::start(&world, limits).await?;
            }
        }
        println!("{passed} passed, {failed} failed");
        Ok(failed == 0)
    })
}

fn collect(dir: &Path, programs: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = || format!("cannot read the folder `{}`", dir.display());
    for entry in std::fs::read_dir(dir).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.is_dir() {
            collect(&path, programs)?;
        } else if path.extension().is_some_and(|it| it == "js") {
            programs.push(path);
        }
    }
    Ok(())
}

/// The server under trial.
struct Host {
    session: Session,
    /// What a script saw before any program ran.
    surroundings: Value,
    /// Resident megabytes before any program ran.
    resident: f64,
}

/// What came of one program.
#[derive(Debug, Default)]
struct Trial {
    time: Duration,
    resident: f64,
    outcome: String,
    faults: Vec<String>,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>7.2} s{:>6.1} MB", self.time.as_secs_f64(), self.resident)
    }
}

/// What a tool answered.
struct Answer {
    is_error: bool,
    text: String,
}

impl Host {
    async fn start(world: &World, limits: &Limits) -> Result<Self> {
        let mut command = world.command();
        command.args(&limits.arguments);
        let mut session = Session::spawn(command)?;
        session.initialize("2025-11-25").await?;
        let mut host = Self { session, surroundings: Value::Null, resident: 0.0 };
        // Until the document is there and the spares are.
        for _ in 0..5 {
            host.surroundings = host.result(SURROUNDINGS).await?;
        }
        host.resident = host.resident_mb()?;
        Ok(host)
    }

    async fn try_out(&mut self, program: &Path, limits: &Limits) -> Trial {
        let mut trial = Trial::default();
        if let Err(error) = self.check(program, limits, &mut trial).await {
            trial.faults.push(format!("{error:#}"));
        }
        trial
    }

    async fn check(&mut self, program: &Path, limits: &Limits, trial: &mut Trial) -> Result<()> {
        let bytes = std::fs::read(program).context("the program cannot be read")?;
        let code = String::from_utf8_lossy(&bytes);
        let must_fail = match code.lines().next().map(str::trim_end) {
            Some("// expect: fails") => true,
            Some("// expect: any") => false,
            _ => bail!("its first line is neither `// expect: fails` nor `// expect: any`"),
        };
        let started = Instant::now();
        let answer = self.execute(&code, limits.deadline + GRACE + PATIENCE).await?;
        trial.time = started.elapsed();
        trial.outcome = outcome(&answer)?;
        let mut expect = |holds: bool, fault: &str| {
            if !holds {
                trial.faults.push(fault.to_owned());
            }
        };
        expect(answer.is_error || !must_fail, "it was to fail");
        expect(trial.time <= limits.deadline + GRACE, "it was stopped too late");
        expect(self.result("return 1").await? == json!(1), "the next script did not answer 1");
        let surroundings = self.result(SURROUNDINGS).await?;
        expect(surroundings == self.surroundings, "it left something to the next script");
        trial.resident = self.settled_mb().await?;
        if trial.resident > self.resident + ROOM {
            let before = self.resident;
            trial.faults.push(format!("memory did not come back: {before:.1} MB at the start"));
        }
        Ok(())
    }

    async fn execute(&mut self, code: &str, within: Duration) -> Result<Answer> {
        let message = self.session.call("execute", json!({ "code": code }), within).await?;
        let result = &message["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.with_context(|| format!("not a tool's answer: {message}"))?;
        Ok(Answer { is_error: result["isError"] == true, text: text.to_owned() })
    }

    /// The result of a script that must succeed.
    async fn result(&mut self, code: &str) -> Result<Value> {
        let answer = self.execute(code, PATIENCE).await.context("the next script")?;
        ensure!(!answer.is_error, "the next script failed: {}", answer.text);
        Ok(serde_json::from_str::<Value>(&answer.text)?["result"].take())
    }

    /// Resident memory, after a while if it has to come back first.
    async fn settled_mb(&self) -> Result<f64> {
        let started = Instant::now();
        loop {
            let resident = self.resident_mb()?;
            if resident <= self.resident + ROOM || started.elapsed() > RETURN {
                return Ok(resident);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn resident_mb(&self) -> Result<f64> {
        megabytes(self.session.id().context("the server is gone")?, RESIDENT)
    }
}

/// An answer in a few words; an error when it is not well-formed.
fn outcome(answer: &Answer) -> Result<String> {
    let is_object = answer.text.starts_with('{');
    let is_json = serde_json::from_str::<&RawValue>(&answer.text).is_ok();
    ensure!(is_object && is_json, "the answer is not a JSON object: {}", words(&answer.text));
    if !answer.is_error {
        return Ok("answered".to_owned());
    }
    let answer: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let said = |key: &str| answer["error"][key].as_str().unwrap_or_default();
    Ok(words(&format!("{}: {}", said("name"), said("message"))))
}

/// The beginning of a text, in one printable line.
fn words(text: &str) -> String {
    let line: String =
        text.chars().take(70).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if line.len() < text.len() { format!("{line}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_seconds_and_passed_on_as_given() {
        let limits = Limits::read(Some("1"), Some("2.5")).expect("limits");
        assert_eq!(limits.arguments, ["--cpu", "1", "--wall", "2.5"]);
        assert_eq!(limits.deadline, Duration::from_millis(2500));
        let plain = Limits::read(None, None).expect("limits");
        assert_eq!((plain.arguments.len(), plain.deadline), (0, Duration::from_secs(50)));
        for (cpu, wall, fault) in [
            (Some("soon"), None, "`--cpu` is `soon`, which is no number of seconds"),
            (None, Some("-1"), "`--wall` is `-1`, which is no number of seconds"),
            (Some("3"), Some("2"), "`--cpu` is more than `--wall`"),
        ] {
            let error = Limits::read(cpu, wall).expect_err("fault").to_string();
            assert!(error.starts_with(fault), "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_missing_or_empty_is_named() {
        let limits = Limits::read(None, None).expect("limits");
        let missing = run(Path::new("no/such/folder"), &limits).expect_err("fault").to_string();
        assert_eq!(missing, "cannot read the folder `no/such/folder`");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let empty = run(here, &limits).expect_err("fault").to_string();
        assert!(empty.ends_with("a program is a file that ends in .js"), "{empty}");
    }

    #[test]
    fn an_answer_is_told_in_a_few_words() {
        let answer = |is_error, text: &str| Answer { is_error, text: text.to_owned() };
        assert_eq!(outcome(&answer(false, r#"{"result":1}"#)).expect("words"), "answered");
        let failed = answer(true, r#"{"error":{"name":"LimitError","message":"a\nb"}}"#);
        assert_eq!(outcome(&failed).expect("words"), "LimitError: a b");
        assert!(outcome(&answer(false, "1")).is_err());
        assert!(outcome(&answer(true, "{")).is_err());
    }
}
