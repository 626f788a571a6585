//! `cargo xtask definitions`: writes down what the tools of the catalog say, and prints what they cost.

use std::fs;

use anyhow::{Context as _, Result};
use mcp_core::definitions;

/// Writes the files below `docs/` that the definitions decide.
pub(crate) fn run() -> Result<()> {
    let docs = crate::root().join("docs");
    fs::create_dir_all(docs.join("definitions"))?;
    for (path, text) in [
        ("definitions/tools.json", definitions::pretty(&definitions::tools())),
        ("definitions/skills.json", definitions::pretty(&definitions::skills())),
        ("tools.md", definitions::reference()),
    ] {
        let path = docs.join(path);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        println!("wrote {}", path.strip_prefix(crate::root()).unwrap_or(&path).display());
    }
    let tokenizer = tiktoken_rs::o200k_base()?;
    let costs = definitions::costs(|text| tokenizer.encode_ordinary(text).len());
    let total: usize = costs.iter().map(|it| it.1).sum();
    println!("\ntokens (o200k) of {} tools:", costs.len());
    for (name, tokens) in &costs {
        println!("{tokens:>7}  {name}");
    }
    println!("{total:>7}  in all");
    Ok(())
}
