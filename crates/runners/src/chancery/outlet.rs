//! Where the words of an attempt go: to the files in its folder, and to whoever listens.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::keep::{Segments, Written};

/// The words of one attempt. All clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Outlet(Arc<Mutex<Ends>>);

#[derive(Debug)]
struct Ends {
    files: Segments,
    /// The engine, as long as it listens.
    line: Option<OwnedFd>,
}

impl Outlet {
    pub(super) fn new(files: Segments, line: OwnedFd) -> Self {
        Self(Arc::new(Mutex::new(Ends { files, line: Some(line) })))
    }

    /// Says that the attempt is claimed.
    pub(super) fn greet(&self) {
        self.ends().tell(b"\n");
    }

    /// What came of it so far.
    pub(super) fn written(&self) -> Written {
        self.ends().files.written()
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ends {
    /// Hands bytes on. Nobody is waited for, since others would wait too: a listener that
    /// is gone or does not keep up is forgotten, and finds the rest in the files.
    fn tell(&mut self, mut bytes: &[u8]) {
        while let Some(line) = self.line.as_ref().filter(|_| !bytes.is_empty()) {
            match send(line, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(sent) => bytes = bytes.get(sent..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(_) => self.line = None,
            }
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut ends = self.ends();
        ends.files.write(bytes);
        ends.tell(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
