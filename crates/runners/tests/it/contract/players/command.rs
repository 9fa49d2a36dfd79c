//! A command of somebody's own, which tells what it likes.

use serde_json::json;

use super::super::story::{End, Part, Turn};
use super::{PLAYERS, line};

pub(super) fn prints(_: usize, turn: &Turn) -> Vec<u8> {
    let mut said = String::new();
    for (step, part) in turn.parts.iter().enumerate() {
        said += &match part {
            Part::Says(text) => format!("{text}\n"),
            Part::Runs(command) | Part::IsDenied(command) => line(&json!({
                "progress": {"current": step, "total": 3}, "lastAction": format!("shell: {command}"),
            })),
        };
    }
    let [player, ..] = PLAYERS else { unreachable!() };
    if turn.end == End::Over && !turn.is_unused {
        let used = player.used;
        said += &line(&json!({"usage": {
            "input": used.input, "output": used.output, "cacheRead": used.cache_read,
            "cacheWrite": used.cache_write, "costUsd": player.cost(1),
        }}));
    }
    said.into_bytes()
}
