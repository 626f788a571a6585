//! Judging again: today's verifiers on the evidence of another day.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::answer;
use crate::grade;
use crate::report::{Regraded, Report, Status, Summary};
use crate::run;
use crate::state::hex;
use crate::tasks;

/// Writes a new report beside the old one, which stays as it is; what changed, trial by trial.
pub fn regrade(path: &Path) -> Result<(PathBuf, Vec<String>)> {
    let original =
        std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut report = run::load(path)?;
    let task = tasks::find(&report.task)
        .with_context(|| format!("there is no task `{}` any more", report.task))?;
    let regraded = Regraded {
        original_sha256: hex(&original),
        verifier_src_sha256: report.provenance.verifier_src_sha256.clone(),
        parser_src_sha256: report.provenance.parser_src_sha256.clone(),
        verdicts: report.trials.iter().map(|it| it.verdict.clone()).collect(),
    };
    let mut changes = Vec::new();
    for trial in report.trials.iter_mut().filter(|it| it.status != Status::InfraError) {
        let (evidence, baseline) = run::evidence(path, trial)?;
        let verdict = grade::grade(task, &evidence, &baseline);
        if verdict != trial.verdict {
            let failed = |it: &grade::Verdict| it.failed().join(", ");
            let (old, new) = (failed(&trial.verdict), failed(&verdict));
            changes.push(format!(
                "trial {} ({}): failed [{old}], now [{new}]",
                trial.trial, trial.agent
            ));
        }
        let parsed = answer::parse(&evidence.final_text);
        trial.answer.rejection = parsed.as_ref().err().copied();
        trial.answer.object = parsed.ok();
        trial.status = match (report.control, verdict.pass) {
            (true, _) if grade::control_holds(&verdict, &evidence) => Status::ControlOk,
            (true, _) => Status::ControlUnexpected,
            (false, false) => Status::Failed,
            (false, true) if grade::was_exercised(task, &evidence) => Status::Passed,
            (false, true) => Status::FaultNotExercised,
        };
        let met = verdict.failed().iter().any(|it| trial.expected_failures.iter().any(|e| e == it));
        trial.as_expected = match trial.expected_failures.is_empty() {
            true => matches!(trial.status, Status::Passed | Status::ControlOk),
            false => trial.status == Status::Failed && met,
        };
        trial.verdict = verdict;
    }
    report.provenance.verifier_src_sha256 = grade::verifier_hash(task);
    report.provenance.parser_src_sha256 = grade::parser_hash();
    report.created = run::now();
    report.summary = Summary::of(&report.trials);
    report.regraded = Some(regraded);
    let written = beside(path);
    run::save(&written, &report)?;
    Ok((written, changes))
}

fn beside(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}.regraded.json"))
}

/// All reports of a folder, or the one file.
pub fn reports(path: &Path) -> Result<Vec<(PathBuf, Report)>> {
    if path.is_file() {
        return Ok(vec![(path.to_owned(), run::load(path)?)]);
    }
    let entries = std::fs::read_dir(path)
        .with_context(|| format!("`{}` is neither a report nor a folder", path.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "json"));
    files.sort();
    files.into_iter().map(|it| Ok((it.clone(), run::load(&it)?))).collect()
}
