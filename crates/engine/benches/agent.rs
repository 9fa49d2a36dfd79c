//! A world with a scripted agent: it reads its task, waits as long as it was told
//! to, and returns. Everything else is the engine as it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use legation_core::ids::{AgentId, AttemptId, SessionId};
use legation_core::returns::{Metadata, Receipt, Return, ReturnStatus};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_core::tree::command::{End, Said, Spawned};
use legation_core::tree::event::MergeOutcome;
use legation_engine::world::{Act, Job, Manner};
use legation_engine::{Mailbox, World};

/// The world of the script.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    /// Milliseconds each child takes.
    wait_ms: AtomicU64,
    children: AtomicU64,
}

impl Scripted {
    /// From now on each child takes so long.
    pub(crate) fn wait(&self, ms: u64) {
        self.wait_ms.store(ms, Ordering::Relaxed);
    }

    /// How many children have run since this was last asked.
    pub(crate) fn children(&self) -> u64 {
        self.children.swap(0, Ordering::Relaxed)
    }

    fn spawn(&self, job: Job, mail: Mailbox) {
        self.children.fetch_add(1, Ordering::Relaxed);
        let wait = Duration::from_millis(self.wait_ms.load(Ordering::Relaxed));
        // A runner hands the brief over and keeps only what it reports.
        let heard = !job.brief.task.is_empty() && !job.brief.return_format.is_empty();
        let (attempt, session, agent) = (job.attempt, job.session, job.agent);
        tokio::spawn(async move {
            let begun =
                Spawned { attempt: attempt.clone(), process: None, workspace: None, base: None };
            mail.tell(Command::Spawned(begun)).await;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            mail.tell(end(attempt, session, agent, heard)).await;
        });
    }
}

fn end(attempt: AttemptId, session: SessionId, agent: AgentId, heard: bool) -> Command {
    let said = Said::Return(Return {
        status: if heard { ReturnStatus::Completed } else { ReturnStatus::Failed },
        summary: "child result".to_owned(),
        artifacts: Vec::new(),
        metadata: Metadata {
            session_id: session,
            agent_type: agent,
            delegation_depth: 1,
            delegation_path: Vec::new(),
            duration_seconds: None,
        },
        errors: Vec::new(),
        next_steps: None,
        data: None,
    });
    let receipt = Receipt::default();
    Command::End(Box::new(End {
        attempt,
        said,
        receipt,
        quality: None,
        hold_until: None,
        raw: None,
    }))
}

impl World for Scripted {
    fn now(&self) -> Now {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Now(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    fn draw(&self) -> u64 {
        fastrand::u64(..)
    }

    async fn until(&self, at: Now) {
        tokio::time::sleep(Duration::from_millis(at.since_ms(self.now()))).await;
    }

    fn act(&self, act: Act, mail: Mailbox) {
        match act {
            Act::Spawn(job) | Act::Find(job) => self.spawn(*job, mail),
            Act::Freeze { attempt, frozen } => {
                tokio::spawn(async move { mail.tell(Command::Froze { attempt, frozen }).await });
            }
            Act::Answer { attempt, .. } => {
                tokio::spawn(async move { mail.tell(Command::Answered { attempt }).await });
            }
            Act::Merge(work) => {
                let (attempt, outcome) = (work.attempt, MergeOutcome::Clean { commit: None });
                tokio::spawn(async move { mail.tell(Command::Merged { attempt, outcome }).await });
            }
            Act::Remove(work) => {
                let (attempt, kept) = (work.attempt, None);
                tokio::spawn(async move {
                    mail.tell(Command::WorkspaceRemoved { attempt, kept }).await;
                });
            }
            Act::RollBack { delegation, .. } => {
                tokio::spawn(async move { mail.tell(Command::RolledBack { delegation }).await });
            }
            Act::Bring { delegation, .. } => {
                tokio::spawn(async move { mail.brought(delegation, None).await });
            }
            // The script always ends by itself.
            Act::Stop { .. } | Act::SetDeadline { .. } => {}
        }
    }

    fn manner(&self, _agent: &AgentId, _parent: Option<&AgentId>) -> Manner {
        Manner { prompt: "You are a child".to_owned(), ..Manner::default() }
    }
}
