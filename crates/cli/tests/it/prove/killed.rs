//! The engine killed again and again while it works.

use std::collections::BTreeMap;

use legation_core::returns::StopReason;
use legation_core::tree::State;

use super::stage::{Stage, shown, wait_for};

/// How often the engine is killed.
const KILLS: usize = 200;
/// What it is told about its project.
pub(super) const CONFIG: &str = "[limits]\nmaxConcurrentTotal = 6\n[recovery]\nmaxRetries = 0\n";
/// Subtasks of each delegation.
const PARTS: usize = 3;

fn delegate(stage: &Stage, number: usize) -> Option<String> {
    let part =
        |n: usize| format!("{{\"id\":\"p{n}\",\"title\":\"part {number}-{n}\",\"agent\":\"w\"}}");
    let parts: Vec<String> = (0..PARTS).map(part).collect();
    let plan = format!("{{\"pattern\":\"parallel\",\"subtasks\":[{}]}}", parts.join(","));
    let file = stage.out(&format!("plan-{number}.json"));
    std::fs::write(&file, plan).unwrap();
    let key = format!("round {number}");
    let args = ["delegate", "--json", "--detach", "--idempotency-key", &key, "--plan"];
    let ran = stage.legation(&args).arg(&file).arg(format!("Round {number}")).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    answer["delegationId"].as_str().map(str::to_owned)
}

#[test]
fn nothing_is_lost_doubled_or_left_behind_however_often_the_engine_is_killed() {
    survives(&Stage::new(CONFIG), KILLS);
}

/// Kills the engine so often while it works, and looks at what came of it.
pub(super) fn survives(stage: &Stage, most_kills: usize) {
    stage.agent(
        "w",
        "",
        "echo $LEGATION_SESSION_ID >> $OUT/starts\n\
         legation submit --status completed --summary done --tokens-in 7 --cost-usd 0.01",
    );
    let mut kills = 0;
    let mut rounds = 0;
    let mut ids = BTreeMap::new();
    while kills < most_kills {
        // The same key again, where the engine died before it could answer.
        match delegate(stage, rounds) {
            Some(id) => {
                ids.insert(rounds, id);
                rounds += 1;
            }
            None => kills += usize::from(stage.kill()),
        }
        kills += usize::from(stage.kill());
    }
    for id in ids.values() {
        let (code, view) = stage.json(&["resume", id, "--wait"]);
        assert_eq!((code, view["status"].as_str()), (0, Some("completed")), "{view}");
    }
    let starts = stage.told("starts");
    let mut seen = BTreeMap::new();
    for session in starts.lines() {
        *seen.entry(session).or_insert(0) += 1;
    }
    assert!(seen.values().all(|count| *count == 1), "an attempt ran twice: {seen:?}");
    for id in ids.values() {
        check(&stage.tree(id));
    }
    wait_for("every process to end", || stage.processes().is_empty().then_some(()));
    let locks = stage.shell("find .git -name '*.lock'");
    assert!(locks.stdout.is_empty(), "{}{}", String::from_utf8_lossy(&locks.stdout), shown(&locks));
}

/// Every attempt has one end, an attempt has a successor only if it was lost, and what
/// was settled is what was used.
fn check(state: &State) {
    let mut tokens = 0;
    for (_, attempt) in state.attempts.iter() {
        let end = attempt.end.as_ref().unwrap_or_else(|| panic!("{} has no end", attempt.id));
        let last = state.subtasks[attempt.subtask].attempts.last() == Some(&attempt.no);
        let lost = end.receipt.stop_reason == StopReason::Lost;
        assert!(last || lost, "{} was followed though it was not lost", attempt.id);
        tokens += attempt.tokens.unwrap_or_default().counted();
    }
    let (_, root) = state.delegations.iter().next().unwrap();
    assert_eq!(root.used.tokens, tokens);
    assert_eq!(state.subtasks.len(), PARTS);
    assert!(state.is_over());
}
