//! What holds of every tool of the catalog, whoever adds one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    code_mode,
    profile::Profile,
    skill::{Skill, Skills},
    special,
    surfaces::{self, Surface},
    test_support::{self, Sentry},
    tool::{Definition, KEYWORDS, Registered},
};

use super::ALL;

/// Characters of a description: more is not read.
const LONGEST_DESCRIPTION: usize = 700;
/// Words in back quotes that are values or notions, not names of ours.
const WORDS: &[&str] = &["all", "latest", "me", "null", "python", "slug"];

fn context() -> crate::Context {
    test_support::context("http://127.0.0.1:9", "sntrys_test")
}

fn definition(tool: &dyn Registered) -> Definition {
    tool.whole_definition()
}

fn schemas(tool: &dyn Registered) -> Vec<Value> {
    let input = Value::Object(definition(tool).input_schema.to_json());
    std::iter::once(input).chain(tool.output_schema().map(Value::Object)).collect()
}

#[test]
fn every_file_is_in_the_list_under_its_own_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/catalog");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod" && name != "laws")
        .collect();
    let listed: BTreeSet<String> = ALL.iter().map(|tool| tool.spec().name.to_owned()).collect();
    assert_eq!(files, listed);
    assert_eq!(ALL.len(), listed.len(), "a name is there twice");
}

#[test]
fn names_are_short_and_plain_and_no_two_tools_answer_to_one() {
    let mut names = BTreeSet::from([special::SEARCH, special::EXECUTE]);
    for tool in ALL {
        let spec = tool.spec();
        for name in spec.formerly.iter().chain([&spec.name]) {
            let plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
            assert!(name.len() <= 64 && name.chars().all(plain), "{name}");
            assert!(name.starts_with(|it: char| it.is_ascii_lowercase()), "{name}");
            assert!(names.insert(name), "{name} is there twice");
        }
    }
}

#[test]
fn every_tool_says_what_it_is_for_within_its_budget() {
    for tool in ALL {
        let spec = tool.spec();
        let length = spec.description.chars().count();
        assert!((40..=LONGEST_DESCRIPTION).contains(&length), "{}: {length}", spec.name);
        assert!(!spec.title.is_empty() && spec.title.len() <= 40, "{}", spec.name);
        assert!(!spec.skills.is_empty(), "{}", spec.name);
    }
}

#[test]
fn every_writing_tool_has_a_scope_and_a_skill_that_is_about_writing() {
    for tool in ALL {
        let spec = tool.spec();
        let known = ["read", "write", "admin", "releases"];
        for scope in spec.scopes {
            let (family, level) = scope.split_once(':').unwrap();
            assert!(["org", "project", "team", "member", "event"].contains(&family), "{scope}");
            assert!(known.contains(&level), "{scope}");
        }
        if !spec.effect.is_read_only() {
            assert!(!spec.scopes.is_empty(), "{} writes without a scope", spec.name);
            let only_looks = |skill: &Skill| matches!(skill, Skill::Inspect | Skill::Docs);
            let for_all = spec.skills == Skill::ALL;
            assert!(for_all || !spec.skills.iter().any(only_looks), "{}", spec.name);
        }
    }
}

/// P11 and P12.
#[test]
fn schemas_hold_no_keyword_that_some_client_refuses() {
    fn walk(name: &str, schema: &Value) {
        let fields = schema.as_object().unwrap_or_else(|| panic!("{name}: {schema}"));
        for key in fields.keys() {
            assert!(KEYWORDS.contains(&key.as_str()), "{name}: `{key}`");
        }
        let kind = schema["type"].as_str().unwrap_or_else(|| panic!("{name}: one type: {schema}"));
        assert_eq!(kind == "array", fields.contains_key("items"), "{name}: {schema}");
        let properties = fields.get("properties").and_then(Value::as_object);
        for nested in properties.into_iter().flat_map(|it| it.values()).chain(fields.get("items")) {
            walk(name, nested);
        }
    }
    for tool in ALL {
        for schema in schemas(*tool) {
            assert_eq!(schema["type"], "object", "{}", tool.spec().name);
            walk(tool.spec().name, &schema);
        }
    }
}

/// P20.
#[test]
fn every_name_in_back_quotes_exists() {
    let cx = context();
    let tools: BTreeSet<&str> = ALL
        .iter()
        .map(|tool| tool.spec().name)
        .chain([special::SEARCH, special::EXECUTE])
        .chain(code_mode::tools(&cx).iter().map(|tool| tool.definition(&cx).name))
        .collect();
    for tool in ALL {
        let definition = definition(*tool);
        let own: String = schemas(*tool).iter().map(Value::to_string).collect();
        let arguments = definition.input_schema.0.iter().map(|it| it.description.as_str());
        for text in arguments.chain([definition.description.as_str()]) {
            for name in text.split('`').skip(1).step_by(2) {
                let is_name = name.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
                let exists = tools.contains(name)
                    || own.contains(&format!("\"{name}\""))
                    || WORDS.contains(&name);
                assert!(
                    !is_name || exists,
                    "{}: `{name}` is no tool or parameter",
                    definition.name
                );
            }
        }
    }
}

/// P17.
#[tokio::test]
async fn what_is_shown_by_default_stays_within_12_tools_and_3000_tokens() {
    let session = Sentry::new().session();
    let shown = session.shown();
    assert!(shown.len() <= 12, "{} tools", shown.len());
    let bpe = tiktoken_rs::o200k_base().unwrap();
    let tokens: usize = shown
        .iter()
        .map(|it| {
            let schema = Value::Object(it.definition.input_schema.to_json()).to_string();
            let output = it.output_schema.clone().map(|it| Value::Object(it).to_string());
            let text = [it.definition.name, &it.definition.description, &schema].join(" ");
            bpe.encode_ordinary(&text).len()
                + output.map_or(0, |it| bpe.encode_ordinary(&it).len())
                + 40
        })
        .sum();
    assert!(tokens <= 3000, "{tokens} tokens");
}

#[tokio::test]
async fn direct_tools_come_first_then_the_gateways_then_code_mode() {
    let shown = Sentry::new().shown();
    let gateway = shown.iter().position(|&it| it == special::SEARCH).unwrap();
    assert!(shown[..gateway].iter().all(|name| surfaces::is_direct(name)), "{shown:?}");
    assert_eq!(
        shown[gateway..],
        [special::SEARCH, special::EXECUTE, "search", "execute", "execute_write"]
    );
}

#[test]
fn every_skill_that_is_granted_by_default_brings_something() {
    let profile = Profile::sentry();
    assert!(Surface::default_for(profile.kind).has_catalog());
    assert!(Skills::active().has(Skill::ApiWrite));
    for skill in [Skill::Inspect, Skill::Docs] {
        assert!(ALL.iter().any(|tool| tool.spec().skills.contains(&skill)), "{skill}");
    }
}
