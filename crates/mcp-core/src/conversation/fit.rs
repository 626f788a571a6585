//! How much of a conversation fits into an answer: texts get shorter first, then entries are left out.

use serde::Serialize;

/// How long texts may be, in characters, and how many spans and entries are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) text: usize,
    pub(crate) items: usize,
}

/// From everything to a few words of the beginning.
const CUTS: [Cut; 7] = [
    Cut { text: 4_000, items: usize::MAX },
    Cut { text: 1_000, items: usize::MAX },
    Cut { text: 300, items: usize::MAX },
    Cut { text: 300, items: 60 },
    Cut { text: 100, items: 40 },
    Cut { text: 40, items: 20 },
    Cut { text: 20, items: 5 },
];

/// The fullest answer of at most so many bytes, as it is written out; the smallest if none fits.
pub(crate) fn fit<T: Serialize>(room: usize, answer: impl Fn(Cut) -> T) -> T {
    let [full, shorter @ ..] = CUTS;
    let mut best = answer(full);
    for cut in shorter {
        let size = serde_json::to_string_pretty(&best).map_or(usize::MAX, |it| it.len());
        if size <= room {
            break;
        }
        best = answer(cut);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_answer_that_fits_is_taken() {
        let answer = |cut: Cut| "x".repeat(cut.text * cut.items.min(100));
        assert_eq!(fit(1_000_000, answer).len(), 400_000);
        assert_eq!(fit(50_000, answer).len(), 30_000);
        assert_eq!(fit(10, answer).len(), 100);
    }
}
