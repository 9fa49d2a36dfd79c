//! A folder that is too large to be copied without being asked.

use std::io::{self, IsTerminal as _};

use legation_core::Code;
use legation_core::config::Mechanism;
use legation_runners::workspace::consent::{Copied, agree, excess};
use serde_json::json;

use crate::config::merged;
use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::reach::Reach;

const BYTES_PER_MB: u64 = 1024 * 1024;

/// Makes sure that the project may be copied, where it would be: it is small enough, or
/// whoever delegates says so. What is agreed to is remembered.
pub(super) fn agreed(reach: &Reach, yes: bool, output: &mut Output) -> Result<(), CommandError> {
    // What is wrong with the configuration is the engine's to say.
    let Ok(effective) = merged(&reach.project.layers()) else { return Ok(()) };
    let wishes = effective.config.workspace;
    let copied = match wishes.mechanism {
        Mechanism::Copy => Copied::Always,
        Mechanism::Auto | Mechanism::Overlay | Mechanism::Pool | Mechanism::Worktree => {
            Copied::WithoutGit
        }
    };
    let (project, state, limit_mb) =
        (&reach.paths.project, &reach.paths.state, wishes.copy_limit_mb);
    let limit = limit_mb.saturating_mul(BYTES_PER_MB);
    // A folder that cannot be read is told by whoever copies it.
    let Ok(Some(bytes)) = excess(project, state, (copied, limit)) else { return Ok(()) };
    let mb = bytes.div_ceil(BYTES_PER_MB);
    if !yes {
        let is_asked = io::stdin().is_terminal() && !output.wants_json();
        let told = format!(
            "every agent gets a copy of {}, which holds {mb} MB; \
             `workspace.copyLimitMb` is {limit_mb}",
            project.display()
        );
        let refused = CommandError::failed(Code::WorkspaceFailed, told.clone())
            .hint("add --yes, raise `workspace.copyLimitMb`, or make it a git repository")
            .details(json!({"megabytes": mb, "copyLimitMb": limit_mb}));
        if !is_asked {
            return Err(refused);
        }
        output.note(&format!("{told}. Go on? [y/N]"));
        if !input::is_yes() {
            return Err(refused);
        }
    }
    agree(state, bytes).map_err(|problem| {
        CommandError::failed(Code::WorkspaceFailed, problem.to_string())
            .hint("raise `workspace.copyLimitMb`")
    })
}
