//! Going into the user namespace in which the workspaces of somebody who is not root are
//! overlays.
//!
//! The engine stays inside to its end, and with it everything that it starts. Where it
//! cannot get in it goes on outside, and whoever wants a workspace as an overlay is told why.

use legation_core::config::{Mechanism, Workspace};
use legation_runners::workspace::Beyond;
use legation_runners::workspace::namespace::{Inside, Namespace, is_needed};

use crate::client::Paths;

/// Goes in where overlays are asked for, or where there are some from before.
pub(super) fn enter(paths: &Paths, workspace: &Workspace) -> (Option<Inside>, Beyond) {
    if !is_needed() {
        return (None, Beyond::default());
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(problem) => return (None, Beyond::Closed(problem.to_string())),
    };
    let namespace = Namespace::of(&paths.state, &program);
    if workspace.mechanism != Mechanism::Overlay && !namespace.is_used() {
        return (None, Beyond::default());
    }
    match namespace.enter() {
        Ok(inside) => (Some(inside), Beyond::default()),
        Err(closed) => (None, Beyond::Closed(closed.to_string())),
    }
}
