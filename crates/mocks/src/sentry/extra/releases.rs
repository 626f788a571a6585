//! Releases with much to say about themselves: a page of a hundred weighs several megabytes.

use serde_json::json;

use super::super::{State, releases};
use super::project_id;
use crate::seed::Random;
use crate::time::Timestamp;

const COUNT: u64 = 240;
/// Of the notes of each.
const NOTES_BYTES: u64 = 60_000;

/// The newest two hundred are asked for: before them lie the ones with the most commits.
pub(super) fn seed(state: &mut State, mut random: Random) {
    let project = [project_id(state, "lamp-mobile")];
    let from = Timestamp::parse("2025-05-01T08:00:00Z").unwrap_or(Timestamp::START);
    let most = 60 + random.below(140);
    for number in 0..COUNT {
        let created = from.plus_seconds(i64::try_from(number).unwrap_or(0) * 86_400);
        let commits = match number {
            0..20 => 900 + number,
            _ if number == most => 640 + random.below(90),
            _ => 3 + random.below(300),
        };
        let finalized = random.below(5) > 0;
        let columns = json!({
            "commit_count": commits,
            "notes_bytes": NOTES_BYTES,
            "date_released": finalized.then(|| created.plus_seconds(3_600).to_string()),
        });
        let version = format!("lamp@7.{number}.0");
        releases::add(state, &version, &project, &created.to_string(), &columns);
    }
}
