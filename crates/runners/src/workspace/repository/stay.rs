//! A git process that stays, for what every attempt needs: starting one costs more than
//! what it does. It ends with us, because its input does; one that failed is replaced.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::{Mutex, PoisonError};

use super::super::Error;
use super::super::git::complaint;
use super::super::process::{Said, readable};

/// What is read at once.
const READ_BYTES: usize = 4096;

/// The place of such a process, which need not be there.
#[derive(Debug, Default)]
pub(super) struct Stay {
    session: Mutex<Option<Session>>,
}

/// A conversation with one.
#[derive(Debug)]
pub(super) struct Session {
    command: &'static str,
    child: Child,
    stdin: ChildStdin,
}

impl Stay {
    /// Talks to the process, alone; it is started if need be.
    pub(super) fn with<T>(
        &self,
        (command, start): (&'static str, impl FnOnce() -> Result<Child, Error>),
        talk: impl FnOnce(&mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut slot = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let mut session = match slot.take() {
            Some(session) => session,
            None => Session::of(command, start()?)?,
        };
        let heard = talk(&mut session)?;
        // Only one that succeeded is used again: git ends with its first failure.
        *slot = Some(session);
        Ok(heard)
    }
}

impl Session {
    fn of(command: &'static str, mut child: Child) -> Result<Self, Error> {
        match child.stdin.take() {
            Some(stdin) => Ok(Self { command, child, stdin }),
            None => Err(Error::Git { command: command.into(), message: "no input".into() }),
        }
    }

    /// Asks for something; the answer ends with `end`.
    pub(super) fn ask(&mut self, request: &[u8], end: &[u8]) -> Result<Vec<u8>, Error> {
        // A process that has ended tells why below.
        let written = self.stdin.write_all(request);
        let mut said = Said::default();
        let mut buffer = [0; READ_BYTES];
        while !said.out.ends_with(end) {
            let Some(out) = self.child.stdout.as_mut() else { break };
            let count = readable(out).and_then(|()| out.read(&mut buffer));
            match count {
                Ok(0) => return Err(self.failure(said)),
                Ok(count) => said.out.extend(buffer.iter().take(count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
        written.map_err(|error| self.broken(&error))?;
        Ok(said.out)
    }

    fn broken(&self, error: &std::io::Error) -> Error {
        Error::Git { command: self.command.into(), message: error.to_string() }
    }

    /// What a process that ended complained about.
    fn failure(&mut self, mut said: Said) -> Error {
        if let Some(err) = self.child.stderr.as_mut() {
            // Whatever can be read of it is better than nothing.
            drop(err.read_to_end(&mut said.err));
        }
        said.code = 1;
        complaint(self.command, &said)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Between two requests there is nothing that an end could break.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
