//! A call that cannot be read. It is refused with what may still be asked for, as any other.

use legation_core::config::starting_depth;
use legation_core::tree::bounds::{Remaining, remaining_at_root};
use legation_engine::host::Host as _;
use legation_engine::protocol::Wish;
use serde_json::Value;

use crate::error::CommandError;
use crate::host::Files;
use crate::reach::{Reach, block_on, environment};

/// The refusal with what may still be asked for: nothing, where that cannot be known.
pub(super) fn refused(error: CommandError) -> CommandError {
    let nothing = || serde_json::to_value(Remaining::NOTHING).unwrap_or_default();
    error.remaining(remaining().unwrap_or_else(nothing))
}

fn remaining() -> Option<Value> {
    let reach = Reach::current().ok()?;
    if reach.is_attempt() {
        let mut told = block_on(reach.told(Wish::Remaining)).ok()?;
        return told.get_mut("remaining").map(Value::take).filter(Value::is_object);
    }
    let env = environment();
    let depth = starting_depth(env.get("DELEGATION_DEPTH").map(String::as_str)).ok()?;
    let limits = Files::of(reach.project).home(&env).ok()?.config.limits;
    let remaining = remaining_at_root(&limits, depth, limits.max_concurrent_total);
    serde_json::to_value(remaining).ok()
}
