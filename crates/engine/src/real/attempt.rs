//! One attempt, from its workspace to its end.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use legation_core::Code;
use legation_core::agent::{Definition, Runner};
use legation_core::config::Cgroup;
use legation_core::returns::{Receipt, StopReason};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_core::tree::command::{End, Progress, Said, Spawned, Timing, Usage};
use legation_runners::command::{self, Report};
use legation_runners::hearing::Hearing;
use legation_runners::keep::{EXIT_FILE, Ended, KEEPER_FILE, Limits, Pace, cgroup};
use legation_runners::pricing::Pricing;
use legation_runners::supervise::{self, Exit, Found, Running, Traces, find, reap};
use legation_runners::vendors::{Vendor, runner_of};
use legation_runners::workspace::{From, New, Place, Start};

use super::Inner;
use super::envoy::{self, Mission};
use super::fence::Around;
use super::handed_in::written_at;
use super::live::Live;
use super::verify::Owner;
use crate::mail::Mailbox;
use crate::world::Job;

/// How often an attempt's progress is recorded at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);
/// How long an attempt may take to end after it has handed in its return.
const END_AFTER: Duration = Duration::from_secs(10);

/// From how many seconds on a program is worth the milliseconds a group of its own takes.
const LONG_SECONDS: u64 = 600;

/// What an attempt said until its processes ended.
pub(super) struct Heard {
    pub(super) hearing: Hearing,
    pub(super) exit: Exit,
    /// When it ended, where nobody was there to see it.
    pub(super) ended_at: Option<Now>,
}

impl Heard {
    /// Whether it ended before its time or a word of ours ended it.
    pub(super) fn ended_by_itself(&self) -> bool {
        match &self.exit {
            Exit::Ended(ended) => !ended.stopped && !ended.timed_out,
            Exit::Lost { .. } => false,
        }
    }
}

/// Why an attempt never began.
pub(super) struct Obstacle {
    code: Code,
    pub(super) why: String,
    /// Not before this time, and it is nobody's fault.
    hold_until: Option<Now>,
    /// A keeper that an engine started before it died is there already.
    is_kept: bool,
}

impl Obstacle {
    pub(super) fn new(code: Code, why: impl Into<String>) -> Self {
        Self { code, why: why.into(), hold_until: None, is_kept: false }
    }
}

impl Inner {
    /// Makes the workspace, starts the program, listens to it, and tells how it ended.
    pub(super) async fn attempt(self: Arc<Self>, job: Job, live: Arc<Live>, mail: Mailbox) {
        if self.folder(&job.attempt).join(KEEPER_FILE).exists() {
            // It was started, and the engine died before that was recorded.
            return self.take_up(job, live, mail).await;
        }
        match self.start(&job, &live, &mail).await {
            Ok((place, running)) => self.see_through(job, place, running, (live, mail)).await,
            Err(Obstacle { is_kept: true, .. }) => self.take_up(job, live, mail).await,
            Err(obstacle) => {
                mail.tell(not_started(&job, &live, obstacle)).await;
                self.end(&job.attempt);
            }
        }
    }

    /// After a restart: goes on with what is found, or says that it is lost.
    pub(super) async fn take_up(self: Arc<Self>, job: Job, live: Arc<Live>, mail: Mailbox) {
        let (folder, session, process) =
            (self.folder(&job.attempt), job.session.clone(), job.process);
        let attempt = job.attempt.clone();
        let place = self.on_spaces(move |spaces| spaces.find(attempt.as_str())).await;
        let place = place.ok().flatten();
        let found = find(&folder, &session, process);
        match (found, place) {
            (Ok(Found::Running(running)), Some(place)) => {
                live.reach((running.process, running.remote()), None);
                mail.tell(spawned(&job, &place, &running)).await;
                self.see_through(job, place, running, (live, mail)).await;
            }
            (Ok(Found::Ended(ended)), Some(place)) => {
                let heard = heard_of(self.hearing(&job), &folder, ended);
                let asked = self.honour_entries(&job, &heard, &mail).await;
                let mut end = self.collect(&job, &place, heard, &live).await;
                asked.add_to(&mut end.receipt);
                mail.tell(Command::End(Box::new(end))).await;
                self.end(&job.attempt);
            }
            (Ok(Found::Running(_) | Found::Ended(_) | Found::Gone) | Err(_), _) => {
                // Whatever is left of it must not go on beside its successor.
                self.reap(&job).await;
                mail.tell(Command::Lose { attempt: job.attempt.clone() }).await;
                self.end(&job.attempt);
            }
        }
    }

    /// Ends everything that an attempt without a keeper has left.
    async fn reap(&self, job: &Job) {
        let (session, dir, keeper) = (job.session.clone(), self.folder(&job.attempt), job.process);
        let workspace = job.workspace.as_ref().map(PathBuf::from);
        let reaping = tokio::task::spawn_blocking(move || {
            let workspace = workspace.as_deref();
            reap(Traces { session: &session, dir: &dir, keeper, workspace })
        });
        // How many there were is nobody's concern, and it blocks too long to fail.
        drop(reaping.await);
    }

    /// From the workspace to a running program.
    async fn start(
        &self,
        job: &Job,
        live: &Live,
        mail: &Mailbox,
    ) -> Result<(Place, Running), Obstacle> {
        let (definition, file) = self.agent(&job.agent, job.parent.as_ref()).ok_or_else(|| {
            Obstacle::new(
                Code::AgentNotFound,
                format!("There is no agent `{}` any more.", job.agent),
            )
        })?;
        let env = self.passed_on(&job.tree);
        let Some(runner) = runner_of(&definition, &env) else {
            let why = format!("There is no program to run agent `{}` with.", job.agent);
            return Err(Obstacle::new(Code::ToolUnavailable, why));
        };
        if let Some(until) = self.held(&runner.limited_as(&job.agent, &definition)) {
            let why = "The provider has asked to wait.".to_owned();
            let obstacle = Obstacle::new(Code::ToolUnavailable, why);
            return Err(Obstacle { hold_until: Some(until), ..obstacle });
        }
        // It is loaded while the workspace is made. Conversations have no process of their own.
        let keeper = (runner != Runner::Llm).then(|| self.keeper.start(&job.attempt));
        let place = self.workspace(job).await?;
        if live.is_stopping() {
            return Err(Obstacle::new(
                Code::UnknownError,
                "It was stopped before it began.".to_owned(),
            ));
        }
        self.set_up(Owner::of(job), &place, &definition, live).await?;
        let pace = live.pace();
        let agent = (&definition, file.as_deref());
        let (order, state) = self.order(job, &place, agent, (runner, env, pace))?;
        let around = Around {
            path: &job.brief.delegation_path,
            agent_file: file.as_deref(),
            state,
            can_ask: matches!(runner, Runner::Acp | Runner::Llm),
        };
        let order = self.fenced(order, &place, around)?;
        let running = match keeper {
            None => self.chancery.spawn(&order).await,
            Some(Ok(keeper)) => keeper.instruct(&order).await,
            Some(Err(error)) => Err(error),
        };
        let running = running.map_err(|error| Obstacle {
            is_kept: matches!(error, supervise::Error::GaveUp(_)),
            ..Obstacle::new(Code::ToolUnavailable, error.to_string())
        })?;
        live.reach((running.process, running.remote()), Some(Pace { frozen: false, ..pace }));
        mail.tell(spawned(job, &place, &running)).await;
        Ok((place, running))
    }

    async fn workspace(&self, job: &Job) -> Result<Place, Obstacle> {
        let start = Start {
            tree: job.tree.to_string(),
            delegation: job.delegation.to_string(),
            from: match &job.base.parent {
                Some((attempt, _)) => From::Attempt(attempt.to_string()),
                None => From::User,
            },
            include_dirty: job.base.include_dirty,
        };
        let mut new = New {
            tree: job.tree.to_string(),
            delegation: job.delegation.to_string(),
            subtask: job.subtask.to_string(),
            attempt: job.attempt.to_string(),
            with: Vec::new(),
        };
        let builds_on = job.base.with.clone();
        let resolves = job.base.resolves.clone();
        let made = self.on_spaces(move |spaces| {
            spaces.begin(&start)?;
            if let Some(conflicting) = resolves {
                return spaces.confront(&new, conflicting.as_str());
            }
            for attempt in &builds_on {
                new.with.extend(spaces.kept_commit(&new.tree, attempt.as_str())?);
            }
            spaces.create(&new)
        });
        made.await.map_err(|why| Obstacle::new(Code::WorkspaceFailed, why))
    }

    fn order(
        &self,
        job: &Job,
        place: &Place,
        (definition, file): (&Definition, Option<&Path>),
        (runner, caller, pace): (Runner, BTreeMap<String, String>, Pace),
    ) -> Result<(legation_runners::keep::Order, Vec<PathBuf>), Obstacle> {
        let folder = self.folder(&job.attempt);
        let made = fs::create_dir_all(&folder)
            .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
            .and_then(|()| lay_out_schema(&folder, definition));
        made.map_err(|problem| {
            Obstacle::new(Code::WorkspaceFailed, format!("{folder:?}: {problem}"))
        })?;
        let env = environment(place, definition);
        let group = self.group(job);
        let mission = match runner {
            Runner::Command => None,
            Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp
            | Runner::Llm => {
                Some(self.mission(job, place, (definition, file), (runner, &caller))?)
            }
        };
        let brief = serde_json::to_string(&job.brief).unwrap_or_default();
        let own = envoy::command(&self.keeper.exe, runner);
        let start = command::Start {
            attempt: &job.attempt,
            session: &job.session,
            place: command::Place {
                dir: &folder,
                workspace: &place.cwd,
                socket: &self.options.socket,
                token: &self.token(&job.tree, &job.attempt),
                depth: job.brief.delegation_depth,
            },
            command: mission.as_ref().map_or(&definition.legation.command, |_| &own),
            vendor: Vendor::behind(runner, &definition.legation.command),
            env: &env,
            agent_file: file,
            brief: &brief,
            limits: Limits::default(),
            deadline_ms: pace.deadline_ms,
            cgroup: group.as_deref(),
        };
        let mut order = start.order(caller).map_err(|error| {
            let code = match &error {
                command::Error::Unresolved(_) => Code::ToolUnavailable,
                command::Error::Folder { .. } => Code::WorkspaceFailed,
            };
            Obstacle::new(code, error.to_string())
        })?;
        let Some(Mission { mut charge, state }) = mission else { return Ok((order, Vec::new())) };
        charge.door.env = own_variables(&order);
        charge.is_fenced = self.is_fence_wanted();
        order.stdin = serde_json::to_string(&charge).unwrap_or_default();
        order.asks_first = true;
        Ok((order, state))
    }

    /// The model that an attempt's agent asks for, and what runs it. The agent may be gone
    /// by now; then nobody knows.
    fn run_by(&self, job: &Job) -> (Option<String>, Option<Runner>) {
        let Some((definition, _)) = self.agent(&job.agent, job.parent.as_ref()) else {
            return (None, None);
        };
        let runner = runner_of(&definition, &self.passed_on(&job.tree));
        (definition.model, runner)
    }

    /// Keeps in mind that the provider behind an attempt wants to be left alone.
    pub(super) fn leave_alone(&self, job: &Job, until: Now) {
        let Some((definition, _)) = self.agent(&job.agent, job.parent.as_ref()) else { return };
        if let Some(runner) = runner_of(&definition, &self.passed_on(&job.tree)) {
            self.hold(runner.limited_as(&job.agent, &definition), until);
        }
    }

    /// What listens to an attempt.
    fn hearing(&self, job: &Job) -> Hearing {
        let (_, runner) = self.run_by(job);
        Hearing::of(runner.unwrap_or(Runner::Command))
    }

    /// How the tokens of an attempt are priced.
    pub(super) fn pricing(&self, job: &Job) -> Pricing {
        let (model, runner) = self.run_by(job);
        Pricing::new(self.home().config.prices.clone(), model, runner)
    }

    /// The cgroup of an attempt, where it gets one. The keeper is the parent of every
    /// orphan anyhow; a group also holds when the keeper is killed.
    fn group(&self, job: &Job) -> Option<PathBuf> {
        let wanted = match self.home().config.sandbox.cgroup {
            Cgroup::Always => true,
            Cgroup::Auto => job.brief.timeout > LONG_SECONDS,
            Cgroup::Off => false,
        };
        wanted.then(|| cgroup::of(job.attempt.as_str())).flatten()
    }

    /// Listens until everything has ended, then looks at what there is.
    async fn see_through(
        self: Arc<Self>,
        job: Job,
        place: Place,
        running: Running,
        (live, mail): (Arc<Live>, Mailbox),
    ) {
        let hearing = (self.hearing(&job), self.pricing(&job));
        let heard = listen(&job, (hearing, running), &live, &mail).await;
        // A keeper that was killed is no crash of ours: its attempt has failed.
        let asked = self.honour_entries(&job, &heard, &mail).await;
        let mut end = self.collect(&job, &place, heard, &live).await;
        asked.add_to(&mut end.receipt);
        mail.tell(Command::End(Box::new(end))).await;
        self.end(&job.attempt);
    }
}

/// Puts the agent's schema where whoever hands in a return finds it.
fn lay_out_schema(folder: &Path, definition: &Definition) -> io::Result<()> {
    let Some(schema) = &definition.legation.schema else { return Ok(()) };
    fs::write(folder.join(command::SCHEMA_FILE), schema.to_string())
}

/// What `legation` needs to be told to speak in the attempt's name.
fn own_variables(order: &legation_runners::keep::Order) -> BTreeMap<String, String> {
    let is_own = |name: &str| {
        name.starts_with("LEGATION_")
            || matches!(name, "DELEGATION_DEPTH" | "HOME" | "PATH" | "TMPDIR")
    };
    order.env.iter().filter(|(name, _)| is_own(name)).cloned().collect()
}

/// What programs in a workspace are told: what is theirs there, and what their agent says.
pub(super) fn environment(place: &Place, definition: &Definition) -> Vec<(String, String)> {
    let own = definition.legation.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    place.env.iter().cloned().chain(own).collect()
}

/// Passes on what a program says, until it and all it has started have ended.
async fn listen(
    job: &Job,
    ((mut hearing, pricing), mut running): ((Hearing, Pricing), Running),
    live: &Live,
    mail: &Mailbox,
) -> Heard {
    let mut told: Option<Instant> = None;
    let mut last = None;
    let overdue = async {
        live.handed_in.notified().await;
        tokio::time::sleep(END_AFTER).await;
    };
    tokio::pin!(overdue);
    let mut waits_for_end = true;
    loop {
        let chunk = tokio::select! {
            chunk = running.read() => chunk,
            () = &mut overdue, if waits_for_end => {
                waits_for_end = false;
                running.remote().stop();
                continue;
            }
        };
        let Some(chunk) = chunk else { break };
        for report in hearing.push(&chunk) {
            match report {
                Report::Usage(usage) => {
                    mail.tell(used(job, usage.tokens, pricing.so_far(&hearing), None)).await;
                }
                Report::Progress(progress) => last = Some(progress),
                Report::Context(tokens) => {
                    let (used_so_far, cost) = (hearing.usage().tokens, pricing.so_far(&hearing));
                    mail.tell(used(job, used_so_far, cost, Some(tokens))).await;
                }
                Report::Stalled => mail.tell(Command::Stall { attempt: job.attempt.clone() }).await,
                Report::Ignored(_) => {}
            }
        }
        if told.is_none_or(|at| at.elapsed() >= PROGRESS_EVERY)
            && let Some(progress) = last.take()
        {
            told = Some(Instant::now());
            mail.tell(Command::Progress(Progress {
                attempt: job.attempt.clone(),
                current: progress.current,
                total: progress.total,
                last_action: progress.last_action,
            }))
            .await;
        }
    }
    hearing.finish();
    Heard { hearing, exit: running.wait().await, ended_at: None }
}

fn used(
    job: &Job,
    tokens: legation_core::returns::Tokens,
    cost: Option<legation_core::money::Usd>,
    context: Option<u64>,
) -> Command {
    Command::Use(Usage { attempt: job.attempt.clone(), tokens, cost, context })
}

/// What an attempt wrote whose end nobody was there to see.
fn heard_of(mut hearing: Hearing, folder: &Path, ended: Ended) -> Heard {
    for piece in supervise::written(folder) {
        hearing.push(&piece);
    }
    hearing.finish();
    // The report is the last thing a keeper writes.
    let ended_at = written_at(&folder.join(EXIT_FILE));
    Heard { hearing, exit: Exit::Ended(ended), ended_at }
}

fn spawned(job: &Job, place: &Place, running: &Running) -> Command {
    Command::Spawned(Spawned {
        attempt: job.attempt.clone(),
        process: Some(running.process),
        workspace: Some(place.root.to_string_lossy().into_owned()),
        base: Some(place.base.clone()),
    })
}

fn not_started(job: &Job, live: &Live, obstacle: Obstacle) -> Command {
    let Obstacle { code, why, hold_until, is_kept: _ } = obstacle;
    let stop_reason =
        if live.is_stopping() { StopReason::Cancelled } else { StopReason::NotStarted };
    Command::End(Box::new(End {
        attempt: job.attempt.clone(),
        said: Said::NotStarted { code, why },
        receipt: Receipt { stop_reason, ..Receipt::default() },
        quality: None,
        hold_until,
        raw: None,
        timing: Timing::default(),
    }))
}
