//! The commands that need the whole workspace.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc};

use anyhow::{Context as _, Result, bail, ensure};
use api_client::transport::{Transport, TransportOptions};
use mcp_core::{
    code_mode::{
        answer::{Detail, answer},
        policy::Access,
    },
    context::Api,
    openapi::source::{DocumentLocation, DocumentSource, SourceOptions},
    profile::Profile,
};
use url::Url;

use crate::{
    bench::{code, http, load, render, retrieval, start},
    cases, definitions, demo, hostile, interop, root, specs,
};

pub(crate) fn run(command: &str, arguments: &[String]) -> Result<ExitCode> {
    match command {
        "demo" => {
            Options::read(arguments, &[], &[])?;
            demo::run()?;
        }
        "definitions" => {
            Options::read(arguments, &[], &[])?;
            definitions::run()?;
        }
        "interop" => interop::run(arguments)?,
        "test-client" => return demo::test_client(arguments),
        "eval" => return Ok(evals::cli::main(root(), arguments.iter().map(Into::into))),
        "bench" => bench(arguments)?,
        "cases" => {
            let options = Options::read(arguments, &["--dir"], &[])?;
            if !cases::run(options.folder("--dir")?)? {
                return Ok(ExitCode::FAILURE);
            }
        }
        "hostile" => {
            let options = Options::read(arguments, &["--dir", "--cpu", "--wall"], &[])?;
            let limits = hostile::Limits::read(options.value("--cpu"), options.value("--wall"))?;
            if !hostile::run(options.folder("--dir")?, &limits)? {
                return Ok(ExitCode::FAILURE);
            }
        }
        "specs" => {
            specs::run(Options::read(arguments, &["--dir"], &[])?.folder("--dir")?)?;
        }
        other => bail!("`{other}` is not in the full build"),
    }
    Ok(ExitCode::SUCCESS)
}

fn bench(arguments: &[String]) -> Result<()> {
    let (kind, rest) = arguments.split_first().context(
        "which bench? There are `code`, `http`, `load`, `render`, `retrieval` and `start`",
    )?;
    match (kind.as_str(), rest) {
        ("retrieval", rest) => bench_retrieval(rest),
        ("code", rest) => code::run(Options::read(rest, &[], &["--json"])?.has("--json")),
        ("load", [one, way, file]) if one == load::ONE => load::one(way, Path::new(file)),
        ("load", rest) => {
            let options = Options::read(rest, &["--specs"], &["--json"])?;
            load::run(options.folder("--specs")?, options.has("--json"))
        }
        ("start", rest) => start::run(Options::read(rest, &[], &["--json"])?.has("--json")),
        ("http", rest) => {
            let options = Options::read(rest, &["--openapi"], &["--json"])?;
            http::run(options.value("--openapi").map(Path::new), options.has("--json"))
        }
        ("render", rest) => render::run(Options::read(rest, &[], &["--json"])?.has("--json")),
        (other, _) => bail!(
            "no bench `{other}`: there are `code`, `http`, `load`, `render`, `retrieval` and `start`"
        ),
    }
}

fn bench_retrieval(arguments: &[String]) -> Result<()> {
    let options =
        Options::read(arguments, &["--specs", "--queries"], &["--json", "--explain", "--worn"])?;
    let api = api_at(Url::parse("http://127.0.0.1:9")?)?;
    let access = Access::default();
    retrieval::run(
        options.folder("--specs")?,
        options.folder("--queries")?,
        retrieval::Options {
            json: options.has("--json"),
            explain: options.has("--explain"),
            worn: options.has("--worn"),
        },
        |loaded, query| {
            answer(&api, loaded, &access, query, retrieval::SHOWN, Detail::Signature).to_string()
        },
    )
}

/// An API at this address that has no document of its own.
pub(crate) fn api_at(base: Url) -> Result<Api> {
    let transport = Arc::new(Transport::new(TransportOptions::new(base))?);
    let location = DocumentLocation::parse("unused.json")?;
    let profile = Profile::custom(None, location.clone())?;
    let document = DocumentSource::new(SourceOptions {
        title: "xtask".to_owned(),
        location,
        transport: Arc::clone(&transport),
        credential_setting: None,
        cache: None,
        objection: None,
    });
    Ok(Api::new(profile, transport, Arc::new(document)))
}

/// A command's arguments: `--name VALUE` and `--switch`.
#[derive(Debug)]
struct Options {
    values: BTreeMap<String, String>,
    switches: Vec<String>,
}

impl Options {
    fn read(arguments: &[String], valued: &[&str], switches: &[&str]) -> Result<Self> {
        let mut options = Self { values: BTreeMap::new(), switches: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), None),
            };
            if valued.contains(&name) {
                let value = value.map(str::to_owned).or_else(|| rest.next().cloned());
                let value = value.with_context(|| format!("`{name}` needs a value"))?;
                options.values.insert(name.to_owned(), value);
            } else {
                let known = switches.contains(&argument.as_str());
                ensure!(known, "unknown argument `{argument}`: see `cargo xtask help`");
                options.switches.push(argument.clone());
            }
        }
        Ok(options)
    }

    fn folder(&self, name: &str) -> Result<&Path> {
        self.values.get(name).map(Path::new).with_context(|| format!("`{name} DIR` is missing"))
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.switches.iter().any(|switch| switch == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options> {
        let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
        Options::read(&arguments, &["--dir"], &["--json"])
    }

    #[test]
    fn options_are_names_with_values_and_switches() {
        let read = options(&["--json", "--dir", "a"]).expect("options");
        assert!(read.has("--json"));
        assert_eq!(read.folder("--dir").expect("folder"), Path::new("a"));
        assert_eq!(options(&["--dir=b"]).expect("options").values["--dir"], "b");
    }

    #[test]
    fn a_wrong_option_is_named() {
        let message = |arguments| options(arguments).expect_err("fault").to_string();
        assert_eq!(message(&["--dir"]), "`--dir` needs a value");
        assert!(message(&["--jsn"]).starts_with("unknown argument `--jsn`"));
        let missing =
            options(&[]).expect("options").folder("--dir").expect_err("fault").to_string();
        assert_eq!(missing, "`--dir DIR` is missing");
    }
}
