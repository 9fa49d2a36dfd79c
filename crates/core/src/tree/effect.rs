//! What the world still has to be made to do.
//!
//! Effects are derived from the state, never remembered: after a crash the same
//! function says the same thing. Each is owed until an event says it was done.

use super::arena::{AttemptNo, DelegationNo, SubtaskNo};
use crate::returns::StopReason;
use crate::time::Now;

/// Something owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Hand the answer of an ended delegation to whoever asked.
    ///
    /// A parent that gave its slot back takes one again with it; it goes before
    /// every new start, so that no queue waits only for its own descendants.
    Deliver(DelegationNo),
    /// Find a slot for a queued subtask and start an attempt.
    Start(SubtaskNo),
    /// Make the workspace and the process of a started attempt.
    Spawn(AttemptNo),
    /// Stop an attempt and everything it has started.
    Stop(AttemptNo, StopReason),
    /// Freeze the processes of an attempt.
    Freeze(AttemptNo),
    /// Let them run again.
    Thaw(AttemptNo),
    /// Tell an attempt what a human said to what it asked.
    Answer(AttemptNo),
    /// Merge the work of an ended attempt into its delegation's result.
    Merge(AttemptNo),
    /// Break off what is still run before the work of an ended attempt is merged.
    StopMerge(AttemptNo),
    /// Take back what a delegation merged.
    RollBack(DelegationNo),
    /// Keep the work of an ended attempt and remove its workspace.
    RemoveWorkspace(AttemptNo),
    /// Come back at this time.
    Wake(Now),
}
