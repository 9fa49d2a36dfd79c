//! `legation mcp`: a client that speaks the protocol, the real engine behind it.

mod door;
mod taken_back;
mod words;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::session::Session;

/// A client that has shaken hands, and everything it was told without asking.
struct Client {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    last: u64,
    told: Vec<Value>,
}

impl Client {
    /// A client that has said nothing yet.
    fn silent(session: &Session) -> Self {
        let mut command = session.command(&session.dir(), &["mcp"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        Self { process, stdin, stdout, last: 0, told: Vec::new() }
    }

    fn new(session: &Session, version: &str) -> (Self, Value) {
        let mut client = Self::silent(session);
        let hello = client.ask(
            "initialize",
            &json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": {"name": "Test Client!", "version": "1"},
            }),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (client, hello)
    }

    fn of(session: &Session) -> Self {
        Self::new(session, "2025-06-18").0
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request without waiting for its answer.
    fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        self.send(&request);
        self.last
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server is gone");
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 7}});
        let answer = self.ask("tools/call", &params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Hangs up; the exit code of the server.
    fn hang_up(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A project with agents that are shell scripts.
pub(crate) fn project(agents: &[(&str, &str)]) -> Session {
    let session = Session::new();
    for (name, script) in agents {
        agent(&session, name, script, "");
    }
    session
}

pub(crate) fn agent(session: &Session, name: &str, script: &str, front: &str) {
    let command = json!(["sh", "-c", script]);
    let file = format!(
        "---\nid: {name}\ndescription: Does it.\n{front}legation:\n  runner: command\n  command: {command}\n---\n"
    );
    session.write(format!(".legation/agents/{name}.md"), file);
}

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_legation");

pub(crate) fn done(summary: &str) -> String {
    format!("{BINARY} submit --status completed --summary '{summary}' >/dev/null")
}

#[test]
fn every_version_that_is_offered_is_agreed_on() {
    let session = Session::new();
    for version in ["2025-06-18", "2025-11-25"] {
        let (client, hello) = Client::new(&session, version);
        assert_eq!(hello["result"]["protocolVersion"], version);
        assert_eq!(hello["result"]["serverInfo"]["name"], "legation");
        assert_eq!(client.hang_up(), Some(0));
    }
}

/// What a request of the version without a handshake says about its client.
fn context() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "Test Client!", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"roots": {"listChanged": true}},
    })
}

#[test]
fn a_client_may_ask_first_who_is_there_and_do_without_a_handshake() {
    let session = project(&[("w", &done("did it"))]);
    let mut client = Client::silent(&session);
    let said = client.ask("server/discover", &json!({"_meta": context()}));
    let versions = json!(["2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(said["result"]["supportedVersions"], versions, "{said}");
    assert!(said["result"]["capabilities"]["tools"].is_object(), "{said}");
    let listed = client.ask("tools/list", &json!({"_meta": context()}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 9, "{listed}");
    let mut meta = context();
    meta["progressToken"] = json!("p");
    let arguments = json!({"agent": "w", "task": "Do it"});
    let params = json!({"name": "delegate", "arguments": arguments, "_meta": meta});
    let answer = client.ask("tools/call", &params);
    assert_eq!(answer["result"]["structuredContent"]["status"], "completed", "{answer}");
    assert_eq!(client.told[0]["params"]["progressToken"], "p");
    assert_eq!(client.hang_up(), Some(0));
}

#[test]
fn a_client_may_ask_first_who_is_there_and_then_shake_hands() {
    let session = Session::new();
    let mut client = Client::silent(&session);
    client.ask("server/discover", &json!({"_meta": context()}));
    let hello = client.ask(
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "careful", "version": "1"},
        }),
    );
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 9, "{listed}");
    assert_eq!(client.hang_up(), Some(0));
}

#[test]
fn a_task_is_delegated_and_its_path_begins_with_the_client() {
    let session = project(&[("w", &format!("echo hi > hi.txt; {}", done("said hi")))]);
    let mut client = Client::of(&session);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Say hi"}));
    let answer = &result["structuredContent"];
    assert_eq!(answer["status"], "completed", "{result}");
    assert_eq!(answer["summary"], "said hi");
    assert_eq!(answer["subtasks"][0]["filesChanged"], json!(["hi.txt"]));
    for bound in ["depth", "width", "count", "tokens", "costUsd", "timeMs"] {
        assert!(!answer["remaining"][bound].is_null(), "{bound} is missing: {answer}");
    }
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, answer, "the text says the same");
    assert_eq!(client.told[0]["method"], "notifications/progress", "at once");
    let id = answer["delegationId"].as_str().unwrap();
    let status: Value = serde_json::from_str(&session.run(&["status", id, "--json"])).unwrap();
    assert_eq!(status["subtasks"][0]["path"], json!(["test-client", "w"]));
    // The same is behind the address of a resource.
    let uri = format!("legation://delegation/{id}");
    let read = client.ask("resources/read", &json!({"uri": uri}));
    let whole = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(whole).unwrap()["delegationId"], id);
}

#[test]
fn a_refusal_is_a_result_with_a_code_and_what_remains() {
    let session = project(&[("w", "true")]);
    let mut client = Client::of(&session);
    let cases = [
        ("delegate", json!({"agent": "nobody", "task": "x"}), "AGENT_NOT_FOUND"),
        ("delegate", json!({"agent": "w", "task": "x", "budget": 0}), "BUDGET_EXCEEDED"),
        ("delegate", json!({"agent": "w"}), "VALIDATION_FAILED"),
        ("delegate", json!({"agent": "w", "task": "x", "depth": 9}), "VALIDATION_FAILED"),
        ("delegate", json!({"agent": "w", "task": "x", "timeout": "soon"}), "VALIDATION_FAILED"),
        ("delegate_batch", json!({"subtasks": []}), "VALIDATION_FAILED"),
        ("delegate_status", json!({"delegationId": "del-none"}), "CONFLICT"),
        ("delegate_cancel", json!({"delegationId": "del-none"}), "CONFLICT"),
        ("explain_permissions", json!({"child": "nobody"}), "AGENT_NOT_FOUND"),
        ("submit_result", json!({"status": "completed", "summary": "x"}), "VALIDATION_FAILED"),
    ];
    for (tool, arguments, code) in cases {
        let result = client.call(tool, &arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert_eq!(result["structuredContent"]["error"]["code"], code, "{tool} {arguments}");
        has_remaining(&result, 3);
    }
    let refused = client.call("delegate", &json!({"agent": "nobody", "task": "x"}));
    assert_eq!(refused["structuredContent"]["remaining"]["depth"], 3);
    let empty = client.call("delegate_batch", &json!({"subtasks": []}));
    let message = &empty["structuredContent"]["error"]["message"];
    assert_eq!(message, "There are no subtasks to hand over.");
    let unknown = client.ask("tools/call", &json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

/// Checks that an answer tells what is left, in both of its forms.
fn has_remaining(result: &Value, depth: u64) {
    let told = &result["structuredContent"];
    assert_eq!(told["remaining"]["depth"], depth, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), told, "the text says the same");
}

#[test]
fn every_answer_tells_what_remains() {
    let session = project(&[("w", &done("did it"))]);
    let mut client = Client::of(&session);
    let result = client.call("delegate", &json!({"agent": "w", "task": "x", "wait": false}));
    has_remaining(&result, 3);
    let id = result["structuredContent"]["delegationId"].clone();
    let cases = [
        ("delegate_wait", json!({"delegationId": id})),
        ("delegate_status", json!({"delegationId": id})),
        ("delegate_list", json!({})),
        ("list_agents", json!({})),
        ("explain_permissions", json!({"child": "w"})),
    ];
    for (tool, arguments) in cases {
        let result = client.call(tool, &arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        has_remaining(&result, 3);
    }
    let result = client.call(
        "delegate_batch",
        &json!({"wait": false, "subtasks": [
        {"id": "a", "agent": "w", "task": "one"}]}),
    );
    let id = result["structuredContent"]["delegationId"].clone();
    has_remaining(&client.call("delegate_cancel", &json!({"delegationId": id})), 3);
}

#[test]
fn a_handle_comes_at_once_and_is_waited_for() {
    let session = project(&[]);
    let gate = session.root().join("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let config = format!("[sandbox]\nreadable = [\"{}\"]\n", gate.display());
    session.write(".legation/config.toml", config);
    agent(&session, "w", &format!("cat {} > /dev/null; {}", gate.display(), done("through")), "");
    let mut client = Client::of(&session);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Wait", "wait": false}));
    let handle = &result["structuredContent"];
    assert_eq!(handle["status"], "running", "{result}");
    assert!(handle["remaining"].is_object(), "{handle}");
    let id = handle["delegationId"].clone();
    let early = client.call("delegate_wait", &json!({"delegationId": id, "timeout": 1}));
    assert_eq!(early["structuredContent"]["status"], "running");
    let listed = client.call("delegate_list", &json!({}));
    assert_eq!(listed["structuredContent"]["delegations"][0]["delegationId"], id);
    std::fs::write(&gate, "go").unwrap();
    let late = client.call("delegate_wait", &json!({"delegationId": id}));
    assert_eq!(late["structuredContent"]["status"], "completed", "{late}");
    let seen = client.call("delegate_status", &json!({"delegationId": id}));
    assert_eq!(seen["structuredContent"]["summary"], "through");
}

#[test]
fn a_request_that_is_taken_back_cancels_the_work() {
    let session = project(&[("w", "sleep 300")]);
    let mut client = Client::of(&session);
    let params = json!({
        "name": "delegate", "arguments": {"agent": "w", "task": "Sleep"},
        "_meta": {"progressToken": 1},
    });
    let request = client.begin("tools/call", &params);
    let started = |message: &Value| {
        message["params"]["message"].as_str().is_some_and(|text| text.contains("started"))
    };
    while !started(&client.read()) {}
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request},
    }));
    let listed = client.call("delegate_list", &json!({}));
    let id = listed["structuredContent"]["delegations"][0]["delegationId"].clone();
    let end = client.call("delegate_wait", &json!({"delegationId": id, "timeout": "60s"}));
    assert_eq!(end["structuredContent"]["status"], "cancelled", "{end}");
    assert_eq!(end["isError"], true);
}

#[test]
fn a_batch_runs_as_its_mode_says() {
    let session = project(&[("w", &done("did it"))]);
    let mut client = Client::of(&session);
    let subtasks = json!([
        {"id": "a", "agent": "w", "task": "one"},
        {"id": "b", "agent": "w", "task": "two", "depends_on": ["a"]},
    ]);
    let result = client.call("delegate_batch", &json!({"mode": "dag", "subtasks": subtasks}));
    let answer = &result["structuredContent"];
    assert_eq!((&answer["status"], &answer["pattern"]), (&json!("completed"), &json!("dag")));
    assert_eq!(answer["subtasks"][1]["id"], "b");
    let circle = json!([
        {"id": "a", "agent": "w", "task": "one", "dependsOn": ["b"]},
        {"id": "b", "agent": "w", "task": "two", "dependsOn": ["a"]},
    ]);
    let result = client.call("delegate_batch", &json!({"mode": "dag", "subtasks": circle}));
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn long_answers_are_short_and_linked() {
    let large = format!(
        "{BINARY} submit --status completed --summary big --data \"$(printf '\"%020000d\"' 7)\" >/dev/null"
    );
    let session = project(&[("w", &large)]);
    let mut client = Client::of(&session);
    let result = client.call("delegate", &json!({"agent": "w", "task": "Be long"}));
    assert_eq!(result["structuredContent"]["shortened"], true, "{result}");
    assert!(result["structuredContent"].to_string().len() < 9_000);
    let link = result["content"].as_array().unwrap().last().unwrap();
    assert_eq!(link["type"], "resource_link");
    let read = client.ask("resources/read", &json!({"uri": link["uri"]}));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().len() > 20_000);
}

#[test]
fn a_child_delegates_in_the_name_of_its_attempt() {
    let session = project(&[("leaf", &done("leaf"))]);
    let out = session.out();
    // The child speaks the protocol itself: a handshake, a call, and its own result.
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "forged", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "delegate", "arguments": {"agent": "leaf", "task": "Below"}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "list_agents", "arguments": {}}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let submit = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {
        "name": "submit_result", "arguments": {"status": "completed", "summary": "middle"}}});
    let script = format!(
        "mkfifo in; {BINARY} mcp < in > answers.txt & exec 3> in; \
         printf '%s\\n' '{}' >&3; \
         until grep -q '\"id\":3' answers.txt && grep -q '\"id\":2' answers.txt; do sleep 0.05; done; \
         printf '%s\\n' '{submit}' >&3; \
         until grep -q '\"id\":4' answers.txt; do sleep 0.05; done; exec 3>&-; wait; \
         cp answers.txt {}",
        lines.join("' '"),
        out.display(),
    );
    agent(&session, "middle", &script, "subagents:\n  allow: [leaf]\n");
    let mut client = Client::of(&session);
    let result = client.call("delegate", &json!({"agent": "middle", "task": "Above"}));
    let answer = &result["structuredContent"];
    assert_eq!(answer["summary"], "middle", "{result}");
    let id = answer["delegationId"].as_str().unwrap();
    let status: Value = serde_json::from_str(&session.run(&["status", id, "--json"])).unwrap();
    let below = &status["subtasks"][0]["delegations"][0]["subtasks"][0];
    assert_eq!(below["path"], json!(["test-client", "middle", "leaf"]), "{status}");
    assert_eq!(below["return"]["summary"], "leaf");
    // Each of its answers told what is left for the attempt: one level less.
    let answers = std::fs::read_to_string(out.join("answers.txt")).unwrap();
    let answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let results: Vec<Value> =
        answers.filter(|it| it["id"].as_u64() > Some(1)).map(|it| it["result"].clone()).collect();
    assert_eq!(results.len(), 3);
    results.iter().for_each(|result| has_remaining(result, 2));
}
