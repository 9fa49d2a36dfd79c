//! What happens in a world: effects are carried out, reports arrive, children
//! and people act, time passes, the runtime dies.

use legation_core::code::Code;
use legation_core::ids::{AttemptId, DelegationId, SessionId};
use legation_core::time::Now;
use legation_core::tree::command::{
    Approve, Caller, Cancel, Command, End, Progress, Retry, Said, Spawned, Start, Timing,
};
use legation_core::tree::event::{MergeOutcome, Process};
use legation_core::tree::state::Step;
use legation_core::tree::{AttemptNo, Effect, SubtaskNo, bounds, owed};

use super::World;
use crate::check::{self, Broken};
use crate::child::Child;
use crate::plan::{self, one_in};

impl World {
    /// One owed thing is done.
    pub(super) fn act(&mut self) -> Result<(), Broken> {
        let owed = owed(&self.state);
        match self.rng.choice(owed) {
            Some(effect) => self.perform(effect),
            None => Ok(()),
        }
    }

    fn free_slots(&self) -> bool {
        let held: u32 = self.state.delegations.iter().map(|(_, d)| d.slots).sum();
        held < self.settings.limits.max_concurrent_total
    }

    pub(super) fn perform(&mut self, effect: Effect) -> Result<(), Broken> {
        let attempt = |no: AttemptNo| self.state.attempts[no].id.clone();
        match effect {
            Effect::Start(no) if self.free_slots() => self.start(no),
            Effect::Start(_) | Effect::Wake(_) => Ok(()),
            Effect::Spawn(no) => {
                let id = attempt(no);
                self.spawn(id);
                Ok(())
            }
            Effect::Stop(no, _) => {
                let id = attempt(no);
                self.finish(&id);
                Ok(())
            }
            Effect::Freeze(no) => {
                let id = attempt(no);
                self.freeze(id, true);
                Ok(())
            }
            Effect::Thaw(no) => {
                let id = attempt(no);
                self.freeze(id, false);
                Ok(())
            }
            Effect::Deliver(no) => {
                let parent = self.state.delegations[no].parent;
                let goes_on = parent.is_some_and(|p| self.state.attempts[p].goes_on_after(no));
                if goes_on && !self.free_slots() {
                    return Ok(());
                }
                let delegation = self.state.delegations[no].id.clone();
                self.apply(&Command::Delivered { delegation, not_brought: None })
            }
            Effect::Answer(no) if self.free_slots() => {
                let attempt = attempt(no);
                self.apply(&Command::Answered { attempt })
            }
            Effect::Answer(_) => Ok(()),
            Effect::Merge(no) => {
                let attempt = attempt(no);
                let outcome = merged(self.rng.u32(0..8));
                self.inbox.push(Command::Merged { attempt, outcome });
                Ok(())
            }
            // What is merged here is not verified first.
            Effect::StopMerge(_) => Ok(()),
            Effect::RollBack(no) => {
                let delegation = self.state.delegations[no].id.clone();
                let why = "no".to_owned();
                self.inbox.push(match self.rng.u32(0..4) {
                    0 => Command::ResultLeft { delegation, why },
                    _ => Command::RolledBack { delegation },
                });
                Ok(())
            }
            Effect::RemoveWorkspace(no) => {
                let attempt = attempt(no);
                let why = "no".to_owned();
                self.inbox.push(match self.rng.u32(0..16) {
                    0 => Command::WorkspaceLeft { attempt, why },
                    _ => Command::WorkspaceRemoved { attempt, kept: None },
                });
                Ok(())
            }
        }
    }

    fn start(&mut self, no: SubtaskNo) -> Result<(), Broken> {
        let subtask = &self.state.subtasks[no];
        self.ids += 1;
        let start = Start {
            delegation: self.state.delegations[subtask.delegation].id.clone(),
            subtask: subtask.id.clone(),
            attempt: AttemptId::from(format!("exec-{}", self.ids)),
            session: SessionId::from(format!("sess_{}_abc123", self.ids)),
        };
        self.apply(&Command::Start(start))
    }

    fn spawn(&mut self, attempt: AttemptId) {
        self.children.entry(attempt.clone()).or_insert_with(|| Child::new(attempt.clone()));
        self.inbox.push(Command::Spawned(Spawned {
            attempt,
            process: Some(Process { pid: 1, started: 1 }),
            workspace: self.rng.bool().then(|| "somewhere".to_owned()),
            base: None,
        }));
    }

    /// The child's processes are gone; its end is reported.
    pub(super) fn finish(&mut self, id: &AttemptId) {
        let end = match self.children.remove(id) {
            Some(mut child) => {
                if self.rng.bool() {
                    child.work(&mut self.rng);
                }
                child.end(&mut self.rng, self.now, self.wildness)
            }
            None => End {
                attempt: id.clone(),
                said: Said::Nothing,
                receipt: Default::default(),
                quality: None,
                hold_until: None,
                raw: None,
                timing: Timing::default(),
            },
        };
        self.inbox.push(Command::End(Box::new(end)));
    }

    fn freeze(&mut self, attempt: AttemptId, frozen: bool) {
        if let Some(child) = self.children.get_mut(&attempt) {
            child.frozen = frozen;
        }
        self.inbox.push(Command::Froze { attempt, frozen });
    }

    /// A report arrives: any of those on their way, and perhaps not for the last time.
    pub(super) fn hear(&mut self) -> Result<(), Broken> {
        if self.inbox.is_empty() {
            return Ok(());
        }
        let at = self.rng.usize(0..self.inbox.len());
        let command = self.inbox.swap_remove(at);
        if !self.calm && one_in(&mut self.rng, 8) {
            self.inbox.push(command.clone());
        }
        self.apply(&command)
    }

    pub(super) fn child_acts(&mut self) -> Result<(), Broken> {
        let awake: Vec<AttemptId> = self
            .children
            .values()
            .filter(|child| !child.frozen)
            .map(|c| c.attempt.clone())
            .collect();
        let Some(id) = self.rng.choice(awake) else {
            return Ok(());
        };
        let no = self.state.find_attempt(&id);
        let waits = no.is_some_and(|no| self.state.attempts[no].open_children > 0);
        match self.rng.u32(0..12) {
            0..4 => {
                // The next turn begins when the last one is accounted for.
                let reported =
                    |c: &Command| matches!(c, Command::Use(usage) if usage.attempt == id);
                if self.inbox.iter().any(reported) {
                    return Ok(());
                }
                if let Some(child) = self.children.get_mut(&id) {
                    let usage = child.work(&mut self.rng);
                    self.inbox.push(Command::Use(usage));
                }
                Ok(())
            }
            4 => {
                let current = self.rng.u64(0..5);
                let progress =
                    Progress { attempt: id, current, total: 5, last_action: "looked".to_owned() };
                self.inbox.push(Command::Progress(progress));
                Ok(())
            }
            5 if self.rng.u32(0..8) < self.wildness => {
                self.apply(&Command::Ask { attempt: id, what: "web".to_owned() })
            }
            6..9 => {
                self.ids += 1;
                let caller = Caller::Attempt(id);
                let left = bounds::remaining(&self.state, &caller, self.now, 1);
                let mut delegate = plan::delegate(&mut self.rng, self.ids, caller, &self.settings);
                if let Some(left) = left {
                    plan::spare(&mut self.rng, &mut delegate.call, &left);
                }
                self.apply(&Command::Delegate(Box::new(delegate)))
            }
            9 => {
                let children = no.map(|no| self.state.attempts[no].children.clone());
                let Some(child) = self.rng.choice(children.unwrap_or_default()) else {
                    return Ok(());
                };
                let delegation = self.state.delegations[child].id.clone();
                self.apply(&Command::Await { attempt: id, delegation })
            }
            10 if self.rng.u32(0..16) < self.wildness => {
                self.apply(&Command::Stall { attempt: id })
            }
            _ => {
                // One with open delegations rarely ends before them, but it may die. One that
                // never delegated takes its time, so that trees get deep.
                let fresh = no.is_some_and(|no| self.state.attempts[no].children.is_empty());
                let patience = if waits { 10 * (5 - self.wildness) } else { 1 + u32::from(fresh) };
                if one_in(&mut self.rng, patience) {
                    self.finish(&id);
                }
                Ok(())
            }
        }
    }

    pub(super) fn person_acts(&mut self) -> Result<(), Broken> {
        let all: Vec<DelegationId> =
            self.state.delegations.iter().map(|(_, d)| d.id.clone()).collect();
        let Some(delegation) = self.rng.choice(all) else {
            return Ok(());
        };
        let no = self.state.find(&delegation);
        let subtasks = no.map(|no| self.state.delegations[no].subtasks.clone()).unwrap_or_default();
        let subtask = self.rng.choice(subtasks).map(|no| self.state.subtasks[no].id.clone());
        match (self.rng.u32(0..20), subtask) {
            (0, _) => {
                let freeze = self.rng.bool();
                self.apply(&Command::Pause { delegation, freeze, reason: "lunch".to_owned() })
            }
            (1..10, _) => self.apply(&Command::Resume { delegation }),
            // A cancelled root is the end of a world, so most worlds are spared it.
            (10, subtask) if one_in(&mut self.rng, 4) => {
                let subtask = subtask.filter(|_| self.rng.bool());
                let rollback = self.rng.bool();
                let (by, reason) = ("ana".to_owned(), "enough".to_owned());
                self.apply(&Command::Cancel(Cancel { delegation, subtask, by, reason, rollback }))
            }
            (11..14, Some(subtask)) => {
                let agent = one_in(&mut self.rng, 3).then(|| plan::candidate(&mut self.rng));
                let note = Some("try harder".to_owned());
                self.apply(&Command::Retry(Retry { delegation, subtask, agent, note }))
            }
            (14..16, Some(subtask)) => {
                self.apply(&Command::Skip { delegation, subtask, reason: String::new() })
            }
            _ => self.approve(delegation),
        }
    }

    pub(super) fn approve(&mut self, delegation: DelegationId) -> Result<(), Broken> {
        let approved = self.rng.bool();
        let (by, reason) = ("ana".to_owned(), String::new());
        self.apply(&Command::Approve(Approve { delegation, subtask: None, approved, by, reason }))
    }

    /// A little, up to the next alarm, a long time, or backwards.
    pub(super) fn time_passes(&mut self) -> Result<(), Broken> {
        let wake = self.wake();
        self.now = match (self.rng.u32(0..20), wake) {
            (0, _) => Now(self.now.0.saturating_sub(self.rng.u64(0..100_000))),
            (1, _) => self.now.plus_ms(self.rng.u64(0..600_000)),
            (2, Some(at)) => self.now.max(at),
            _ => self.now.plus_ms(self.rng.u64(0..3_000)),
        };
        self.apply(&Command::Tick)
    }

    /// The runtime dies: what it had in mind is gone, what is written down is not.
    pub(super) fn crash(&mut self) -> Result<(), Broken> {
        self.crashes += 1;
        self.inbox.clear();
        check::log(&self.state, &self.events, false)?;
        self.state = check::replayed(&self.state, &self.written)?;
        let serving = self.rng.bool();
        self.apply(&Command::Recover { serving })?;
        let running: Vec<AttemptNo> = self.state.running().collect();
        for no in running {
            let attempt = self.state.attempts[no].id.clone();
            if self.children.contains_key(&attempt) {
                self.spawn(attempt);
            } else if self.state.attempts[no].step != Step::Starting {
                self.apply(&Command::Lose { attempt })?;
            }
        }
        // A process that nobody knows of any more is an orphan; it is looked for and ended.
        let known = |id: &AttemptId| {
            self.state.find_attempt(id).is_some_and(|no| !self.state.attempts[no].ended())
        };
        let orphans: Vec<AttemptId> =
            self.children.keys().filter(|id| !known(id)).cloned().collect();
        for orphan in orphans {
            self.children.remove(&orphan);
        }
        Ok(())
    }
}

/// How a merge goes, by chance.
fn merged(die: u32) -> MergeOutcome {
    match die {
        0 => MergeOutcome::Conflict { files: vec!["made.txt".to_owned()], hunks: Vec::new() },
        1 => MergeOutcome::Failed { code: Code::GitCommitFailed, message: "no".to_owned() },
        2 => MergeOutcome::Unverified { verify: Vec::new() },
        _ => MergeOutcome::Clean { commit: Some("abc".to_owned()) },
    }
}
