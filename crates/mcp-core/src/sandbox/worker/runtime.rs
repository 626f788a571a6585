//! The engine: one fresh QuickJS runtime for one script, with a job loop of our own.

use std::{fmt, rc::Rc};

use rquickjs::{
    Context, Ctx, Error, Function, Object, Persistent, Promise, Runtime, Type, Value,
    context::{EvalOptions, intrinsic},
    prelude::Opt,
    promise::PromiseState,
};

use super::{
    super::{
        limits::{Stop, size},
        port::Port,
        protocol::{Failure, Frame, MAX_TEXT, Pace, Reply, Report, Run},
    },
    hints, host_functions,
    raw::HeapLimit,
    state::{Next, State},
};

/// The parts of the language a script gets: no WeakRef, no Performance, no DOMException.
type Language = (
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Date,
    intrinsic::MapSet,
    intrinsic::Promise,
    intrinsic::TypedArrays,
    intrinsic::Proxy,
);

/// What the script is called in stack traces: frames of any other name are ours.
const SCRIPT: &str = "user.js";
/// Frames kept of a stack.
const MAX_FRAMES: usize = 10;
/// Longest error message.
const MAX_MESSAGE: usize = 8 << 10;
/// Largest JSON of an error's own properties; the prelude shortens them to less.
const MAX_PROPERTIES: usize = 512 << 10;
/// What most scripts do, without a trace in their world.
const WARM_UP: &str = r#"(async () => {
  const list = await Promise.all([1, 2].map(async (it) => ({ it, text: `${it}` })));
  return JSON.stringify(JSON.parse(JSON.stringify({ list })));
})()"#;
/// Rejections watched at once; the report needs the first ones only.
const MAX_REJECTIONS: usize = 100;

/// A runtime that is ready for its one script.
pub(in super::super) struct Engine {
    // Dropped first: a saved value must not outlive its runtime.
    setup: Persistent<Function<'static>>,
    context: Context,
    runtime: Runtime,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// The prelude's ways into a script's world.
struct Prelude<'js> {
    settle: Function<'js>,
    fail: Function<'js>,
    fire: Function<'js>,
    finish: Function<'js>,
    explain: Function<'js>,
}

/// Why there is no result: something was thrown, or the run was stopped.
enum Ended<'js> {
    Thrown(Value<'js>),
    Stopped,
    /// Nothing is left that could wake the script.
    Stuck,
    /// The result has more bytes than can leave the worker.
    TooLong(usize),
    /// The script's text has a NUL.
    Unreadable,
}

impl Engine {
    /// Builds a runtime and evaluates the prelude; takes well under a millisecond.
    pub(in super::super) fn new() -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        let context = Context::builder().with::<Language>().build(&runtime)?;
        let setup = context.with(|ctx| {
            let polyfills: Function<'_> =
                evaluate(&ctx, "polyfills.js", include_str!("polyfills.js"))?;
            polyfills.call::<_, ()>((host_functions::native(&ctx)?,))?;
            let prelude: Function<'_> = evaluate(&ctx, "prelude.js", include_str!("prelude.js"))?;
            let setup: Function<'_> = prelude.call(())?;
            Ok::<_, Error>(Persistent::save(&ctx, setup))
        })?;
        Ok(Self { setup, context, runtime })
    }

    /// Uses what every script uses, so that its memory is this process's own before a script is here.
    pub(in super::super) fn warm_up(&self) {
        self.context.with(|ctx| {
            // Nothing of it is left behind; a failure would show in the first script, too.
            drop(evaluate::<Value<'_>>(&ctx, "warm-up.js", WARM_UP));
            while ctx.execute_pending_job() {}
        });
    }

    /// Runs the script to its end, whichever that is. The engine is then used up.
    pub(in super::super) fn run(&self, run: &Run, port: Rc<dyn Port>) -> Report {
        self.runtime.set_max_stack_size(run.stack);
        self.runtime.set_memory_limit(run.heap);
        // What is not in a cycle is freed by its count; looking for cycles while a large response is
        // read only costs time.
        self.runtime.set_gc_threshold(run.heap / 4);
        let state = Rc::new(State::new(run, port, HeapLimit::of(&self.context)));
        let interrupt = Rc::clone(&state);
        self.runtime.set_interrupt_handler(Some(Box::new(move || interrupt.poll())));
        let rejections = Rc::new(Rejections::default());
        let tracker = Rc::clone(&rejections);
        self.runtime.set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, handled| tracker.note(&ctx, promise, reason, handled),
        )));
        let result = self.context.with(|ctx| {
            let prelude = match self.prepare(&ctx, run, &state) {
                Ok(prelude) => prelude,
                Err(error) => return Err(unexplained(&ctx, &error)),
            };
            let result = execute(&ctx, &prelude, run, &state, &rejections)
                .map_err(|ended| failure(&ctx, &prelude, run, &state, ended));
            if state.stop().is_none() {
                rejections.report(&ctx, &prelude, &state);
            }
            result
        });
        if result.is_ok() && state.in_flight() > 0 {
            let count = state.in_flight();
            let text = match count {
                1 => "a call was".to_owned(),
                _ => format!("{count} calls were"),
            };
            state.warn(
                format!("{text} not awaited when the script ended: the outcome is unknown"),
                None,
            );
        }
        // A late stop, in code that ran while the error was being described, is still the reason.
        let stop = if result.is_ok() { None } else { state.stop() };
        Report {
            result,
            warnings: state.warnings.take(),
            observations: state.observations.take(),
            stop,
            cpu: state.cpu_used(),
        }
    }

    fn prepare<'js>(
        &self,
        ctx: &Ctx<'js>,
        run: &Run,
        state: &Rc<State>,
    ) -> rquickjs::Result<Prelude<'js>> {
        let setup = self.setup.clone().restore(ctx)?;
        let [low, high] = [run.seed as u32, (run.seed >> 32) as u32];
        let wall = state.wall().as_secs_f64() * 1000.0;
        let host = host_functions::host(ctx, state)?;
        let placeholders = match run.pace {
            Pace::Rehearsal => Some(placeholders(ctx, state)?),
            Pace::Free | Pace::Ordered => None,
        };
        let (low, high) = (f64::from(low), f64::from(high));
        let prelude: Object<'js> =
            setup.call((host, run.bindings.clone(), wall, low, high, Opt(placeholders)))?;
        Ok(Prelude {
            settle: prelude.get("settle")?,
            fail: prelude.get("fail")?,
            fire: prelude.get("fire")?,
            finish: prelude.get("finish")?,
            explain: prelude.get("explain")?,
        })
    }
}

fn placeholders<'js>(ctx: &Ctx<'js>, state: &Rc<State>) -> rquickjs::Result<Object<'js>> {
    let setup: Function<'js> = evaluate(ctx, "placeholders.js", include_str!("placeholders.js"))?;
    setup.call((host_functions::observe(ctx, state)?,))
}

/// The job loop: jobs while there are any, then whatever the script waits for, until it is done.
fn execute<'js>(
    ctx: &Ctx<'js>,
    prelude: &Prelude<'js>,
    run: &Run,
    state: &State,
    rejections: &Rejections,
) -> Result<String, Ended<'js>> {
    let thrown = |error: Error| match error {
        _ if state.stop().is_some() => Ended::Stopped,
        Error::Exception => Ended::Thrown(ctx.catch()),
        Error::InvalidString(_) => Ended::Unreadable,
        _ => {
            state.stop_with(Stop::Memory);
            Ended::Stopped
        }
    };
    let value: Value<'js> = evaluate(ctx, SCRIPT, &run.javascript).map_err(thrown)?;
    let promise: Promise<'js> = prelude.finish.call((value,)).map_err(thrown)?;
    loop {
        loop {
            if state.poll() {
                return Err(Ended::Stopped);
            }
            if !ctx.execute_pending_job() {
                break;
            }
        }
        if promise.state() != PromiseState::Pending {
            break;
        }
        let woken = match state.next() {
            Next::Reply(id, Reply::Value { json, big_integers }) => {
                prelude.settle.call::<_, ()>((id, json, big_integers))
            }
            Next::Reply(id, Reply::Error { name, message, properties }) => {
                prelude.fail.call::<_, ()>((id, name, message, properties))
            }
            Next::Timer(id) => prelude.fire.call::<_, ()>((id,)),
            Next::Nothing => return Err(Ended::Stuck),
            Next::Stopped => return Err(Ended::Stopped),
        };
        woken.map_err(thrown)?;
    }
    // Its rejection is the outcome of the run.
    rejections.forget(ctx, promise.as_value().clone());
    let text = promise.finish::<String>().map_err(thrown)?;
    if text.len() > MAX_TEXT { Err(Ended::TooLong(text.len())) } else { Ok(text) }
}

/// Describes how the script ended, without trusting anything it threw.
fn failure<'js>(
    ctx: &Ctx<'js>,
    prelude: &Prelude<'js>,
    run: &Run,
    state: &State,
    ended: Ended<'js>,
) -> Failure {
    let thrown = match ended {
        Ended::Thrown(thrown) => thrown,
        Ended::Stopped => return Failure::default(),
        Ended::Stuck => {
            return Failure::new(
                "Error",
                "the script is waiting on a promise that can never settle: nothing is running any \
                 more that could resolve it",
            );
        }
        Ended::TooLong(length) => {
            let (length, limit) = (size(length), size(MAX_TEXT));
            return Failure::new(
                "RangeError",
                format!(
                    "the result is {length} of JSON, more than {limit}: return only what you need"
                ),
            );
        }
        Ended::Unreadable => {
            return Failure::new("SyntaxError", "the script contains a NUL character");
        }
    };
    if matches!(thrown.type_of(), Type::Null | Type::Uninitialized) {
        return Failure { hollow: true, ..Failure::new("Error", "the script threw null") };
    }
    let mut failure = explain(ctx, prelude, thrown);
    if matches!(failure.name.as_str(), "InternalError" | "SyntaxError")
        && failure.message.starts_with("out of memory")
    {
        state.stop_with(Stop::Memory);
    }
    let names: Vec<&str> = run.bindings.iter().flatten().map(String::as_str).collect();
    hints::extend(&mut failure, &run.javascript, &names);
    failure
}

fn explain<'js>(ctx: &Ctx<'js>, prelude: &Prelude<'js>, thrown: Value<'js>) -> Failure {
    match prelude.explain.call::<_, Vec<String>>((thrown,)).as_deref() {
        Ok([name, message, stack, properties]) => Failure {
            name: cut(name, 100),
            message: cut(message, MAX_MESSAGE),
            frames: frames(stack),
            properties: if properties.len() > MAX_PROPERTIES {
                "{}".to_owned()
            } else {
                properties.clone()
            },
            hollow: false,
        },
        Ok(_) => unexplained(ctx, &Error::Unknown),
        Err(error) => unexplained(ctx, error),
    }
}

fn unexplained(ctx: &Ctx<'_>, error: &Error) -> Failure {
    if matches!(error, Error::Exception) {
        drop(ctx.catch());
    }
    Failure::new("Error", "the script threw a value that cannot be read")
}

fn evaluate<'js, V: rquickjs::FromJs<'js>>(
    ctx: &Ctx<'js>,
    name: &str,
    source: &str,
) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source, options)
}

/// The script's own frames of a stack such as `    at load (user.js:3:48)`.
///
/// `<eval>` is the call of the wrapper around the script, outside the agent's text.
pub(super) fn frames(stack: &str) -> Vec<Frame> {
    let frame = |line: &str| {
        let line = line.trim().strip_prefix("at ")?;
        let (function, place) = match line.rsplit_once(" (") {
            Some((function, place)) => (function, place.strip_suffix(')')?),
            None => ("", line),
        };
        if function == "<eval>" {
            return None;
        }
        let (line, column) = place.strip_prefix(SCRIPT)?.strip_prefix(':')?.split_once(':')?;
        let function = cut(function, 100);
        Some(Frame { function, line: line.parse().ok()?, column: column.parse().ok()? })
    };
    stack.lines().filter_map(frame).take(MAX_FRAMES).collect()
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}…", text.get(..text.floor_char_boundary(longest)).unwrap_or_default())
}

/// Rejected promises that nobody has handled yet.
#[derive(Default)]
struct Rejections(std::cell::RefCell<Vec<Rejection>>);

struct Rejection {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

impl Rejections {
    fn note<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
        if handled {
            self.forget(ctx, promise);
            return;
        }
        let mut rejections = self.0.borrow_mut();
        if rejections.len() < MAX_REJECTIONS {
            let promise = Persistent::save(ctx, promise);
            rejections.push(Rejection { promise, reason: Persistent::save(ctx, reason) });
        }
    }

    fn forget<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>) {
        let promise = Persistent::save(ctx, promise);
        self.0.borrow_mut().retain(|rejection| rejection.promise != promise);
    }

    fn report<'js>(&self, ctx: &Ctx<'js>, prelude: &Prelude<'js>, state: &State) {
        for Rejection { promise, reason } in self.0.take() {
            drop(promise);
            let Ok(reason) = reason.restore(ctx) else { continue };
            let Failure { name, message, frames, .. } = explain(ctx, prelude, reason);
            state.warn(
                format!("a promise was rejected and nobody handled it: {name}: {message}"),
                frames.into_iter().next(),
            );
        }
    }
}
