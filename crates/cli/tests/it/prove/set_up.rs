//! The commands that make workspaces ready, run by the real program.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::stage::Stage;

const ONCE: &str = "[recovery]\nmaxRetries = 0\n";
/// Says what the set-up made, and makes something itself.
const WORK: &str = "cat made.txt >> $OUT/seen; echo x > work.txt\n\
                    legation submit --status completed --summary done";

/// A project with a set-up command, which may write where agents do.
fn with_set_up(line: &str) -> Stage {
    let stage = Stage::new(ONCE);
    stage.agent("w", "", WORK);
    set_up(&stage, line);
    stage
}

fn set_up(stage: &Stage, line: &str) {
    let file = stage.project().join(".legation/config.toml");
    let config = fs::read_to_string(file).unwrap();
    let before = config.split("[workspace]").next().unwrap();
    let line = line.replace("OUT", &stage.out("").display().to_string());
    let config = format!("{before}[workspace]\nsetup = [{}]\n", Value::from(line));
    stage.write(".legation/config.toml", &config);
}

/// Delegates once; answers with the subtask.
fn delegated(stage: &Stage, agent: &str) -> Value {
    let (_, view) = stage.json(&["delegate", "--agent", agent, "Work"]);
    view["subtasks"][0].clone()
}

#[test]
fn what_a_set_up_makes_is_there_is_no_work_and_is_made_once_for_the_same_files() {
    let line = "echo ran >> OUT/ran; echo made > made.txt; echo words";
    let stage = with_set_up(line);
    for _ in 0..2 {
        let subtask = delegated(&stage, "w");
        assert_eq!(subtask["receipt"]["filesChanged"].to_string(), "[\"work.txt\"]", "{subtask}");
    }
    assert_eq!(
        (stage.told("ran").as_str(), stage.told("seen").as_str()),
        ("ran\n", "made\nmade\n")
    );
    // Other files, or another command, may make something else of it.
    stage.write("more.txt", "x\n");
    let commit = "git add -A && git -c user.name=a -c user.email=a@b.c commit -qm more";
    assert!(stage.shell(commit).status.success());
    delegated(&stage, "w");
    assert_eq!(stage.told("ran"), "ran\nran\n");
    set_up(&stage, &line.replace("ran >>", "otherwise >>"));
    delegated(&stage, "w");
    assert_eq!(stage.told("ran"), "ran\nran\notherwise\n");
    assert_eq!(stage.told("seen"), "made\nmade\nmade\nmade\n");
}

#[test]
fn a_set_up_that_fails_is_told_with_where_its_words_are_and_no_agent_starts() {
    let stage = with_set_up("echo so far; echo no further >&2; exit 7");
    let (code, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let error = &view["subtasks"][0]["return"]["errors"][0];
    assert_eq!((code, &error["code"]), (1, &Value::from("WORKSPACE_FAILED")), "{view}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("exit 7` ended with code 7; what it said is in "), "{message}");
    let log = Path::new(message.split('"').nth(1).unwrap());
    let said = ["stdout", "stderr"].map(|name| fs::read_to_string(log.join(name)).unwrap());
    assert_eq!(said, ["so far\n", "no further\n"]);
    assert!(!stage.out("seen").exists());
}

#[test]
fn a_set_up_is_inside_the_fence_and_ends_with_the_time_of_its_attempt() {
    let stage = Stage::new(ONCE);
    stage.hasty("hasty", "2s", WORK);
    let project = stage.project().display().to_string();
    set_up(&stage, &format!("echo pwned > {project}/README.md; echo $$ > OUT/pid; sleep 600"));
    let subtask = delegated(&stage, "hasty");
    assert_ne!(subtask["status"], "completed", "{subtask}");
    assert_eq!(fs::read_to_string(stage.project().join("README.md")).unwrap(), "hello\n");
    let pid = stage.told("pid");
    assert!(!pid.is_empty() && !Path::new("/proc").join(pid.trim()).exists(), "{pid}");
    assert!(!stage.out("seen").exists());
}
