//! Putting the runtime's own knowledge in place of what a child says about itself.

use super::model::{Metadata, Return};
use crate::ids::{AgentId, SessionId};

impl Metadata {
    /// What the runtime knows of an attempt: its session, the agents from the
    /// root to itself, and how long it took.
    pub fn known(session_id: SessionId, path: &[AgentId], duration_ms: Option<u64>) -> Self {
        let above = path.len().saturating_sub(1);
        Self {
            session_id,
            agent_type: path.last().cloned().unwrap_or_else(|| AgentId::new("")),
            delegation_depth: u32::try_from(above).unwrap_or(u32::MAX),
            delegation_path: path.to_vec(),
            duration_seconds: duration_ms.map(|span_ms| span_ms as f64 / 1_000.0),
        }
    }
}

impl Return {
    /// The same return under the runtime's own metadata. What the child claimed
    /// about its depth, its path and its name survives only in the raw text.
    #[must_use]
    pub fn attested(self, known: Metadata) -> Self {
        Self { metadata: known, ..self }
    }
}
