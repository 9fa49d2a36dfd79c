//! One conversation with a process: its input, its two outputs, its end, a deadline.
//!
//! Everything happens on the calling thread. A process that does not end in time
//! is killed, and one that says too much is not listened to any further.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What is written at once: a pipe that is ready takes at least this much.
const CHUNK_BYTES: usize = 4096;
/// What is read at once.
const READ_BYTES: usize = 64 * 1024;

/// What a process said, and how it ended.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
}

/// How far a conversation may go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) until: Instant,
    pub(super) most_bytes: usize,
}

/// How long a process that stays may think about one request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until something can be read; `TimedOut` if nothing comes.
pub(super) fn readable(from: &impl AsFd) -> io::Result<()> {
    let limit =
        Timespec::try_from(PATIENCE).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    match poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&limit))? {
        0 => Err(ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}

/// Feeds a process, listens to it and waits for its end; `TimedOut` once it was killed.
pub(super) fn converse(child: &mut Child, input: &[u8], bounds: Bounds) -> io::Result<Said> {
    let result = talk(child, input, bounds);
    if result.is_err() {
        // It may have ended by itself meanwhile; then there is nothing to kill.
        drop(child.kill());
    }
    let status = child.wait()?;
    let mut said = result?;
    said.code = status.code().unwrap_or(-1);
    Ok(said)
}

fn talk(child: &mut Child, mut input: &[u8], bounds: Bounds) -> io::Result<Said> {
    let mut said = Said::default();
    let mut stdin = child.stdin.take();
    let mut out = child.stdout.take();
    let mut err = child.stderr.take();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        if input.is_empty() {
            stdin = None;
        }
        let [to_write, to_read, to_heed] =
            ready(stdin.as_ref(), out.as_ref(), err.as_ref(), bounds)?;
        if to_write && !feed(stdin.as_mut(), &mut input)? {
            input = &[];
        }
        if to_read && !hear(out.as_mut(), &mut said.out, &mut buffer)? {
            out = None;
        }
        if to_heed && !hear(err.as_mut(), &mut said.err, &mut buffer)? {
            err = None;
        }
        if said.out.len().saturating_add(said.err.len()) > bounds.most_bytes {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if out.is_none() && err.is_none() {
            return Ok(said);
        }
    }
}

/// Waits until something can be done; which of the three it is.
fn ready(
    stdin: Option<&ChildStdin>,
    out: Option<&std::process::ChildStdout>,
    err: Option<&std::process::ChildStderr>,
    bounds: Bounds,
) -> io::Result<[bool; 3]> {
    let mut fds = Vec::with_capacity(3);
    let mut which = Vec::with_capacity(3);
    if let Some(stdin) = stdin {
        fds.push(PollFd::new(stdin, PollFlags::OUT));
        which.push(0);
    }
    if let Some(out) = out {
        fds.push(PollFd::new(out, PollFlags::IN));
        which.push(1);
    }
    if let Some(err) = err {
        fds.push(PollFd::new(err, PollFlags::IN));
        which.push(2);
    }
    let left = bounds.until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    let left = Timespec::try_from(left).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    let count = match poll(&mut fds, Some(&left)) {
        Err(rustix::io::Errno::INTR) => return Ok([false; 3]),
        other => other?,
    };
    if count == 0 {
        return Err(ErrorKind::TimedOut.into());
    }
    let mut ready = [false; 3];
    for (fd, slot) in fds.iter().zip(which) {
        if let Some(ready) = ready.get_mut::<usize>(slot) {
            *ready = !fd.revents().is_empty();
        }
    }
    Ok(ready)
}

/// Writes what fits; `false` once nobody reads any more.
fn feed(stdin: Option<&mut ChildStdin>, input: &mut &[u8]) -> io::Result<bool> {
    let Some(stdin) = stdin else { return Ok(false) };
    let chunk = input.get(..CHUNK_BYTES).unwrap_or(input);
    match stdin.write(chunk) {
        Ok(written) => {
            *input = input.get(written..).unwrap_or_default();
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(error),
    }
}

/// Reads what is there; `false` at the end.
fn hear(from: Option<&mut impl Read>, into: &mut Vec<u8>, buffer: &mut [u8]) -> io::Result<bool> {
    let Some(from) = from else { return Ok(false) };
    match from.read(buffer) {
        Ok(count) => {
            into.extend_from_slice(buffer.get(..count).unwrap_or_default());
            Ok(count > 0)
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(error),
    }
}
