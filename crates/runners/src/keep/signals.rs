//! The signals by which a keeper, and a process that keeps many, are steered.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that whoever keeps listens to. That those are caught which it does not care for
/// is not the same as ignoring them: a program would inherit that.
pub(crate) struct Signals {
    pub(crate) child: Signal,
    pub(crate) stop: Signal,
    pub(crate) freeze: Signal,
    pub(crate) thaw: Signal,
    _hangup: Signal,
    _interrupt: Signal,
    _quit: Signal,
}

impl Signals {
    /// Catches them from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            child: signal(SignalKind::child())?,
            stop: signal(SignalKind::terminate())?,
            freeze: signal(SignalKind::user_defined1())?,
            thaw: signal(SignalKind::user_defined2())?,
            _hangup: signal(SignalKind::hangup())?,
            _interrupt: signal(SignalKind::interrupt())?,
            _quit: signal(SignalKind::quit())?,
        })
    }
}
