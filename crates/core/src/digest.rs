//! Hashes that name content: call keys, configuration versions, cache keys.

use sha2::{Digest as _, Sha256};

/// The first `digits` hexadecimal digits of the SHA-256 of the parts, each
/// preceded by its length so that no two lists of parts run together.
pub fn hex(parts: &[&str], digits: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize() {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text.truncate(digits);
    text
}
