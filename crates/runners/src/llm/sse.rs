//! Server-sent events: bytes in, what each event carries out.
//!
//! Pure, and the same for any way of cutting the bytes into pieces. Only the data is
//! looked at; it says itself what it is.

use crate::envoy::Lines;

/// Bytes of one event that are held; of a longer one nothing is.
const MAX_EVENT_BYTES: usize = 4 << 20;

/// Cuts a stream into events.
#[derive(Clone, Debug, Default)]
pub struct Sse {
    lines: Lines,
    data: Vec<u8>,
    has_data: bool,
}

impl Sse {
    /// Takes the next piece and hands out the data of each event that it ends.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        let Self { lines, data, has_data } = self;
        lines.push(bytes, |line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if std::mem::take(has_data) {
                    take(data);
                }
                data.clear();
            } else if let Some(more) = line.strip_prefix(b"data:") {
                if *has_data {
                    data.push(b'\n');
                }
                *has_data = data.len() + more.len() <= MAX_EVENT_BYTES;
                data.extend_from_slice(more.strip_prefix(b" ").unwrap_or(more));
                data.truncate(MAX_EVENT_BYTES);
            }
        });
    }

    /// Whether something was too long to be looked at.
    pub fn has_passed_over(&self) -> bool {
        self.lines.passed_over() > 0
    }
}
