//! The real world: workspaces on disk, programs under their keepers, the clock.
//!
//! An attempt is one task from its workspace to its end. What it reports goes to
//! the mailbox of its tree as it comes; what it left behind is looked at here,
//! never believed.

mod attempt;
mod callers;
mod collect;
mod entries;
mod envoy;
mod fence;
mod handed_in;
mod live;
mod queue;
mod set_up;
mod verify;
mod works;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use legation_core::agent::Definition;
use legation_core::config::{Mechanism, Workspace};
use legation_core::ids::{AgentId, AttemptId, DelegationId};
use legation_core::time::Now;
use legation_core::tree::Command;
use legation_runners::hearing::Hearing;
use legation_runners::keep::Pace;
use legation_runners::supervise::{Ancestry, Chancery, Keeper, Remote, Stream, ancestry, tail};
use legation_runners::vendors::runner_of;
use legation_runners::workspace::{self, Spaces};
use rustc_hash::FxHashMap;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use self::callers::Callers;
pub use self::fence::Grounds;
use self::live::Live;
pub(crate) use self::works::clear_leavings;
use crate::client::passed_on;
use crate::host::Home;
use crate::mail::Mailbox;
use crate::token::Secret;
use crate::world::{Act, Job, Manner, World};

const BYTES_PER_MB: u64 = 1024 * 1024;
/// How long others who look at workspaces are waited for at the start.
const ALONE_WITHIN: Duration = Duration::from_secs(2);
/// What is read of an attempt's words for those it hands work to.
const MAX_SAID_BYTES: u64 = 64 * 1024;
/// Workspaces that are worked on at once; the rest waits for a thread.
const MAX_WORKS: u32 = 8;
/// How much later than the engine a keeper ends what is out of time: the engine knows
/// of pauses first.
const KEEPER_LATER_MS: u64 = 1_000;

/// Where a project and everything that belongs to it is.
#[derive(Clone, Debug)]
pub struct RealOptions {
    /// The project.
    pub project: PathBuf,
    /// Where workspaces and attempts have their folders.
    pub state: PathBuf,
    /// The socket that children call.
    pub socket: PathBuf,
    /// What seals tokens.
    pub secret: Secret,
    /// What is known of user namespaces, where this process may lay no overlay.
    pub beyond: workspace::Beyond,
}

/// The real world of one project.
#[derive(Clone)]
pub struct Real {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    options: RealOptions,
    home: RwLock<Arc<Home>>,
    spaces: RwLock<Arc<Spaces>>,
    keeper: Keeper,
    /// Where conversations with models are held.
    chancery: Chancery,
    running: Mutex<FxHashMap<AttemptId, Arc<Live>>>,
    callers: Callers,
    works: Semaphore,
    /// Until when nobody of these accounts is wanted by its provider.
    holds: Mutex<FxHashMap<String, Now>>,
}

impl Real {
    /// The world of a project.
    pub fn open(options: RealOptions, home: Home) -> Result<Self, workspace::Error> {
        let spaces = options.spaces(&home)?;
        let keeper = Keeper::own().unwrap_or_else(|_| Keeper {
            exe: PathBuf::from("/proc/self/exe"),
            args: vec!["keep".into()],
        });
        let inner = Inner {
            home: RwLock::new(Arc::new(home)),
            spaces: RwLock::new(Arc::new(spaces)),
            chancery: Chancery::beside(&keeper),
            keeper,
            running: Mutex::default(),
            callers: Callers::in_folder(options.state.join("callers")),
            works: Semaphore::new(MAX_WORKS as usize),
            holds: Mutex::default(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Goes by other rules and agents from now on. Where workspaces are to be made in
    /// another way, that waits until nobody is at work on one.
    pub async fn move_to(&self, home: Home) -> Result<Arc<Home>, String> {
        let home = Arc::new(home);
        let before = self.home();
        if is_made_otherwise(&before.config.workspace, &home.config.workspace) {
            // The semaphore is never closed.
            let _alone = self.inner.works.acquire_many(MAX_WORKS).await;
            let (options, wanted) = (self.inner.options.clone(), home.clone());
            let opened = tokio::task::spawn_blocking(move || options.spaces(&wanted)).await;
            let opened = opened.map_err(|problem| problem.to_string())?;
            let spaces = opened.map_err(|problem| problem.to_string())?;
            let mut slot = self.inner.spaces.write().unwrap_or_else(PoisonError::into_inner);
            *slot = Arc::new(spaces);
        }
        *self.inner.home.write().unwrap_or_else(PoisonError::into_inner) = home.clone();
        Ok(home)
    }

    /// The rules and agents that are in force.
    pub fn home(&self) -> Arc<Home> {
        self.inner.home()
    }

    /// The folder that new workspaces lie in.
    pub(crate) fn workspaces(&self) -> PathBuf {
        self.inner.spaces().homes().pop().unwrap_or_default()
    }

    /// The workspaces of the project.
    pub(crate) fn spaces(&self) -> Arc<Spaces> {
        self.inner.spaces()
    }

    /// Keeps what children of a new tree may see of its caller's environment.
    pub fn keep_caller(&self, tree: &DelegationId, env: &BTreeMap<String, String>) {
        // A tree without it runs with what this process sees itself.
        let _ = self.inner.callers.keep(tree, env);
    }

    /// Lends the environment of whoever has a tree go on to its children, if that of the
    /// first caller is not kept any more; says whether that is so.
    pub fn lend(&self, tree: &DelegationId, env: &BTreeMap<String, String>) -> bool {
        let is_lent = self.inner.callers.of(tree).is_none();
        if is_lent {
            self.keep_caller(tree, env);
        }
        is_lent
    }

    /// Forgets the callers of all trees but these.
    pub fn forget_callers_but(&self, trees: &[DelegationId]) {
        self.inner.callers.forget_all_but(trees);
    }

    /// Forgets the caller of a tree that was not accepted.
    pub fn forget_caller(&self, tree: &DelegationId) {
        self.inner.callers.forget(tree);
    }

    /// Which attempt a process belongs to, whoever its parent is now.
    pub fn owner_of(&self, pid: u32) -> Ancestry<AttemptId> {
        let keepers: Vec<_> = self
            .inner
            .running()
            .iter()
            .filter_map(|(id, live)| Some((live.process()?, id.clone())))
            .collect();
        ancestry(pid, &keepers)
    }

    /// Whether there is a program to run an agent with, for whoever has this environment.
    pub fn can_run(
        &self,
        agent: &AgentId,
        parent: Option<&AgentId>,
        env: &BTreeMap<String, String>,
    ) -> bool {
        let found = self.inner.agent(agent, parent);
        found.is_some_and(|(definition, _)| runner_of(&definition, env).is_some())
    }

    /// What children of a tree may see of its caller's environment.
    pub fn passed_on(&self, tree: &DelegationId) -> BTreeMap<String, String> {
        self.inner.passed_on(tree)
    }

    /// Why nothing at all can be run, where that is so.
    pub fn obstacle(&self) -> Option<String> {
        self.inner.no_fence()
    }

    /// The attempt that a token names, if we made it.
    pub fn open_token(&self, token: &str) -> Option<(DelegationId, AttemptId)> {
        self.inner.options.secret.open(token)
    }

    /// Whether a folder lies in a workspace of this project.
    pub fn is_workspace(&self, folder: &Path) -> bool {
        self.inner.spaces().homes().iter().any(|home| folder.starts_with(home))
    }

    /// An attempt asks something of a human; the word comes by what is answered here.
    /// Nothing means that it asks already, or does not run.
    pub fn asks(&self, attempt: &AttemptId) -> Option<oneshot::Receiver<bool>> {
        self.inner.running().get(attempt).cloned()?.ask()
    }

    /// An attempt says that it has handed in its return.
    pub fn submitted(&self, attempt: &AttemptId) {
        if let Some(live) = self.inner.running().get(attempt) {
            live.handed_in.notify_one();
        }
    }
}

impl Inner {
    fn running(&self) -> MutexGuard<'_, FxHashMap<AttemptId, Arc<Live>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn home(&self) -> Arc<Home> {
        self.home.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The definition of an agent and the file it came from.
    fn agent(
        &self,
        id: &AgentId,
        parent: Option<&AgentId>,
    ) -> Option<(Definition, Option<PathBuf>)> {
        let home = self.home();
        let definition = home.roster.resolve(parent, id).ok()?.into_owned();
        let file = home.agents.get(id.as_str()).or_else(|| home.agents.get(parent?.as_str()));
        Some((definition, file.map(|agent| agent.file.clone())))
    }

    /// The folder of an attempt.
    fn folder(&self, attempt: &AttemptId) -> PathBuf {
        self.options.state.join("attempts").join(attempt.as_str())
    }

    /// What children of a tree may see of its caller's environment; where that is gone,
    /// of our own.
    fn passed_on(&self, tree: &DelegationId) -> BTreeMap<String, String> {
        self.callers.of(tree).unwrap_or_else(passed_on)
    }

    fn token(&self, tree: &DelegationId, attempt: &AttemptId) -> String {
        self.options.secret.seal(tree, attempt)
    }

    /// Does something slow with workspaces on a thread of its own.
    async fn on_spaces<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Spaces) -> Result<T, workspace::Error> + Send + 'static,
    ) -> Result<T, String> {
        // The semaphore is never closed.
        let _turn = self.works.acquire().await;
        let spaces = self.spaces();
        match tokio::task::spawn_blocking(move || work(&spaces)).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(problem) => Err(format!("the work on the workspace broke off: {problem}")),
        }
    }
}

impl RealOptions {
    /// The workspaces of the project, as its configuration wants them.
    fn spaces(&self, home: &Home) -> Result<Spaces, workspace::Error> {
        let wishes = &home.config.workspace;
        let limits = workspace::Options {
            copy_limit_bytes: wishes.copy_limit_mb.saturating_mul(BYTES_PER_MB),
            mechanism: wanted(wishes.mechanism),
            share: wishes.share.clone(),
            dir: wishes.dir.as_deref().map(|dir| named(&self.project, dir)),
            beyond: self.beyond.clone(),
            alone_within: ALONE_WITHIN,
            ..workspace::Options::default()
        };
        Spaces::open_with(&self.project, &self.state, &limits)
    }
}

/// Whether workspaces are opened in another way by the one configuration than by the other.
fn is_made_otherwise(one: &Workspace, other: &Workspace) -> bool {
    one.mechanism != other.mechanism
        || one.share != other.share
        || one.dir != other.dir
        || one.copy_limit_mb != other.copy_limit_mb
}

/// Until when a keeper waits for the engine to end an attempt, before it does so itself.
fn kept_until(deadline: Now) -> u64 {
    deadline.plus_ms(KEEPER_LATER_MS).0
}

/// A path that the configuration names: from the project's folder, or from home.
pub fn named(project: &Path, path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), fence::home_folder()) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_) | None, _) => project.join(path),
    }
}

/// The way of making workspaces that the configuration asks for.
fn wanted(mechanism: Mechanism) -> workspace::Wanted {
    match mechanism {
        Mechanism::Auto => workspace::Wanted::Auto,
        Mechanism::Overlay => workspace::Wanted::Overlay,
        Mechanism::Pool => workspace::Wanted::Pool,
        Mechanism::Worktree => workspace::Wanted::Worktree,
        Mechanism::Copy => workspace::Wanted::Copy,
    }
}

/// The time now.
pub(crate) fn now() -> Now {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Now(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl World for Real {
    fn now(&self) -> Now {
        now()
    }

    fn draw(&self) -> u64 {
        fastrand::u64(..)
    }

    async fn until(&self, at: Now) {
        tokio::time::sleep(Duration::from_millis(at.since_ms(now()))).await;
    }

    fn act(&self, act: Act, mail: Mailbox) {
        let inner = self.inner.clone();
        match act {
            Act::Spawn(job) => {
                let (live, attempt) = (inner.begin(&job), job.attempt.clone());
                let (worker, inbox) = (inner.clone(), mail.clone());
                let work = tokio::spawn(async move { worker.attempt(*job, live, inbox).await });
                drop(tokio::spawn(inner.watch(work, attempt, mail)));
            }
            Act::Find(job) => {
                let (live, attempt) = (inner.begin(&job), job.attempt.clone());
                let (worker, inbox) = (inner.clone(), mail.clone());
                let work = tokio::spawn(async move { worker.take_up(*job, live, inbox).await });
                drop(tokio::spawn(inner.watch(work, attempt, mail)));
            }
            Act::Stop { attempt, .. } => {
                let live = inner.running().get(&attempt).cloned();
                if let Some(live) = live {
                    live.stop();
                }
            }
            Act::Freeze { attempt, frozen } => {
                inner.set_pace(&attempt, |pace| pace.frozen = frozen);
                tokio::spawn(async move { mail.tell(Command::Froze { attempt, frozen }).await });
            }
            Act::SetDeadline { attempt, deadline } => {
                inner.set_pace(&attempt, |pace| pace.deadline_ms = deadline.map(kept_until));
            }
            Act::Answer { attempt, approved } => {
                // Nobody waits where the engine died in between; it is asked again then.
                let live = inner.running().get(&attempt).cloned();
                if let Some(live) = live {
                    live.answer(approved);
                }
                tokio::spawn(async move { mail.tell(Command::Answered { attempt }).await });
            }
            Act::Keep(work) => drop(tokio::spawn(async move { inner.keep_early(work).await })),
            Act::Merge(work) => {
                // Known before anything is begun, so that no word to stop it comes too early.
                let live = inner.begin_merge(&work.attempt);
                drop(tokio::spawn(async move { inner.merge(work, live, mail).await }));
            }
            Act::StopMerge { attempt } => {
                let live = inner.running().get(&attempt).cloned();
                if let Some(live) = live {
                    live.stop();
                }
            }
            Act::Remove(work) => drop(tokio::spawn(async move { inner.remove(work, mail).await })),
            Act::RollBack { delegation, .. } => {
                drop(tokio::spawn(async move { inner.roll_back(delegation, mail).await }));
            }
            Act::Bring { delegation, into, .. } => {
                drop(tokio::spawn(async move { inner.bring(delegation, into, mail).await }));
            }
        }
    }

    fn said(&self, attempt: &AttemptId, agent: &AgentId) -> Option<String> {
        let read = tail(&self.inner.folder(attempt), Stream::Stdout, MAX_SAID_BYTES);
        let (definition, _) = self.inner.agent(agent, None)?;
        let mut hearing = Hearing::of(runner_of(&definition, &BTreeMap::new())?);
        let is_cut = (read.bytes.len() as u64) < read.total;
        // A line whose beginning is cut off says nothing.
        let whole = read.bytes.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default();
        hearing.push(if is_cut { whole } else { &read.bytes });
        hearing.finish();
        Some(hearing.text())
    }

    fn over(&self, tree: &DelegationId) {
        self.forget_caller(tree);
    }

    fn manner(&self, agent: &AgentId, parent: Option<&AgentId>) -> Manner {
        let definition = self.inner.agent(agent, parent).map(|(definition, _)| definition);
        definition.map_or_else(Manner::default, |definition| Manner {
            delegates: definition.subagents.is_some(),
            prompt: definition.prompt,
            schema: definition.legation.schema,
        })
    }
}

impl Inner {
    /// Enters an attempt in the list of those that can be stopped.
    fn begin(&self, job: &Job) -> Arc<Live> {
        let deadline_ms = job.deadline.map(kept_until);
        let live = Arc::new(Live::new(Pace { deadline_ms, frozen: job.frozen, stop: false }));
        self.running().insert(job.attempt.clone(), live.clone());
        live
    }

    /// Lets the time of an attempt go by in another way.
    fn set_pace(&self, attempt: &AttemptId, change: impl FnOnce(&mut Pace)) {
        let live = self.running().get(attempt).cloned();
        if let Some(live) = live {
            return live.set_pace(change);
        }
        // It may have been started by an engine that died before it could say so, in a
        // tree that is paused and starts nothing until it is resumed.
        if let Some(remote) = Remote::of(&self.folder(attempt)) {
            let mut pace = Pace::default();
            change(&mut pace);
            // A keeper whose folder cannot be written to goes by its order.
            let _ = remote.set_pace(pace);
        }
    }

    /// The workspaces, as they are made now.
    fn spaces(&self) -> Arc<Spaces> {
        self.spaces.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Until when an account is to be left alone, if it is.
    fn held(&self, account: &str) -> Option<Now> {
        let holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        holds.get(account).copied().filter(|until| *until > now())
    }

    /// Keeps in mind that an account is to be left alone.
    fn hold(&self, account: String, until: Now) {
        let mut holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
        let held = holds.entry(account).or_default();
        *held = until.max(*held);
    }

    /// An attempt whose task broke off has an end, too: whatever runs of it is stopped.
    async fn watch(self: Arc<Self>, work: JoinHandle<()>, attempt: AttemptId, mail: Mailbox) {
        if work.await.is_ok() {
            return;
        }
        let live = self.running().remove(&attempt);
        if let Some(live) = live {
            live.stop();
        }
        mail.tell(Command::Lose { attempt }).await;
    }

    /// Takes it out again.
    fn end(&self, attempt: &AttemptId) {
        self.running().remove(attempt);
    }
}
