//! Running commands.
//!
//! A command has a group of its own, which is ended with it or when its time is up. What
//! leaves that group is the keeper's to end.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Came, MAX_TOLD};
use crate::group::Group;

/// How long a command may take where nobody says.
const TIME: Duration = Duration::from_secs(120);
/// How long it may take at most.
const MAX_TIME: Duration = Duration::from_secs(600);
/// How long output is waited for after a command has ended: something it left may hold it.
const DRAIN: Duration = Duration::from_millis(200);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shell {
    pub(super) command: String,
    timeout: Option<u64>,
}

/// How a command ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    /// What it said, beginning and end.
    pub(super) text: String,
    /// Whether its time was up.
    pub(super) is_late: bool,
}

pub(super) async fn run(root: &Path, wanted: &Shell, env: &BTreeMap<String, String>) -> Came {
    let time = wanted.timeout.map_or(TIME, Duration::from_secs).min(MAX_TIME);
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&wanted.command).current_dir(root).env_clear().envs(env);
    let Ended { code, text, is_late } = see_through(command, time).await?;
    match code {
        _ if is_late => {
            Err(format!("{text}\n[ended after {} s: it took too long]", time.as_secs()))
        }
        Some(0) => Ok(text),
        Some(code) => Err(format!("{text}\n[exit code {code}]")),
        None => Err(format!("{text}\n[ended by a signal]")),
    }
}

/// Runs a command to its end, or to the end of its time. Dropped before, it ends it.
pub(super) async fn see_through(mut command: Command, time: Duration) -> Result<Ended, String> {
    let cannot = |problem: io::Error| format!("The command cannot be started: {problem}");
    let (output, input) = io::pipe().map_err(cannot)?;
    let copy = input.try_clone().map_err(cannot)?;
    command.stdin(Stdio::null()).stdout(input).stderr(copy).process_group(0).kill_on_drop(true);
    let mut child = command.spawn().map_err(cannot)?;
    // The command still holds our ends of the pipe.
    drop(command);
    let group = Group::led_by(&child);
    let mut output = pipe::Receiver::from_owned_fd(output.into()).map_err(cannot)?;
    let mut kept = Kept::default();
    let ends_at = Instant::now() + time;
    let waited = tokio::select! {
        waited = timeout_at(ends_at, child.wait()) => waited,
        () = kept.take_all(&mut output) => timeout_at(ends_at, child.wait()).await,
    };
    drop(group);
    // Whoever still holds the output is not the command.
    let _ = timeout(DRAIN, kept.take_all(&mut output)).await;
    let is_late = waited.is_err();
    let code = waited.ok().and_then(Result::ok).and_then(|status| status.code());
    Ok(Ended { code, text: kept.text(), is_late })
}

/// Beginning and end of what a command says.
#[derive(Default)]
struct Kept {
    first: Vec<u8>,
    last: Vec<u8>,
    left_out: usize,
}

impl Kept {
    async fn take_all(&mut self, output: &mut pipe::Receiver) {
        let mut piece = [0; 4 << 10];
        while let Ok(count) = output.read(&mut piece).await {
            let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { return };
            self.take(bytes);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = (MAX_TOLD / 2).saturating_sub(self.first.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.first.extend_from_slice(first);
        self.last.extend_from_slice(rest);
        // Not for each piece, so that what is kept is not moved for each piece.
        if self.last.len() > MAX_TOLD {
            let surplus = self.last.len() - MAX_TOLD / 2;
            self.left_out += surplus;
            self.last.drain(..surplus);
        }
    }

    fn text(mut self) -> String {
        let surplus = self.last.len().saturating_sub(MAX_TOLD / 2);
        self.left_out += surplus;
        self.last.drain(..surplus);
        let mut text = String::from_utf8_lossy(&self.first).into_owned();
        if self.left_out > 0 {
            text.push_str(&format!("\n[{} bytes are left out]\n", self.left_out));
        }
        text.push_str(&String::from_utf8_lossy(&self.last));
        text
    }
}
