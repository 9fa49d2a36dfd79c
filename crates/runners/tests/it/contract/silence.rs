//! When nothing more is expected of a program: a shell script that prints what was recorded
//! and then waits.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use legation_runners::envoy::{
    Charge, Ear, End, Event, Interrupt, Outcome, Program, Spawn, Told, Turn, converse,
};
use legation_runners::opencode::OpenCode;
use tokio::sync::watch;

use super::charge;
use super::columns::COLUMNS;
use crate::talked::Heard;

/// A program that does as its script says. `said` holds its arguments and what it read, a
/// file for each time it was started.
fn program(folder: &Path, script: &str) -> String {
    let path = folder.join("program");
    let text = format!(
        "#!/bin/sh\ncd {}\nno=$(ls said.* 2>/dev/null | wc -l)\n\
         {{ echo \"$@\"; cat; }} > said.$no\n{script}\n",
        folder.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

/// A conversation with such a program, all of whose files lie below that folder.
fn charge_with(program: String, folder: &Path) -> Charge {
    let (scratch, workspace) = (folder.join("scratch"), folder.to_owned());
    Charge { program: vec![program], scratch, workspace, ..charge() }
}

/// What OpenCode printed until the first tool came back.
fn recorded(lines: usize) -> String {
    let column = COLUMNS.iter().find(|column| column.name == "opencode").unwrap();
    column.turns[0].lines().take(lines).map(|line| format!("{line}\n")).collect()
}

/// OpenCode with less patience.
#[derive(Default)]
struct Hasty(OpenCode);

impl Program for Hasty {
    const SILENCE: Duration = Duration::from_millis(400);

    fn spawn(&mut self, charge: &Charge, turn: &Turn<'_>) -> io::Result<Spawn> {
        self.0.spawn(charge, turn)
    }

    fn push(&mut self, bytes: &[u8], heard: &mut Vec<Event>) {
        self.0.push(bytes, heard);
    }

    fn is_over(&self) -> bool {
        self.0.is_over()
    }

    fn may_be_silent(&self) -> bool {
        self.0.may_be_silent()
    }

    fn end(&mut self, end: &End<'_>) -> Outcome {
        self.0.end(end)
    }

    fn interrupt(&self) -> Interrupt {
        self.0.interrupt()
    }
}

/// Stalls that are told of a program which prints this and then waits until it may end.
async fn stalls(output: &str, may_end: impl Fn(&[Told]) -> bool) -> usize {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("output"), output).unwrap();
    let script = "cat output; while [ ! -e end ]; do sleep 0.05; done";
    let charge = charge_with(program(folder.path(), script), folder.path());
    let page = Heard::default();
    let (stop, stopped) = watch::channel(false);
    let mut ear = Ear::new(page.clone(), stopped);
    let watched = page.clone();
    let end = folder.path().join("end");
    let watch = async move {
        let mut looks = tokio::time::interval(Duration::from_millis(50));
        for _ in 0..200 {
            looks.tick().await;
            if may_end(&watched.told()) {
                break;
            }
        }
        fs::write(end, "").unwrap();
        stop.send_replace(true);
    };
    tokio::join!(converse(&charge, Hasty::default(), &mut ear), watch);
    page.told().iter().filter(|told| matches!(told, Told::Stalled { .. })).count()
}

#[tokio::test]
async fn a_provider_that_is_asked_again_and_again_in_silence_is_a_stall() {
    // The end of a step: what comes next is a call of the provider.
    let one_step = recorded(3);
    let is_stalled = |told: &[Told]| told.iter().any(|told| matches!(told, Told::Stalled { .. }));
    assert!(stalls(&one_step, is_stalled).await > 0);
}

#[tokio::test]
async fn a_tool_at_work_is_no_stall() {
    let looks = Arc::new(Mutex::new(0));
    let has_waited = move |_: &[Told]| {
        let mut looks = looks.lock().unwrap();
        *looks += 1;
        // Several times its patience.
        *looks > 30
    };
    assert_eq!(stalls(&recorded(1), has_waited).await, 0);
}
