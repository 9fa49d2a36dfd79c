//! What is made of what real agents said.

use expect_test::{Expect, expect};
use legation_runners::envoy::{FaultKind, Outcome};

use super::stage::Stage;

fn check(recording: &str, expected: Expect) {
    let mut stage = Stage::playing(recording, "cat > /dev/null\n");
    let outcome = stage.say("Go.");
    expected.assert_eq(&format!("{}{outcome:?}\n", stage.heard.transcript()));
}

#[test]
fn claude_asks_and_tells_all() {
    check(include_str!("fixtures/claude.jsonl"), expect![[]]);
}

#[test]
fn gemini_tells_tokens_at_the_end_and_no_cost() {
    check(include_str!("fixtures/gemini.jsonl"), expect![[]]);
}

#[test]
fn opencode_tells_the_whole_cost_and_the_last_tokens() {
    check(include_str!("fixtures/opencode.jsonl"), expect![[]]);
}

#[test]
fn codex_counts_reasoning_in_its_output() {
    check(include_str!("fixtures/codex.jsonl"), expect![[]]);
}

#[test]
fn an_agent_that_hangs_up_has_been_cut_off() {
    let whole = include_str!("fixtures/gemini.jsonl");
    let start = whole.lines().take(4).collect::<Vec<_>>().join("\n");
    let mut stage = Stage::playing(&start, "echo 'out of luck' >&2\n");
    let Outcome::Broken(fault) = stage.say("Go.") else { panic!("it did not break off") };
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::Cut, "The agent has ended. out of luck")
    );
}

#[test]
fn an_agent_that_does_not_begin_says_why() {
    let refusals = [
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Authentication required"}}"#,
            FaultKind::Login,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":{"details":"429 Too many"}}}"#,
            FaultKind::RateLimit,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}"#, FaultKind::NotStarted),
        (r#"{"jsonrpc":"2.0","id":1,"result":7}"#, FaultKind::NotStarted),
        ("\"nonsense\"", FaultKind::NotStarted),
    ];
    for (line, kind) in refusals {
        let mut stage = Stage::playing(line, "");
        let Outcome::Broken(fault) = stage.say("Go.") else { panic!("it did not break off") };
        assert_eq!(fault.kind, kind, "{line}: {}", fault.message);
    }
    let mut stage = Stage::playing("", "");
    stage.charge.program = vec!["/no/such/agent".to_owned()];
    assert!(
        matches!(stage.say("Go."), Outcome::Broken(fault) if fault.kind == FaultKind::NotStarted)
    );
}

#[test]
fn a_turn_is_called_off_when_all_shall_stop() {
    let start =
        include_str!("fixtures/claude-cancel.jsonl").lines().take(2).collect::<Vec<_>>().join("\n");
    let last = "touch asked\nhear\n\
        echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"cancelled\",\"usage\":{}}}'\ncat > /dev/null\n";
    let mut stage = Stage::playing(&start, last);
    let (stop, asked) = (stage.stop.clone(), stage.folder().join("asked"));
    let watcher = std::thread::spawn(move || {
        while !asked.exists() {
            std::thread::yield_now();
        }
        stop.send_replace(true);
    });
    assert_eq!(stage.say("Go."), Outcome::Over);
    watcher.join().unwrap();
    let last = stage.said().pop().unwrap();
    assert_eq!(last["method"], "session/cancel");
    assert!(!stage.heard.transcript().contains("used"));
}
