//! Bytes cut into lines, with a bound on what is held.

use memchr::memchr;

/// Bytes of a line that are held at most. Longer ones are passed over: what vendors put
/// into such lines is the output of tools.
const MAX_BYTES: usize = 4 << 20;

/// Cuts a stream into lines.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
    is_passed_over: bool,
    passed_over: u64,
}

impl Lines {
    /// Takes the next piece and hands out each line that it ends, without its end.
    pub fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
            if self.is_passed_over {
                self.is_passed_over = false;
            } else if self.held.is_empty() {
                take(line);
            } else {
                self.hold(line);
                if !std::mem::take(&mut self.is_passed_over) {
                    take(&self.held);
                }
            }
            self.held.clear();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.hold(bytes);
        // One long line must not be paid for until the end.
        if self.held.is_empty() && self.held.capacity() > 256 << 10 {
            self.held = Vec::new();
        }
    }

    /// Hands out the last line, if nothing ended it.
    pub fn finish(&mut self, mut take: impl FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() && !self.is_passed_over {
            take(&held);
        }
    }

    /// Lines that were too long to be looked at.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    fn hold(&mut self, part: &[u8]) {
        if self.is_passed_over {
            return;
        }
        if self.held.len() + part.len() > MAX_BYTES {
            self.is_passed_over = true;
            self.passed_over += 1;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(part);
        }
    }
}
