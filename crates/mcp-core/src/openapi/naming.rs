//! Gives every operation a name of its own, the document's wherever it has one.

use std::collections::{HashMap, HashSet};

use super::document::Summary;

/// An `operationId` beyond this many bytes is no name to call by.
pub(super) const MAX_ID: usize = 200;

/// Fills in missing ids and tells equal ones apart, in document order: the first keeps the id.
pub(super) fn name_operations(summaries: &mut [Summary]) {
    let declared: HashSet<String> = summaries.iter().map(|it| it.id.clone()).collect();
    let mut taken: HashSet<String> = HashSet::with_capacity(summaries.len());
    let mut later = Vec::new();
    for (index, summary) in summaries.iter_mut().enumerate() {
        if summary.id.is_empty() || !taken.insert(summary.id.clone()) {
            later.push(index);
        }
    }
    let mut next: HashMap<String, u32> = HashMap::new();
    for index in later {
        let summary = &mut summaries[index];
        let base = if summary.id.is_empty() { id_from_path(summary) } else { summary.id.clone() };
        let mut id = base.clone();
        while declared.contains(&id) || taken.contains(&id) {
            let count = next.entry(base.clone()).or_insert(1);
            *count += 1;
            id = format!("{base}_{count}");
        }
        taken.insert(id.clone());
        summary.id = id;
    }
}

/// `GET /users/{id}/keys` becomes `get_users_id_keys`.
fn id_from_path(summary: &Summary) -> String {
    let mut id = summary.method.key().to_owned();
    for word in summary
        .path
        .split(|character: char| !character.is_alphanumeric())
        .filter(|it| !it.is_empty())
    {
        if id.len() + word.len() > MAX_ID {
            break;
        }
        id.push('_');
        id.push_str(word);
    }
    id
}
