//! What is made of what real agents said.

use expect_test::{Expect, expect};
use legation_runners::envoy::{FaultKind, Outcome};

use super::stage::Stage;

fn check(recording: &str, expected: &Expect) {
    let mut stage = Stage::playing(recording, "cat > /dev/null\n");
    let outcome = stage.say("Go.");
    expected.assert_eq(&format!("{}{outcome:?}\n", stage.heard.transcript()));
}

#[test]
fn claude_asks_and_tells_all() {
    check(
        include_str!("fixtures/claude.jsonl"),
        &expect![[r#"
            {"conversation":"7874fde7-ce1b-44de-8c3a-8f6ddb96f295"}
            {"tool":{"tool":"shell","what":"echo hi-from-acp > acp.txt; cat acp.txt","count":1}}
            {"tool":{"tool":"mcp:legation/delegate","what":"","count":2}}
            {"denied":{"tool":"mcp:legation/delegate","why":"the agent may not use it for this"}}
            {"used":{"tokens":{"input":0,"output":0,"reasoning":0,"cacheRead":0,"cacheWrite":0},"cost":0.01569,"model":null}}
            {"text":"All done."}
            {"used":{"tokens":{"input":3000,"output":150,"reasoning":0,"cacheRead":600,"cacheWrite":90},"cost":null,"model":"claude-sonnet-4-5"}}
            Over
        "#]],
    );
}

#[test]
fn gemini_tells_tokens_at_the_end_and_no_cost() {
    check(
        include_str!("fixtures/gemini.jsonl"),
        &expect![[r#"
            {"conversation":"d1544b20-360c-4fad-824a-4d54911bec5c"}
            {"tool":{"tool":"shell","what":"echo hi-from-acp > acp.txt; cat acp.txt","count":1}}
            {"denied":{"tool":"mcp:legation/delegate","why":"the agent may not use it for this"}}
            {"tool":{"tool":"mcp:legation/delegate","what":"","count":2}}
            {"text":"All done."}
            {"used":{"tokens":{"input":3000,"output":150,"reasoning":0,"cacheRead":0,"cacheWrite":0},"cost":null,"model":"gemini-2.5-flash"}}
            Over
        "#]],
    );
}

#[test]
fn opencode_tells_the_whole_cost_and_the_last_tokens() {
    check(
        include_str!("fixtures/opencode.jsonl"),
        &expect![[r#"
            {"conversation":"ses_e1f8fd4d4ffe5ISO41KuZG1JCG"}
            {"tool":{"tool":"shell","what":"echo hi-from-acp > acp.txt; cat acp.txt","count":1}}
            {"tool":{"tool":"mcp:legation/delegate","what":"","count":2}}
            {"used":{"tokens":{"input":0,"output":0,"reasoning":0,"cacheRead":0,"cacheWrite":0},"cost":0.00963,"model":null}}
            {"text":"All done."}
            {"used":{"tokens":{"input":800,"output":43,"reasoning":7,"cacheRead":200,"cacheWrite":0},"cost":null,"model":null}}
            Over
        "#]],
    );
}

#[test]
fn codex_counts_reasoning_in_its_output() {
    check(
        include_str!("fixtures/codex.jsonl"),
        &expect![[r#"
            {"conversation":"01a1e07f-4221-7e40-aad7-5e90751c9caf"}
            {"tool":{"tool":"mcp__legation__startup","what":"","count":1}}
            {"text":"Warning: Model metadata for `gpt-5-stub` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n\n"}
            {"tool":{"tool":"shell","what":"echo hi-from-acp > acp.txt; cat acp.txt","count":2}}
            {"tool":{"tool":"mcp:legation/delegate","what":"","count":3}}
            {"text":"All done."}
            {"used":{"tokens":{"input":2400,"output":129,"reasoning":21,"cacheRead":600,"cacheWrite":0},"cost":null,"model":"gpt-5-stub"}}
            Over
        "#]],
    );
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
