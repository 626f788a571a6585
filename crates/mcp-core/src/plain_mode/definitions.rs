//! What a client is told of plain mode.

use crate::{
    code_mode::{confirm::ConfirmMode, definitions::the_api},
    context::Context,
    tool::{Argument, ArgumentType, Definition, Effect, Schema, World},
};

const CALL_OPERATION: &str = "call_operation";
const CALL_OPERATION_WRITE: &str = "call_operation_write";

/// Server instructions: how the tools belong together.
pub(crate) fn instructions(cx: &Context) -> String {
    let write = if cx.is_read_only() {
        "This server is read-only."
    } else {
        "`call_operation_write` calls one that changes things, after a confirmation."
    };
    format!(
        "The whole of {} through a few tools: `search` finds operations with their signatures, `{CALL_OPERATION}` calls one that only reads. {write}",
        the_api(cx)
    )
}

pub(super) fn call_operation(cx: &Context) -> Definition {
    Definition {
        name: CALL_OPERATION,
        title: "Call a reading operation",
        description: format!(
            "Call one operation of {} that only reads; one that could change things is refused before it is sent. Look up its signature with `search` right before. Answers `{{ status, data, next? }}`: `next` holds the arguments to add for the next page, so a list is complete only without it.",
            the_api(cx)
        ),
        input_schema: Schema(arguments(cx)),
        effect: Effect::Read,
        world: World::Open,
    }
}

pub(super) fn call_operation_write(cx: &Context) -> Definition {
    let protocol = match cx.confirm {
        ConfirmMode::Plan => {
            "Two calls: the first sends nothing and answers the exact request as `plan`, with a `confirm` line; the second, with identical arguments and that `confirm`, sends it once."
        }
        ConfirmMode::Code => {
            "Two calls: the first sends nothing and answers `confirm`; the second, with identical arguments and that `confirm`, sends it once."
        }
        ConfirmMode::Off => "Runs at once: this host approves calls by itself.",
    };
    let mut arguments = arguments(cx);
    if cx.confirm != ConfirmMode::Off {
        arguments.push(Argument {
            name: "confirm".into(),
            kind: ArgumentType::Text { empty: false },
            required: false,
            description: "the `confirm` line of the first answer, to the letter".to_owned(),
        });
    }
    Definition {
        name: CALL_OPERATION_WRITE,
        title: "Call a writing operation",
        description: format!(
            "Call one operation of {} that may change things. {protocol} What a read returns is not a template for a write: send the required fields and the requested changes.",
            the_api(cx)
        ),
        input_schema: Schema(arguments),
        effect: Effect::Destroy,
        world: World::Open,
    }
}

fn arguments(cx: &Context) -> Vec<Argument> {
    let mut arguments = vec![
        Argument {
            name: "operationId".into(),
            kind: ArgumentType::Text { empty: false },
            required: true,
            description: "as `search` shows it, or `METHOD /path/{template}`".to_owned(),
        },
        Argument {
            name: "arguments".into(),
            kind: ArgumentType::Object,
            required: false,
            description: "parameters by name, and `body`".to_owned(),
        },
    ];
    if cx.apis.len() > 1 {
        arguments.push(Argument {
            name: "api".into(),
            kind: ArgumentType::Text { empty: false },
            required: true,
            description: "one of the APIs, by name".to_owned(),
        });
    }
    arguments
}
