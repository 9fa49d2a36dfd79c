//! The engine as a background process: one for each project, behind a local socket.
//!
//! It owns the project while it holds the lock. It is started by whoever needs it
//! and gone some time after it has nothing to do; attempts that run do not need it,
//! and the next one takes them up.

mod arrivals;
mod ask;
mod caller;
mod clean_up;
mod converse;
mod delegate;
mod descriptors;
mod look;
mod namespace;
mod place;
mod refuse;
mod steer;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use legation_core::returns::NO_WORKSPACE;
use legation_store::{Journal as _, Sqlite};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;

use self::arrivals::Arrival;
use crate::client::{Paths, PrepareError, is_attended, prepare};
use crate::engine::{Engine, Options};
use crate::host::{Home, Host, Trouble};
use crate::logs::Logs;
use crate::real::{Real, RealOptions, now};
use crate::talks::Talks;

/// How long the engine stays when it has nothing to do.
const IDLE: Duration = Duration::from_secs(30);
/// How long nobody is listened to after somebody could not be.
const BREATH: Duration = Duration::from_millis(50);
/// How often it looks whether it has.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const MS_PER_DAY: u64 = 86_400_000;

/// Why the engine cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another engine owns the project.
    #[error("another engine is at work for {0}")]
    Owned(PathBuf),
    /// A file or folder cannot be used.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Files {
        /// What was being done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A folder cannot be made.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] legation_store::Error),
    /// Workspaces cannot be made.
    #[error(transparent)]
    Workspaces(#[from] legation_runners::workspace::Error),
    /// The rules cannot be read.
    #[error(transparent)]
    Rules(#[from] Trouble),
    /// What the journal holds cannot be taken up.
    #[error(transparent)]
    Engine(#[from] crate::engine::Error),
}

/// What every conversation shares.
struct Service<H> {
    engine: Engine<Sqlite, Real>,
    real: Arc<Real>,
    host: H,
    talks: Arc<Talks>,
}

/// Serves a project until there has been nothing to do for a while. `ready` is called
/// when the socket listens.
pub async fn serve<H: Host>(
    project: PathBuf,
    paths: Paths,
    host: H,
    ready: impl FnOnce(),
) -> Result<(), ServeError> {
    prepare(&paths)?;
    descriptors::raise();
    let lock = place::lock(&paths)?;
    place::settle_in(&paths)?;
    let home = host.home(&BTreeMap::new())?;
    let limits = home.config.limits.clone();
    let logging = home.config.logging.clone();
    let workspace = home.config.workspace.clone();
    let secret = place::secret(&paths)?;
    // Before there is a second thread: the first one could not take it along.
    let (_inside, beyond) = namespace::enter(&paths, &workspace);
    let journal = Sqlite::open(&paths.journal, &legation_store::Options::default())?;
    let options = RealOptions {
        project: project.clone(),
        state: paths.state.clone(),
        socket: paths.socket.clone(),
        secret,
        beyond,
    };
    let real = Arc::new(Real::open(options, home)?);
    let logs = Logs::open(&paths.logs, &real.workspaces());
    let logs = logs.map_err(place::files("write", &paths.logs))?;
    let width = descriptors::fitting(limits.max_concurrent_total);
    let engine = Engine::new(journal, real.clone(), Options { width, logs: Some(logs) });
    let listener = place::listen(&paths)?;
    let talks = Talks::new(descriptors::talks());
    let arrivals = arrivals::take(listener, real.clone(), talks.clone());
    let arrivals = arrivals.map_err(place::files("listen on", &paths.socket))?;
    let service = Arc::new(Service { engine, real, host, talks });
    let open = service.engine.recover(is_attended(&paths)).await?;
    service.real.forget_callers_but(&open);
    ready();
    service.engine.keep_history(logging.store_history);
    service.clone().forget_old(logging.history_retention, paths.clone());
    service.clone().clean_up(&workspace);
    service.clone().clear_leavings(open, &paths.attempts());
    service.listen(arrivals, || place::is_ours(&paths, &lock)).await;
    place::leave(&paths, lock);
    Ok(())
}

impl<H: Host> Service<H> {
    /// Takes calls until nothing is left to do, or somebody says to stop.
    async fn listen(self: &Arc<Self>, mut arrivals: Receiver<Arrival>, is_ours: impl Fn() -> bool) {
        let Ok(mut stop) = signal(SignalKind::terminate()) else { return };
        let mut idle_since = Instant::now();
        loop {
            tokio::select! {
                () = async { stop.recv().await.unwrap_or(()) } => return,
                arrival = arrivals.recv() => {
                    let Some(arrival) = arrival else { return };
                    let service = self.clone();
                    tokio::spawn(async move { service.converse(arrival).await });
                }
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            if self.engine.is_busy() || self.is_talking() {
                idle_since = Instant::now();
            }
            // A journal that takes nothing more is opened again by the next engine.
            let useless = self.engine.failure().is_some() && !self.is_talking();
            // Whoever removes the project's state takes the project away from us.
            if useless || idle_since.elapsed() >= IDLE || !is_ours() {
                return;
            }
        }
    }

    fn is_talking(&self) -> bool {
        !self.talks.is_empty()
    }

    /// Forgets what is older than the history is kept, in the background.
    fn forget_old(self: Arc<Self>, days: u32, paths: Paths) {
        tokio::spawn(async move {
            let before = now().0.saturating_sub(u64::from(days) * MS_PER_DAY);
            let old = Duration::from_millis(u64::from(days) * MS_PER_DAY);
            let clear = move || place::clear_old(&paths.attempts(), old);
            drop(tokio::task::spawn_blocking(clear).await);
            let before = i64::try_from(before).unwrap_or(i64::MAX);
            // What could not be forgotten now is forgotten by the next start.
            let _ = self.engine.journal().forget_before(before).await;
        });
    }

    /// The rules and agents as the files say now.
    async fn home(self: &Arc<Self>, env: BTreeMap<String, String>) -> Result<Arc<Home>, Trouble> {
        let service = self.clone();
        let read = tokio::task::spawn_blocking(move || service.host.home(&env)).await;
        let home = read.unwrap_or_else(|problem| {
            Err(Trouble {
                code: legation_core::Code::UnknownError,
                message: format!("the project's files could not be read: {problem}"),
                hint: "try again".to_owned(),
                details: serde_json::Value::Null,
            })
        })?;
        self.engine.resize(descriptors::fitting(home.config.limits.max_concurrent_total));
        self.engine.keep_history(home.config.logging.store_history);
        self.real.move_to(home).await.map_err(|message| Trouble {
            code: legation_core::Code::WorkspaceFailed,
            message: format!("{NO_WORKSPACE}\n{message}"),
            hint: "set `workspace` of the configuration to what can be had here".to_owned(),
            details: serde_json::Value::Null,
        })
    }
}
