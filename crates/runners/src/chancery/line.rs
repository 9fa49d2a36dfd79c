//! Passing an open line on to another process, over a line to it.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UnixStream;

/// The byte that carries a line; it means nothing.
const CARRIER: &[u8] = b"+";

/// Passes on one end of a line.
pub(crate) async fn pass(line: &UnixStream, end: &OwnedFd) -> io::Result<()> {
    let ends = [end.as_fd()];
    let send = || {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&ends));
        sendmsg(line, &[IoSlice::new(CARRIER)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    };
    line.async_io(Interest::WRITABLE, send).await
}

/// Takes the next one; nothing when there will be no more.
pub(super) async fn take(line: &UnixStream) -> Option<OwnedFd> {
    let receive = || {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut bytes = [IoSliceMut::new(&mut byte)];
        let received = recvmsg(line, &mut bytes, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let ends = control.drain().filter_map(|message| {
            let RecvAncillaryMessage::ScmRights(ends) = message else { return None };
            Some(ends)
        });
        let end = ends.flatten().next();
        Ok((received.bytes, end))
    };
    loop {
        match line.async_io(Interest::READABLE, receive).await {
            Ok((1.., Some(end))) => return Some(end),
            // A byte that carries nothing is passed over.
            Ok((1.., None)) => {}
            Ok((0, _)) | Err(_) => return None,
        }
    }
}
