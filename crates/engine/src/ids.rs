//! New names. The world draws the numbers, so that a simulated run repeats.

use legation_core::ids::{AttemptId, DelegationId, SessionId};
use legation_core::time::Now;

use crate::world::World;

const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Letters of an id: enough that two never meet by chance.
const ID_LETTERS: usize = 12;
/// Letters of a session's name.
const SESSION_LETTERS: usize = 6;

pub(crate) fn delegation(world: &impl World) -> DelegationId {
    DelegationId::from(format!("del-{}", word(world, ID_LETTERS)))
}

pub(crate) fn attempt(world: &impl World) -> AttemptId {
    AttemptId::from(format!("exec-{}", word(world, ID_LETTERS)))
}

pub(crate) fn session(world: &impl World, now: Now) -> SessionId {
    let seconds = now.0 / 1000;
    SessionId::from(format!("sess_{seconds}_{}", word(world, SESSION_LETTERS)))
}

fn word(world: &impl World, letters: usize) -> String {
    let mut drawn = world.draw();
    let letter = |_| {
        let at = usize::try_from(drawn % 36).unwrap_or(0);
        drawn /= 36;
        LETTERS.get(at).copied().map_or('0', char::from)
    };
    (0..letters).map(letter).collect()
}
