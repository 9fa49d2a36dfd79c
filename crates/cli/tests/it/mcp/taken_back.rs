//! A call that its client takes back before anybody knows what became of it.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use legation_engine::protocol::{Reply, Request, Steer, To, VERSION, Wish};
use serde_json::{Value, json};

use super::{Client, project};
use crate::fake_engine::{FakeEngine, Step, accepted, say};
use crate::session::Session;

impl Client {
    /// Asks for work and takes the request back in the same breath.
    fn begin_and_take_back(&mut self, arguments: &Value) {
        let params = json!({"name": "delegate", "arguments": arguments});
        let request = self.begin("tools/call", &params);
        self.take_back(request);
    }

    fn take_back(&mut self, request: u64) {
        self.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request},
        }));
    }
}

#[test]
fn work_that_is_accepted_after_it_was_taken_back_is_cancelled() {
    for wait in [true, false] {
        let session = Session::new();
        let socket = session.paths().socket;
        let accepting = vec![Step::Until(2), accepted(), Step::Until(3)];
        let cancelling = vec![say(Reply::Done(json!({})))];
        let engine = FakeEngine::start(&socket, vec![accepting, Vec::new(), cancelling]);
        let mut client = Client::of(&session);
        let arguments = json!({"task": "x", "wait": wait});
        let params = json!({"name": "delegate", "arguments": arguments});
        let request = client.begin("tools/call", &params);
        assert!(matches!(engine.heard().wish, Wish::Delegate(_)));
        client.take_back(request);
        // What is answered was sent after it, so it was heard.
        client.ask("tools/list", &json!({}));
        // Only now the engine accepts.
        let ping = Request {
            v: VERSION,
            token: None,
            env: Default::default(),
            client: None,
            passed_on: Default::default(),
            wish: Wish::Ping,
        };
        let mut poke = UnixStream::connect(&socket).unwrap();
        writeln!(poke, "{}", serde_json::to_string(&ping).unwrap()).unwrap();
        assert_eq!(engine.heard().wish, Wish::Ping);
        let Wish::Steer(Steer { delegation, to, .. }) = engine.heard().wish else {
            panic!("a cancel")
        };
        assert_eq!(delegation.as_str(), "del-1");
        assert!(matches!(to, To::Cancel { subtask: None, rollback: false, .. }), "{to:?}");
    }
}

#[test]
fn work_that_is_taken_back_while_the_engine_starts_ends_cancelled() {
    let session = project(&[("w", "sleep 300")]);
    let mut client = Client::of(&session);
    client.begin_and_take_back(&json!({"agent": "w", "task": "Sleep"}));
    let id = loop {
        let listed = client.call("delegate_list", &json!({}));
        let first = &listed["structuredContent"]["delegations"][0]["delegationId"];
        if first.is_string() {
            break first.clone();
        }
    };
    let end = client.call("delegate_wait", &json!({"delegationId": id, "timeout": "60s"}));
    assert_eq!(end["structuredContent"]["status"], "cancelled", "{end}");
}

#[test]
fn a_client_that_hangs_up_cancels_what_it_waits_for_and_nothing_else() {
    let session = project(&[("w", "sleep 300")]);
    let mut client = Client::of(&session);
    let handle = client.call("delegate", &json!({"agent": "w", "task": "Handle", "wait": false}));
    let kept = handle["structuredContent"]["delegationId"].clone();
    client.begin(
        "tools/call",
        &json!({"name": "delegate_wait", "arguments": {"delegationId": kept}}),
    );
    let params = json!({
        "name": "delegate", "arguments": {"agent": "w", "task": "Sleep"},
        "_meta": {"progressToken": 1},
    });
    client.begin("tools/call", &params);
    let waited_for = loop {
        let said = client.read()["params"]["message"].as_str().unwrap_or_default().to_owned();
        if let Some((id, _)) = said.split_once(" was accepted") {
            break json!(id);
        }
    };
    assert_eq!(client.hang_up(), Some(0));
    let mut next = Client::of(&session);
    let end = next.call("delegate_wait", &json!({"delegationId": waited_for, "timeout": "30s"}));
    assert_eq!(end["structuredContent"]["status"], "cancelled", "{end}");
    let seen = next.call("delegate_status", &json!({"delegationId": kept}));
    assert_eq!(seen["structuredContent"]["status"], "running", "{seen}");
    next.call("delegate_cancel", &json!({"delegationId": kept}));
}
