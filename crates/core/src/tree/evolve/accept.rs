//! How trees, delegations and subtasks come to be.

use std::sync::Arc;

use super::{attempt, graph};
use crate::money::Usd;
use crate::time::Now;
use crate::tree::arena::{DelegationNo, SubtaskNo};
use crate::tree::event::{Accepted, Caller, NewSubtask, Outcome, Settings};
use crate::tree::ledger::{Amount, Ledger};
use crate::tree::state::{Delegation, Phase, State, Subtask, Timer};

pub(super) fn open_tree(state: &mut State, settings: &Settings, at: Now) {
    let limits = &settings.limits;
    state.ledger =
        Ledger::new(Amount { tokens: limits.max_total_tokens, cost: limits.max_cost_usd });
    state.settings = Some(settings.clone());
    state.opened_at = at;
}

pub(super) fn accept(state: &mut State, accepted: &Accepted, at: Now) {
    let no = state.delegations.next();
    let delegation = delegation(state, no, accepted, at);
    state.delegations.push(delegation);
    state.by_delegation.insert(accepted.id.clone(), no);
    let keys = accepted.idempotency_key.as_deref().into_iter().map(Arc::from);
    for key in keys.chain([accepted.call_key.clone()]) {
        state.by_call.insert((accepted.parent, key), no);
    }
    add_subtasks(state, no, &accepted.subtasks);
    if let Some(parent) = accepted.parent {
        let asker = &mut state.attempts[parent];
        asker.children.push(no);
        asker.open_children += 1;
        asker.asked += u64::from(accepted.asked);
        if accepted.waits {
            attempt::wait(state, parent, no);
        }
    }
    // Nobody may ever say yes, so the clock must run while they are asked.
    if accepted.subtasks.iter().any(|subtask| subtask.needs_approval) {
        start_clock(state, no, at);
    }
    graph::refresh(state, no);
}

fn delegation(state: &State, no: DelegationNo, accepted: &Accepted, at: Now) -> Delegation {
    let (path, keys, max_depth) = match (accepted.parent, &accepted.caller) {
        (Some(no), _) => {
            let parent = &state.attempts[no];
            let above = state.delegations[state.delegation_of(no)].max_depth;
            (parent.path.clone(), parent.keys.clone(), accepted.max_depth.min(above))
        }
        // Levels that lie above the root are none of this tree: they only take from what is left.
        (None, Caller::Root { name, depth }) => {
            let left = accepted.max_depth.saturating_sub(*depth);
            (Arc::from([name.clone()]), Arc::from([]), left)
        }
        (None, Caller::Attempt(_)) => (Arc::from([]), Arc::from([]), accepted.max_depth),
    };
    let parent = accepted.parent.map(|no| &state.attempts[no]);
    let depth = parent.map_or(0, |parent| parent.depth).saturating_add(1);
    Delegation {
        no,
        id: accepted.id.clone(),
        parent: accepted.parent,
        task_id: accepted.task_id.clone(),
        title: accepted.title.clone(),
        task: Arc::from(accepted.task.as_str()),
        pattern: accepted.pattern,
        rounds: accepted.rounds,
        aggregate: accepted.aggregate,
        cast: accepted.cast.clone(),
        judge: accepted.judge.clone(),
        resolver: accepted.resolver.clone(),
        path,
        keys,
        depth,
        max_depth,
        width: accepted.width,
        cap: accepted.cap,
        used: Amount::ZERO,
        dearest: Usd::ZERO,
        timeout_ms: accepted.timeout_ms,
        include_dirty: accepted.include_dirty,
        waits: accepted.waits,
        accepted_at: at,
        started_at: None,
        deadline: None,
        clock_stopped: None,
        paused_ms: 0,
        ended_at: None,
        ended: None,
        result: None,
        not_brought: None,
        told: false,
        paused: None,
        cancelled: None,
        rollback: false,
        rolled_back: false,
        left_behind: Vec::new(),
        subtasks: Vec::with_capacity(accepted.subtasks.len()),
        asked: accepted.asked,
        slots: 0,
        live: 0,
        done: 0,
        winner: None,
        failed_fast: false,
        by_id: Default::default(),
    }
}

/// The delegation's time runs from its first start.
pub(super) fn start_clock(state: &mut State, no: DelegationNo, at: Now) {
    let paused = state.is_paused(no);
    let delegation = &mut state.delegations[no];
    if delegation.deadline.is_none() {
        let deadline = at.plus_ms(delegation.timeout_ms);
        delegation.deadline = Some(deadline);
        if paused {
            delegation.clock_stopped = Some(at);
        } else {
            state.open.timers.insert((deadline, Timer::Delegation(no)));
        }
    }
}

/// All are added before any is linked: one may need another that stands later in the list.
pub(super) fn add_subtasks(state: &mut State, delegation: DelegationNo, list: &[NewSubtask]) {
    let numbers: Vec<SubtaskNo> = list.iter().map(|new| add(state, delegation, new)).collect();
    for no in &numbers {
        link(state, *no);
    }
    for no in numbers {
        if state.subtasks[no].unmet == 0 {
            graph::make_ready(state, no);
        }
    }
}

fn add(state: &mut State, delegation: DelegationNo, new: &NewSubtask) -> SubtaskNo {
    if let Some(conflicting) = new.resolves {
        // It spends no more, whatever comes of it.
        let account = state.subtasks[conflicting].account;
        state.ledger.release(account);
    }
    let account = state.ledger.reserve(state.purse(delegation), new.reserved);
    state.count += 1;
    let no = state.subtasks.push(Subtask {
        id: new.id.clone(),
        delegation,
        title: new.title.clone(),
        task: new.task.clone(),
        agent: new.agent.clone(),
        role: new.role,
        round: new.round,
        required: new.required,
        needs_approval: new.needs_approval,
        files: new.files.clone(),
        habits: new.habits.clone(),
        timeout_ms: new.timeout_ms,
        asked_ms: new.asked_ms,
        call_key: new.call_key.clone(),
        account,
        tokens: new.tokens,
        needs: new.depends_on.clone(),
        needed_by: Vec::new(),
        unmet: 0,
        dead_needs: 0,
        phase: Phase::Waiting,
        attempts: Vec::new(),
        retries: 0,
        polished: false,
        note: None,
        resolves: new.resolves,
        resolver: None,
        merge: None,
        error: None,
        ended_at: None,
    });
    let owner = &mut state.delegations[delegation];
    owner.subtasks.push(no);
    owner.by_id.insert(new.id.clone(), no);
    owner.live += 1;
    if let Some(conflicting) = new.resolves {
        state.subtasks[conflicting].resolver = Some(no);
        graph::set_phase(state, conflicting, Phase::Resolving);
    }
    no
}

fn link(state: &mut State, no: SubtaskNo) {
    let needs = state.subtasks[no].needs.clone();
    for need in needs {
        let before = &mut state.subtasks[need];
        before.needed_by.push(no);
        let met = before.outcome().is_some_and(Outcome::lets_on);
        let dead = !met && !before.is_live();
        let subtask = &mut state.subtasks[no];
        subtask.unmet += u32::from(!met);
        subtask.dead_needs += u32::from(dead);
    }
    if state.subtasks[no].dead_needs > 0 {
        let owner = &mut state.delegations[state.subtasks[no].delegation];
        owner.live = owner.live.saturating_sub(1);
    }
}
