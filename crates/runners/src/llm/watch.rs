//! Waiting for something without losing sight of everything else.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::sleep;

use crate::envoy::{Ear, Told};

/// How often silence is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// The first word of an answer: a large question takes a while to read.
    Thinking,
    /// The next word.
    Talking,
    /// Something that is silent by nature.
    Waiting,
}

impl Watch {
    const fn silence(self) -> Option<Duration> {
        match self {
            Self::Thinking => Some(Duration::from_secs(600)),
            Self::Talking => Some(Duration::from_secs(120)),
            Self::Waiting => None,
        }
    }
}

/// Waits for it; nothing means that all shall stop. Too long a silence is told.
pub(super) async fn heed<T>(
    what: impl Future<Output = T>,
    ear: &mut Ear,
    watch: Watch,
) -> Option<T> {
    let mut what = pin!(what);
    loop {
        tokio::select! {
            biased;
            done = &mut what => return Some(done),
            () = ear.stopped() => return None,
            () = sleep(LOOK_EVERY) => {}
        }
        match watch.silence() {
            None => ear.stay_calm(),
            Some(limit) if ear.silent_for() >= limit => {
                let after_ms = u64::try_from(ear.silent_for().as_millis()).unwrap_or(u64::MAX);
                ear.tell(&Told::Stalled { after_ms });
                ear.stay_calm();
            }
            Some(_) => {}
        }
    }
}
