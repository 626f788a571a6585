//! Slugs: their rule, and how a name becomes one.

use crate::fields::Form;
use crate::table::{Columns as _, Table};

/// Characters of a slug at most.
pub(super) const MAX: usize = 50;
const RULE: &str = "Enter a valid slug consisting of lowercase letters, numbers, underscores or \
                    hyphens. It cannot be entirely numeric.";

/// Whether the slug that was sent, if any, keeps the rule; the form says so where it does not.
pub(super) fn check(form: &mut Form) -> bool {
    let slug = form.row.text("slug");
    let holds = slug.is_empty() || is_slug(slug);
    if !holds {
        form.reject("slug", RULE);
    }
    holds
}

fn is_slug(text: &str) -> bool {
    let letters = text.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
    });
    letters && !text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a name makes.
pub(super) fn of(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let slug = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    slug.chars().take(MAX).collect()
}

/// A slug that is none, or taken, gets a number, where the real server appends random letters.
pub(super) fn free(table: &Table, slug: &str) -> String {
    let usable = |slug: &str| is_slug(slug) && table.find("slug", slug).is_none();
    if usable(slug) {
        return slug.to_owned();
    }
    let mut numbered = (2..).map(|number| format!("{slug}-{number}"));
    numbered.find(|slug| usable(slug)).unwrap_or_default()
}
