//! From the first word to the last.

use expect_test::expect;
use legation_core::agent::Level;
use legation_runners::envoy::{FaultKind, Outcome, Told};
use serde_json::{Value, json};

use super::server::{Script, anthropic, anthropic_events};
use super::stage::Stage;
use crate::talked::tools;

fn chat(delta: &Value, finish: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

#[test]
fn tools_are_used_until_the_model_wants_none() {
    let mut stage = Stage::new(vec![
        anthropic(&[
            json!({"text": "I write it."}),
            json!({"tool": "write", "input": {"path": "a/b.txt", "content": "one\ntwo\n"}}),
        ]),
        anthropic(&[json!({"tool": "shell", "input": {"command": "cat a/b.txt; exit 3"}})]),
        anthropic(&[json!({"text": "Done."})]),
    ]);
    assert_eq!(stage.say("Write it."), Outcome::Over);
    let first = stage.asked.recv().unwrap();
    assert!(first["head"].as_str().unwrap().contains("x-api-key: k-1"));
    assert_eq!(first["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(stage.next_results(), [("Wrote 8 bytes to a/b.txt.".to_owned(), false)]);
    assert_eq!(stage.next_results(), [("one\ntwo\n\n[exit code 3]".to_owned(), true)]);
    expect![[r#"
        {"used":{"tokens":{"input":100,"output":10,"reasoning":0,"cacheRead":20,"cacheWrite":3},"cost":null,"model":"anthropic/claude-test"}}
        {"text":"I write it."}
        {"tool":{"tool":"edit","what":"a/b.txt","count":1}}
        {"used":{"tokens":{"input":100,"output":10,"reasoning":0,"cacheRead":20,"cacheWrite":3},"cost":null,"model":"anthropic/claude-test"}}
        {"tool":{"tool":"shell","what":"cat a/b.txt; exit 3","count":2}}
        {"used":{"tokens":{"input":100,"output":10,"reasoning":0,"cacheRead":20,"cacheWrite":3},"cost":null,"model":"anthropic/claude-test"}}
        {"text":"Done."}
    "#]]
    .assert_eq(&stage.transcript());
}

#[test]
fn chat_completions_are_spoken_too() {
    let call = |id: Value, name: Value, arguments: &str| json!({"tool_calls": [{"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}]});
    let usage = json!({
        "prompt_tokens": 1000, "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 200},
        "completion_tokens_details": {"reasoning_tokens": 7}, "cost": 0.0125,
    });
    let done = |events: &[Value]| {
        let data = events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect::<String>();
        Script::raw((data + "data: [DONE]\n\n").into_bytes())
    };
    let mut stage = Stage::new(vec![
        done(&[
            chat(&call(json!("c1"), json!("list"), ""), None),
            chat(&call(json!(null), json!(null), "{\"pa"), None),
            chat(&call(json!(null), json!(null), "th\": \".\"}"), Some("tool_calls")),
            json!({"choices": [], "usage": usage}),
        ]),
        // Not every server says that the stream is over.
        Script::stream(&[chat(&json!({"content": "Empty."}), Some("stop"))]),
    ]);
    stage.charge.model = Some("openai/local".to_owned());
    assert_eq!(stage.say("Look."), Outcome::Over);
    let first = stage.asked.recv().unwrap();
    assert_eq!(
        (&first["model"], &first["messages"][0]["role"]),
        (&json!("local"), &json!("system"))
    );
    let second = stage.asked.recv().unwrap();
    let last = second["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json!({"role": "tool", "tool_call_id": "c1", "content": "(empty)"}));
    expect![[r#"
        {"used":{"tokens":{"input":800,"output":43,"reasoning":7,"cacheRead":200,"cacheWrite":0},"cost":0.0125,"model":"openai/local"}}
        {"tool":{"tool":"read","what":".","count":1}}
        {"text":"Empty."}
    "#]]
    .assert_eq(&stage.transcript());
}

#[test]
fn a_conversation_is_gone_on_with() {
    let mut stage = Stage::new(vec![
        anthropic(&[json!({"text": "One."})]),
        anthropic(&[json!({"text": "Two."})]),
    ]);
    assert_eq!(stage.say("First."), Outcome::Over);
    assert_eq!(stage.say("Again."), Outcome::Over);
    stage.asked.recv().unwrap();
    let roles = stage.asked.recv().unwrap()["messages"].as_array().unwrap().len();
    assert_eq!(roles, 3);
}

#[test]
fn a_return_is_handed_in_as_a_tool_call() {
    let returned = json!({"status": "completed", "summary": "All is well."});
    let mut stage = Stage::new(vec![
        anthropic(&[
            json!({"tool": "submit_result", "input": {"status": "completed", "summary": " "}}),
        ]),
        anthropic(&[json!({"tool": "submit_result", "input": returned})]),
    ]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    let results = stage.next_results();
    assert!(results[0].1, "{results:?}");
    let text = stage
        .told()
        .into_iter()
        .find_map(|told| if let Told::Text(text) = told { Some(text) } else { None });
    let said: Value = serde_json::from_str(&text.unwrap()).unwrap();
    assert_eq!(said["metadata"]["session_id"], json!("sess_1700000000_abc123"));
}

#[test]
fn what_is_not_allowed_is_not_offered_and_reported_when_tried() {
    let mut stage = Stage::new(vec![
        anthropic(&[
            json!({"tool": "shell", "input": {"command": "touch made"}}),
            json!({"tool": "launch_missiles", "input": {}}),
        ]),
        anthropic(&[json!({"text": "Fine."})]),
    ]);
    stage.charge.tools = tools(Level::Ask);
    stage.charge.tools.shell = Level::Deny;
    assert_eq!(stage.say("Go."), Outcome::Over);
    let offered = stage.asked.recv().unwrap()["tools"].clone();
    let names: Vec<&str> =
        offered.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read", "list", "grep", "write", "edit", "submit_result"]);
    assert!(stage.next_results().iter().all(|(_, is_error)| *is_error));
    let denied: Vec<String> = stage
        .told()
        .into_iter()
        .filter_map(|told| if let Told::Denied { tool, .. } = told { Some(tool) } else { None })
        .collect();
    assert_eq!(denied, ["shell", "launch_missiles"]);
    assert!(!stage.folder.path().join("made").exists());
}

#[test]
fn turns_are_counted_over_the_whole_conversation() {
    let again = || anthropic(&[json!({"tool": "list", "input": {}})]);
    let mut stage = Stage::new(vec![again(), again(), again()]);
    stage.charge.max_turns = Some(3);
    let fault = stage.fault("Loop.");
    assert_eq!(
        (fault.kind, fault.message.as_str()),
        (FaultKind::Turns, "The agent has used all of its 3 turns.")
    );
    assert_eq!(stage.asked.iter().take(3).count(), 3);
}

#[test]
fn a_provider_that_asks_to_wait_is_asked_again_after_a_short_while_only() {
    let busy = |after: &str| Script::refusal(429, after, r#"{"error":{"message":"slow down"}}"#);
    let mut stage = Stage::new(vec![
        busy("retry-after-ms: 5\r\n"),
        Script::refusal(529, "retry-after: 0\r\n", "{}"),
        anthropic(&[json!({"text": "Now."})]),
    ]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    let mut stage = Stage::new(vec![busy("retry-after: 77\r\n")]);
    let fault = stage.fault("Go.");
    assert_eq!((fault.kind, fault.retry_after), (FaultKind::RateLimit, Some(77.0)));
    assert!(fault.message.ends_with("answered 429: slow down"), "{}", fault.message);
}

#[test]
fn refusals_that_waiting_does_not_mend_end_the_turn() {
    for (status, body, kind) in [
        (401, r#"{"error":{"message":"bad key"}}"#, FaultKind::Login),
        (403, "no", FaultKind::Login),
        (404, r#"{"error":"no such model"}"#, FaultKind::Provider),
        (400, r#"{"error":{"message":"context_length_exceeded"}}"#, FaultKind::Provider),
        (429, r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#, FaultKind::Provider),
        (302, "elsewhere", FaultKind::Provider),
    ] {
        let mut stage =
            Stage::new(vec![Script::refusal(status, "location: http://127.0.0.1:9/\r\n", body)]);
        assert_eq!(stage.fault("Go.").kind, kind, "{status}");
    }
}

#[test]
fn what_is_too_long_is_shortened_and_said_again() {
    let read = || {
        anthropic(&[
            json!({"tool": "shell", "input": {"command": "head -c 3000 /dev/zero | tr '\\0' x"}}),
        ])
    };
    let too_long = Script::refusal(400, "", r#"{"error":{"message":"prompt is too long: 9 > 5"}}"#);
    let mut stage =
        Stage::new(vec![read(), read(), too_long, anthropic(&[json!({"text": "Ok."})])]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    let requests: Vec<Value> = stage.asked.iter().take(4).collect();
    let result = |no: usize, message: usize| {
        requests[no]["messages"][message]["content"][0]["content"].as_str().unwrap().len()
    };
    assert_eq!((result(2, 2), result(2, 4)), (3000, 3000));
    assert!(result(3, 2) < 100 && result(3, 4) == 3000);
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again_and_what_it_used_counts() {
    let events = anthropic_events(&[json!({"text": "half of"})]);
    let mut stage = Stage::new(vec![
        Script::stream(&events[..3]).cut(),
        anthropic(&[json!({"text": "Whole."})]),
    ]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    let used: u64 = stage
        .told()
        .iter()
        .map(|told| if let Told::Used { tokens, .. } = told { tokens.input } else { 0 })
        .sum();
    assert_eq!(used, 200);
    assert!(!stage.transcript().contains("half of"));
    let cut = || Script::stream(&events[..3]).cut();
    let mut stage = Stage::new(vec![cut(), cut(), cut()]);
    assert_eq!(stage.fault("Go.").kind, FaultKind::Cut);
}

#[test]
fn a_turn_ends_in_the_middle_of_an_answer_when_all_shall_stop() {
    let events = anthropic_events(&[json!({"text": "for ever"})]);
    let mut stage = Stage::new(vec![Script::stream(&events[..3]).held()]);
    let stop = stage.stop.clone();
    // The provider holds the line until we hang up, so only the stop can end it.
    let asked = std::mem::replace(&mut stage.asked, std::sync::mpsc::channel().1);
    let watcher = std::thread::spawn(move || {
        asked.recv().unwrap();
        stop.send_replace(true);
    });
    assert_eq!(stage.say("Go."), Outcome::Over);
    watcher.join().unwrap();
}

#[test]
fn a_command_is_ended_when_all_shall_stop() {
    let command = "echo $$ > pid; sleep 1000";
    let mut stage =
        Stage::new(vec![anthropic(&[json!({"tool": "shell", "input": {"command": command}})])]);
    let (stop, file) = (stage.stop.clone(), stage.folder.path().join("pid"));
    let watcher = std::thread::spawn(move || {
        let pid = loop {
            let pid = std::fs::read_to_string(&file).unwrap_or_default();
            match pid.trim().parse::<u32>() {
                Ok(pid) => break pid,
                Err(_) => std::thread::yield_now(),
            }
        };
        stop.send_replace(true);
        pid
    });
    assert_eq!(stage.say("Go."), Outcome::Over);
    let pid = watcher.join().unwrap();
    stage.close();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_provider_that_says_nothing_of_usage_has_used_nothing_known() {
    let mut stage = Stage::new(vec![Script::stream(&[
        chat(&json!({"content": "Hi."}), Some("stop")),
        json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}),
    ])]);
    stage.charge.model = Some("openai/local".to_owned());
    assert_eq!(stage.say("Go."), Outcome::Over);
    assert!(!stage.told().iter().any(|told| matches!(told, Told::Used { .. } | Told::Context(_))));
}
