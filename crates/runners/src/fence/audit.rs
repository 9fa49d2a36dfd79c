//! Listening to the kernel's audit log, where it is switched on and may be read.
//!
//! It is never switched on or changed here: that is for whoever owns the machine.

use std::io::{self, PipeReader, PipeWriter, pipe};
use std::os::fd::OwnedFd;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use legation_core::returns::FenceRefusal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::{AUDIT, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recvfrom, send, socket_with,
};

use super::refusals::Refusals;

/// The group of those who read the log.
const READERS: u32 = 1;
/// The kernel itself, as a sender.
const KERNEL: u32 = 0;
/// Bytes before what a message says.
const HEADER_BYTES: u32 = 16;
/// Asks for the state of the log; so is the answer called.
const STATE: u16 = 1000;
/// The answer to what was refused.
const ERROR: u16 = 2;
/// The flag of a question.
const REQUEST: u16 = 1;
/// Bytes that a message has at most: the kernel's records are cut at eight thousand.
const MAX_MESSAGE_BYTES: usize = 16 << 10;

/// How long the answer to a question may take.
const ANSWER: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// How long a record of a refusal may be on its way.
const ON_ITS_WAY: Duration = Duration::from_millis(20);
/// How long the record may be, that nobody is inside any more.
const LAST_RECORD: Duration = Duration::from_millis(250);

/// The log, being listened to for what the fence of this process refuses.
#[derive(Debug)]
pub(crate) struct Listening {
    thread: JoinHandle<Vec<FenceRefusal>>,
    /// Closed when all is over.
    goes_on: PipeWriter,
}

/// What was received.
enum Message {
    /// Whether the log is switched on.
    State(bool),
    /// A record.
    Record(u16, String),
    /// Nothing of interest.
    Other,
}

impl Listening {
    /// Begins, before there is anything to hear; none where there never will be.
    pub(crate) fn begin() -> Option<Self> {
        let socket = open().ok().flatten()?;
        let (over, goes_on) = pipe().ok()?;
        let listen = move || {
            let mut refusals = Refusals::new(std::process::id());
            // What was heard until it failed is true all the same.
            let _ = listen(&socket, &over, &mut refusals);
            refusals.told()
        };
        let thread = Builder::new().name("audit".to_owned()).spawn(listen).ok()?;
        Some(Self { thread, goes_on })
    }

    /// What was refused, once nobody is inside any more.
    pub(crate) fn end(self) -> Option<Vec<FenceRefusal>> {
        drop(self.goes_on);
        self.thread.join().ok()
    }
}

/// Why nothing is heard of refusals here; none if it is.
pub(super) fn obstacle() -> Option<String> {
    match open() {
        Ok(Some(_)) => None,
        Ok(None) => Some("audit is switched off".to_owned()),
        Err(error) => Some(format!("the log cannot be read: {error}")),
    }
}

/// A place among those who read the log; none where it is switched off.
fn open() -> io::Result<Option<OwnedFd>> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(AUDIT))?;
    bind(&socket, &SocketAddrNetlink::new(KERNEL, READERS))?;
    let mut question = HEADER_BYTES.to_ne_bytes().to_vec();
    question.extend([STATE, REQUEST].map(u16::to_ne_bytes).as_flattened());
    question.resize(HEADER_BYTES as usize, 0);
    send(&socket, &question, SendFlags::empty())?;
    loop {
        if poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&ANSWER))? == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if let Message::State(is_on) = receive(&socket)? {
            return Ok(is_on.then_some(socket));
        }
    }
}

/// Hears all there is, until it is over and what was on its way has come.
fn listen(socket: &OwnedFd, over: &PipeReader, refusals: &mut Refusals) -> io::Result<()> {
    let (log, end) = (PollFd::new(socket, PollFlags::IN), PollFd::new(over, PollFlags::IN));
    let mut both = [log.clone(), end];
    while both.iter().skip(1).all(|end| end.revents().is_empty()) {
        poll(&mut both, None)?;
        hear(socket, refusals)?;
    }
    let ended = Instant::now();
    while !refusals.is_over() {
        let patience = if refusals.any() { LAST_RECORD } else { ON_ITS_WAY };
        let left = patience.saturating_sub(ended.elapsed());
        let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        if poll(&mut [log.clone()], Some(&left))? == 0 {
            break;
        }
        hear(socket, refusals)?;
    }
    Ok(())
}

/// Takes note of a message, if there is one.
fn hear(socket: &OwnedFd, refusals: &mut Refusals) -> io::Result<()> {
    match receive(socket) {
        Ok(Message::Record(kind, text)) => refusals.hear(kind, &text),
        Ok(Message::State(_) | Message::Other) => {}
        // There is none, or some were lost since there were too many.
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// The next message, if it is there.
fn receive(socket: &OwnedFd) -> Result<Message, Errno> {
    let mut buffer = vec![0; MAX_MESSAGE_BYTES];
    let (count, _, from) = recvfrom(socket, &mut buffer, RecvFlags::empty())?;
    let from = from.and_then(|from| SocketAddrNetlink::try_from(from).ok());
    buffer.truncate(count);
    let message = from.filter(|from| from.pid() == KERNEL).and_then(|_| read(&buffer));
    Ok(message.unwrap_or(Message::Other))
}

/// What a message says; none where it is cut off. The length that it states is not used: the
/// kernel counts it differently from group to group.
fn read(message: &[u8]) -> Option<Message> {
    let (header, body) = message.split_at_checked(HEADER_BYTES as usize)?;
    let number = |at: usize| body.get(at..)?.first_chunk().map(|it| u32::from_ne_bytes(*it));
    match u16::from_ne_bytes(*header.get(4..)?.first_chunk()?) {
        STATE => Some(Message::State(number(4)? != 0)),
        // Whoever may not ask is told nothing.
        ERROR => Some(Message::State(false)),
        kind => Some(Message::Record(kind, String::from_utf8_lossy(body).into_owned())),
    }
}
