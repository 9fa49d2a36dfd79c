//! Debate and review: who hears whom, round by round, and when it ends.

use expect_test::expect;
use serde_json::Value;

use super::{ONCE, agent, brief, went};
use crate::prove::stage::Stage;

/// A proposer that counts its drafts, and two critics that look at the last one.
fn debaters(first: &str, second: &str) -> Stage {
    let stage = Stage::new(ONCE);
    agent(
        &stage,
        "pro",
        "grep -q '\"task\":\"Name the colour' $B && echo \"draft $ROUND\" > draft.txt\n\
         submit \"proposal $ROUND\" --status completed --data \"{\\\"draft\\\":$ROUND}\"",
    );
    // Neither answers before the other has begun.
    for (id, other, verdict) in [("one", "two", first), ("two", "one", second)] {
        let script = format!(
            "meet {id} {other}; echo mine > {id}.txt\n\
             verdict=revise; {verdict} && verdict=accept\n\
             submit \"{id} has read $(cat draft.txt)\" --status completed --data \
             \"{{\\\"verdict\\\":\\\"$verdict\\\",\\\"comments\\\":[\\\"{id} $ROUND\\\"]}}\""
        );
        agent(&stage, id, &script);
    }
    stage
}

const DEBATE: &[&str] =
    &["delegate", "--pattern", "debate", "--agent", "pro", "--agent", "one", "--agent", "two"];

#[test]
fn a_debate_ends_as_soon_as_every_critic_accepts() {
    let stage = debaters("true", "[ $ROUND = 2 ]");
    let ran = stage.json(&[DEBATE, &["Name the colour"]].concat());
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            debate: completed
            propose: proposer 0, heard proposer 0 after []: completed
            critique-1-1: critic 1, heard critic 1 after [propose]: completed
            critique-1-2: critic 1, heard critic 1 after [propose]: completed
            synthesise-1: proposer 1, heard proposer 1 after [propose critique-1-1 critique-1-2]: completed
            critique-2-1: critic 2, heard critic 2 after [propose critique-1-1 critique-1-2 synthesise-1]: completed
            critique-2-2: critic 2, heard critic 2 after [propose critique-1-1 critique-1-2 synthesise-1]: completed
            result: "proposal 1"
            data: {"draft":1}
            history: {"subtask":"propose","role":"proposer","round":0,"summary":"proposal 0"}
            history: {"subtask":"critique-1-1","role":"critic","round":1,"summary":"one has read draft 0","verdict":"accept"}
            history: {"subtask":"critique-1-2","role":"critic","round":1,"summary":"two has read draft 0","verdict":"revise"}
            history: {"subtask":"synthesise-1","role":"proposer","round":1,"summary":"proposal 1"}
            history: {"subtask":"critique-2-1","role":"critic","round":2,"summary":"one has read draft 1","verdict":"accept"}
            history: {"subtask":"critique-2-2","role":"critic","round":2,"summary":"two has read draft 1","verdict":"accept"}
            files: draft.txt=draft 1
        "#]],
    );
    // What was found is what the proposer goes by, and the task is its own in every round.
    let again = brief(&stage, &ran.1, "synthesise-1");
    let found: Vec<&Value> = again["context"]["results"].as_array().unwrap().iter().collect();
    let comments: Vec<String> = found.iter().map(|it| it["data"]["comments"].to_string()).collect();
    assert_eq!(comments, ["null", "[\"one 1\"]", "[\"two 1\"]"], "{again}");
    for id in ["propose", "critique-1-1", "synthesise-1"] {
        assert_eq!(brief(&stage, &ran.1, id)["task"], "Name the colour");
    }
}

#[test]
fn a_debate_without_agreement_ends_after_three_rounds_with_what_is_left_to_say() {
    let stage = debaters("true", "false");
    let ran = stage.json(&[DEBATE, &["Name the colour"]].concat());
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            debate: completed
            propose: proposer 0, heard proposer 0 after []: completed
            critique-1-1: critic 1, heard critic 1 after [propose]: completed
            critique-1-2: critic 1, heard critic 1 after [propose]: completed
            synthesise-1: proposer 1, heard proposer 1 after [propose critique-1-1 critique-1-2]: completed
            critique-2-1: critic 2, heard critic 2 after [propose critique-1-1 critique-1-2 synthesise-1]: completed
            critique-2-2: critic 2, heard critic 2 after [propose critique-1-1 critique-1-2 synthesise-1]: completed
            synthesise-2: proposer 2, heard proposer 2 after [propose critique-1-1 critique-1-2 synthesise-1 critique-2-1 critique-2-2]: completed
            critique-3-1: critic 3, heard critic 3 after [propose critique-1-1 critique-1-2 synthesise-1 critique-2-1 critique-2-2 synthesise-2]: completed
            critique-3-2: critic 3, heard critic 3 after [propose critique-1-1 critique-1-2 synthesise-1 critique-2-1 critique-2-2 synthesise-2]: completed
            synthesise-3: proposer 3, heard proposer 3 after [propose critique-1-1 critique-1-2 synthesise-1 critique-2-1 critique-2-2 synthesise-2 critique-3-1 critique-3-2]: completed
            result: "proposal 3"
            data: {"draft":3}
            history: {"subtask":"propose","role":"proposer","round":0,"summary":"proposal 0"}
            history: {"subtask":"critique-1-1","role":"critic","round":1,"summary":"one has read draft 0","verdict":"accept"}
            history: {"subtask":"critique-1-2","role":"critic","round":1,"summary":"two has read draft 0","verdict":"revise"}
            history: {"subtask":"synthesise-1","role":"proposer","round":1,"summary":"proposal 1"}
            history: {"subtask":"critique-2-1","role":"critic","round":2,"summary":"one has read draft 1","verdict":"accept"}
            history: {"subtask":"critique-2-2","role":"critic","round":2,"summary":"two has read draft 1","verdict":"revise"}
            history: {"subtask":"synthesise-2","role":"proposer","round":2,"summary":"proposal 2"}
            history: {"subtask":"critique-3-1","role":"critic","round":3,"summary":"one has read draft 2","verdict":"accept"}
            history: {"subtask":"critique-3-2","role":"critic","round":3,"summary":"two has read draft 2","verdict":"revise"}
            history: {"subtask":"synthesise-3","role":"proposer","round":3,"summary":"proposal 3"}
            findings: "two 3"
            files: draft.txt=draft 3
        "#]],
    );
}

/// A creator that writes what it was told to mend, and a reviewer that reads the files.
fn reviewed(accepts: &str) -> Stage {
    let stage = Stage::new(ONCE);
    agent(
        &stage,
        "maker",
        "echo \"version $ROUND\" > work.txt\n\
         grep -o 'mend line [0-9]*' $B | tail -1 >> work.txt\n\
         submit \"version $ROUND\" --status completed --artifact implementation:work.txt",
    );
    agent(
        &stage,
        "reader",
        &format!(
            "echo \"round $ROUND: $(tr '\\n' ' ' < work.txt).\" >> $OUT/read\n\
             echo mine > notes.txt; verdict=revise; {accepts} && verdict=accept\n\
             submit \"$verdict\" --status completed --data \
             \"{{\\\"verdict\\\":\\\"$verdict\\\",\\\"findings\\\":[\\\"mend line $ROUND\\\"]}}\""
        ),
    );
    stage
}

const REVIEW: &[&str] =
    &["delegate", "--pattern", "review", "--agent", "maker", "--agent", "reader"];

#[test]
fn a_reviewer_sees_the_files_and_the_creator_gets_the_findings_until_they_are_approved() {
    let stage = reviewed("[ $ROUND = 2 ]");
    let ran = stage.json(&[REVIEW, &["Write it"]].concat());
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            review: completed
            create: creator 0, heard creator 0 after []: completed
            review-1-1: reviewer 1, heard reviewer 1 after [create]: completed
            revise-1: creator 1, heard creator 1 after [create review-1-1]: completed
            review-2-1: reviewer 2, heard reviewer 2 after [create review-1-1 revise-1]: completed
            result: "version 1"
            history: {"subtask":"create","role":"creator","round":0,"summary":"version 0"}
            history: {"subtask":"review-1-1","role":"reviewer","round":1,"summary":"revise","verdict":"revise"}
            history: {"subtask":"revise-1","role":"creator","round":1,"summary":"version 1"}
            history: {"subtask":"review-2-1","role":"reviewer","round":2,"summary":"accept","verdict":"accept"}
            files: work.txt=version 1
        "#]],
    );
    expect![[r#"
        round 1: version 0 .
        round 2: version 1 mend line 1 .
    "#]]
    .assert_eq(&stage.told("read"));
}

#[test]
fn a_review_ends_after_its_rounds_and_lists_what_is_still_open() {
    let stage = reviewed("false");
    let ran = stage.json(&[REVIEW, &["--rounds", "1", "Write it"]].concat());
    went(
        &stage,
        &ran,
        &expect![[r#"
            exit code 0
            review: completed
            create: creator 0, heard creator 0 after []: completed
            review-1-1: reviewer 1, heard reviewer 1 after [create]: completed
            revise-1: creator 1, heard creator 1 after [create review-1-1]: completed
            result: "version 1"
            history: {"subtask":"create","role":"creator","round":0,"summary":"version 0"}
            history: {"subtask":"review-1-1","role":"reviewer","round":1,"summary":"revise","verdict":"revise"}
            history: {"subtask":"revise-1","role":"creator","round":1,"summary":"version 1"}
            findings: "mend line 1"
            files: work.txt=version 1
        "#]],
    );
    let ran = stage.json(&[REVIEW, &["Write it once more"]].concat());
    let rounds: Vec<&Value> =
        ran.1["subtasks"].as_array().unwrap().iter().map(|it| &it["round"]).collect();
    assert_eq!(rounds, [0, 1, 1, 2, 2], "two rounds if nobody says how many");
}
