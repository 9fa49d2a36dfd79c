//! The newest bytes of a stream.

/// Bytes of text that are kept, the newest: enough for the longest return there may
/// be, and something around it.
pub(crate) const MAX_TEXT_BYTES: usize = (1 << 20) + (64 << 10);

/// Bytes beyond the limit that are allowed to gather before the oldest are removed, so
/// that they are not moved for each line.
const SLACK_BYTES: usize = MAX_TEXT_BYTES / 4;

/// What was written last, and whether there was more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    has_dropped: bool,
}

impl Tail {
    /// Adds bytes at the end.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.len() >= MAX_TEXT_BYTES {
            self.has_dropped |= !self.bytes.is_empty() || bytes.len() > MAX_TEXT_BYTES;
            self.bytes.clear();
            self.bytes.extend_from_slice(newest(bytes));
            return;
        }
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > MAX_TEXT_BYTES + SLACK_BYTES {
            self.bytes.drain(..self.bytes.len() - MAX_TEXT_BYTES);
            self.has_dropped = true;
        }
    }

    /// The newest bytes, no more than the limit.
    pub(crate) fn newest(&self) -> &[u8] {
        newest(&self.bytes)
    }

    /// Whether there was more.
    pub(crate) fn is_cut(&self) -> bool {
        self.has_dropped || self.bytes.len() > MAX_TEXT_BYTES
    }
}

fn newest(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(MAX_TEXT_BYTES)..).unwrap_or(bytes)
}
