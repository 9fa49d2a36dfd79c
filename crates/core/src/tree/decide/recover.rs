//! After a crash: what was running is found again or declared lost.

use super::end;
use crate::ids::AttemptId;
use crate::returns::{Receipt, StopReason};
use crate::time::Now;
use crate::tree::arena::DelegationNo;
use crate::tree::command::{End, Said, Timing};
use crate::tree::event::Body;
use crate::tree::rejection::Rejection;
use crate::tree::state::State;

/// A tree younger than this goes on by itself.
const YOUNG_MS: u64 = 10 * 60 * 1000;

/// Yesterday's crash never spends money by surprise: an older tree waits for a
/// `resume`, unless somebody keeps the engine running on purpose. Either way
/// the time in which the runtime was down does not count.
pub(super) fn recover(state: &State, serving: bool, now: Now) -> Vec<Body> {
    let root = DelegationNo(0);
    let ended = !state.delegations.has(root) || state.delegations[root].ended.is_some();
    if ended || state.delegations[root].paused.is_some() {
        return Vec::new();
    }
    let (freeze, since) = (false, state.seen_at.min(now));
    let pause = |reason: &str| {
        let reason = reason.to_owned();
        Body::Paused { delegation: root, since, freeze, reason }
    };
    if serving || now.since_ms(state.opened_at) < YOUNG_MS {
        return vec![pause("the runtime was down"), Body::Resumed { delegation: root }];
    }
    vec![pause("the runtime stopped while it ran; `legation resume` continues it")]
}

/// The attempt was looked for and not found.
pub(super) fn lose(state: &State, id: &AttemptId, now: Now) -> Result<Vec<Body>, Rejection> {
    let lost = End {
        attempt: id.clone(),
        said: Said::Nothing,
        receipt: Receipt { stop_reason: StopReason::Lost, ..Receipt::default() },
        quality: None,
        hold_until: None,
        raw: None,
        timing: Timing::default(),
    };
    end::decide(state, &lost, now)
}
