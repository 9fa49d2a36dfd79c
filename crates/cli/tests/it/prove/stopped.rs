//! A journal that cannot be written: nothing is accepted, and it is said why.

use super::stage::Stage;

#[test]
fn a_journal_without_permission_accepts_nothing_and_says_so() {
    let stage = Stage::new("");
    stage.agent("w", "", "legation submit --status completed --summary ok");
    // A folder where the file should be stops even somebody who may do everything.
    std::fs::create_dir(stage.project().join(".legation/legation.db")).unwrap();
    let (code, said) = stage.json(&["delegate", "--agent", "w", "Work"]);
    assert_eq!(code, 1, "{said}");
    let message = said["error"]["message"].as_str().unwrap();
    assert!(message.contains("legation.db"), "{message}");
    assert!(said["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{said}");
}

#[test]
fn a_full_disk_stops_the_engine_and_loses_nothing_that_was_acknowledged() {
    let stage = Stage::new("");
    stage.agent("w", "", "legation submit --status completed --summary ok");
    let (code, first) = stage.json(&["delegate", "--agent", "w", "Before"]);
    assert_eq!(code, 0, "{first}");
    let id = first["delegationId"].as_str().unwrap();
    // The limit on file sizes stands for a disk that is full: writes beyond it fail.
    stage.kill();
    let line = "ulimit -f 1; legation delegate --json --agent w 'With no room'";
    let ran = stage.shell(line);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(!ran.status.success(), "{said}");
    assert!(said.contains("\"error\""), "{said}");
    stage.kill();
    let (code, again) = stage.json(&["status", id]);
    assert_eq!((code, again["status"].as_str()), (0, Some("completed")));
    let (code, after) = stage.json(&["delegate", "--agent", "w", "Afterwards"]);
    assert_eq!(code, 0, "{after}");
}
