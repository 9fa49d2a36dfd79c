//! `legation serve`: the tools over HTTP, the real engine behind them.

mod client;
mod door;
mod wire;

use serde_json::{Value, json};

use self::client::{Client, STATELESS, Server, call};
use crate::mcp::{BINARY, agent, done, project};
use crate::session::Session;

/// The versions of the protocol that are offered.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-11-25", STATELESS];

#[test]
fn every_version_delegates_and_hears_of_progress() {
    let session = project(&[("w", &format!("echo hi > hi.txt; {}", done("said hi")))]);
    let server = Server::start(&session);
    for version in VERSIONS {
        let mut client = Client::new(&server, version);
        let listed = client.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 9, "{version} {listed}");
        let result = client.call("delegate", &json!({"agent": "w", "task": "Say hi"}));
        let answer = &result["structuredContent"];
        assert_eq!(answer["status"], "completed", "{version} {result}");
        assert_eq!(answer["summary"], "said hi");
        assert!(answer["remaining"].is_object());
        assert_eq!(client.told[0]["method"], "notifications/progress", "{version}");
        assert_eq!(client.told[0]["params"]["progressToken"], 7);
        let id = answer["delegationId"].as_str().unwrap();
        let status: Value = serde_json::from_str(&session.run(&["status", id, "--json"])).unwrap();
        assert_eq!(status["subtasks"][0]["path"], json!(["test-client", "w"]), "{version}");
        let read =
            client.ask("resources/read", json!({"uri": format!("legation://delegation/{id}")}));
        let whole =
            read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        assert_eq!(serde_json::from_str::<Value>(whole).unwrap()["delegationId"], id);
    }
}

#[test]
fn the_same_number_from_two_clients_is_two_calls() {
    let session = project(&[("w", &done("did it"))]);
    let server = Server::start(&session);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut client = Client::new(&server, "2025-11-25");
        let result = client.call("delegate", &json!({"agent": "w", "task": "Do it"}));
        ids.push(result["structuredContent"]["delegationId"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn who_the_server_is_can_be_asked_before_anything_else() {
    let session = Session::new();
    let server = Server::start(&session);
    let mut client = Client::new(&server, STATELESS);
    let said = client.ask("server/discover", json!({}));
    assert_eq!(said["result"]["supportedVersions"], json!(VERSIONS), "{said}");
    assert!(said["result"]["capabilities"]["tools"].is_object(), "{said}");
}

#[test]
fn a_version_that_nobody_speaks_is_answered_with_those_that_are_spoken() {
    let session = Session::new();
    let server = Server::start(&session);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "1999-01-01", "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"}}});
    let mut answer =
        wire::Ask::message(hello.to_string()).bearer(&server.token).send(server.address);
    let said = answer.next().unwrap();
    assert_eq!(said["result"]["protocolVersion"], "2025-11-25", "{said}");
    let mut client = Client::new(&server, STATELESS);
    let mut ask = client.request("tools/list", json!({}));
    let later = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    ask = ask.with("MCP-Protocol-Version", "2099-01-01").body(later.to_string());
    let mut answer = ask.send(server.address);
    assert_eq!(answer.status, 400);
    let said = answer.next().unwrap();
    assert_eq!(said["error"]["code"], -32022, "{said}");
    assert_eq!(said["error"]["data"]["supported"], json!(VERSIONS), "{said}");
}

/// The delegation that is under way, once its agent runs.
fn started(answer: &mut wire::Answer) {
    let started = |message: &Value| {
        message["params"]["message"].as_str().is_some_and(|text| text.contains("started"))
    };
    while !started(&answer.next().expect("the answer ended")) {}
}

#[test]
fn a_request_that_is_taken_back_cancels_the_work_in_every_version() {
    let session = project(&[("w", "sleep 300")]);
    let server = Server::start(&session);
    for version in VERSIONS {
        let mut client = Client::new(&server, version);
        let mut answer =
            client.begin("tools/call", call("delegate", &json!({"agent": "w", "task": version})));
        started(&mut answer);
        // Without sessions, hanging up is how a request is taken back.
        if version == STATELESS {
            drop(answer);
        } else {
            client.tell("notifications/cancelled", &json!({"requestId": client.last()}));
        }
        let listed = client.call("delegate_list", &json!({}));
        let id = listed["structuredContent"]["delegations"][0]["delegationId"].clone();
        let end = client.call("delegate_wait", &json!({"delegationId": id, "timeout": "60s"}));
        assert_eq!(end["structuredContent"]["status"], "cancelled", "{version} {end}");
    }
}

#[test]
fn who_no_longer_waits_has_cancelled_nothing() {
    let (session, gate) = gated();
    let server = Server::start(&session);
    let mut client = Client::new(&server, STATELESS);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Wait", "wait": false}));
    let id = result["structuredContent"]["delegationId"].clone();
    let mut waiting =
        client.begin("tools/call", call("delegate_wait", &json!({"delegationId": id})));
    assert_eq!(waiting.next().unwrap()["method"], "notifications/progress");
    drop(waiting);
    std::fs::write(&gate, "go").unwrap();
    let end = client.call("delegate_wait", &json!({"delegationId": id}));
    assert_eq!(end["structuredContent"]["status"], "completed", "{end}");
}

#[test]
fn a_server_that_goes_takes_nothing_back() {
    for (signal, version) in [("-TERM", STATELESS), ("-INT", "2025-11-25")] {
        let (session, gate) = gated();
        let mut server = Server::start(&session);
        let mut client = Client::new(&server, version);
        let mut answer =
            client.begin("tools/call", call("delegate", &json!({"agent": "w", "task": "Wait"})));
        started(&mut answer);
        assert_eq!(server.end(signal), Some(0), "{signal}");
        let active: Value = serde_json::from_str(&session.run(&["status", "--json"])).unwrap();
        let id =
            active["delegations"][0]["delegationId"].as_str().unwrap_or_else(|| panic!("{active}"));
        std::fs::write(&gate, "go").unwrap();
        // Another server is asked about it with the same token.
        let next = Server::start(&session);
        assert_eq!(next.token, server.token);
        let mut client = Client::new(&next, version);
        let end = client.call("delegate_wait", &json!({"delegationId": id}));
        assert_eq!(end["structuredContent"]["status"], "completed", "{end}");
    }
}

/// A project with an agent that ends when something is written to the gate.
fn gated() -> (Session, std::path::PathBuf) {
    let session = project(&[]);
    let gate = session.root().join("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let config = format!("[sandbox]\nreadable = [\"{}\"]\n", gate.display());
    session.write(".legation/config.toml", config);
    agent(&session, "w", &format!("cat {} > /dev/null; {}", gate.display(), done("through")), "");
    (session, gate)
}

/// A shell script that speaks to the server as an attempt and leaves the answers in files.
fn child(server: &Server, calls: &[(&str, Value)]) -> String {
    let mut script = String::from("set -e\n");
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "forged", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}});
        script.push_str(&format!(
            "curl -sS -o answer-{at}.txt -w '%{{http_code}}' -X POST {url} \
             -H \"Authorization: Bearer ${{BEARER:-$LEGATION_TOKEN}}\" \
             -H 'Content-Type: application/json' \
             -H 'Accept: application/json, text/event-stream' \
             -H 'MCP-Protocol-Version: {STATELESS}' -H 'Mcp-Method: tools/call' \
             -H 'Mcp-Name: {tool}' --data-binary '{message}' > status-{at}.txt\n",
            url = server.said["url"].as_str().unwrap(),
        ));
    }
    script
}

#[test]
fn a_child_delegates_and_hands_in_with_its_own_token() {
    let session = project(&[("leaf", &done("leaf"))]);
    let server = Server::start(&session);
    let script = child(
        &server,
        &[
            ("delegate", json!({"agent": "leaf", "task": "Below"})),
            (
                "submit_result",
                json!({"status": "completed", "summary": "middle",
            "artifacts": [{"type": "report", "path": "answer-0.txt"}]}),
            ),
        ],
    );
    agent(&session, "middle", &script, "subagents:\n  allow: [leaf]\n");
    let mut client = Client::new(&server, "2025-06-18");
    let result = client.call("delegate", &json!({"agent": "middle", "task": "Above"}));
    let answer = &result["structuredContent"];
    assert_eq!(answer["summary"], "middle", "{result}");
    let id = answer["delegationId"].as_str().unwrap();
    let status: Value = serde_json::from_str(&session.run(&["status", id, "--json"])).unwrap();
    let below = &status["subtasks"][0]["delegations"][0]["subtasks"][0];
    assert_eq!(below["path"], json!(["test-client", "middle", "leaf"]), "{status}");
    assert_eq!(status["subtasks"][0]["return"]["artifacts"][0]["path"], "answer-0.txt");
}

#[test]
fn a_child_with_its_users_token_is_no_root() {
    let session = project(&[]);
    let server = Server::start(&session);
    let script = child(&server, &[("list_agents", json!({}))]);
    let script = format!(
        "BEARER={}\n{script}{BINARY} submit --status completed --summary \"$(cat status-0.txt)\" \
         >/dev/null",
        server.token,
    );
    agent(&session, "w", &script, "");
    let mut client = Client::new(&server, STATELESS);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Try"}));
    assert_eq!(result["structuredContent"]["summary"], "403", "{result}");
    // The very same request from outside is the user's.
    let listed = client.call("list_agents", &json!({}));
    assert!(listed["structuredContent"]["agents"].is_array(), "{listed}");
}

#[test]
fn a_child_that_knows_the_session_of_another_cannot_use_it() {
    let session = project(&[]);
    let server = Server::start(&session);
    let mut client = Client::new(&server, "2025-11-25");
    let list = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {}});
    let script = format!(
        "status() {{ curl -sS -o /dev/null -w '%{{http_code}}' {url} \
           -H \"Authorization: Bearer $LEGATION_TOKEN\" -H 'Content-Type: application/json' \
           -H 'Accept: application/json, text/event-stream' -H 'Mcp-Session-Id: {id}' \"$@\"; }}\n\
         {BINARY} submit --status completed \
           --summary \"$(status --data-binary '{list}') $(status -X DELETE)\" >/dev/null",
        url = server.said["url"].as_str().unwrap(),
        id = client.session().unwrap(),
    );
    agent(&session, "w", &script, "");
    let result = client.call("delegate", &json!({"agent": "w", "task": "Try"}));
    assert_eq!(result["structuredContent"]["summary"], "404 404", "{result}");
    assert!(client.ask("tools/list", json!({}))["result"].is_object(), "it is still its owner's");
}

#[test]
fn a_token_dies_with_its_attempt() {
    let tell = format!(
        "{BINARY} submit --status completed --summary x --data \"\\\"$LEGATION_TOKEN\\\"\" >/dev/null"
    );
    let session = project(&[("w", &tell)]);
    let server = Server::start(&session);
    let mut client = Client::new(&server, STATELESS);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Tell"}));
    let token = result["structuredContent"]["data"].as_str().unwrap_or_else(|| panic!("{result}"));
    let ask = client.request("tools/list", json!({})).bearer(token);
    assert_eq!(ask.send(server.address).status, 401);
}
