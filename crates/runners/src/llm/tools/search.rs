//! Searching files.
//!
//! The system's own `grep` does it: it is everywhere, and bounded by time like any other
//! command. What is looked for is an argument of its own and never part of a command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command;

use super::Came;
use super::place::inside;
use super::shell::{Ended, see_through};

/// How long a search may take.
const MAX_TIME: Duration = Duration::from_secs(30);
/// Matches that are told of one file.
const MAX_PER_FILE: &str = "--max-count=100";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    pattern: String,
    pub(super) path: Option<String>,
}

pub(super) async fn grep(root: &Path, wanted: &Grep, env: &BTreeMap<String, String>) -> Came {
    let at = inside(root, wanted.path.as_deref().unwrap_or("."))?;
    let below = at.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
    let mut command = Command::new("grep");
    command.args(["-rnIE", "--exclude-dir=.git", MAX_PER_FILE, "-e", &wanted.pattern, "--"]);
    command.arg(below.unwrap_or(Path::new("."))).current_dir(root).env_clear().envs(env);
    let Ended { code, text, is_late } = see_through(command, MAX_TIME).await?;
    match code {
        Some(0) => Ok(text),
        Some(1) if text.is_empty() => Ok("(no match)".to_owned()),
        _ if is_late => Err(format!("The search took too long.\n{text}")),
        _ => Err(text),
    }
}
