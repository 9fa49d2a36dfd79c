//! Searching files.
//!
//! The system's own `grep` does it: it is everywhere, and bounded by time like any other
//! command. What is looked for is an argument of its own and never part of a command line.
//! Where parts may not be read it is told file by file where to look.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::process::Command;

use super::place::inside;
use super::shell::{Ended, see_through};
use super::{Came, Ground, MAX_TOLD, fitting};

/// How long a search may take.
const MAX_TIME: Duration = Duration::from_secs(30);
/// Matches that are told of one file.
const MAX_PER_FILE: &str = "--max-count=100";
/// Files that are looked for where not all may be read.
const MAX_FILES: usize = 100_000;
/// Files that one `grep` is told of: their names have to fit into a command line.
const FILES_AT_ONCE: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    pattern: String,
    pub(super) path: Option<String>,
}

pub(super) async fn grep(
    ground: &Ground<'_>,
    wanted: &Grep,
    env: &BTreeMap<String, String>,
) -> Came {
    let at = inside(ground.root, wanted.path.as_deref().unwrap_or("."))?;
    if ground.tools.is_some() && at.is_dir() {
        return piece_by_piece(ground, (wanted, &at), env).await;
    }
    let Ended { code, text, is_late } =
        see_through(command(ground.root, (wanted, &[&at]), env), MAX_TIME).await?;
    match code {
        Some(0) => Ok(text),
        Some(1) if text.is_empty() => Ok("(no match)".to_owned()),
        _ if is_late => Err(format!("The search took too long.\n{text}")),
        _ => Err(text),
    }
}

fn command<P: AsRef<Path>>(
    root: &Path,
    (wanted, places): (&Grep, &[P]),
    env: &BTreeMap<String, String>,
) -> Command {
    let mut command = Command::new("grep");
    command.args(["-rnIE", "--exclude-dir=.git", MAX_PER_FILE, "-e", &wanted.pattern, "--"]);
    command.args(places.iter().map(|place| {
        let below = place.as_ref().strip_prefix(root).unwrap_or(place.as_ref());
        if below.as_os_str().is_empty() { Path::new(".") } else { below }
    }));
    command.current_dir(root).env_clear().envs(env);
    command
}

/// Searches only the files that may be read.
async fn piece_by_piece(
    ground: &Ground<'_>,
    (wanted, folder): (&Grep, &Path),
    env: &BTreeMap<String, String>,
) -> Came {
    let ends_at = Instant::now() + MAX_TIME;
    let Open { files, left_out } = Open::below(ground, folder);
    let mut told = String::new();
    for files in files.chunks(FILES_AT_ONCE) {
        // With the one more there is always a name before each match.
        let mut command = command(ground.root, (wanted, files), env);
        command.arg("/dev/null");
        let left = ends_at.saturating_duration_since(Instant::now());
        let Ended { code, text, is_late } = see_through(command, left).await?;
        told.push_str(&text);
        if is_late {
            return Err(format!("The search took too long.\n{told}"));
        }
        if code.is_none_or(|code| code > 1) {
            return Err(told);
        }
        if told.len() > MAX_TOLD {
            break;
        }
    }
    let bytes = told.len();
    let mut told = if told.is_empty() { "(no match)".to_owned() } else { fitting(told, bytes) };
    if left_out > 0 {
        told.push_str(&format!("\n[{left_out} left out: the agent may not read them]"));
    }
    Ok(told)
}

/// The files that may be read.
#[derive(Default)]
struct Open {
    files: Vec<PathBuf>,
    /// How many files and folders may not be.
    left_out: usize,
}

impl Open {
    fn below(ground: &Ground<'_>, folder: &Path) -> Self {
        let mut found = Self::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
                let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
                let is_folder = kind.is_dir() && entry.file_name() != ".git";
                if !is_folder && !kind.is_file() {
                    continue;
                }
                if found.files.len() >= MAX_FILES || !ground.is_open(folder, &path) {
                    found.left_out += 1;
                } else if is_folder {
                    folders.push(path);
                } else {
                    found.files.push(path);
                }
            }
        }
        found.files.sort_unstable();
        found
    }
}
