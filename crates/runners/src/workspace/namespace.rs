//! A user namespace in which somebody who is not root lays overlays, and who keeps it open.
//!
//! Whoever works with such workspaces goes in first and stays inside to its end. Paths, user
//! and process numbers are the same there; only mounts differ. What it starts is inside, too,
//! and has none of its powers. One process is there for nothing else than to keep the
//! namespace open, the holder: it outlives an engine that is killed, and ends once nobody
//! is at work inside and nothing is laid any more. If it is killed itself, whatever process
//! is left inside leads back in.
//!
//! Nothing here knows what lies in a workspace, and nothing is taken away.

mod hold;
mod join;
mod trial;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use legation_core::tree::event::Process;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::home;
use crate::fence;
use crate::procfs;

pub use hold::{VERB, main};
pub use trial::try_out;

/// The file that says who holds the namespace.
const RECORD: &str = "namespace.json";
/// Locked by whoever looks for the holder, starts one, or is one and wants to end.
const TURN: &str = "namespace.turn";
/// Locked by everybody who is inside, together.
const USED: &str = "namespace.used";

/// The namespace of one project's workspaces, there or not.
#[derive(Clone, Debug)]
pub struct Namespace {
    state: PathBuf,
    program: PathBuf,
}

/// Being inside. As long as this is there, the holder is.
#[derive(Debug)]
pub struct Inside {
    /// The number of the process that holds the namespace, for whoever wants in from outside.
    pub holder: u32,
    _used: File,
}

/// Why nobody gets inside.
#[derive(Debug, thiserror::Error)]
pub enum Closed {
    /// What makes namespaces is not there.
    #[error("there is no `unshare`, the program of util-linux that makes user namespaces")]
    NoProgram,
    /// The kernel, or who rules it, wants none.
    #[error("no user namespace can be made here: {0}")]
    Refused(String),
    /// It is there and stays closed.
    #[error("the user namespace of the workspaces cannot be entered: {0}")]
    Shut(io::Error),
    /// Its files cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Files {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Who holds a namespace.
#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    process: Process,
    /// Which run of the machine that was: numbers mean nothing after the next.
    boot: String,
}

/// Whether this process can lay overlays only in a namespace of its own. Root needs none.
#[must_use]
pub fn is_needed() -> bool {
    !geteuid().is_root() && !fence::may_mount()
}

impl Namespace {
    /// That of the workspaces in a state folder. The program is ours: it knows the verb
    /// by which a holder is started.
    #[must_use]
    pub fn of(state: &Path, program: &Path) -> Self {
        Self { state: state.to_owned(), program: program.to_owned() }
    }

    /// Whether there is something inside to see: somebody holds it, or workspaces were laid
    /// that it belongs to.
    #[must_use]
    pub fn is_used(&self) -> bool {
        let has_layers = |home: PathBuf| {
            fs::read_dir(home.join("layers")).is_ok_and(|mut entries| entries.next().is_some())
        };
        self.holder().is_some() || home::known(&self.state).into_iter().any(has_layers)
    }

    /// Goes inside; the namespace is made if there is none.
    ///
    /// Only a process with a single thread can, and it never gets out again.
    pub fn enter(&self) -> Result<Inside, Closed> {
        // The holder does not end between being found and being joined: it takes both, too.
        let _turn = self.lock(TURN, File::lock)?;
        let used = self.lock(USED, File::lock_shared)?;
        let join = |process| join::join(process).map_err(Closed::Shut);
        let state = [self.state.as_os_str()];
        let holder = if let Some(holder) = self.holder() {
            join(holder).map(|()| holder)
        } else if let Some(member) = join::member(&home::known(&self.state)) {
            // The holder was killed, and work goes on inside.
            join(member)?;
            hold::start(Command::new(&self.program), &state).map(|(_, holder)| holder)
        } else {
            let (_, holder) = hold::start(hold::anew(&self.program), &state)?;
            join(holder).map(|()| holder)
        };
        Ok(Inside { holder: holder?.pid, _used: used })
    }

    /// Who holds it, if somebody does.
    fn holder(&self) -> Option<Process> {
        let record = fs::read(self.state.join(RECORD)).ok()?;
        let holder: Holder = serde_json::from_slice(&record).ok()?;
        let is_there = holder.boot == procfs::boot() && procfs::is_alive(holder.process);
        is_there.then_some(holder.process)
    }

    fn open(&self, name: &str) -> Result<File, Closed> {
        let path = self.state.join(name);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        file.map_err(|source| Closed::Files { path, source })
    }

    fn lock(&self, name: &str, how: impl Fn(&File) -> io::Result<()>) -> Result<File, Closed> {
        let file = self.open(name)?;
        how(&file).map_err(|source| Closed::Files { path: self.state.join(name), source })?;
        Ok(file)
    }
}
