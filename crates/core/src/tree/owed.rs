//! What is owed, derived from the state.
//!
//! Only what is open is looked at, so the cost does not grow with what has
//! ended. A paused tree owes nothing new.

use std::collections::BTreeMap;

use super::arena::{AttemptNo, DelegationNo};
use super::effect::Effect;
use super::event::Role;
use super::state::{Phase, State};
use crate::returns::StopReason;

/// Everything the world still has to be made to do, in the order of urgency.
pub fn owed(state: &State) -> Vec<Effect> {
    let mut owed = Vec::new();
    stops(state, &mut owed);
    needing_slots(state, usize::MAX, &mut owed);
    // What was started but has no process yet waits out a pause like everything new.
    let awake = |no: &AttemptNo| !state.is_paused(state.delegation_of(*no));
    owed.extend(state.unspawned(AttemptNo(0)).filter(awake).map(Effect::Spawn));
    rest(state, &mut owed);
    owed
}

/// Of what is owed only that which a slot lets on, with the most urgent starts and no
/// more than `most` of them: whoever has few slots need not hear of a long queue.
pub fn owed_slots(state: &State, most: usize) -> Vec<Effect> {
    let mut owed = Vec::new();
    needing_slots(state, most, &mut owed);
    owed
}

/// Of what is owed everything but starts and spawns, of which there may be many.
pub fn owed_apart(state: &State) -> Vec<Effect> {
    let mut owed = Vec::new();
    stops(state, &mut owed);
    needing_slots(state, 0, &mut owed);
    rest(state, &mut owed);
    owed
}

fn stops(state: &State, owed: &mut Vec<Effect>) {
    let open = &state.open;
    let stop = |no: &AttemptNo| state.attempts[*no].stop.unwrap_or(StopReason::Cancelled);
    // Leaves first: whoever is cancelled is told once nothing that it delegated is left. Time
    // and budget wait for nobody.
    let is_due = |no: &&AttemptNo| {
        stop(no) != StopReason::Cancelled || state.attempts[**no].open_children == 0
    };
    owed.extend(open.stopping.iter().rev().filter(is_due).map(|no| Effect::Stop(*no, stop(no))));
    owed.extend(open.thermal.iter().map(|no| {
        if state.attempts[*no].frozen { Effect::Thaw(*no) } else { Effect::Freeze(*no) }
    }));
}

fn needing_slots(state: &State, most: usize, owed: &mut Vec<Effect>) {
    let open = &state.open;
    let mut slots = Slots { state, own: BTreeMap::new(), below: BTreeMap::new() };
    for &no in &open.undelivered {
        let waiting = state.delegations[no].parent;
        let waiting = waiting.filter(|parent| state.attempts[*parent].goes_on_after(no));
        if waiting.is_none_or(|parent| slots.take(state.delegation_of(parent))) {
            owed.push(Effect::Deliver(no));
        }
    }
    for &no in &open.answered {
        if slots.take(state.delegation_of(no)) {
            owed.push(Effect::Answer(no));
        }
    }
    starts(state, most, &mut slots, owed);
}

fn rest(state: &State, owed: &mut Vec<Effect>) {
    let open = &state.open;
    for (delegation, queue) in &open.merging {
        let last = queue.front().and_then(|subtask| state.subtasks[*subtask].attempts.last());
        owed.extend(last.map(|no| Effect::Merge(*no)));
        // What is cancelled need not be verified to the end.
        let last = last.filter(|_| state.is_cancelled(*delegation));
        owed.extend(last.map(|no| Effect::StopMerge(*no)));
    }
    owed.extend(open.to_roll_back.iter().map(|no| Effect::RollBack(*no)));
    let removable = |no: &&AttemptNo| !needs_workspace(state, **no);
    owed.extend(open.workspaces.iter().filter(removable).map(|no| Effect::RemoveWorkspace(*no)));
    owed.extend(open.timers.first().map(|(at, _)| Effect::Wake(*at)));
}

/// The delegations that hold the fewest slots come first, each in the order of its queue.
fn starts(state: &State, most: usize, slots: &mut Slots<'_>, owed: &mut Vec<Effect>) {
    if most == 0 {
        return;
    }
    let mut ready = Vec::new();
    for (&delegation, queue) in &state.open.queued {
        if state.is_paused(delegation) || state.is_cancelled(delegation) {
            continue;
        }
        for (rank, &subtask) in queue.iter().take(most).enumerate() {
            if !slots.take(delegation) {
                break;
            }
            let held = state.delegations[delegation].slots as usize + rank;
            ready.push((held, delegation, subtask));
        }
    }
    ready.sort_unstable();
    ready.truncate(most);
    owed.extend(ready.into_iter().map(|(_, _, subtask)| Effect::Start(subtask)));
}

/// A workspace stays until nothing more will be read from it.
fn needs_workspace(state: &State, no: AttemptNo) -> bool {
    let subtask = &state.subtasks[state.attempts[no].subtask];
    let last = subtask.attempts.last() == Some(&no);
    let is_open = matches!(subtask.phase, Phase::Running | Phase::Judging | Phase::Merging);
    // A member may still be chosen after it has ended, and its work is merged only then.
    let delegation = &state.delegations[subtask.delegation];
    let is_undecided = delegation.ended.is_none() && delegation.winner.is_none();
    last && (is_open || (subtask.role == Role::Member && is_undecided))
}

/// Free slots, counting down as they are spoken for.
struct Slots<'a> {
    state: &'a State,
    own: BTreeMap<DelegationNo, u32>,
    below: BTreeMap<AttemptNo, u32>,
}

impl Slots<'_> {
    fn take(&mut self, delegation: DelegationNo) -> bool {
        let state = self.state;
        let own = self.own.entry(delegation).or_insert_with(|| state.own_width(delegation));
        let parent = state.delegations[delegation].parent;
        let below = parent.and_then(|no| Some((no, state.child_width(no)?)));
        let below = below.map(|(no, free)| self.below.entry(no).or_insert(free));
        if *own == 0 || below.as_ref().is_some_and(|free| **free == 0) {
            return false;
        }
        *own -= 1;
        if let Some(free) = below {
            *free -= 1;
        }
        true
    }
}
