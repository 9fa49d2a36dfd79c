//! What a command means for the tree as it stands now.
//!
//! Nothing is changed here: the answer is the list of events that follow, or a
//! rejection. What follows from those in turn is decided by `Advance`, once
//! they are folded.

mod advance;
mod cancel;
mod control;
mod delegate;
mod end;
mod recover;
mod report;
mod resolve;
mod retry;
mod start;
mod tick;

use super::command::Command;
use super::event::{Body, Event};
use super::rejection::Rejection;
use super::state::{Pause, State};
use crate::time::Now;

/// Decides what a command means. An empty list means that nothing is left to decide.
pub fn decide(state: &State, command: &Command, now: Now) -> Result<Vec<Event>, Rejection> {
    let bodies = bodies(state, command, now)?;
    Ok(bodies.into_iter().map(|body| Event::new(now, body)).collect())
}

fn bodies(state: &State, command: &Command, now: Now) -> Result<Vec<Body>, Rejection> {
    match command {
        Command::Delegate(delegate) => delegate::decide(state, delegate),
        Command::Start(start) => start::decide(state, start, now),
        Command::Spawned(spawned) => report::spawned(state, spawned),
        Command::Use(usage) => report::usage(state, usage),
        Command::Progress(progress) => report::progress(state, progress),
        Command::Stall { attempt } => report::stall(state, attempt),
        Command::Ask { attempt, what } => report::ask(state, attempt, what),
        Command::Answered { attempt } => report::answered(state, attempt),
        Command::Froze { attempt, frozen } => report::froze(state, attempt, *frozen),
        Command::End(end) => end::decide(state, end, now),
        Command::Merged { attempt, outcome } => report::merged(state, attempt, outcome, now),
        Command::RolledBack { delegation } => report::rolled_back(state, delegation),
        Command::ResultLeft { delegation, why } => report::result_left(state, delegation, why),
        Command::WorkspaceLeft { attempt, why } => report::workspace_left(state, attempt, why),
        Command::WorkspaceRemoved { attempt, kept } => {
            report::workspace_removed(state, attempt, kept.as_ref())
        }
        Command::Await { attempt, delegation } => control::wait(state, attempt, delegation),
        Command::Delivered { delegation, not_brought } => {
            control::delivered(state, delegation, not_brought.as_ref())
        }
        Command::Pause { delegation, freeze, reason } => {
            let pause = Pause { since: now, freeze: *freeze, reason: reason.clone() };
            control::pause(state, delegation, pause)
        }
        Command::Resume { delegation } => control::resume(state, delegation),
        Command::Cancel(cancel) => cancel::decide(state, cancel),
        Command::Retry(retry) => retry::decide(state, retry, now),
        Command::Skip { delegation, subtask, reason } => {
            retry::skip(state, delegation, subtask, reason)
        }
        Command::Approve(approve) => control::approve(state, approve),
        Command::Recover { serving } => Ok(recover::recover(state, *serving, now)),
        Command::Lose { attempt } => recover::lose(state, attempt, now),
        Command::Tick => Ok(tick::decide(state, now)),
        Command::Advance => Ok(advance::decide(state, now)),
    }
}
