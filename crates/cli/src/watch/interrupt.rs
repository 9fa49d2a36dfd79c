//! Ctrl-C, and the cancel that follows from it.

use legation_core::ids::DelegationId;
use legation_engine::protocol::{Reply, Steer, To, Wish};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::no_signals;
use crate::error::CommandError;
use crate::reach::{Reach, block_on};

/// What asks a program to end.
const WISHES: [fn() -> SignalKind; 3] =
    [SignalKind::interrupt, SignalKind::terminate, SignalKind::hangup];

/// From here on the program ends when it is done, whoever asks it to end before: what was begun
/// on the user's own files takes a moment, and is better done.
pub(crate) fn end_when_done() -> Result<(), CommandError> {
    block_on(async {
        for wish in WISHES {
            drop(signal(wish()).map_err(|problem| no_signals(&problem))?);
        }
        Ok(())
    })
}

/// The reason that a cancel by Ctrl-C gives.
const REASON: &str = "interrupted";

/// Ctrl-C, where it is caught.
#[derive(Default)]
pub(super) struct Interrupts {
    signal: Option<Signal>,
    count: u32,
    wanted: bool,
}

impl Interrupts {
    /// Catches Ctrl-C from now on.
    pub(super) fn catch() -> Result<Self, CommandError> {
        let signal = signal(SignalKind::interrupt()).map_err(|problem| no_signals(&problem))?;
        Ok(Self { signal: Some(signal), ..Self::default() })
    }

    /// Waits for the next one; for ever where they are not caught.
    pub(super) async fn next(&mut self) {
        let came = match &mut self.signal {
            Some(signal) => signal.recv().await,
            None => None,
        };
        match came {
            Some(()) => self.count += 1,
            None => std::future::pending().await,
        }
    }

    /// Whether the last one was not the first.
    pub(super) fn is_second(&self) -> bool {
        self.count > 1
    }

    /// The delegation is to be cancelled as soon as it is known.
    pub(super) fn want_cancel(&mut self) {
        self.wanted = true;
    }

    /// Sends the cancel, beside the conversation that goes on.
    pub(super) fn cancel_if_wanted(&mut self, reach: &Reach, delegation: &DelegationId) {
        if !std::mem::take(&mut self.wanted) {
            return;
        }
        let to = To::Cancel { subtask: None, reason: REASON.to_owned(), rollback: false };
        let steer = Steer { delegation: delegation.clone(), to, wait: false };
        let (reach, request) = (reach.clone(), reach.request(Wish::Steer(steer)));
        tokio::spawn(async move {
            let client = reach.connect_if_there().await?;
            let mut talk = client.request(&request).await.ok()?;
            // How it ends is told in the other conversation; this one is held until it is taken.
            while let Ok(Reply::News(_) | Reply::Note(_)) = talk.next().await {}
            Some(())
        });
    }
}
