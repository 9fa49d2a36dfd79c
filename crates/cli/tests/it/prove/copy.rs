//! A project without git that is larger than what is copied without being asked.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use super::stage::{Stage, shown};
use crate::terminal::terminal;

const SMALL: &str = "[recovery]\nmaxRetries = 0\n[workspace]\ncopyLimitMb = 0\n";

/// A folder that may not be copied at all.
fn stage() -> Stage {
    let stage = Stage::new(SMALL);
    std::fs::remove_dir_all(stage.project().join(".git")).unwrap();
    stage.agent("w", "", "touch $OUT/ran; legation submit --status completed --summary done");
    stage
}

/// Delegates at a terminal where somebody types this.
fn answered(stage: &Stage, answer: &str) -> String {
    let (mut person, terminal) = terminal();
    person.write_all(answer.as_bytes()).unwrap();
    let mut delegate = stage.legation(&["delegate", "--agent", "w", "Work"]);
    shown(&delegate.stdin(Stdio::from(terminal)).output().unwrap())
}

#[test]
fn nobody_who_could_be_asked_is_a_refusal_that_names_the_flag_and_the_setting() {
    let stage = stage();
    let (code, said) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let error = &said["error"];
    assert_eq!((code, &error["code"]), (1, &Value::from("WORKSPACE_FAILED")), "{said}");
    assert!(error["message"].to_string().contains("`workspace.copyLimitMb` is 0"), "{said}");
    assert!(error["hint"].to_string().contains("--yes"), "{said}");
    assert!(!stage.out("ran").exists() && stage.engine().is_none());
}

#[test]
fn with_yes_it_is_copied_and_not_asked_about_again() {
    let stage = stage();
    for more in [&["--yes"][..], &[]] {
        let (code, view) = stage.json(&[&["delegate", "--agent", "w", "Work"], more].concat());
        assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    }
    stage.write("grown.txt", &"x".repeat(10_000));
    let (_, said) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!(said["error"]["code"], "WORKSPACE_FAILED", "{said}");
}

#[test]
fn folders_that_copies_do_not_share_are_told_with_the_answer() {
    let share = "[workspace]\nmechanism = \"copy\"\nshare = [\"node_modules\"]\n";
    let stage = Stage::new(share);
    stage.shell("mkdir node_modules; echo node_modules >> .git/info/exclude");
    stage.agent("w", "", "legation submit --status completed --summary done");
    let (_, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let told = &view["subtasks"][0]["receipt"]["notShared"];
    assert_eq!(told, &serde_json::json!(["node_modules"]), "{view}");
    let id = view["delegationId"].as_str().unwrap();
    let page = stage.shell(&format!("legation status {id}"));
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("workspace.share had no effect"), "{page}");
}

#[test]
fn whoever_sits_at_a_terminal_is_asked() {
    let stage = stage();
    let said = answered(&stage, "n\n");
    assert!(said.contains("Go on? [y/N]") && said.contains("--yes"), "{said}");
    assert!(!stage.out("ran").exists());
    let said = answered(&stage, "y\n");
    assert!(stage.out("ran").exists(), "{said}");
}

#[test]
fn a_repository_is_never_asked_about() {
    let stage = Stage::new(SMALL);
    stage.agent("w", "", "legation submit --status completed --summary done");
    let (code, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
}
