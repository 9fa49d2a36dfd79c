//! What an attempt may take, from the configuration to the receipt.

use super::stage::Stage;

#[test]
fn a_limit_holds_or_the_receipt_says_that_it_does_not() {
    let stage = Stage::fenced("", "pids = 20\nmemoryMb = 512\n");
    let many =
        "for n in $(seq 40); do sleep 60 & done 2> $OUT/refused; jobs -p | wc -l > $OUT/many";
    let done = "kill $(jobs -p); legation submit --status completed --summary done";
    stage.agent("w", "", &format!("{many}\n{done}"));
    let (_, view) = stage.json(&["delegate", "--agent", "w", "Work"]);
    let (_, report) = stage.json(&["doctor"]);
    let is_held = report["machine"]["processLimit"]["available"].as_bool().unwrap();
    let id = view["delegationId"].as_str().unwrap();
    let tree = stage.tree(id);
    let (_, attempt) = tree.attempts.iter().next().unwrap();
    let gaps = attempt.end.as_ref().unwrap().receipt.fence_gaps.join("\n");
    let started: usize = stage.told("many").trim().parse().unwrap_or(0);
    assert_eq!((started < 40, gaps.contains("processes cannot be limited")), (is_held, !is_held));
}
