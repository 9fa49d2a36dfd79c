//! The world as the engine sees it. What it is asked to do is held against the log:
//! nothing is done before it is written down, and nothing twice.

use std::sync::Arc;

use legation_core::Code;
use legation_core::ids::{AgentId, AttemptId};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_core::tree::event::MergeOutcome;
use legation_core::tree::state::Phase;
use legation_engine::world::{Act, Manner, Work};
use legation_engine::{Mailbox, World};

use super::Flaw;
use super::hub::{Hub, Inner};
use crate::plan::one_in;

/// A world that is not real.
pub(super) struct Fake {
    hub: Arc<Hub>,
}

impl Fake {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        Self { hub }
    }
}

impl World for Fake {
    fn now(&self) -> Now {
        self.hub.lock().now
    }

    fn draw(&self) -> u64 {
        self.hub.lock().rng.u64(..)
    }

    async fn until(&self, at: Now) {
        loop {
            let moved = self.hub.moved.notified();
            if self.hub.lock().now >= at {
                return;
            }
            moved.await;
        }
    }

    fn act(&self, act: Act, mail: Mailbox) {
        let mut inner = self.hub.lock();
        if !inner.step() {
            return;
        }
        if inner.flaw == Flaw::StartsTwice && matches!(act, Act::Spawn(_)) {
            inner.act(act.clone(), &mail);
        }
        inner.act(act, &mail);
    }

    fn manner(&self, _agent: &AgentId, _parent: Option<&AgentId>) -> Manner {
        Manner::default()
    }
}

impl Inner {
    fn act(&mut self, act: Act, mail: &Mailbox) {
        match act {
            Act::Spawn(job) => {
                self.say(format!("spawn {} for {}", job.attempt, job.subtask));
                self.check_spawn(&job.attempt);
                self.spawn(&job, mail);
            }
            Act::Find(job) => {
                self.say(format!("find {}", job.attempt));
                self.check_open(&job.attempt, "only what is open is looked for");
                self.find(&job, mail);
            }
            Act::Stop { attempt, reason } => {
                self.say(format!("stop {attempt}: {reason:?}"));
                self.check_stop(&attempt);
                self.stop(&attempt);
            }
            Act::Freeze { attempt, frozen } => {
                self.say(format!("freeze {attempt}: {frozen}"));
                self.freeze(&attempt, frozen);
                self.post(mail, Command::Froze { attempt, frozen });
            }
            // Processes here have no clock of their own.
            Act::SetDeadline { attempt, deadline } => {
                self.say(format!("deadline of {attempt}: {deadline:?}"));
            }
            Act::Answer { attempt, approved } => {
                self.say(format!("answer {attempt}: {approved}"));
                self.hear_answer(&attempt);
                self.post(mail, Command::Answered { attempt });
            }
            Act::Keep(work) => self.say(format!("keep {}", work.attempt)),
            Act::Merge(work) => {
                self.say(format!("merge {}", work.attempt));
                self.merge(work, mail);
            }
            // What is merged here is not verified first; the word may come when it is done.
            Act::StopMerge { attempt } => {
                self.say(format!("stop merging {attempt}"));
                self.check_stop_merge(&attempt);
            }
            Act::RollBack { delegation, .. } => {
                self.say(format!("roll back {delegation}"));
                let why = "no".to_owned();
                let left = one_in(&mut self.rng, 4);
                self.post(
                    mail,
                    match left {
                        true => Command::ResultLeft { delegation, why },
                        false => Command::RolledBack { delegation },
                    },
                );
            }
            Act::Bring { delegation, into, .. } => {
                self.say(format!("bring {delegation} to {}", into.attempt));
                self.post_brought(mail, delegation);
            }
            Act::Remove(work) => {
                self.say(format!("remove {}", work.attempt));
                self.remove(work, mail);
            }
        }
    }

    fn check_spawn(&mut self, id: &AttemptId) {
        self.check_open(id, "only what is written down is started");
        let late = self.attempt(id).is_some_and(|(state, no)| {
            state.attempts[no].stop.is_some() || state.is_cancelled(state.delegation_of(no))
        });
        if late {
            self.fail("nothing starts after cancel", format!("{id} is started"));
        }
    }

    fn check_open(&mut self, id: &AttemptId, property: &'static str) {
        let open = self.attempt(id).is_some_and(|(state, no)| !state.attempts[no].ended());
        if !open {
            self.fail(property, id.to_string());
        }
    }

    fn check_stop(&mut self, id: &AttemptId) {
        let told = self.attempt(id).is_some_and(|(state, no)| state.attempts[no].stop.is_some());
        if !told {
            self.fail("only what has to stop is stopped", id.to_string());
        }
    }

    fn check_stop_merge(&mut self, id: &AttemptId) {
        let told = self.attempt(id).is_some_and(|(state, no)| {
            let subtask = &state.subtasks[state.attempts[no].subtask];
            subtask.phase == Phase::Merging && state.is_cancelled(subtask.delegation)
        });
        if !told {
            self.fail("only a merge that is cancelled is broken off", id.to_string());
        }
    }

    /// A merge that is done again goes as it went.
    fn merge(&mut self, work: Work, mail: &Mailbox) {
        let due = self.attempt(&work.attempt).is_some_and(|(state, no)| {
            let subtask = &state.subtasks[state.attempts[no].subtask];
            subtask.phase == Phase::Merging && subtask.attempts.last() == Some(&no)
        });
        if !due {
            self.fail("only what waits for it is merged", work.attempt.to_string());
        }
        let fresh = match self.rng.u32(0..20) {
            0 | 9 => {
                MergeOutcome::Conflict { files: vec!["made.txt".to_owned()], hunks: Vec::new() }
            }
            8 => MergeOutcome::Unverified { verify: Vec::new() },
            1 => MergeOutcome::Failed { code: Code::GitCommitFailed, message: "no".to_owned() },
            2..8 => MergeOutcome::Clean { commit: None },
            _ => MergeOutcome::Clean { commit: Some(format!("commit-{}", work.attempt)) },
        };
        let attempt = work.attempt;
        let outcome = self.promises.merges.entry(attempt.clone()).or_insert(fresh).clone();
        self.post(mail, Command::Merged { attempt, outcome });
    }

    fn remove(&mut self, work: Work, mail: &Mailbox) {
        let ended =
            self.attempt(&work.attempt).is_some_and(|(state, no)| state.attempts[no].ended());
        if !ended {
            self.fail("only what has ended is cleared away", work.attempt.to_string());
        }
        if one_in(&mut self.rng, 16) {
            let why = "no".to_owned();
            return self.post(mail, Command::WorkspaceLeft { attempt: work.attempt, why });
        }
        let kept = one_in(&mut self.rng, 2).then(|| format!("refs/kept/{}", work.attempt));
        self.post(mail, Command::WorkspaceRemoved { attempt: work.attempt, kept });
    }
}
