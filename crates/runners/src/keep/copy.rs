//! Carrying a program's output to where it is kept, and to who listens.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdout, stdout};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::watch;
use tokio::time::timeout;

use super::segments::{Segments, Written};

/// Bytes that are carried in one go where there is much: what a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;
/// The same where there is little, which is most of the time and for most programs.
const SMALL_BYTES: usize = 4 << 10;
/// Bytes that are still taken when nobody is left who could write: the most that a
/// pipe can hold.
const MAX_REST_BYTES: usize = 1 << 20;
/// How long a listener that is there but does not read may hold the program up. It
/// finds the rest in the files.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The one who started the keeper, as long as it listens.
#[derive(Debug)]
pub(super) struct Listener {
    pipe: Option<Sender>,
}

impl Listener {
    /// Whoever reads the keeper's standard output; nobody where that is no pipe.
    pub(super) fn take() -> Self {
        Self { pipe: Self::standard_output().and_then(|end| Sender::from_owned_fd(end).ok()) }
    }

    /// Nobody.
    pub(super) fn nobody() -> Self {
        Self { pipe: None }
    }

    /// The standard output in a form that can be closed: what stays in its place leads
    /// nowhere.
    fn standard_output() -> Option<OwnedFd> {
        let end = fcntl_dupfd_cloexec(stdout(), 3).ok()?;
        let nowhere = std::fs::File::options().write(true).open("/dev/null").ok()?;
        dup2_stdout(&nowhere).ok()?;
        Some(end)
    }

    /// Hands bytes on. A listener that is gone, or does not read for too long, is
    /// forgotten.
    pub(super) async fn tell(&mut self, bytes: &[u8], patience: Duration) {
        let Some(pipe) = &mut self.pipe else { return };
        if !matches!(timeout(patience, pipe.write_all(bytes)).await, Ok(Ok(()))) {
            self.pipe = None;
        }
    }
}

/// One output of a program.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) source: Receiver,
    /// Where it is kept, if it is.
    pub(super) files: Option<Segments>,
    pub(super) listener: Listener,
}

impl Copy {
    /// Carries everything until nobody holds the other end any more, or until `over`
    /// says that nobody is left who belongs here.
    pub(super) async fn run(mut self, mut over: watch::Receiver<bool>) -> (Written, Listener) {
        let mut buffer = vec![0; SMALL_BYTES];
        loop {
            tokio::select! {
                read = self.source.read(&mut buffer) => match read {
                    Ok(read) if read > 0 => {
                        self.take(&buffer, read).await;
                        buffer = fitting(buffer, read);
                    }
                    Ok(_) | Err(_) => return (self.written(), self.listener),
                },
                () = told(&mut over) => break,
            }
        }
        // The kernel is asked directly: the runtime answers for itself, and may not have
        // heard yet of what was written last.
        let mut rest = 0;
        while let Ok(read) = rustix::io::read(&self.source, &mut *buffer) {
            rest += read;
            if read == 0 || rest > MAX_REST_BYTES {
                break;
            }
            self.take(&buffer, read).await;
        }
        (self.written(), self.listener)
    }

    fn written(&self) -> Written {
        self.files.as_ref().map(Segments::written).unwrap_or_default()
    }

    async fn take(&mut self, buffer: &[u8], read: usize) {
        let bytes = buffer.get(..read).unwrap_or(buffer);
        match &mut self.files {
            Some(files) => {
                files.write(bytes);
                self.listener.tell(bytes, PATIENCE).await;
            }
            // It is nowhere else to be found, so it is waited for.
            None => self.listener.tell(bytes, Duration::MAX).await,
        }
    }
}

/// What the next piece is read into: where the last was large, it probably is as well.
fn fitting(buffer: Vec<u8>, read: usize) -> Vec<u8> {
    let wanted = if read < SMALL_BYTES { SMALL_BYTES } else { CHUNK_BYTES };
    if buffer.len() == wanted { buffer } else { vec![0; wanted] }
}

/// Waits until it is said that all is over.
async fn told(over: &mut watch::Receiver<bool>) {
    // If nobody is left who could say so, it is over as well.
    let _ = over.wait_for(|over| *over).await;
}
