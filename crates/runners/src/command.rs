//! Any program as an agent.
//!
//! The brief goes in on standard input; standard output brings usage and progress
//! as lines of JSON, and the return. What a program says about its own place in the
//! tree is not even looked at here.

mod environment;
mod leavings;
mod parse;
mod resolve;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use legation_core::ids::{AttemptId, SessionId};

use crate::keep::{Ceilings, Limits, Order};
use crate::vendors::Vendor;

pub use environment::{
    ALLOWED, ATTEMPT_DIR, HAND_IN, Place, RETURN_FILE, SCHEMA_FILE, TEMPORARY, environment,
    is_for_all,
};
pub use leavings::leavings;
pub use parse::{MAX_LINE_BYTES, MAX_NOTES, MAX_TEXT_BYTES, Parser, Progress, Report, Usage};
pub use resolve::{Folders, Unresolved, is_executable_file, resolve};

/// Everything that is needed to run a program as an attempt.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The attempt.
    pub attempt: &'a AttemptId,
    /// What it is called in its return.
    pub session: &'a SessionId,
    /// What it is called by, where it stands and where it works.
    pub place: Place<'a>,
    /// `command` of the agent.
    pub command: &'a [String],
    /// `env` of the agent.
    pub env: &'a [(String, String)],
    /// What runs it, where that is no command.
    pub vendor: Option<&'static Vendor>,
    /// The agent's file; programs are looked for beside it too.
    pub agent_file: Option<&'a Path>,
    /// The brief.
    pub brief: &'a str,
    /// What it may take.
    pub limits: Limits,
    /// See [`Order::deadline_ms`].
    pub deadline_ms: Option<u64>,
    /// See [`Order::cgroup`].
    pub cgroup: Option<&'a Path>,
}

/// Why a program cannot even be tried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    /// The attempt's folder cannot be used.
    #[error("make {folder}: {source}")]
    Folder {
        /// Which folder.
        folder: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Start<'_> {
    /// The keeper's order, with the program found and the environment put together.
    /// `caller` is the environment of whoever called.
    pub fn order(
        &self,
        caller: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Order, Error> {
        for folder in [self.place.temporary(), self.place.hand_in()] {
            fs::create_dir_all(&folder).map_err(|source| Error::Folder { folder, source })?;
        }
        let env = environment(caller, self.env, self.session, (&self.place, self.vendor));
        let search = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
        let beside = self.agent_file.and_then(Path::parent);
        let folders = Folders { workspace: self.place.workspace, beside, search };
        Ok(Order {
            attempt: self.attempt.clone(),
            session: self.session.clone(),
            dir: self.place.dir.to_owned(),
            program: resolve(self.command, &folders)?,
            env,
            cwd: self.place.workspace.to_owned(),
            stdin: self.brief.to_owned(),
            limits: self.limits,
            deadline_ms: self.deadline_ms,
            cgroup: self.cgroup.map(Path::to_owned),
            ceilings: Ceilings::default(),
            fence: None,
            asks_first: false,
            serves: None,
        })
    }
}
