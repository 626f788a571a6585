//! What a script can rely on, proved on the engine alone, in this thread.

mod api;
mod endings;
mod surroundings;
mod values;

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    time::Duration,
};

use super::{
    super::{
        limits::Limits,
        port::{Event, Port},
        protocol::{Call, Failure, Reply, Report, Run},
    },
    Engine,
};

/// A host that answers at once, or never.
struct Answers {
    answer: fn(&Call) -> Option<Reply>,
    ready: RefCell<VecDeque<(u32, Reply)>>,
    calls: RefCell<Vec<String>>,
    logs: RefCell<Vec<String>>,
    aborted: Cell<bool>,
}

impl Port for Answers {
    fn start(&self, call: Call) {
        self.calls.borrow_mut().push(format!("{} {}", call.function, call.arguments));
        if let Some(reply) = (self.answer)(&call) {
            self.ready.borrow_mut().push_back((call.id, reply));
        }
    }

    fn log(&self, line: String) {
        self.logs.borrow_mut().push(line);
    }

    fn wait(&self, timeout: Duration) -> Event {
        match self.ready.borrow_mut().pop_front() {
            Some((id, reply)) => Event::Reply(id, reply),
            None => {
                std::thread::sleep(timeout.min(Duration::from_millis(5)));
                Event::Timeout
            }
        }
    }

    fn abort(&self) -> bool {
        self.aborted.get()
    }
}

fn json(text: impl Into<String>) -> Option<Reply> {
    Some(Reply::Value { json: text.into(), big_integers: true })
}

/// `GET /404` fails, `/refused` is refused, `/never` is never answered, everything else echoes.
fn host(call: &Call) -> Option<Reply> {
    match call.function.as_str() {
        "request" | "call" if call.arguments.contains("/404") => json(
            r#"{"status":404,"ok":false,"headers":{"x":"y"},"data":{"detail":"gone"},"operation":"thing_get","failure":"GET /404: gone"}"#,
        ),
        "request" if call.arguments.contains("/refused") => Some(Reply::Error {
            name: "ApiError".to_owned(),
            message: "not in this mode".to_owned(),
            properties: r#"{"status":403,"refused":true}"#.to_owned(),
        }),
        "request" if call.arguments.contains("/never") => None,
        "request" if call.arguments.contains("/big") => json(
            r#"{"status":200,"ok":true,"headers":{},"data":{"id":9007199254740993,"n":1.5,"m":-7,"x":1e300,"t":"9007199254740993"}}"#,
        ),
        "request" | "call" => {
            json(format!(r#"{{"status":200,"ok":true,"headers":{{}},"data":{}}}"#, call.arguments))
        }
        "paginate" => json(r#"{"items":[1,2],"total":2,"complete":true,"pages":1}"#),
        "search" => json(format!(r#"[{{"id":"hit","binding":{}}}]"#, call.binding)),
        "describe" => json(r#""the signature""#),
        "budget" => json(r#"[{"remaining":7}]"#),
        "operations" if call.arguments == "[0]" => {
            json(r#"{"rows":[["a","GET","/a","A",["t"]],["b","PUT","/b","B",[]]],"next":2}"#)
        }
        "operations" => json(r#"{"rows":[["c","GET","/c","C",[]]],"next":null}"#),
        _ => None,
    }
}

struct Trial {
    report: Report,
    calls: Vec<String>,
    logs: Vec<String>,
}

impl Trial {
    fn json(&self) -> &str {
        self.report.result.as_ref().unwrap()
    }

    fn failure(&self) -> &Failure {
        self.report.result.as_ref().unwrap_err()
    }

    fn warnings(&self) -> Vec<&str> {
        self.report.warnings.iter().map(|warning| warning.text.as_str()).collect()
    }
}

fn settings() -> Run {
    let limits = Limits::default();
    Run {
        bindings: vec![vec!["api".to_owned(), "ak".to_owned()], vec!["other".to_owned()]],
        clock_ms: 1_700_000_000_000,
        seed: 42,
        heap: limits.heap,
        stack: limits.stack,
        cpu: limits.cpu,
        wall: limits.wall,
        logs: limits.logs,
        ..Run::default()
    }
}

fn run_with(script: &str, run: Run) -> Trial {
    let port = Rc::new(Answers {
        answer: host,
        ready: RefCell::default(),
        calls: RefCell::default(),
        logs: RefCell::default(),
        aborted: Cell::new(false),
    });
    let javascript = format!("(async()=>{{{script}\n}})()");
    let report =
        Engine::new().unwrap().run(&Run { javascript, ..run }, Rc::<Answers>::clone(&port));
    Trial { report, calls: port.calls.take(), logs: port.logs.take() }
}

fn run(script: &str) -> Trial {
    run_with(script, settings())
}

#[track_caller]
fn returns(cases: &[(&str, &str)]) {
    for (script, expected) in cases {
        assert_eq!(run(script).report.result.as_deref(), Ok(*expected), "{script}");
    }
}
