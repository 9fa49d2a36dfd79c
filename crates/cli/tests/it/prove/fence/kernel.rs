//! A kernel that raises no fence: the real one, after as many fences as it allows.

use std::process::{Command, Output};

use landlock::{AccessFs, Ruleset, RulesetAttr};
use serde_json::Value;

use super::super::stage::{Stage, wait_for};

/// Fences that can stand around each other.
const MOST: usize = 16;

/// Runs a program where no further fence can be raised, and so all that it starts.
fn where_none_is_left(command: Command) -> (i32, Value) {
    let ran = without_fence(command);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    (ran.status.code().unwrap(), serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}")))
}

fn without_fence(mut command: Command) -> Output {
    std::thread::spawn(move || {
        for _ in 0..MOST {
            let ruleset = Ruleset::default().handle_access(AccessFs::MakeBlock).unwrap();
            ruleset.create().unwrap().restrict_self().unwrap();
        }
        command.output().unwrap()
    })
    .join()
    .unwrap()
}

fn stage(sandbox: &str) -> Stage {
    let stage = Stage::fenced("[recovery]\nmaxRetries = 0\n", sandbox);
    stage.agent("any", "", "touch $OUT/ran; legation submit --status completed --summary done");
    stage
}

#[test]
fn a_fence_that_is_required_and_cannot_be_had_means_that_nothing_starts() {
    let stage = stage("fence = \"require\"");
    let delegate = stage.legation(&["delegate", "--json", "--agent", "any", "Work"]);
    let (code, said) = where_none_is_left(delegate);
    assert_eq!((code, &said["error"]["code"]), (1, &Value::from("TOOL_UNAVAILABLE")), "{said}");
    assert!(said["error"]["message"].to_string().contains("requires a fence"), "{said}");
    assert!(!stage.out("ran").exists());
    let (code, said) = where_none_is_left(stage.legation(&["doctor", "--json"]));
    assert_eq!((code, &said["ok"], &said["fence"]["on"]), (1, &false.into(), &false.into()));
    assert_eq!(said["problems"].as_array().unwrap().len(), 1, "{said}");
}

#[test]
fn a_fence_that_is_not_required_is_missing_in_the_receipt_and_not_in_silence() {
    let stage = stage("");
    let delegate = stage.legation(&["delegate", "--json", "--agent", "any", "Work"]);
    let (code, said) = where_none_is_left(delegate);
    let receipt = &said["subtasks"][0]["receipt"];
    assert_eq!((code, &receipt["fenced"]), (0, &false.into()), "{said}");
    assert_eq!(receipt["fenceGaps"].as_array().unwrap().len(), 1, "{receipt}");
    let (code, said) = where_none_is_left(stage.legation(&["doctor", "--json"]));
    assert_eq!((code, &said["ok"], &said["fence"]["on"]), (0, &true.into(), &false.into()));
}

#[test]
fn nor_is_it_missing_in_silence_around_a_shell() {
    for (sandbox, seen) in [("", "seen\n"), ("fence = \"require\"", "")] {
        let stage = stage(sandbox);
        let script = "touch $OUT/began; until [ -e $OUT/go ]; do sleep 0.05; done\n\
                      legation submit --status completed --summary done";
        stage.agent("slow", "", script);
        let (_, begun) = stage.json(&["delegate", "--detach", "--agent", "slow", "Work"]);
        wait_for("the agent", || stage.out("began").exists().then_some(()));
        let id = begun["delegationId"].as_str().unwrap();
        let shell = || stage.legation(&["workspaces", "shell", id, "-c", "echo seen"]);
        let ran = without_fence(shell());
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), seen, "{told}");
        let expected = match seen.is_empty() {
            true => "ERROR: the fence cannot be raised here, and `sandbox.fence` requires it: ",
            false => "there is no fence here, ",
        };
        assert!(told.starts_with(expected), "{told}");
        let ran = shell().output().unwrap();
        assert_eq!((ran.stdout, ran.stderr), (b"seen\n".to_vec(), Vec::new()));
        std::fs::write(stage.out("go"), "").unwrap();
        assert_eq!(stage.json(&["resume", id, "--wait"]).0, 0);
    }
}

#[test]
fn a_fence_that_is_required_and_can_be_had_is_raised() {
    let stage = stage("fence = \"require\"");
    let (code, said) = stage.json(&["delegate", "--agent", "any", "Work"]);
    let fenced = &said["subtasks"][0]["receipt"]["fenced"];
    assert_eq!((code, fenced), (0, &true.into()), "{said}");
}

#[test]
fn the_receipt_names_what_was_refused_where_the_kernel_tells() {
    let stage = stage("");
    let hidden = stage.project().join("README.md").display().to_string();
    let script = format!("cat {hidden}; legation submit --status completed --summary done");
    stage.agent("curious", "", &script);
    let (_, told) = stage.json(&["doctor"]);
    let rule = told["fence"]["rules"].as_array().unwrap().last().unwrap();
    if rule["held"] == false {
        eprintln!("SKIPPED: {}: {}", rule["rule"], rule["why"]);
        return;
    }
    let (_, said) = stage.json(&["delegate", "--agent", "curious", "Look around"]);
    let refused = &said["subtasks"][0]["receipt"]["fenceRefused"];
    let expected = serde_json::json!([{"what": "fs.read_file", "target": hidden}]);
    assert_eq!(refused, &expected, "{said}");
}
