//! What children and their runners do.

use legation_core::ids::{AttemptId, SessionId};
use legation_core::returns::Tokens;
use legation_core::tree::command::{Command, Said, Spawned, Start, Usage};
use legation_core::tree::event::MergeOutcome;
use legation_core::tree::{Effect, owed};

use super::words::usd;
use super::{Answer, Plan, Story};

/// More rounds of doing what is owed than any story needs.
const MAX_ROUNDS: u32 = 50;

impl Story {
    /// A slot was found for the subtask.
    pub(crate) fn start(&mut self, name: &str) -> &mut Self {
        let no = self.subtask(name);
        let subtask = &self.state.subtasks[no];
        let nth = subtask.attempts.len() + 1;
        let start = Start {
            delegation: self.state.delegations[subtask.delegation].id.clone(),
            subtask: subtask.id.clone(),
            attempt: AttemptId::from(format!("exec-{name}-{nth}")),
            session: SessionId::from(format!("sess_{}_{name:0>6}", self.now.0 / 1000)),
        };
        self.tell(Command::Start(start))
    }

    pub(crate) fn spawned(&mut self, name: &str) -> &mut Self {
        self.spawned_in(name, None)
    }

    /// Its process runs in a workspace.
    pub(crate) fn spawned_in(&mut self, name: &str, workspace: Option<&str>) -> &mut Self {
        let attempt = self.attempt(name);
        let workspace = workspace.map(str::to_owned);
        self.tell(Command::Spawned(Spawned { attempt, process: None, workspace, base: None }))
    }

    /// Each is started and its process runs.
    pub(crate) fn run(&mut self, names: &str) -> &mut Self {
        for name in names.split_whitespace() {
            self.start(name).spawned(name);
        }
        self
    }

    /// The attempt ends with all its processes.
    pub(crate) fn returns(&mut self, name: &str, answer: Answer) -> &mut Self {
        let attempt = self.attempt(name);
        self.tell(Command::End(Box::new(answer.of(attempt))))
    }

    /// What was told to stop has stopped, without a word.
    pub(crate) fn stops(&mut self, name: &str) -> &mut Self {
        self.returns(name, Answer::said(Said::Nothing))
    }

    /// It has used so many tokens in all.
    pub(crate) fn uses(&mut self, name: &str, output: u64) -> &mut Self {
        let tokens = Tokens { output, ..Tokens::default() };
        self.reports(name, |usage| usage.tokens = tokens)
    }

    /// It has cost so much in all.
    pub(crate) fn pays(&mut self, name: &str, dollars: f64) -> &mut Self {
        self.reports(name, |usage| usage.cost = Some(usd(dollars)))
    }

    /// So much is in its context now.
    pub(crate) fn context(&mut self, name: &str, tokens: u64) -> &mut Self {
        self.reports(name, |usage| usage.context = Some(tokens))
    }

    pub(crate) fn reports(&mut self, name: &str, change: impl FnOnce(&mut Usage)) -> &mut Self {
        let attempt = self.attempt(name);
        let tokens = Tokens::default();
        let mut usage = Usage { attempt, tokens, cost: None, context: None };
        change(&mut usage);
        self.tell(Command::Use(usage))
    }

    /// The attempt of a subtask delegates in turn, as `del-<name>`.
    pub(crate) fn nested(&mut self, name: &str, plan: Plan) -> &mut Self {
        let attempt = self.attempt(name);
        let count = self.state.attempts[self.attempt_no(name)].children.len();
        let id = match count {
            0 => format!("del-{name}"),
            earlier => format!("del-{name}-{}", earlier + 1),
        };
        let call = plan.call(&id, Some(attempt));
        self.tell(Command::Delegate(Box::new(call)))
    }

    /// It waits for a delegation it had started without waiting.
    pub(crate) fn awaits(&mut self, name: &str, delegation: &str) -> &mut Self {
        let attempt = self.attempt(name);
        self.tell(Command::Await { attempt, delegation: delegation.into() })
    }

    /// Whoever asked has the answer.
    pub(crate) fn delivered(&mut self, delegation: &str) -> &mut Self {
        self.tell(Command::Delivered { delegation: delegation.into(), not_brought: None })
    }

    pub(crate) fn merged(&mut self, name: &str) -> &mut Self {
        self.merge_ends(name, MergeOutcome::Clean { commit: Some("c0ffee".to_owned()) })
    }

    pub(crate) fn conflicts(&mut self, name: &str, file: &str) -> &mut Self {
        self.merge_ends(
            name,
            MergeOutcome::Conflict { files: vec![file.to_owned()], hunks: Vec::new() },
        )
    }

    pub(crate) fn merge_ends(&mut self, name: &str, outcome: MergeOutcome) -> &mut Self {
        let attempt = self.attempt(name);
        self.tell(Command::Merged { attempt, outcome })
    }

    /// The engine does everything that is owed, except stopping children and waking up.
    pub(crate) fn go(&mut self) -> &mut Self {
        for _ in 0..MAX_ROUNDS {
            let before = self.log.len();
            for effect in owed(&self.state) {
                self.perform(effect);
            }
            if self.log.len() == before {
                return self;
            }
        }
        panic!("there was always more to do");
    }

    fn perform(&mut self, effect: Effect) {
        let attempt = |no| self.state.attempts[no].id.clone();
        let delegation = |no| self.state.delegations[no].id.clone();
        let command = match effect {
            Effect::Start(no) => {
                let name = self.state.subtasks[no].id.to_string();
                self.start(&name);
                return;
            }
            Effect::Stop(..) | Effect::StopMerge(_) | Effect::Wake(_) => return,
            Effect::Spawn(no) => {
                let (process, workspace, base) = (None, None, None);
                Command::Spawned(Spawned { attempt: attempt(no), process, workspace, base })
            }
            Effect::Freeze(no) => Command::Froze { attempt: attempt(no), frozen: true },
            Effect::Thaw(no) => Command::Froze { attempt: attempt(no), frozen: false },
            Effect::Answer(no) => Command::Answered { attempt: attempt(no) },
            Effect::Merge(no) => Command::Merged {
                attempt: attempt(no),
                outcome: MergeOutcome::Clean { commit: None },
            },
            Effect::Deliver(no) => {
                Command::Delivered { delegation: delegation(no), not_brought: None }
            }
            Effect::RollBack(no) => Command::RolledBack { delegation: delegation(no) },
            Effect::RemoveWorkspace(no) => {
                Command::WorkspaceRemoved { attempt: attempt(no), kept: None }
            }
        };
        self.tell(command);
    }
}
