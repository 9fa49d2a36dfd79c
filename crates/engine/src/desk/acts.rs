//! What is owed and not under way, as something the world can do.

use std::collections::BTreeSet;

use legation_core::agent::ContextMode;
use legation_core::ids::AttemptId;
use legation_core::returns::ReturnStatus;
use legation_core::time::Now;
use legation_core::tree::brief::{Manner, brief};
use legation_core::tree::event::MergeOutcome;
use legation_core::tree::state::{Attempt, Step, Subtask};
use legation_core::tree::{AttemptNo, DelegationNo, Effect, SubtaskNo, owed_apart};

use super::Desk;
use crate::world::{Act, Base, Job, Work, World};

impl<W: World> Desk<W> {
    /// Begins what is owed and not under way. Each is said once, as long as it is
    /// owed. What is said is made one by one: a brief is large, and there may be many.
    pub(crate) fn act_on_owed(&mut self, mut begin: impl FnMut(Act)) {
        let now = self.world.now();
        std::mem::take(&mut self.lost_sight).into_iter().for_each(&mut begin);
        let owed = owed_apart(&self.state);
        self.wake = owed.iter().find_map(due);
        for effect in &owed {
            if self.under_way.contains(effect) {
                continue;
            }
            if let Effect::Stop(no, _) = effect
                && self.begun.insert(*no)
            {
                // Started by an engine that died, or never: it is found first, or lost.
                begin(Act::Find(Box::new(self.job(*no, now))));
            }
            if let Some(act) = self.act(*effect) {
                begin(act);
            }
        }
        self.keep_those_who_wait(&owed, &mut begin);
        let promised = |no: &AttemptNo| self.promised.contains(no);
        let begun = |effect: &Effect| {
            let held_up = matches!(effect, Effect::Answer(no) if !promised(no));
            lasting(effect) && !held_up
        };
        self.under_way = owed.into_iter().filter(begun).collect();
        for no in self.new_spawns() {
            // A pause may come and go while its workspace is being made.
            if self.begun.insert(no) {
                begin(Act::Spawn(Box::new(self.job(no, now))));
            }
        }
    }

    /// Keeps the work of attempts that have just ended and wait for their turn to be merged.
    fn keep_those_who_wait(&mut self, owed: &[Effect], mut begin: impl FnMut(Act)) {
        let ended = std::mem::take(&mut self.may_wait);
        if ended.is_empty() {
            return;
        }
        let has_turn = |effect: &Effect| {
            matches!(effect, Effect::Merge(_) | Effect::RemoveWorkspace(_)).then_some(*effect)
        };
        let turns: BTreeSet<Effect> = owed.iter().filter_map(has_turn).collect();
        for no in ended {
            let has_turn =
                turns.contains(&Effect::Merge(no)) || turns.contains(&Effect::RemoveWorkspace(no));
            if self.state.attempts[no].workspace.is_some() && !has_turn {
                begin(Act::Keep(self.work(no)));
            }
        }
    }

    /// The attempts to be spawned that were not said yet. Only what is new is looked
    /// at, however many are on their way.
    fn new_spawns(&mut self) -> Vec<AttemptNo> {
        let state = &self.state;
        let still = |no: &AttemptNo| state.unspawned(*no).next() == Some(*no);
        let held_back = self.held_back.iter().copied().filter(still);
        let all = held_back.chain(state.unspawned(self.next_spawn));
        let is_paused = |no: &AttemptNo| state.is_paused(state.delegation_of(*no));
        let (held_back, new) = all.partition(is_paused);
        self.held_back = held_back;
        self.next_spawn = state.attempts.next();
        new
    }

    fn act(&mut self, effect: Effect) -> Option<Act> {
        Some(match effect {
            Effect::Stop(no, reason) => Act::Stop { attempt: self.id(no), reason },
            Effect::Freeze(no) => Act::Freeze { attempt: self.id(no), frozen: true },
            Effect::Thaw(no) => Act::Freeze { attempt: self.id(no), frozen: false },
            Effect::Answer(no) => {
                if !self.promised.contains(&no) {
                    return None;
                }
                let approved = self.state.attempts[no].step == Step::Answering(true);
                Act::Answer { attempt: self.id(no), approved }
            }
            Effect::Merge(no) => Act::Merge(self.work(no)),
            Effect::StopMerge(no) => Act::StopMerge { attempt: self.id(no) },
            Effect::RollBack(no) => Act::RollBack {
                tree: self.tree.clone(),
                delegation: self.state.delegations[no].id.clone(),
            },
            Effect::RemoveWorkspace(no) => Act::Remove(self.work(no)),
            Effect::Deliver(no) => return self.bring(no),
            // A slot lets the first on, not the world; spawns are counted up apart.
            Effect::Start(_) | Effect::Spawn(_) | Effect::Wake(_) => return None,
        })
    }

    /// A pause or its end moves the time of everything that runs below it.
    pub(super) fn move_deadlines(&mut self) {
        let moved = self.begun.iter().filter(|no| !self.state.attempts[**no].ended()).map(|no| {
            let attempt = &self.state.attempts[*no];
            let deadline = attempt.clock_stopped.is_none().then_some(attempt.deadline);
            Act::SetDeadline { attempt: attempt.id.clone(), deadline }
        });
        self.lost_sight.extend(moved);
    }

    fn id(&self, no: AttemptNo) -> AttemptId {
        self.state.attempts[no].id.clone()
    }

    fn bring(&mut self, no: DelegationNo) -> Option<Act> {
        if !self.has_to_bring(no) || self.brought.contains_key(&no) {
            return None;
        }
        self.brought.insert(no, false);
        let delegation = &self.state.delegations[no];
        let into = self.work(delegation.parent?);
        Some(Act::Bring { tree: self.tree.clone(), delegation: delegation.id.clone(), into })
    }

    /// An attempt to be started or found.
    pub(super) fn job(&self, no: AttemptNo, now: Now) -> Job {
        let attempt = &self.state.attempts[no];
        let subtask = &self.state.subtasks[attempt.subtask];
        let delegation = &self.state.delegations[subtask.delegation];
        let parent = delegation.parent.map(|no| &self.state.attempts[no]);
        let asked_by = parent.map(|parent| parent.agent.clone());
        let manner = self.world.manner(&attempt.agent, asked_by.as_ref());
        let wants_all = subtask.habits.context == ContextMode::Full;
        let parent_said = |parent: &Attempt| self.world.said(&parent.id, &parent.agent);
        let said = parent.filter(|_| wants_all).and_then(parent_said);
        let told = Manner {
            said: said.as_deref(),
            prompt: &manner.prompt,
            schema: manner.schema.as_ref(),
            delegates: manner.delegates,
        };
        let place = parent.and_then(|parent| Some((parent.id.clone(), parent.workspace.clone()?)));
        Job {
            tree: self.tree.clone(),
            delegation: delegation.id.clone(),
            subtask: subtask.id.clone(),
            attempt: attempt.id.clone(),
            session: attempt.session.clone(),
            agent: attempt.agent.clone(),
            parent: asked_by,
            title: subtask.title.clone(),
            brief: brief(&self.state, no, told, (now, self.slots.free())),
            base: Base {
                parent: place,
                with: self.builds_on(no),
                resolves: self.conflicting(no),
                include_dirty: delegation.include_dirty,
            },
            cost_left: self.state.ledger.left(subtask.account).cost,
            deadline: attempt.clock_stopped.is_none().then_some(attempt.deadline),
            frozen: attempt.frozen,
            process: attempt.process,
            workspace: attempt.workspace.clone(),
            base_commit: attempt.base.clone(),
        }
    }

    /// The attempts whose merged work a subtask builds on: the nearest ones, which
    /// have everything before them in their own.
    fn builds_on(&self, attempt: AttemptNo) -> Vec<AttemptId> {
        let of = self.state.attempts[attempt].subtask;
        let mut found = self.in_the_way(of, attempt);
        let mut seen = BTreeSet::new();
        let mut next = vec![of];
        while let Some(no) = next.pop() {
            for &need in &self.state.subtasks[no].needs {
                if !seen.insert(need) {
                    continue;
                }
                let subtask = &self.state.subtasks[need];
                match &subtask.merge {
                    Some(MergeOutcome::Clean { commit: Some(_) }) => {
                        found.extend(self.merged_work(subtask));
                    }
                    Some(
                        MergeOutcome::Clean { commit: None }
                        | MergeOutcome::Conflict { .. }
                        | MergeOutcome::Unverified { .. }
                        | MergeOutcome::Failed { .. },
                    )
                    | None => next.push(need),
                }
            }
        }
        found.into_iter().map(|no: AttemptNo| self.state.attempts[no].id.clone()).collect()
    }

    /// The work that an earlier attempt could not be merged with: the next one starts from
    /// it, or it would only meet the same conflict again.
    fn in_the_way(&self, of: SubtaskNo, attempt: AttemptNo) -> BTreeSet<AttemptNo> {
        let subtask = &self.state.subtasks[of];
        let earlier = subtask.attempts.iter().filter(|no| **no != attempt);
        let completed = |no: &AttemptNo| {
            let end = self.state.attempts[*no].end.as_deref();
            end.is_some_and(|end| end.status == ReturnStatus::Completed)
        };
        if !earlier.into_iter().any(completed) {
            return BTreeSet::new();
        }
        let siblings = self.state.delegations[subtask.delegation].subtasks.iter();
        let merged = siblings.map(|no| &self.state.subtasks[*no]).filter(|sibling| {
            matches!(sibling.merge, Some(MergeOutcome::Clean { commit: Some(_) }))
        });
        merged.filter_map(|sibling| self.merged_work(sibling)).collect()
    }

    /// The attempt whose work was merged for a subtask: its own last one, or that of whoever
    /// resolved its conflict.
    fn merged_work(&self, subtask: &Subtask) -> Option<AttemptNo> {
        let resolver = subtask.resolver.map(|no| &self.state.subtasks[no]);
        resolver.unwrap_or(subtask).attempts.last().copied()
    }

    /// The attempt whose conflict this one resolves.
    fn conflicting(&self, attempt: AttemptNo) -> Option<AttemptId> {
        let subtask = &self.state.subtasks[self.state.attempts[attempt].subtask];
        let last = *self.state.subtasks[subtask.resolves?].attempts.last()?;
        Some(self.id(last))
    }

    fn work(&self, no: AttemptNo) -> Work {
        let attempt = &self.state.attempts[no];
        let subtask = &self.state.subtasks[attempt.subtask];
        let delegation = &self.state.delegations[subtask.delegation];
        Work {
            tree: self.tree.clone(),
            delegation: delegation.id.clone(),
            subtask: subtask.id.clone(),
            attempt: attempt.id.clone(),
            session: attempt.session.clone(),
            agent: attempt.agent.clone(),
            path: attempt.path.to_vec(),
            parent: delegation.parent.map(|no| self.state.attempts[no].agent.clone()),
            workspace: attempt.workspace.clone(),
            base: attempt.base.clone(),
            resolves: subtask.resolves.map(|no| self.state.subtasks[no].agent.clone()),
            cost: attempt.cost,
            title: subtask.title.clone(),
        }
    }
}

/// When something is due by itself.
fn due(effect: &Effect) -> Option<Now> {
    if let Effect::Wake(at) = effect { Some(*at) } else { None }
}

/// Whether an effect is begun once and then waited for.
fn lasting(effect: &Effect) -> bool {
    !matches!(effect, Effect::Start(_) | Effect::Deliver(_) | Effect::Wake(_))
}
