//! A world that plays a script: every attempt answers at once, as its task says.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use legation_core::agent::Roster;
use legation_core::call::{self, Asker, Call, House};
use legation_core::config::Config;
use legation_core::ids::{AgentId, DelegationId};
use legation_core::returns::{Metadata, Receipt, Return, ReturnStatus};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_core::tree::command::{Delegate, End, Said, Spawned};
use legation_core::tree::event::{Caller, MergeOutcome};
use legation_engine::world::{Act, Job, Manner};
use legation_engine::{Engine, Mailbox, Options, World};
use legation_store::Memory;

/// The world of the script.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    drawn: AtomicU64,
    pub(crate) running: AtomicU32,
    pub(crate) peak: AtomicU32,
    pub(crate) started: AtomicU32,
    /// Attempts that wait until somebody stops them.
    held: Mutex<Vec<(Job, Mailbox)>>,
}

impl World for Scripted {
    fn now(&self) -> Now {
        Now(1_000_000 + self.drawn.load(Ordering::Relaxed))
    }

    fn draw(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    async fn until(&self, _at: Now) {
        std::future::pending::<()>().await;
    }

    fn act(&self, act: Act, mail: Mailbox) {
        match act {
            Act::Spawn(job) | Act::Find(job) => self.spawn(*job, mail),
            Act::Stop { attempt, .. } => {
                let mut held = self.held.lock().unwrap();
                let at = held.iter().position(|(job, _)| job.attempt == attempt);
                if let Some((job, mail)) = at.map(|at| held.swap_remove(at)) {
                    tokio::spawn(async move { mail.tell(end(&job, ReturnStatus::Failed)).await });
                }
            }
            Act::Freeze { attempt, frozen } => {
                tokio::spawn(async move { mail.tell(Command::Froze { attempt, frozen }).await });
            }
            Act::SetDeadline { .. } => {}
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
        }
    }

    fn manner(&self, _agent: &AgentId, _parent: Option<&AgentId>) -> Manner {
        Manner::default()
    }
}

impl Scripted {
    fn spawn(&self, job: Job, mail: Mailbox) {
        self.started.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.peak.fetch_max(running, Ordering::SeqCst);
        self.running.fetch_sub(1, Ordering::SeqCst);
        if job.brief.task.contains("hold") {
            self.held.lock().unwrap().push((job.clone(), mail.clone()));
            tokio::spawn(async move { mail.tell(spawned(&job)).await });
            return;
        }
        let status = if job.brief.task.contains("fail") {
            ReturnStatus::Failed
        } else {
            ReturnStatus::Completed
        };
        tokio::spawn(async move {
            mail.tell(spawned(&job)).await;
            mail.tell(end(&job, status)).await;
        });
    }
}

fn spawned(job: &Job) -> Command {
    let attempt = job.attempt.clone();
    Command::Spawned(Spawned { attempt, process: None, workspace: None, base: None })
}

fn end(job: &Job, status: ReturnStatus) -> Command {
    let said = match status {
        ReturnStatus::Completed => Said::Return(Return {
            status,
            summary: format!("did {}", job.brief.task),
            artifacts: Vec::new(),
            metadata: Metadata {
                session_id: job.session.clone(),
                agent_type: job.agent.clone(),
                delegation_depth: 0,
                delegation_path: Vec::new(),
                duration_seconds: None,
            },
            errors: Vec::new(),
            next_steps: None,
            data: None,
        }),
        ReturnStatus::Partial | ReturnStatus::Failed | ReturnStatus::Blocked => Said::Nothing,
    };
    Command::End(Box::new(End {
        attempt: job.attempt.clone(),
        said,
        receipt: Receipt::default(),
        quality: None,
        hold_until: None,
        raw: None,
    }))
}

/// An engine over a journal in memory.
pub(crate) fn engine(width: u32) -> (Engine<Memory, Scripted>, Arc<Scripted>) {
    let world = Arc::new(Scripted::default());
    (Engine::new(Memory::default(), world.clone(), Options { width, logs: None }), world)
}

/// A root's call as the command it becomes; agents are not checked.
pub(crate) fn planned(call: &Call, id: DelegationId, config: &Config) -> Delegate {
    let roster = Roster::default();
    let house = House { config, roster: &roster };
    let caller = Caller::Root { name: AgentId::new("user"), depth: 0 };
    call::plan(call, house, &Asker { caller, path: Vec::new() }, id).unwrap().delegate
}
