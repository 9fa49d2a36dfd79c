//! What follows from a batch: what the rules conclude, and what a free slot lets on.

use legation_core::ids::DelegationId;
use legation_core::time::Now;
use legation_core::tree::command::Start;
use legation_core::tree::event::MergeOutcome;
use legation_core::tree::state::Step;
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
        self.keep_promises();
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
    }

    /// Who went on, has to stop or has ended needs no promise any more; what was brought
    /// is of no use to a delegation that goes on after all.
    fn keep_promises(&mut self) {
        let state = &self.state;
        self.promised.retain(|no| {
            let attempt = &state.attempts[*no];
            matches!(attempt.step, Step::Answering(_)) && attempt.stop.is_none()
        });
        self.brought.retain(|no, _| state.delegations[*no].ended.is_some());
    }

    /// Lets on what only needs a slot, the most urgent first.
    fn let_on(&mut self, now: Now, events: &mut Vec<Event>) {
        // One more than there are slots for, so that somebody gets in line for the next.
        let spare = self.held.saturating_sub(self.needed());
        let most = spare.saturating_add(self.slots.free()).saturating_add(1);
        let mut full = false;
        for effect in owed_slots(&self.state, usize::try_from(most).unwrap_or(usize::MAX)) {
            if events.len() >= FULL {
                self.is_unsettled = true;
                break;
            }
            // Everything after the first that finds no slot would find none either.
            if full && self.needs_slot(effect) {
                continue;
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
                | Effect::StopMerge(_)
                | Effect::RollBack(_)
                | Effect::RemoveWorkspace(_)
                | Effect::Wake(_) => true,
            };
            full |= !went;
        }
    }

    fn needs_slot(&self, effect: Effect) -> bool {
        match effect {
            Effect::Deliver(no) => self.lets_parent_on(no),
            Effect::Answer(_) | Effect::Start(_) => true,
            Effect::Spawn(_)
            | Effect::Stop(..)
            | Effect::Freeze(_)
            | Effect::Thaw(_)
            | Effect::Merge(_)
            | Effect::StopMerge(_)
            | Effect::RollBack(_)
            | Effect::RemoveWorkspace(_)
            | Effect::Wake(_) => false,
        }
    }

    /// Whether an answer is the last thing that whoever asked waits for.
    fn lets_parent_on(&self, no: DelegationNo) -> bool {
        let parent = self.state.delegations[no].parent;
        parent.is_some_and(|parent| self.state.attempts[parent].goes_on_after(no))
    }

    /// A slot: one that was put aside, or a free one; else a place in line.
    fn slot(&mut self, urgent: bool) -> bool {
        if self.held > self.needed() {
            return true;
        }
        if self.slots.take(urgent) {
            self.held += 1;
            return true;
        }
        self.slots.wait(&self.bell, urgent);
        false
    }

    fn deliver(&mut self, no: DelegationNo, now: Now, events: &mut Vec<Event>) -> bool {
        let delegation = &self.state.delegations[no];
        if self.has_to_bring(no) && self.brought.get(&no) != Some(&true) {
            return true;
        }
        let id = delegation.id.clone();
        if self.lets_parent_on(no) && !self.slot(true) {
            return false;
        }
        let not_brought = self.not_brought.remove(&no);
        drop(self.decide(&Command::Delivered { delegation: id, not_brought }, now, events));
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
        let has_slot = self.promised.contains(&no) || self.slot(true);
        if has_slot {
            self.promised.insert(no);
        }
        has_slot
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
