//! Where the files of a project's engine lie.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use legation_core::digest;

use super::folder;

/// Bytes the path of a socket may have: what every system allows, with room to spare.
pub const MAX_SOCKET_BYTES: usize = 100;
/// Digits that stand for a project in names outside of it.
const HASH_DIGITS: usize = 16;
/// The folder of workspaces in the state folder.
const WORKSPACES: &str = "workspaces";
/// The file in the state folder that says whose it is.
const OWNER: &str = "project";
/// Where a socket goes if nothing shorter can be had.
const LAST_RESORT: &str = "/tmp";

/// What the environment says about places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// `$XDG_RUNTIME_DIR`, if it can be used.
    pub runtime: Option<PathBuf>,
    /// `$XDG_STATE_HOME`.
    pub state: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folder for temporary files.
    pub temp: PathBuf,
    /// The user.
    pub uid: u32,
}

impl Surroundings {
    /// What the environment of this process says. A relative path means nothing.
    pub fn current() -> Self {
        let folder = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let uid = rustix::process::getuid().as_raw();
        let usable = |path: &PathBuf| folder::is_private(path, uid);
        Self {
            runtime: folder("XDG_RUNTIME_DIR").filter(usable),
            state: folder("XDG_STATE_HOME"),
            // Whoever has no such variable still has a home, as the system knows.
            home: std::env::home_dir().filter(|home| home.is_absolute()),
            temp: std::env::temp_dir(),
            uid,
        }
    }

    /// The folder of sockets: short enough for one of them.
    fn sockets(&self, name_bytes: usize) -> PathBuf {
        let own = format!("legation-{}", self.uid);
        let wanted = match &self.runtime {
            Some(runtime) => runtime.join("legation"),
            None => self.temp.join(&own),
        };
        let bytes = wanted.as_os_str().len() + 1 + name_bytes;
        let fits = wanted.is_absolute() && bytes <= MAX_SOCKET_BYTES;
        if fits { wanted } else { Path::new(LAST_RESORT).join(own) }
    }

    fn states(&self) -> PathBuf {
        let home = || self.home.as_ref().map(|home| home.join(".local/state"));
        match self.state.clone().or_else(home) {
            Some(states) => states.join("legation"),
            // Without a home, what is kept lies where it may be swept away.
            None => self.temp.join(format!("legation-{}", self.uid)).join("state"),
        }
    }
}

/// Where the files of a project's engine lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The project.
    pub project: PathBuf,
    /// The socket that the engine listens on.
    pub socket: PathBuf,
    /// The file whose lock the engine holds. It lies in the project and not in the state folder,
    /// of which there is another in every other environment: nobody shall start a second engine.
    pub lock: PathBuf,
    /// The journal.
    pub journal: PathBuf,
    /// The folder of log files.
    pub logs: PathBuf,
    /// The folder of everything that must not lie in the project.
    pub state: PathBuf,
}

impl Paths {
    /// The places of a project, by the environment of this process.
    pub fn of(project: &Path) -> Self {
        Self::within(project, &Surroundings::current())
    }

    /// The places of a project in these surroundings. However the project is written,
    /// links followed, the places are the same.
    pub fn within(project: &Path, surroundings: &Surroundings) -> Self {
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let hash = hash(&project);
        let socket = format!("{hash}.sock");
        let own = project.join(".legation");
        Self {
            socket: surroundings.sockets(socket.len()).join(&socket),
            lock: own.join("engine.lock"),
            journal: own.join("legation.db"),
            logs: own.join("logs"),
            state: surroundings.states().join(hash),
            project,
        }
    }

    /// The folder of workspaces.
    pub fn workspaces(&self) -> PathBuf {
        self.state.join(WORKSPACES)
    }

    /// The folder of what attempts leave for the engine.
    pub fn attempts(&self) -> PathBuf {
        self.state.join("attempts")
    }

    /// The file that whoever keeps the engine running on purpose holds a lock of.
    pub fn attended(&self) -> PathBuf {
        self.state.join("attended")
    }

    /// The file that says the same as that which the engine locks, for who may not open that.
    pub fn listens(&self) -> PathBuf {
        self.lock.with_file_name("engine.socket")
    }

    /// What the engine says that nobody asked for.
    pub fn engine_log(&self) -> PathBuf {
        self.logs.join("engine.log")
    }

    /// The file that says to which project the state folder belongs.
    pub fn owner(&self) -> PathBuf {
        self.state.join(OWNER)
    }
}

fn hash(project: &Path) -> String {
    // Two paths that differ only in what is no text are two projects.
    let bytes = project.as_os_str().as_bytes();
    let text = String::from_utf8_lossy(bytes);
    let exact: String = match &text {
        std::borrow::Cow::Borrowed(_) => String::new(),
        std::borrow::Cow::Owned(_) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    match exact.as_str() {
        "" => digest::hex(&[&text], HASH_DIGITS),
        exact => digest::hex(&[&text, exact], HASH_DIGITS),
    }
}

/// The project whose workspace a folder lies in, if it lies in one.
///
/// It is known by what lies around it and not by the environment: a child may have
/// changed that.
pub fn owner_of_workspace(folder: &Path) -> Option<PathBuf> {
    let is_workspaces = |dir: &&Path| dir.file_name() == Some(OsStr::new(WORKSPACES));
    folder.ancestors().skip(1).filter(is_workspaces).find_map(|workspaces| {
        let state = workspaces.parent()?;
        let project = fs::read(state.join(OWNER)).ok()?;
        let project = PathBuf::from(OsStr::from_bytes(&project));
        let is_named = state.file_name() == Some(OsStr::new(&hash(&project)));
        is_named.then_some(project)
    })
}
