//! Server-sent events, cut out of a body that comes in pieces.

/// Collects pieces and hands out the data of whole events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: String,
    after_return: bool,
}

impl Events {
    /// Takes a piece of the body; returns the data of the events that it completes. Names, ids and
    /// comments are left out: every provider repeats what matters in the data.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for &byte in piece {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\r' | b'\n' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// The data of an event that the end of the body completes.
    pub(crate) fn end(mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.end_line())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        if line.is_empty() {
            return Some(std::mem::take(&mut self.data)).filter(|data| !data.is_empty());
        }
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_the_body_is_cut() {
        let body = "event: a\r\ndata: {\"é\":1}\r\n\r\n: ping\n\ndata:one\ndata: two\n\ndata: last";
        for size in [1, 2, 3, 7, body.len()] {
            let mut events = Events::default();
            let mut found: Vec<String> =
                body.as_bytes().chunks(size).flat_map(|piece| events.take(piece)).collect();
            found.extend(events.end());
            assert_eq!(found, ["{\"é\":1}", "one\ntwo", "last"], "{size}");
        }
    }
}
