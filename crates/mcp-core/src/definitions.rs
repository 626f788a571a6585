//! The catalog as data and as a page for people: what `cargo xtask definitions` writes down.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::{
    catalog,
    skill::{Skill, Skills},
    special, surfaces,
    tool::{Definition, Spec},
};

/// Tools that are no reason to grant a skill: they come with any.
const UNCOUNTED: &[&str] = &[special::SEARCH, special::EXECUTE, "onboarding_status_update"];

/// One tool as it is written down.
struct Record {
    definition: Definition,
    output_schema: Option<Map<String, Value>>,
    skills: &'static [Skill],
    scopes: &'static [&'static str],
    is_direct: bool,
}

/// Every tool of the catalog and both gateways, in the order of the catalog.
fn records() -> Vec<Record> {
    let curated = catalog::ALL.iter().map(|tool| {
        let Spec { name, skills, scopes, .. } = tool.spec();
        Record {
            definition: tool.whole_definition(),
            output_schema: tool.output_schema(),
            skills,
            scopes,
            is_direct: surfaces::is_direct(name),
        }
    });
    let gateways = special::definitions().into_iter().map(|(definition, output_schema)| Record {
        definition,
        output_schema,
        skills: Skill::ALL,
        scopes: &[],
        is_direct: true,
    });
    curated.chain(gateways).collect()
}

impl Record {
    fn to_json(&self) -> Value {
        let Definition { name, title, description, input_schema, effect, .. } = &self.definition;
        let mut record = json!({
            "name": name,
            "title": title,
            "description": description,
            "inputSchema": input_schema.to_json(),
            "annotations": {
                "readOnlyHint": effect.is_read_only(),
                "destructiveHint": effect.is_destructive(),
                "idempotentHint": effect.is_idempotent(),
            },
            "requiredScopes": self.scopes,
            "skills": self.skills.iter().map(|it| it.id()).collect::<Vec<_>>(),
            "surface": if self.is_direct { "direct" } else { "catalog" },
        });
        if let Some(schema) = &self.output_schema {
            record["outputSchema"] = Value::Object(schema.clone());
        }
        record
    }

    /// What a client passes on to a model.
    fn as_listed(&self) -> String {
        let Definition { name, description, input_schema, .. } = &self.definition;
        json!({ "name": name, "description": description, "inputSchema": input_schema.to_json() })
            .to_string()
    }
}

/// Every tool, sorted by name.
pub fn tools() -> Value {
    let mut records = records();
    records.sort_by_key(|it| it.definition.name);
    records.iter().map(Record::to_json).collect()
}

/// Every skill with its tools.
pub fn skills() -> Value {
    let records = records();
    let proposed = Skills::proposed();
    let skill = |&skill: &Skill| {
        let tools: Vec<_> = records
            .iter()
            .filter(|it| it.skills.contains(&skill) && !UNCOUNTED.contains(&it.definition.name))
            .map(|it| it.definition.name)
            .collect();
        json!({
            "id": skill.id(),
            "title": skill.title(),
            "about": skill.about(),
            "proposed": proposed.has(skill),
            "deprecated": skill.is_deprecated(),
            "toolCount": tools.len(),
            "tools": tools,
        })
    };
    Skill::ALL.iter().map(skill).collect()
}

/// What each tool costs a model that is told of it, in the order of the catalog.
pub fn costs(tokens: impl Fn(&str) -> usize) -> Vec<(&'static str, usize)> {
    records().iter().map(|it| (it.definition.name, tokens(&it.as_listed()))).collect()
}

/// The reference for people, in markdown.
pub fn reference() -> String {
    let mut page = "<!-- Written by `cargo xtask definitions`; edit the tools instead. -->\n\n# Tools of the Sentry catalog\n\n\
        **Direct** tools are listed at once; the others are found with `search_sentry_tools` and run with `execute_sentry_tool`.\n\n\
        ## Skills\n\n| skill | grants | default |\n|---|---|---|\n"
        .to_owned();
    let active = Skills::active();
    for &skill in Skill::ALL {
        let default = if active.has(skill) { "on" } else { "off" };
        writeln!(page, "| `{skill}` | {} | {default} |", skill.about()).ok();
    }
    for record in records() {
        describe(&record, &mut page);
    }
    page
}

fn describe(record: &Record, page: &mut String) {
    let Definition { name, description, input_schema, effect, .. } = &record.definition;
    let list =
        |words: Vec<&str>| words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let skills = if record.skills == Skill::ALL {
        "all".to_owned()
    } else {
        list(record.skills.iter().map(|it| it.id()).collect())
    };
    let scopes =
        if record.scopes.is_empty() { "none".to_owned() } else { list(record.scopes.to_vec()) };
    let does = match (effect.is_read_only(), effect.is_destructive()) {
        (true, _) => "reads",
        (false, false) => "adds",
        (false, true) => "changes or removes",
    };
    let place = if record.is_direct { "direct" } else { "catalog" };
    writeln!(
        page,
        "\n## {name}\n\n{description}\n\n{place} · {does} · skills: {skills} · scopes: {scopes}"
    )
    .ok();
    if input_schema.0.is_empty() {
        return;
    }
    page.push_str("\n| parameter | | type | |\n|---|---|---|---|\n");
    for argument in &input_schema.0 {
        let required = if argument.required { "required" } else { "" };
        let wanted = argument.kind.wanted_briefly().replace('|', "\\|");
        let words = argument.description.replace('|', "\\|");
        writeln!(page, "| `{}` | {required} | {wanted} | {words} |", argument.name).ok();
    }
}

/// JSON as it is written to a file.
pub fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("{text}\n")
}
