//! Hashes that name content: call keys, configuration versions, cache keys.

use sha2::{Digest as _, Sha256};

/// The SHA-256 of something that comes in pieces.
#[derive(Clone, Debug, Default)]
pub struct Running(Sha256);

impl Running {
    /// Adds a piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The hash of all pieces, in hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
        text
    }
}

/// The first `digits` hexadecimal digits of the SHA-256 of the parts, each
/// preceded by its length so that no two lists of parts run together.
pub fn hex(parts: &[&str], digits: usize) -> String {
    let mut hash = Running::default();
    for part in parts {
        hash.add(&(part.len() as u64).to_le_bytes());
        hash.add(part.as_bytes());
    }
    let mut text = hash.hex();
    text.truncate(digits);
    text
}
