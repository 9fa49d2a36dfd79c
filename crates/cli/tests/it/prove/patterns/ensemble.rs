//! Ensembles: the same task to several, and one answer.

use std::fs;

use expect_test::expect;
use serde_json::Value;

use super::{ONCE, agent, course, files, went};
use crate::prove::stage::{Stage, wait_for};

/// A stage with three members that decide for themselves and leave a file of their own.
fn members(config: &str) -> Stage {
    let stage = Stage::new(config);
    for (id, decision) in [("m1", "blue"), ("m2", "red"), ("m3", "blue")] {
        let script = format!(
            "echo {id} > {id}.txt; submit '{id} says {decision}' --status completed --data \
             '{{\"decision\":\"{decision}\"}}'"
        );
        agent(&stage, id, &script);
    }
    stage
}

fn ensemble(stage: &Stage, aggregate: &str) -> (i32, Value) {
    let args = ["delegate", "--pattern", "ensemble", "--aggregate", aggregate];
    let all = ["--agent", "m1", "--agent", "m2", "--agent", "m3", "Which colour?"];
    stage.json(&[args.as_slice(), &all].concat())
}

#[test]
fn an_ensemble_votes_and_the_majority_has_it() {
    let stage = members(ONCE);
    let (code, view) = ensemble(&stage, "vote");
    assert_eq!(code, 0, "{view}");
    expect![[r#"
            ensemble: completed
            member-1: member 0, heard member 0 after []: completed
            member-2: member 0, heard member 0 after []: completed
            member-3: member 0, heard member 0 after []: completed
            result: "m1 says blue"
            data: {"decision":"blue"}
            votes: {"choice":"blue","members":["member-1","member-3"]}
            votes: {"choice":"red","members":["member-2"]}
        "#]]
    .assert_eq(&course(&stage, &view));
}

#[test]
fn an_ensemble_has_its_judge_name_the_best() {
    let stage = members(&format!("{ONCE}[agents]\njudge = \"wise\"\n"));
    let script = "submit 'm2 is best' --status completed --data '{\"winner\":\"member-2\"}'";
    agent(&stage, "wise", script);
    let (code, view) = ensemble(&stage, "best");
    assert_eq!(code, 0, "{view}");
    expect![[r#"
        ensemble: completed
        member-1: member 0, heard member 0 after []: completed
        member-2: member 0, heard member 0 after []: completed
        member-3: member 0, heard member 0 after []: completed
        judge: judge 0, heard judge 0 after [member-1 member-2 member-3]: completed
        result: "m2 says red"
        data: {"decision":"red"}
        votes: {"choice":"blue","members":["member-1","member-3"]}
        votes: {"choice":"red","members":["member-2"]}
    "#]]
    .assert_eq(&course(&stage, &view));
    assert_eq!(files(&stage, view["delegationId"].as_str().unwrap()), "m2.txt=m2");
}

#[test]
fn an_ensemble_without_a_judge_takes_the_one_that_passed_its_verification() {
    let stage = members(ONCE);
    let path = ".legation/agents/m3.md";
    let text = fs::read_to_string(stage.project().join(path)).unwrap();
    stage.write(path, &text.replace("  timeout:", "  verify: [\"test -e m3.txt\"]\n  timeout:"));
    let (code, view) = ensemble(&stage, "best");
    assert_eq!(code, 0, "{view}");
    expect![[r#"
            ensemble: completed
            member-1: member 0, heard member 0 after []: completed
            member-2: member 0, heard member 0 after []: completed
            member-3: member 0, heard member 0 after []: completed
            result: "m3 says blue"
            data: {"decision":"blue"}
            votes: {"choice":"blue","members":["member-1","member-3"]}
            votes: {"choice":"red","members":["member-2"]}
        "#]]
    .assert_eq(&course(&stage, &view));
}

#[test]
fn an_ensemble_merges_the_work_of_all() {
    let stage = members(ONCE);
    went(
        &stage,
        &ensemble(&stage, "merge"),
        &expect![[r#"
            exit code 0
            ensemble: completed
            member-1: member 0, heard member 0 after []: completed
            member-2: member 0, heard member 0 after []: completed
            member-3: member 0, heard member 0 after []: completed
            result: "member-1: m1 says blue\nmember-2: m2 says red\nmember-3: m3 says blue"
            data: {"member":"member-1","data":{"decision":"blue"}}
            data: {"member":"member-2","data":{"decision":"red"}}
            data: {"member":"member-3","data":{"decision":"blue"}}
            votes: {"choice":"blue","members":["member-1","member-3"]}
            votes: {"choice":"red","members":["member-2"]}
            files: m1.txt=m1, m2.txt=m2, m3.txt=m3
        "#]],
    );
}

#[test]
fn the_work_of_the_chosen_member_is_the_result_however_long_others_take() {
    let stage = members(ONCE);
    // The last one ends when the others have long been done.
    let late = "until [ -e $OUT/go ]; do :; done; submit 'm3 says blue' --status completed \
                --data '{\"decision\":\"blue\"}'";
    agent(&stage, "m3", late);
    let args = ["delegate", "--detach", "--pattern", "ensemble", "--aggregate", "vote"];
    let all = ["--agent", "m1", "--agent", "m2", "--agent", "m3", "Which colour?"];
    let (_, begun) = stage.json(&[args.as_slice(), &all].concat());
    let id = begun["delegationId"].as_str().unwrap();
    wait_for("the others to be done", || {
        let state = stage.tree(id);
        let done = state.subtasks.iter().filter(|(_, subtask)| subtask.outcome().is_some());
        (done.count() == 2).then_some(())
    });
    fs::write(stage.out("go"), "").unwrap();
    let ran = stage.json(&["resume", id, "--wait"]);
    assert_eq!(ran.1["result"]["summary"], "m1 says blue", "{}", ran.1);
    assert_eq!(files(&stage, id), "m1.txt=m1");
}

#[test]
fn a_member_with_work_is_told_as_ended_once_and_the_chosen_one_after_its_merge() {
    let stage = members(ONCE);
    let args = ["delegate", "--pattern", "ensemble", "--aggregate", "vote", "--agent", "m1"];
    let all = ["--agent", "m2", "--agent", "m3", "Which colour?"];
    let ran = stage.legation(&[args.as_slice(), &all].concat()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let told = said.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let is_end = ["ended", "merged"].contains(words.first()?);
        is_end.then(|| words.join(" "))
    });
    let told: Vec<String> = told.collect();
    let ends = "ended member-2 completed\nended member-3 completed\n\
                merged member-1\nended member-1 completed";
    assert_eq!(told.join("\n"), ends, "{said}");
}
