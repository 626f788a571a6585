//! Parts of a page about visual snapshots: the tree of images, where a build comes from.

use std::collections::BTreeMap;

use api_client::sentry::snapshots::VcsInfo;

use super::inline;

/// Letters of a commit's id that are shown.
const SHORT_SHA: usize = 8;
/// Images of one list that are shown.
const MOST_IMAGES: usize = 200;

/// Images by folder, each with a note; a list that is too long says how many there are.
pub(crate) fn image_tree<'a>(images: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut order = Vec::new();
    let mut total = 0_usize;
    for (path, note) in images {
        total += 1;
        if total > MOST_IMAGES {
            continue;
        }
        let path = inline(path);
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", &path));
        let line = if note.is_empty() { name.to_owned() } else { format!("{name}  ({note})") };
        if !folders.contains_key(folder) {
            order.push(folder.to_owned());
        }
        folders.entry(folder.to_owned()).or_default().push(line);
    }
    let mut lines = Vec::new();
    for folder in order {
        lines.push(format!("{folder}/"));
        lines.extend(folders.remove(&folder).into_iter().flatten().map(|line| format!("  {line}")));
    }
    if total > MOST_IMAGES {
        lines.push(format!("… {MOST_IMAGES} of {total} images are shown"));
    }
    lines.join("\n")
}

/// A branch with the commit on it.
pub(crate) fn branch_line(name: Option<&str>, sha: Option<&str>) -> Option<String> {
    let sha = sha.map(|it| it.chars().take(SHORT_SHA).collect::<String>());
    match (name.filter(|it| !it.is_empty()), sha.filter(|it| !it.is_empty())) {
        (Some(name), Some(sha)) => Some(format!("{name} @ {sha}")),
        (Some(name), None) => Some(name.to_owned()),
        (None, Some(sha)) => Some(sha),
        (None, None) => None,
    }
}

/// The head of a build.
pub(crate) fn head_line(vcs: &VcsInfo) -> Option<String> {
    branch_line(vcs.head_ref.as_deref(), vcs.head_sha.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_grouped_by_folder_in_the_order_given() {
        let images = [
            ("home/dark.png", "12.5 % differ".to_owned()),
            ("login.png", String::new()),
            ("home/light.png", String::new()),
        ];
        assert_eq!(
            image_tree(images),
            "home/\n  dark.png  (12.5 % differ)\n  light.png\n./\n  login.png"
        );
    }

    #[test]
    fn a_long_list_says_how_many_there_are() {
        let names: Vec<_> = (0..250).map(|n| format!("a/{n}.png")).collect();
        let tree = image_tree(names.iter().map(|it| (it.as_str(), String::new())));
        assert!(tree.ends_with("… 200 of 250 images are shown"), "{tree}");
    }

    #[test]
    fn a_branch_comes_with_the_beginning_of_its_commit() {
        let line = |name, sha| branch_line(name, sha);
        assert_eq!(line(Some("main"), Some("0123456789")).as_deref(), Some("main @ 01234567"));
        assert_eq!(line(None, Some("0123456789")).as_deref(), Some("01234567"));
        assert_eq!(line(None, None), None);
    }
}
