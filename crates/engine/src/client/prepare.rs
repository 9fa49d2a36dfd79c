//! Making the places that an engine needs, before there is one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::folder;
use super::paths::Paths;

/// What is worth committing in `.legation/`; all the rest is state.
const IGNORED: &str = "\
# Legation keeps its state here. Agents, templates and configuration can be committed.
*
!.gitignore
!config.toml
!agents/
!agents/**
!templates/
!templates/**
";

/// Why a place could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make {}: {source}", path.display())]
pub struct PrepareError {
    /// Which.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Makes the folders of a project's engine, and keeps its state out of commits.
/// Everything that is there already stays as it is.
pub fn prepare(paths: &Paths) -> Result<(), PrepareError> {
    let uid = rustix::process::getuid().as_raw();
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| PrepareError { path, source }
    };
    let own = paths.project.join(".legation");
    fs::create_dir_all(&own).map_err(failed(&own))?;
    let ignore = own.join(".gitignore");
    make_file(&ignore, IGNORED.as_bytes()).map_err(failed(&ignore))?;
    fs::create_dir_all(&paths.logs).map_err(failed(&paths.logs))?;
    for folder in [&paths.state, &paths.workspaces(), &paths.attempts()] {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(failed(folder))?;
    }
    let owner = paths.owner();
    make_file(&owner, paths.project.as_os_str().as_bytes()).map_err(failed(&owner))?;
    let sockets = paths.socket.parent().unwrap_or(&paths.state);
    folder::make_private(sockets, uid).map_err(failed(sockets))
}

/// Makes a file with this in it, unless there is one.
fn make_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
    match made {
        Ok(mut file) => file.write_all(content),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
