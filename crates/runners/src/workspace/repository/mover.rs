//! Moving names in the user's repository, through one git process that stays.
//!
//! Every attempt moves two or three names, and starting a process costs more than
//! moving one. Each order is a transaction of its own: all of it or nothing. The
//! process ends with us, because its input does; one that failed is replaced.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::{Mutex, PoisonError};

use super::super::Error;
use super::super::git::{Git, Trust, complaint};
use super::super::process::{Said, readable};

/// What the process says once a transaction is done.
const DONE: &[u8] = b"commit: ok\n";
/// What is read at once.
const READ_BYTES: usize = 4096;

/// Where names are moved.
#[derive(Debug, Default)]
pub(super) struct Mover {
    session: Mutex<Option<Session>>,
}

#[derive(Debug)]
struct Session {
    child: Child,
    stdin: ChildStdin,
}

impl Mover {
    /// Carries out orders (`update NAME NEW [OLD]`, `create NAME NEW`), one a line.
    pub(super) fn carry_out(&self, git: &Git, folder: &Path, orders: &str) -> Result<(), Error> {
        let mut slot = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match slot.take() {
            Some(session) => session,
            None => Session::start(git, folder)?,
        };
        session.carry_out(orders)?;
        // Only one that succeeded is used again: git ends with its first failure.
        *slot = Some(session);
        Ok(())
    }
}

impl Session {
    fn start(git: &Git, folder: &Path) -> Result<Self, Error> {
        let call = git.call("update-ref", Trust::Repository).env("GIT_DIR", folder);
        let mut child = call.within(folder).args(["--no-deref", "--stdin"]).start()?;
        match child.stdin.take() {
            Some(stdin) => Ok(Self { child, stdin }),
            None => Err(Error::Git { command: "update-ref".into(), message: "no input".into() }),
        }
    }

    fn carry_out(&mut self, orders: &str) -> Result<(), Error> {
        let orders = format!("start\n{orders}prepare\ncommit\n");
        // A process that has ended tells why below.
        let written = self.stdin.write_all(orders.as_bytes());
        let mut said = Said::default();
        let mut buffer = [0; READ_BYTES];
        while !said.out.ends_with(DONE) {
            let Some(out) = self.child.stdout.as_mut() else { break };
            let count = readable(out).and_then(|()| out.read(&mut buffer));
            match count {
                Ok(0) => return Err(self.failure(said)),
                Ok(count) => said.out.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let message = error.to_string();
                    return Err(Error::Git { command: "update-ref".into(), message });
                }
            }
        }
        written.map_err(|error| Error::Git {
            command: "update-ref".into(),
            message: error.to_string(),
        })
    }

    /// What a process that ended complained about.
    fn failure(&mut self, mut said: Said) -> Error {
        if let Some(err) = self.child.stderr.as_mut() {
            // Whatever can be read of it is better than nothing.
            drop(err.read_to_end(&mut said.err));
        }
        said.code = 1;
        complaint("update-ref", &said)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Between two transactions there is nothing that an end could break.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
