//! What follows from a batch: what the rules conclude, and what a free slot lets on.

use legation_core::ids::DelegationId;
use legation_core::time::Now;
use legation_core::tree::command::Start;
use legation_core::tree::event::MergeOutcome;
use legation_core::tree::{AttemptNo, Command, DelegationNo, Effect, Event, SubtaskNo, owed_slots};

use super::Desk;
use crate::ids;
use crate::world::World;

/// After how many events nothing more is started in the same batch, so that any batch
/// fits into one append.
const FULL: usize = 4096;

impl<W: World> Desk<W> {
    /// Goes on until nothing more follows.
    pub(super) fn settle(&mut self, now: Now, events: &mut Vec<Event>) {
        self.held += self.bell.granted();
        self.is_unsettled = false;
        loop {
            let before = events.len();
            while self.state.must_advance() {
                let count = events.len();
                drop(self.decide(&Command::Advance, now, events));
                if events.len() == count {
                    break;
                }
            }
            self.let_on(now, events);
            if events.len() == before || self.is_unsettled {
                break;
            }
        }
        let spare = self.held.saturating_sub(self.state.slots);
        self.held -= spare;
        if spare > 0 {
            self.slots.give(spare);
        }
    }

    /// Lets on what only needs a slot, the most urgent first.
    fn let_on(&mut self, now: Now, events: &mut Vec<Event>) {
        // One more than there are slots for, so that somebody gets in line for the next.
        let spare = self.held.saturating_sub(self.state.slots);
        let most = spare.saturating_add(self.slots.free()).saturating_add(1);
        for effect in owed_slots(&self.state, usize::try_from(most).unwrap_or(usize::MAX)) {
            if events.len() >= FULL {
                self.is_unsettled = true;
                break;
            }
            let went = match effect {
                Effect::Deliver(no) => self.deliver(no, now, events),
                Effect::Answer(no) => self.told_runner(no),
                Effect::Start(no) => self.start(no, now, events),
                Effect::Spawn(_)
                | Effect::Stop(..)
                | Effect::Freeze(_)
                | Effect::Thaw(_)
                | Effect::Merge(_)
                | Effect::RollBack(_)
                | Effect::RemoveWorkspace(_)
                | Effect::Wake(_) => true,
            };
            if !went {
                // Everything after it is less urgent and would find no slot either.
                break;
            }
        }
    }

    /// A slot: one that was put aside, or a free one; else a place in line.
    fn slot(&mut self, urgent: bool) -> bool {
        if self.held > self.state.slots {
            return true;
        }
        if self.slots.take(urgent) {
            self.held += 1;
            return true;
        }
        self.slots.wait(&self.tree, &self.bell, urgent);
        false
    }

    fn deliver(&mut self, no: DelegationNo, now: Now, events: &mut Vec<Event>) -> bool {
        let delegation = &self.state.delegations[no];
        if self.has_to_bring(no) && self.brought.get(&no) != Some(&true) {
            return true;
        }
        let id = delegation.id.clone();
        let parent = delegation.parent;
        let goes_on = parent.is_some_and(|no_| self.state.attempts[no_].goes_on_after(no));
        if goes_on && !self.slot(true) {
            return false;
        }
        drop(self.decide(&Command::Delivered { delegation: id }, now, events));
        true
    }

    /// Whether files have to be brought to the attempt that asked before it hears of them.
    pub(super) fn has_to_bring(&self, no: DelegationNo) -> bool {
        let delegation = &self.state.delegations[no];
        let Some(parent) = delegation.parent else { return false };
        let parent = &self.state.attempts[parent];
        let merged = |no: &SubtaskNo| {
            let merge = &self.state.subtasks[*no].merge;
            matches!(merge, Some(MergeOutcome::Clean { commit: Some(_) }))
        };
        !parent.ended() && parent.workspace.is_some() && delegation.subtasks.iter().any(merged)
    }

    /// A runner that asked goes on with the answer, once it has a slot again.
    fn told_runner(&mut self, no: AttemptNo) -> bool {
        let begun = self.under_way.contains(&Effect::Answer(no));
        begun || self.slot(true)
    }

    fn start(&mut self, no: SubtaskNo, now: Now, events: &mut Vec<Event>) -> bool {
        if !self.slot(false) {
            return false;
        }
        let subtask = &self.state.subtasks[no];
        let delegation: DelegationId = self.state.delegations[subtask.delegation].id.clone();
        let start = Command::Start(Start {
            delegation,
            subtask: subtask.id.clone(),
            attempt: ids::attempt(&*self.world),
            session: ids::session(&*self.world, now),
        });
        drop(self.decide(&start, now, events));
        true
    }
}
