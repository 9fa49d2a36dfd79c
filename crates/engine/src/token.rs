//! Tokens: which attempt a call comes from, in a form that cannot be made up.
//!
//! A token names its attempt and is sealed with a secret that only the engine
//! knows. Nothing has to be stored for it, so it is as good after a crash as
//! before; and it is worth nothing once its attempt has ended, because whoever
//! opens it asks the tree.

use legation_core::digest;
use legation_core::ids::{AttemptId, DelegationId};

/// Digits of a seal: 128 bits.
const SEAL_DIGITS: usize = 32;

/// The secret of a project.
#[derive(Clone)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// A secret from its text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The token of an attempt.
    pub fn seal(&self, tree: &DelegationId, attempt: &AttemptId) -> String {
        let seal = self.mark(tree.as_str(), attempt.as_str());
        format!("{tree}.{attempt}.{seal}")
    }

    /// The attempt that a token names, if the seal is ours.
    pub fn open(&self, token: &str) -> Option<(DelegationId, AttemptId)> {
        let (names, seal) = token.rsplit_once('.')?;
        let (tree, attempt) = names.rsplit_once('.')?;
        let wanted = self.mark(tree, attempt);
        // Looks at every byte, so that the time it takes says nothing.
        let differ = wanted.bytes().zip(seal.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        let equal = wanted.len() == seal.len() && differ == 0;
        equal.then(|| (DelegationId::new(tree), AttemptId::new(attempt)))
    }

    fn mark(&self, tree: &str, attempt: &str) -> String {
        // Twice, so that a longer text cannot be grown from a known seal.
        let inner = digest::hex(&[&self.0, tree, attempt], 64);
        digest::hex(&[&self.0, &inner], SEAL_DIGITS)
    }
}
