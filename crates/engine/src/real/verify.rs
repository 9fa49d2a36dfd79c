//! The commands that the runtime runs itself after a `completed`.

use legation_core::agent::Definition;
use legation_core::ids::{AgentId, AttemptId, DelegationId, SessionId};
use legation_core::returns::Verification;
use legation_runners::command;
use legation_runners::keep::{Limits, Pace};
use legation_runners::supervise::{self, Exit, Found, find};
use legation_runners::workspace::Place;

use super::Inner;
use super::attempt::environment;
use super::fence::Around;
use super::live::Live;
use crate::world::{Job, Work};

/// Whose commands are run: an attempt that runs, or one whose work is being merged.
#[derive(Clone, Copy)]
pub(super) struct Owner<'a> {
    pub(super) tree: &'a DelegationId,
    pub(super) attempt: &'a AttemptId,
    pub(super) session: &'a SessionId,
    /// The agents above it, and itself.
    pub(super) path: &'a [AgentId],
    /// What the folders of its commands are called: this, and what each is for.
    pub(super) stage: &'a str,
}

impl<'a> Owner<'a> {
    /// The attempt itself.
    pub(super) fn of(job: &'a Job) -> Self {
        let Job { tree, attempt, session, brief, .. } = job;
        Self { tree, attempt, session, path: &brief.delegation_path, stage: "" }
    }

    /// An attempt that has ended; its commands are told apart by this.
    pub(super) fn of_work(work: &'a Work, stage: &'a str) -> Self {
        let Work { tree, attempt, session, path, .. } = work;
        Self { tree, attempt, session, path, stage }
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.path.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }
}

impl Inner {
    /// Runs each command in the workspace, one after another, under a keeper of its own.
    /// The attempt's time goes on meanwhile; a stop reaches these commands too.
    pub(super) async fn verify(
        &self,
        owner: Owner<'_>,
        place: &Place,
        definition: &Definition,
        live: &Live,
    ) -> Vec<Verification> {
        let mut done = Vec::new();
        for (number, line) in definition.legation.verify.iter().enumerate() {
            let exit_code = if live.is_stopping() {
                None
            } else {
                let name = format!("verify-{}", number + 1);
                self.run(owner, place, (definition, &name, line), live).await
            };
            done.push(Verification { command: line.clone(), exit_code });
        }
        done
    }

    /// Runs a command in the workspace; its exit code, if it had one. What it says is in a
    /// folder of this name.
    pub(super) async fn run(
        &self,
        owner: Owner<'_>,
        place: &Place,
        (definition, name, line): (&Definition, &str, &str),
        live: &Live,
    ) -> Option<i32> {
        let folder = self.folder(owner.attempt).join(format!("{}{name}", owner.stage));
        std::fs::create_dir_all(&folder).ok()?;
        let env = environment(place, definition);
        let pace = live.pace();
        let shell = ["sh".to_owned(), "-c".to_owned(), line.to_owned()];
        let start = command::Start {
            vendor: None,
            attempt: owner.attempt,
            session: owner.session,
            place: command::Place {
                dir: &folder,
                workspace: &place.cwd,
                socket: &self.options.socket,
                // Nothing that verifies or sets up may delegate.
                token: "",
                depth: owner.depth(),
            },
            command: &shell,
            env: &env,
            agent_file: None,
            brief: "",
            limits: Limits::default(),
            deadline_ms: pace.deadline_ms,
            // The keeper is the parent of every orphan, and an engine waits for it.
            cgroup: None,
        };
        let order = start.order(self.passed_on(owner.tree)).ok()?;
        // What is verified is the child's own code, so it runs where the child did.
        let around = Around { path: owner.path, agent_file: None, state: Vec::new() };
        let order = self.fenced(order, place, around).ok()?;
        let (mut running, told) = match self.keeper.spawn(&order).await {
            Ok(running) => (running, Some(Pace { frozen: false, ..pace })),
            // An engine that died meanwhile has started it already.
            Err(supervise::Error::GaveUp(_)) => match find(&folder, owner.session, None).ok()? {
                Found::Running(running) => (running, None),
                Found::Ended(ended) => return ended.code,
                Found::Gone => return None,
            },
            Err(_) => return None,
        };
        live.reach((running.process, running.remote()), told);
        while running.read().await.is_some() {}
        match running.wait().await {
            Exit::Ended(ended) => ended.code,
            Exit::Lost { .. } => None,
        }
    }
}
