//! A repository of ten thousand files: git is told inside the fence what was written to.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use super::stage::{Stage, shown, wait_for};

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";
/// Writes what git says has changed, and how many files it looked at for that.
const LOOK: &str = "look() {\n\
    GIT_TRACE2_EVENT=$TMPDIR/trace git status --porcelain > $OUT/$1\n\
    grep -o 'sum_lstat.*\"value\":\"[0-9]*' $TMPDIR/trace | grep -o '[0-9]*$' |\n\
    awk '{ sum += $1 } END { print sum }' >> $OUT/$1\n\
    rm $TMPDIR/trace\n}\n";

/// Runs an agent that looks before it works and afterwards; none if workspaces are no overlays.
fn looked(stage: &Stage) -> Option<[(String, u64); 2]> {
    let made = stage.shell(
        "for f in $(seq 0 99); do mkdir f$f; for i in $(seq 0 99); do echo x > f$f/$i.txt; done; \
         done; git add -A && git -c user.name=a -c user.email=a@b.c commit -qm many",
    );
    assert!(made.status.success(), "{}", shown(&made));
    let (_, doctor) = stage.json(&["doctor"]);
    if doctor["workspaces"]["mechanism"] != "overlay" {
        eprintln!("SKIPPED: workspaces are no overlays here: {}", doctor["workspaces"]);
        return None;
    }
    let work = "look first; echo y > f7/7.txt; echo n > f8/new.txt; look second\n\
                legation submit --status completed --summary Looked.";
    stage.agent("looker", "", &format!("{LOOK}{work}"));
    let (code, done) = stage.json(&["delegate", "--agent", "looker", "Look"]);
    let receipt: &Value = &done["subtasks"][0]["receipt"];
    assert_eq!((code, &receipt["fenced"]), (0, &Value::from(true)), "{done}");
    Some(["first", "second"].map(|name| {
        let told = format!("\n{}", stage.told(name).trim_end());
        let (said, looks) = told.rsplit_once('\n').unwrap();
        (said.to_owned(), looks.parse().unwrap())
    }))
}

/// Before the work nothing is looked at, and afterwards all that was done is seen.
fn check(looked: Option<[(String, u64); 2]>) {
    let Some([first, second]) = looked else { return };
    assert_eq!(first, (String::new(), 0));
    assert_eq!(second.0, "\n M f7/7.txt\n?? f8/new.txt");
}

#[test]
fn an_agent_in_a_large_repository_does_not_wait_for_git_to_look_at_every_file() {
    check(looked(&Stage::new(ONCE)));
}

#[test]
fn nor_does_one_of_somebody_who_is_not_root() {
    let config = format!("{ONCE}[workspace]\nmechanism = \"overlay\"\n");
    check(looked(&Stage::of_nobody(&config, "")));
}

#[test]
fn an_apply_that_is_broken_off_at_the_terminal_is_done_all_the_same() {
    let stage = Stage::new(ONCE);
    let work = "mkdir m; for i in $(seq 30000); do echo $i > m/$i; done\n\
                legation submit --status completed --summary Made.";
    stage.agent("maker", "", work);
    let (code, done) = stage.json(&["delegate", "--agent", "maker", "Make many"]);
    assert_eq!(code, 0, "{done}");
    let id = done["delegationId"].as_str().unwrap().to_owned();
    let mut apply = stage.legation(&["apply", "--yes", &id]);
    let apply = apply.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
    let folder = stage.project().join("m");
    wait_for("the first file", || folder.exists().then_some(()));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        kill_process_group(Pid::from_child(&apply), signal).unwrap();
    }
    // It goes on, beyond the time after which git would tell how far it is, and says so.
    let said = apply.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.status.success() && words.starts_with("30000 files changed, now at"), "{words}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 30_000);
    assert_eq!(stage.shell("git status --porcelain").stdout, b"");
    assert_eq!(stage.json(&["rollback", &id]).0, 0);
    assert!(!folder.exists());
}
