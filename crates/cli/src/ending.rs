//! How things end, as an exit code.

use std::process::ExitCode;

/// The exit code for how a delegation ended.
pub(crate) fn exit_code(status: &str) -> ExitCode {
    ExitCode::from(match status {
        "failed" => 1,
        "partial" => 3,
        "blocked" => 4,
        "cancelled" => 5,
        // What is still under way has not gone wrong.
        _ => 0,
    })
}

/// The exit code of who did not wait for the end of what it cancelled.
pub(crate) const LEFT: u8 = 5;
