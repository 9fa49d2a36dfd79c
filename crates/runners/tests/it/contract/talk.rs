//! Whole conversations with programs that only look like the vendor's: shell scripts that
//! write down what they were told and print what was recorded.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use legation_core::agent::Runner;
use legation_runners::envoy::{
    Charge, Ear, End, Event, Interrupt, Outcome, Program, Spawn, Told, Turn, converse,
};
use legation_runners::gemini::Gemini;
use legation_runners::opencode::OpenCode;
use tokio::sync::watch;

use super::charge;
use super::columns::COLUMNS;

/// What an envoy has told so far.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn told(&self) -> Vec<Told> {
        let bytes = self.0.lock().unwrap().clone();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn text(&self) -> String {
        let told = self.told().into_iter();
        told.filter_map(|told| if let Told::Text(text) = told { Some(text) } else { None })
            .collect()
    }
}

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

async fn talk(charge: &Charge, program: impl Program) -> Page {
    let page = Page::default();
    let (_stop, stopped) = watch::channel(false);
    let mut ear = Ear::new(page.clone(), stopped);
    converse(charge, program, &mut ear).await;
    page
}

async fn talk_to(runner: Runner, charge: &Charge) -> Page {
    if runner == Runner::Gemini {
        talk(charge, Gemini::default()).await
    } else {
        talk(charge, OpenCode::default()).await
    }
}

const RUNNERS: [(Runner, &str); 2] =
    [(Runner::Gemini, "--resume d80b0064"), (Runner::OpenCode, "--session ses_e1f9")];

/// What a vendor's program printed in a turn that returned nothing.
fn recorded(runner: Runner) -> &'static str {
    let column = COLUMNS.iter().find(|column| column.name == runner.as_str()).unwrap();
    column.turns[0]
}

/// The same, without its end.
fn begun(runner: Runner) -> String {
    recorded(runner).lines().take(1).map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn whoever_returns_nothing_is_asked_again_twice_in_the_same_conversation() {
    for (runner, resumed) in RUNNERS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("output"), recorded(runner)).unwrap();
        let charge = charge_with(program(folder.path(), "cat output"), folder.path());
        let page = talk_to(runner, &charge).await;
        let asked =
            page.told().iter().filter(|told| matches!(told, Told::AskedAgain { .. })).count();
        assert_eq!(asked, 2, "{}", runner.as_str());
        let said = |no: u32| fs::read_to_string(folder.path().join(format!("said.{no}"))).unwrap();
        assert!(!said(0).contains(resumed), "{}", said(0));
        assert!(said(0).contains("the brief"), "{}", said(0));
        for no in [1, 2] {
            assert!(said(no).contains(resumed), "{}", said(no));
            assert!(said(no).contains("sess_1700000000_abc123"), "{}", said(no));
        }
        assert!(!folder.path().join("said.3").exists(), "{}", runner.as_str());
    }
}

#[tokio::test]
async fn a_program_that_breaks_off_fails_with_its_reason() {
    for (runner, _) in RUNNERS {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("output"), begun(runner)).unwrap();
        let script = "cat output; echo 'out of luck' >&2";
        let charge = charge_with(program(folder.path(), script), folder.path());
        let page = talk_to(runner, &charge).await;
        assert!(page.told().contains(&Told::CutOff), "{}", runner.as_str());
        assert!(page.text().contains("out of luck"), "{}", page.text());
        assert!(page.text().contains("\"cut_off\""), "{}", page.text());
    }
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
    let page = Page::default();
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
    let one_step: String =
        recorded(Runner::OpenCode).lines().take(3).map(|line| format!("{line}\n")).collect();
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
    assert_eq!(stalls(&begun(Runner::OpenCode), has_waited).await, 0);
}
