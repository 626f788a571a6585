//! Where a result comes from: sources, binary, document, by their hashes.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::grade;
use crate::report::{OpenApi, Prompt, Provenance};
use crate::state::{hash, hex};
use crate::task::{Api, Surface, Task};
use crate::trial;

/// What all reports of a run share.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    shared: Provenance,
    sentry: Option<OpenApi>,
}

/// Places where the published document of Sentry may lie, below the workspace's root.
const DOCUMENTS: [&str; 3] =
    ["specs/sentry.json", ".cache/specs/sentry.json", "../shared/specs/sentry.json"];

/// The file of the document that comes with the fixture.
pub const FIXTURE: &str = "fixture.json";

/// Sentry's published document, if it is on this machine.
pub fn published_document(root: &Path) -> Option<PathBuf> {
    DOCUMENTS.iter().map(|it| root.join(it)).find(|it| it.is_file())
}

impl Origin {
    /// Looks at the workspace below `root`, the binary and Sentry's document.
    pub fn look(root: &Path, binary: &Path, document: Option<&Path>) -> Result<Self> {
        let git = |arguments: &[&str]| {
            let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success().then_some(said)
        };
        let file = |path: &Path| std::fs::read(path).ok().map(|it| hex(&it));
        let shared = Provenance {
            git_commit: git(&["rev-parse", "HEAD"]),
            git_dirty: git(&["status", "--porcelain"]).map(|it| !it.is_empty()),
            binary_sha256: file(binary).context("the server's binary cannot be read")?,
            cargo_lock_sha256: file(&root.join("Cargo.lock")),
            fixture_src_sha256: sources(&root.join("crates/mocks/src")),
            parser_src_sha256: grade::parser_hash(),
            ..Provenance::default()
        };
        Ok(Self { shared, sentry: document.map(openapi).transpose()? })
    }

    pub fn of(&self, task: &Task) -> Provenance {
        let scenario = [task.prompt, task.answer, &hash(&(task.faults)())].join("\n");
        Provenance {
            openapi: match task.api {
                Api::Sentry => self.sentry.clone(),
                Api::Authentik => None,
            },
            verifier_src_sha256: grade::verifier_hash(task),
            scenario_sha256: hex(scenario.as_bytes()),
            ..self.shared.clone()
        }
    }
}

fn openapi(path: &Path) -> Result<OpenApi> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let document: Value = serde_json::from_slice(&bytes)
        .with_context(|| format!("`{}` is not JSON", path.display()))?;
    let paths = document["paths"].as_object();
    let methods = ["get", "put", "post", "patch", "delete", "head", "options", "trace"];
    let operations = paths.into_iter().flatten().filter_map(|(_, it)| it.as_object());
    let operations =
        operations.flat_map(|it| it.keys()).filter(|it| methods.contains(&it.as_str()));
    Ok(OpenApi {
        source: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        version: document["info"]["version"].as_str().map(str::to_owned),
        sha256: hex(&bytes),
        paths: paths.map_or(0, serde_json::Map::len),
        operations: operations.count(),
    })
}

/// One hash of all files below a folder, their names among it.
fn sources(folder: &Path) -> Option<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut text = Vec::new();
    for file in files {
        text.extend(file.strip_prefix(folder).ok()?.to_string_lossy().bytes());
        text.extend(std::fs::read(&file).ok()?);
    }
    Some(hex(&text))
}

/// The words an agent is given.
pub fn prompt(task: &Task, surface: Surface) -> Prompt {
    let (user, instructions) = (task.full_prompt(), trial::instructions(surface));
    let whole = [&user, instructions.unwrap_or_default()].map(str::to_owned).join("\n");
    Prompt {
        user,
        system: "default".to_owned(),
        instructions: instructions.map(str::to_owned),
        sha256: hex(whole.as_bytes()),
    }
}
