//! Processes that exist only here. They outlive the engine that started them, or not.

use std::collections::BTreeMap;

use legation_core::Code;
use legation_core::ids::{AttemptId, DelegationId, SubtaskId};
use legation_core::returns::{Receipt, StopReason};
use legation_core::tree::Command;
use legation_core::tree::command::{End, Progress, Said, Spawned, Timing, Usage};
use legation_core::tree::event;
use legation_engine::Mailbox;
use legation_engine::world::Job;

use super::Flaw;
use super::calls::Call;
use super::hub::Inner;
use crate::child::Child;
use crate::plan::one_in;

/// A process, and what the world knows of it.
pub(super) struct Process {
    pub(super) tree: DelegationId,
    delegation: DelegationId,
    subtask: SubtaskId,
    child: Child,
    /// What it has used so far.
    used: Option<Usage>,
    stage: Stage,
    /// Where its reports go; nowhere until the engine that came back has found it.
    mail: Option<Mailbox>,
    stopping: bool,
    /// It waits for a human.
    asking: bool,
    /// It waits for the engine.
    pub(super) call: Option<Call>,
    /// What it has delegated without waiting.
    pub(super) below: Vec<DelegationId>,
}

enum Stage {
    /// Its workspace is being made.
    Making,
    Running,
    Ended(Box<End>),
    /// It died with the engine, and left no word; that it was there can be seen.
    Gone,
}

impl Process {
    fn new(job: &Job, mail: &Mailbox) -> Self {
        Self {
            tree: job.tree.clone(),
            delegation: job.delegation.clone(),
            subtask: job.subtask.clone(),
            child: Child::new(job.attempt.clone()),
            used: None,
            stage: Stage::Making,
            mail: Some(mail.clone()),
            stopping: false,
            asking: false,
            call: None,
            below: Vec::new(),
        }
    }

    fn is_alive(&self) -> bool {
        matches!(self.stage, Stage::Making | Stage::Running)
    }

    /// Whether it does nothing but wait, and has given its slot back for it.
    fn is_parked(&self) -> bool {
        self.asking || self.call.as_ref().is_some_and(|call| call.parks)
    }

    fn spawned(&self) -> Command {
        let id = self.child.attempt.clone();
        Command::Spawned(Spawned {
            process: Some(event::Process { pid: 1, started: 1 }),
            // Whether there is one follows from the name, so that it is told alike twice.
            workspace: (id.as_str() > "exec-h").then(|| format!("at/{id}")),
            attempt: id,
            base: None,
        })
    }
}

/// What a process does next.
enum Deed {
    Nothing,
    Begin,
    End,
    Work,
    Progress,
    Ask,
    Stall,
    Call,
}

impl Inner {
    pub(super) fn spawn(&mut self, job: &Job, mail: &Mailbox) {
        match self.processes.get(&job.attempt) {
            Some(known) if known.mail.is_some() => {
                self.fail("nothing is started twice", job.attempt.to_string());
            }
            Some(_) => self.find(job, mail),
            None => {
                let beside = self.processes.values().find(|other| {
                    let same = (&other.delegation, &other.subtask);
                    other.is_alive() && same == (&job.delegation, &job.subtask)
                });
                if let Some(other) = beside {
                    let detail = format!("{} beside {}", job.attempt, other.child.attempt);
                    self.fail("nothing runs beside its successor", detail);
                }
                self.processes.insert(job.attempt.clone(), Process::new(job, mail));
                self.crowd();
            }
        }
    }

    /// Goes on with a process, tells how it ended, or says that it is lost.
    pub(super) fn find(&mut self, job: &Job, mail: &Mailbox) {
        let Some(process) = self.processes.get_mut(&job.attempt) else {
            return self.post(mail, Command::Lose { attempt: job.attempt.clone() });
        };
        process.mail = Some(mail.clone());
        let mut told = Vec::new();
        match &process.stage {
            Stage::Making => {}
            Stage::Running => {
                told.push(process.spawned());
                told.extend(process.used.clone().map(Command::Use));
                if process.asking {
                    let attempt = job.attempt.clone();
                    told.push(Command::Ask { attempt, what: "web".to_owned() });
                }
            }
            Stage::Ended(end) => told.push(Command::End(end.clone())),
            Stage::Gone => told.push(Command::Lose { attempt: job.attempt.clone() }),
        }
        for command in told {
            self.post(mail, command);
        }
    }

    /// One that the engine has not found yet cannot be reached.
    pub(super) fn stop(&mut self, id: &AttemptId) {
        if let Some(process) = self.processes.get_mut(id) {
            process.stopping |= process.mail.is_some();
        }
    }

    pub(super) fn freeze(&mut self, id: &AttemptId, frozen: bool) {
        if let Some(process) = self.processes.get_mut(id) {
            process.child.frozen = frozen;
        }
    }

    pub(super) fn hear_answer(&mut self, id: &AttemptId) {
        if let Some(process) = self.processes.get_mut(id) {
            process.asking = false;
        }
        self.crowd();
    }

    /// Never more run at once than may: in all, and of each delegation.
    pub(super) fn crowd(&mut self) {
        let busy = self.processes.values().filter(|process| self.is_busy(process));
        let mut by_delegation = BTreeMap::<&DelegationId, u32>::new();
        for process in busy {
            *by_delegation.entry(&process.delegation).or_default() += 1;
        }
        let count: u32 = by_delegation.values().sum();
        let in_all = (count > self.width).then(|| format!("{count} run, {} may", self.width));
        let too_many = by_delegation.into_iter().find_map(|(id, count)| {
            let mut states = self.trees.values().map(|tree| &tree.state);
            let width = states.find_map(|state| Some(state.delegations[state.find(id)?].width))?;
            (count > width).then(|| format!("{count} of {id} run, {width} may"))
        });
        if let Some(detail) = in_all {
            self.fail("never more run at once than the engine's width", detail);
        }
        if let Some(detail) = too_many {
            self.fail("never more run at once than a delegation's width", detail);
        }
    }

    /// Whether a process runs. One that has to stop while it waited has no slot, and none
    /// to give.
    fn is_busy(&self, process: &Process) -> bool {
        let waited = process.stopping
            && self
                .attempt(&process.child.attempt)
                .is_some_and(|(state, no)| !state.attempts[no].slot);
        process.is_alive() && !process.is_parked() && !waited
    }

    /// The engine has gone: what was being made may be there or not, and what runs may
    /// die with it.
    pub(super) fn abandon_processes(&mut self) {
        let mut processes = std::mem::take(&mut self.processes);
        processes.retain(|_, process| {
            process.mail = None;
            process.stopping = false;
            if let Some(call) = &mut process.call {
                call.active = false;
            }
            match process.stage {
                Stage::Making => {
                    process.stage = Stage::Running;
                    self.rng.bool()
                }
                Stage::Running => {
                    if one_in(&mut self.rng, 4) {
                        process.stage = Stage::Gone;
                    }
                    true
                }
                Stage::Ended(_) | Stage::Gone => true,
            }
        });
        self.processes = processes;
    }

    /// A process does something. The attempt that wants to call the engine is answered.
    pub(super) fn process_acts(&mut self) -> Option<AttemptId> {
        let alive = self.processes.iter().filter(|(_, process)| process.is_alive());
        let alive: Vec<AttemptId> = alive.map(|(id, _)| id.clone()).collect();
        let id = self.rng.choice(alive)?;
        self.acts(&id)
    }

    /// Everything that can get on does, towards its end.
    pub(super) fn processes_finish(&mut self) -> Vec<AttemptId> {
        let alive = self.processes.iter().filter(|(_, process)| process.is_alive());
        let alive: Vec<AttemptId> = alive.map(|(id, _)| id.clone()).collect();
        alive.into_iter().filter_map(|id| self.acts(&id)).collect()
    }

    fn acts(&mut self, id: &AttemptId) -> Option<AttemptId> {
        match self.deed(id) {
            Deed::Nothing => return None,
            Deed::Begin => self.begin(id),
            Deed::End => self.end(id),
            Deed::Work => self.work(id),
            Deed::Progress => {
                let (current, attempt) = (self.rng.u64(0..5), id.clone());
                let last_action = "looked".to_owned();
                self.tell(
                    id,
                    Command::Progress(Progress { attempt, current, total: 5, last_action }),
                );
            }
            Deed::Ask => {
                if let Some(process) = self.processes.get_mut(id) {
                    process.asking = true;
                }
                self.tell(id, Command::Ask { attempt: id.clone(), what: "web".to_owned() });
            }
            Deed::Stall => self.tell(id, Command::Stall { attempt: id.clone() }),
            Deed::Call => return Some(id.clone()),
        }
        self.moves += 1;
        None
    }

    fn deed(&mut self, id: &AttemptId) -> Deed {
        let Some(process) = self.processes.get(id) else { return Deed::Nothing };
        let waits = process.call.as_ref().map(|call| call.active);
        let (wild, calm) = (self.wildness, self.calm);
        if process.mail.is_none() {
            // Nobody watches; it may come to its end all the same.
            let ends = process.call.is_none() && !process.asking && !process.child.frozen;
            return if ends && one_in(&mut self.rng, 10) { Deed::End } else { Deed::Nothing };
        }
        if matches!(process.stage, Stage::Making) {
            return Deed::Begin;
        }
        if process.stopping {
            return Deed::End;
        }
        if process.child.frozen {
            return Deed::Nothing;
        }
        match waits {
            Some(false) => return Deed::Call,
            // It may die while it waits.
            Some(true) if !calm && self.rng.u32(0..200) < wild => return Deed::End,
            Some(true) => return Deed::Nothing,
            None => {}
        }
        if process.asking {
            return Deed::Nothing;
        }
        if calm {
            return Deed::End;
        }
        match self.rng.u32(0..16) {
            0..5 => Deed::Work,
            5 => Deed::Progress,
            6 if self.rng.u32(0..8) < wild => Deed::Ask,
            7 if self.rng.u32(0..16) < wild => Deed::Stall,
            8..13 => Deed::Call,
            13..15 => Deed::End,
            _ => Deed::Nothing,
        }
    }

    fn tell(&mut self, id: &AttemptId, command: Command) {
        let mail = self.processes.get(id).and_then(|process| process.mail.clone());
        if let Some(mail) = mail {
            self.post(&mail, command);
        }
    }

    fn begin(&mut self, id: &AttemptId) {
        let fails = !self.calm && self.rng.u32(0..60) < self.wildness;
        let Some(process) = self.processes.get_mut(id) else { return };
        if process.stopping || fails {
            let stop_reason =
                if process.stopping { StopReason::Cancelled } else { StopReason::NotStarted };
            let end = End {
                attempt: id.clone(),
                said: Said::NotStarted { code: Code::WorkspaceFailed, why: "no room".to_owned() },
                receipt: Receipt { stop_reason, ..Receipt::default() },
                quality: None,
                hold_until: None,
                raw: None,
                timing: Timing::default(),
            };
            process.stage = Stage::Ended(Box::new(end.clone()));
            return self.tell(id, Command::End(Box::new(end)));
        }
        process.stage = Stage::Running;
        let spawned = process.spawned();
        self.tell(id, spawned);
    }

    fn end(&mut self, id: &AttemptId) {
        let Some(process) = self.processes.get_mut(id) else { return };
        if self.rng.bool() {
            process.child.work(&mut self.rng);
        }
        let end = process.child.end(&mut self.rng, self.now, self.wildness);
        if self.flaw == Flaw::OutlivesItsEnd {
            self.flaw = Flaw::None;
        } else {
            process.stage = Stage::Ended(Box::new(end.clone()));
        }
        process.call = None;
        process.asking = false;
        self.tell(id, Command::End(Box::new(end)));
    }

    fn work(&mut self, id: &AttemptId) {
        // The next turn begins when the last one is accounted for.
        if self.is_posted(|c| matches!(c, Command::Use(usage) if usage.attempt == *id)) {
            return;
        }
        let Some(process) = self.processes.get_mut(id) else { return };
        let usage = process.child.work(&mut self.rng);
        process.used = Some(usage.clone());
        self.tell(id, Command::Use(usage));
    }
}
