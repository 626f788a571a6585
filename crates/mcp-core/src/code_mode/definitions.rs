//! What a client is told of code mode: fixed when the server is built, the same size whatever the API.
//!
//! The texts are short on purpose: the three definitions together stay below 800 tokens. What they
//! say is what measurably helps agents: what exists only inside scripts, not to guess, to look up the
//! signature right before the call, and that a read's result is no template for a write.

use crate::{
    context::Context,
    tool::{Argument, ArgumentType, Definition, Effect, Schema, World},
};

use super::{answer::Detail, confirm::ConfirmMode};

/// The three names of code mode.
pub(super) const SEARCH: &str = "search";
pub(super) const EXECUTE: &str = "execute";
pub(super) const EXECUTE_WRITE: &str = "execute_write";

/// Server instructions: how the tools belong together.
pub(crate) fn instructions(cx: &Context) -> String {
    let write = if cx.is_read_only() {
        "This server is read-only."
    } else {
        "`execute_write` changes things, after a confirmation."
    };
    format!(
        "The whole of {} through a few tools: `search` finds operations with their signatures, `execute` runs a script that can only read. {write} Operations are called inside `code`, never as tools.",
        the_api(cx)
    )
}

pub(super) fn search(cx: &Context) -> Definition {
    let mut arguments = vec![
        Argument {
            name: "query".into(),
            kind: ArgumentType::Text { empty: true },
            required: true,
            description: "plain words, or an exact operationId, `GET /path` or `schema:Name`; empty lists the tags".to_owned(),
        },
        Argument {
            name: "limit".into(),
            kind: ArgumentType::Integer { min: 1, max: 50 },
            required: false,
            description: String::new(),
        },
        Argument {
            name: "detail".into(),
            kind: ArgumentType::choice(Detail::NAMES),
            required: false,
            description: String::new(),
        },
    ];
    if cx.apis.len() > 1 {
        arguments.push(Argument {
            name: "api".into(),
            kind: ArgumentType::Text { empty: false },
            required: false,
            description: "one of the APIs, by name".to_owned(),
        });
    }
    Definition {
        name: SEARCH,
        title: "Search the API",
        description: format!(
            "Find operations of {}. The best matches come as signatures with parameters, body fields and result: enough to write the call. Do not guess paths or fields; look up the exact signature right before the call.",
            the_api(cx)
        ),
        input_schema: Schema(arguments),
        effect: Effect::Read,
        world: World::Closed,
    }
}

pub(super) fn execute(cx: &Context) -> Definition {
    let names: Vec<String> = if cx.apis.len() == 1 {
        cx.apis.iter().map(|it| it.profile.binding.clone()).filter(|it| it != "api").collect()
    } else {
        cx.apis.iter().map(|it| it.profile.binding.clone()).collect()
    };
    let binding = match (names.as_slice(), cx.apis.len()) {
        ([], _) => String::new(),
        ([name], 1) => format!(" `{name}` is the same object as `api`."),
        (names, _) => format!(" `api` is called {} here.", names.join(" or ")),
    };
    let files = match cx.files.is_empty() {
        true => "",
        false => {
            "files.list(), files.read(name) // a body or a part of one\nfiles.save(name, response)\n"
        }
    };
    let example = cx.apis.first().map(|it| it.profile.example.code.as_str()).unwrap_or_default();
    Definition {
        name: EXECUTE,
        title: "Run a reading script",
        description: format!(
            "Run JavaScript against {}. It can only read: a write is refused before it is sent. These exist inside `code` only, they are not tools:\n\
             ```ts\n\
             api.request(method, path, {{ query?, body?, headers? }}) // {{ status, ok, headers, data }}\n\
             api.call(operationId, {{ ...parameters, body? }}) // the same\n\
             api.paginate(path | operationId, {{ ...parameters, maxItems?, from? }}) // {{ items, total?, complete, pages, next? }}\n\
             api.search(query), api.describe(operationId), api.operations, api.budget(), sleep(ms), console.log()\n\
             {files}```\n\
             Reading `data` of a failed response (status 400 and up) throws, unless `ok` or `status` was looked at before.{binding} Use `api.paginate` for anything \"all\", `Promise.all` for independent calls, and return only what you need. Example:\n\
             ```js\n{example}\n```",
            the_api(cx)
        ),
        input_schema: Schema(vec![code()]),
        effect: Effect::Read,
        world: World::Open,
    }
}

pub(super) fn execute_write(cx: &Context) -> Definition {
    let protocol = match cx.confirm {
        ConfirmMode::Plan => {
            "Two calls: the first rehearses the script (reads run, writes are only recorded) and answers the exact `plan` with a `confirm` line; the second, with the identical `code` and that `confirm`, sends exactly the planned writes."
        }
        ConfirmMode::Code => {
            "Two calls: the first runs nothing and answers `confirm`; the second, with the identical `code` and that `confirm`, runs it once."
        }
        ConfirmMode::Off => "Runs at once: this host approves calls by itself.",
    };
    let mut arguments = vec![code()];
    if cx.confirm != ConfirmMode::Off {
        arguments.push(Argument {
            name: "confirm".into(),
            kind: ArgumentType::Text { empty: false },
            required: false,
            description: "the `confirm` line of the first answer, to the letter".to_owned(),
        });
    }
    Definition {
        name: EXECUTE_WRITE,
        title: "Run a writing script",
        description: format!(
            "`{EXECUTE}` with writes. {protocol} What a read returns is not a template for a write: send the required fields and the requested changes, and unchanged fields only where the update contract requires them. Writes are never repeated by themselves; where an outcome is unknown, read before trying again.",
        ),
        input_schema: Schema(arguments),
        effect: Effect::Destroy,
        world: World::Open,
    }
}

fn code() -> Argument {
    Argument {
        name: "code".into(),
        kind: ArgumentType::Text { empty: true },
        required: true,
        description: "an async function body; `return` the result".to_owned(),
    }
}

/// `the authentik API`, `the gitea and github APIs`; an API without a name is `this API`.
pub(crate) fn the_api(cx: &Context) -> String {
    let titles: Vec<_> = cx.apis.iter().map(|it| it.profile.title.as_str()).collect();
    match titles.as_slice() {
        [one] if one.contains(' ') => "this API".to_owned(),
        [one] => format!("the {one} API"),
        several => format!("the {} APIs", several.join(" and ")),
    }
}
