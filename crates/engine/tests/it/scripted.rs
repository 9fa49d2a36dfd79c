//! A world that plays a script, for tests and benchmarks: every attempt does as its task
//! says. Everything else is the engine as it is.
//!
//! A task with the word `fail` fails, one with `hold` waits until it is stopped, and the
//! first with `limited` hears from its provider that it has to wait, as everybody does
//! who asks the same provider before the time is up. All others succeed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use legation_core::Code;
use legation_core::ids::{AgentId, AttemptId, SessionId};
use legation_core::returns::{Metadata, Receipt, Return, ReturnStatus};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_core::tree::command::{End, Said, Spawned, Timing};
use legation_core::tree::event::MergeOutcome;
use legation_engine::world::{Act, Job, Manner};
use legation_engine::{Mailbox, World};
use tokio::time::Instant;

/// Milliseconds that a provider with too much to do wants to be left alone.
pub(crate) const LIMITED_MS: u64 = 60_000;

/// The world of the script.
#[derive(Debug)]
pub(crate) struct Scripted {
    /// When the world began, by both clocks.
    began: (Now, Instant),
    drawn: AtomicU64,
    /// Milliseconds each attempt takes.
    wait_ms: AtomicU64,
    started: AtomicU64,
    /// Attempts that wait until somebody stops them.
    held: Mutex<Vec<(AttemptId, Mailbox)>>,
    /// Until when the provider of an agent wants to be left alone.
    limits: Mutex<BTreeMap<AgentId, Now>>,
}

impl Default for Scripted {
    fn default() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = Now(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        Self {
            began: (now, Instant::now()),
            drawn: AtomicU64::new(now.0),
            wait_ms: AtomicU64::new(0),
            started: AtomicU64::new(0),
            held: Mutex::default(),
            limits: Mutex::default(),
        }
    }
}

/// What an attempt reports, as far as it is remembered: a brief is large.
struct Part {
    attempt: AttemptId,
    session: SessionId,
    agent: AgentId,
    summary: String,
}

impl Scripted {
    /// From now on each attempt takes so long.
    pub(crate) fn wait(&self, ms: u64) {
        self.wait_ms.store(ms, Ordering::Relaxed);
    }

    /// How many attempts have begun since this was last asked.
    pub(crate) fn started(&self) -> u64 {
        self.started.swap(0, Ordering::SeqCst)
    }

    fn spawn(&self, job: Job, mail: Mailbox) {
        if let Some(until) = self.limit(&job) {
            let why = "The provider has asked to wait.".to_owned();
            let said = Said::NotStarted { code: Code::ToolUnavailable, why };
            send(mail, end(job.attempt, said, Some(until)));
            return;
        }
        self.started.fetch_add(1, Ordering::SeqCst);
        let said = |word: &str| job.brief.task.contains(word);
        let (holds, fails, limited) = (said("hold"), said("fail"), said("limited"));
        let heard = !job.brief.task.is_empty() && !job.brief.return_format.is_empty();
        let wait = Duration::from_millis(self.wait_ms.load(Ordering::Relaxed));
        let hold_until = if limited { self.first_limit(&job.agent) } else { None };
        if holds {
            lock(&self.held).push((job.attempt.clone(), mail.clone()));
        }
        let summary = format!("did {}", job.brief.task);
        let part = Part { attempt: job.attempt, session: job.session, agent: job.agent, summary };
        tokio::spawn(async move {
            mail.tell(spawned(&part.attempt)).await;
            if holds {
                return;
            }
            if !wait.is_zero() {
                tokio::time::sleep_until(Instant::now() + wait).await;
            }
            let attempt = part.attempt.clone();
            let is_well = heard && !fails && hold_until.is_none();
            let said = if is_well { Said::Return(done(part)) } else { Said::Nothing };
            mail.tell(end(attempt, said, hold_until)).await;
        });
    }

    /// Until when the provider of an attempt wants to be left alone.
    fn limit(&self, job: &Job) -> Option<Now> {
        lock(&self.limits).get(&job.agent).copied().filter(|until| *until > self.now())
    }

    /// The provider wants to be left alone from now on, unless it has said so before.
    fn first_limit(&self, agent: &AgentId) -> Option<Now> {
        let mut limits = lock(&self.limits);
        if limits.contains_key(agent) {
            return None;
        }
        let until = self.now().plus_ms(LIMITED_MS);
        limits.insert(agent.clone(), until);
        Some(until)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded is never left half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(mail: Mailbox, command: Command) {
    tokio::spawn(async move { mail.tell(command).await });
}

fn spawned(attempt: &AttemptId) -> Command {
    let attempt = attempt.clone();
    Command::Spawned(Spawned { attempt, process: None, workspace: None, base: None })
}

fn done(part: Part) -> Return {
    Return {
        status: ReturnStatus::Completed,
        summary: part.summary,
        artifacts: Vec::new(),
        metadata: Metadata {
            session_id: part.session,
            agent_type: part.agent,
            delegation_depth: 1,
            delegation_path: Vec::new(),
            duration_seconds: None,
        },
        errors: Vec::new(),
        next_steps: None,
        data: None,
    }
}

fn end(attempt: AttemptId, said: Said, hold_until: Option<Now>) -> Command {
    let receipt = Receipt::default();
    let timing = Timing::default();
    Command::End(Box::new(End {
        attempt,
        said,
        receipt,
        quality: None,
        hold_until,
        raw: None,
        timing,
    }))
}

impl World for Scripted {
    fn now(&self) -> Now {
        let since = self.began.1.elapsed().as_millis();
        self.began.0.plus_ms(u64::try_from(since).unwrap_or(u64::MAX))
    }

    fn draw(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    async fn until(&self, at: Now) {
        let rest = Duration::from_millis(at.since_ms(self.now()));
        tokio::time::sleep_until(Instant::now() + rest).await;
    }

    fn act(&self, act: Act, mail: Mailbox) {
        match act {
            Act::Spawn(job) | Act::Find(job) => self.spawn(*job, mail),
            Act::Stop { attempt, .. } => {
                // Who is not held ends by itself.
                let mut held = lock(&self.held);
                if let Some(at) = held.iter().position(|(held, _)| *held == attempt) {
                    let (attempt, mail) = held.swap_remove(at);
                    send(mail, end(attempt, Said::Nothing, None));
                }
            }
            Act::Freeze { attempt, frozen } => send(mail, Command::Froze { attempt, frozen }),
            Act::SetDeadline { .. } | Act::Keep(_) | Act::StopMerge { .. } => {}
            Act::Answer { attempt, .. } => send(mail, Command::Answered { attempt }),
            Act::Merge(work) => {
                let outcome = MergeOutcome::Clean { commit: None };
                send(mail, Command::Merged { attempt: work.attempt, outcome });
            }
            Act::Remove(work) => {
                send(mail, Command::WorkspaceRemoved { attempt: work.attempt, kept: None });
            }
            Act::RollBack { delegation, .. } => send(mail, Command::RolledBack { delegation }),
            Act::Bring { delegation, .. } => {
                tokio::spawn(async move { mail.brought(delegation, None).await });
            }
        }
    }

    fn manner(&self, _agent: &AgentId, _parent: Option<&AgentId>) -> Manner {
        Manner { prompt: "You are a child".to_owned(), ..Manner::default() }
    }
}
