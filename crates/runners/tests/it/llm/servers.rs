//! Servers of tools beside our own: programs and addresses, good and bad.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use legation_core::agent::{Level, McpServer, Permissions, Reach};
use legation_runners::envoy::{Outcome, Told, Tools};
use serde_json::{Value, json};

use super::server::{Script, anthropic, serve};
use super::stage::Stage;
use crate::talked::{layers, tools};

/// A server that lists its tools on two pages. It writes down what it hears and what it sees.
const SERVER: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
echo $$ > pid; env > seen
say() { printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
text() { say "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
while IFS= read -r line; do
    printf '%s\n' "$line" >> heard
    id=$(printf '%s' "$line" | sed -n 's/.*[{,]"id":\([0-9]*\),.*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        echo 'Listening.' >&2; echo 'no JSON at all'
        say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}';;
    *'"cursor":"2"'*) say '{"tools":[{"name":"push"},{"name":"die"},{"name":"hang"},{"name":"long"},{"name":"huge"},{"name":"no name"}]}';;
    *'"method":"tools/list"'*) say '{"tools":[{"name":"echo","description":"Says it.","inputSchema":{"type":"object","properties":{"say":{"type":"string"}}}}],"nextCursor":"2"}';;
    *'"name":"echo"'*)
        echo '{"jsonrpc":"2.0","id":"q","method":"ping"}'; echo '{"jsonrpc":"2.0","method":"notifications/message"}'
        text heard;;
    *'"name":"die"'*) echo 'out of luck' >&2; exit 3;;
    *'"name":"long"'*) text "$(printf '%060000d' 7)";;
    *'"name":"huge"'*) printf '%010000000d\n' 7;;
    esac
done
"#;

fn program(folder: &Path, script: &str) -> McpServer {
    let path = folder.join("server/it");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let command = vec![path.to_string_lossy().into_owned()];
    let env = BTreeMap::from([("SERVER_KEY".to_owned(), "k-2".to_owned())]);
    McpServer { reach: Reach::Stdio { command, env }, timeout_ms: None }
}

fn address(url: &str) -> McpServer {
    let headers = BTreeMap::from([("X-Key".to_owned(), "k-3".to_owned())]);
    McpServer { reach: Reach::Http { url: url.to_owned(), headers }, timeout_ms: None }
}

fn call(tool: &str, input: &Value) -> Script {
    anthropic(&[json!({"tool": tool, "input": input})])
}

fn done() -> Script {
    anthropic(&[json!({"text": "Done."})])
}

/// A conversation with a model that has one server, `t`.
fn stage(scripts: Vec<Script>, permissions: Permissions) -> Stage {
    let mut stage = Stage::new(scripts);
    let server = program(stage.folder.path(), SERVER);
    stage.charge.servers.insert("t".to_owned(), Ok(server));
    stage.charge.tools = Tools { layers: permissions, ..tools(Level::Deny) };
    stage
}

/// What a server wrote into a file.
fn wrote(stage: &Stage, name: &str) -> String {
    fs::read_to_string(stage.folder.path().join("server").join(name)).unwrap_or_default()
}

/// What it was told.
fn heard(stage: &Stage) -> Vec<Value> {
    wrote(stage, "heard").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_alive(stage: &Stage) -> bool {
    Path::new("/proc").join(wrote(stage, "pid").trim()).join("exe").exists()
}

fn offered(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools.filter_map(|tool| tool["name"].as_str()).filter(|name| name.contains("mcp")).collect()
}

fn unavailable(stage: &Stage) -> Vec<(String, String)> {
    let told = stage.told().into_iter().filter_map(|told| {
        let Told::Unavailable { server, why } = told else { return None };
        Some((server, why))
    });
    told.collect()
}

#[test]
fn tools_of_a_program_are_offered_by_level_and_used() {
    let scripts = vec![
        call("mcp__t__echo", &json!({"say": "this"})),
        call("mcp__t__push", &json!({})),
        done(),
    ];
    let permissions = layers(&["mcp:t/*"], &["mcp:t/hang"], &["mcp:t/push", "mcp:t/h?ge"]);
    let mut stage = stage(scripts, permissions);
    assert_eq!(stage.say("Go."), Outcome::Over);
    let first = stage.asked.recv().unwrap();
    let names = ["mcp__t__echo", "mcp__t__die", "mcp__t__hang", "mcp__t__long", "mcp__t__huge"];
    assert_eq!(offered(&first), names);
    assert_eq!(stage.next_results(), [("heard".to_owned(), false)]);
    let denied = "`mcp:t/push` was denied: the agent may not use it for this.";
    assert_eq!(stage.next_results(), [(denied.to_owned(), true)]);
    let used = json!({"tool": {"tool": "mcp:t/echo", "what": "{\"say\":\"this\"}", "count": 1}});
    assert!(stage.transcript().contains(&used.to_string()), "{}", stage.transcript());
    let heard = heard(&stage);
    let called = heard.iter().find(|heard| heard["method"] == "tools/call").unwrap();
    assert_eq!(called["params"], json!({"name": "echo", "arguments": {"say": "this"}}));
    assert!(heard.contains(&json!({"jsonrpc": "2.0", "id": "q", "result": {}})), "{heard:?}");
    assert_eq!(unavailable(&stage), []);
}

#[test]
fn a_program_sees_what_is_its_own_and_ends_with_the_conversation() {
    let mut stage = stage(vec![done()], layers(&["mcp:t/*"], &[], &[]));
    assert_eq!(stage.say("Go."), Outcome::Over);
    assert!(is_alive(&stage));
    let seen = wrote(&stage, "seen");
    assert!(seen.contains("SERVER_KEY=k-2") && seen.contains("PATH="), "{seen}");
    let is_strange = |line: &&str| line.starts_with("CARGO") || line.starts_with("LEGATION");
    assert_eq!(seen.lines().find(is_strange), None);
    stage.close();
    assert!(!is_alive(&stage));
}

#[test]
fn a_server_of_which_nothing_may_be_used_is_left_alone_again() {
    let mut stage = stage(vec![done()], layers(&["mcp:t/other"], &[], &[]));
    assert_eq!(stage.say("Go."), Outcome::Over);
    assert_eq!(offered(&stage.asked.recv().unwrap()), Vec::<&str>::new());
    assert!(!is_alive(&stage));
}

#[test]
fn what_has_to_be_asked_for_is_not_done_unasked() {
    let mut stage = stage(
        vec![call("mcp__t__echo", &json!({})), done()],
        layers(&["read"], &["mcp:t/echo"], &[]),
    );
    assert_eq!(stage.say("Go."), Outcome::Over);
    assert_eq!(offered(&stage.asked.recv().unwrap()), ["mcp__t__echo"]);
    assert!(!wrote(&stage, "heard").contains("tools/call"));
    assert!(stage.told().iter().any(|told| matches!(told, Told::Denied { .. })));
}

#[test]
fn a_server_that_cannot_be_used_is_told_and_ends_nothing() {
    let hasty = |server: McpServer| McpServer { timeout_ms: Some(500), ..server };
    let nowhere = "http://127.0.0.1:9/mcp";
    type Make = Box<dyn Fn(&Path) -> Result<McpServer, String>>;
    let cases: Vec<(Make, &str)> = vec![
        (Box::new(|_| Err("it is not there".to_owned())), "it is not there"),
        (
            Box::new(|folder| {
                let mut server = program(folder, SERVER);
                server.reach =
                    Reach::Stdio { command: vec!["/no/such".to_owned()], env: BTreeMap::new() };
                Ok(server)
            }),
            "it cannot be started",
        ),
        (
            Box::new(|folder| Ok(program(folder, "#!/bin/sh\necho 'no luck' >&2; exit 1\n"))),
            "it has ended: no luck",
        ),
        (
            Box::new(move |folder| {
                let script =
                    "#!/bin/sh\nwhile read -r x; do echo '{\"id\":7}'; echo nonsense; done\n";
                Ok(hasty(program(folder, script)))
            }),
            "it did not answer within 0.5 s",
        ),
        (
            Box::new(|folder| {
                let script = "#!/bin/sh\nread -r x; echo '{\"id\":1,\"result\":[1]}'; cat\n";
                Ok(program(folder, script))
            }),
            "its answer to `initialize` makes no sense",
        ),
        (
            Box::new(|folder| {
                let script = "#!/bin/sh\nread -r x; echo '{\"id\":1,\"error\":{\"message\":\"not you\"}}'; cat\n";
                Ok(program(folder, script))
            }),
            "not you",
        ),
        (Box::new(move |_| Ok(address(nowhere))), "http://127.0.0.1:9/mcp cannot be reached"),
        (Box::new(|_| Ok(address("ftp://x"))), "`ftp://x` is no address"),
    ];
    for (make, expected) in cases {
        let mut stage = stage(vec![done()], layers(&["mcp:t/*"], &[], &[]));
        let server = make(stage.folder.path());
        stage.charge.servers = BTreeMap::from([("t".to_owned(), server)]);
        assert_eq!(stage.say("Go."), Outcome::Over, "{expected}");
        let request = stage.asked.recv().unwrap();
        let told = request["messages"].to_string();
        assert!(told.contains("The server `t` cannot be used:"), "{told}");
        let why = unavailable(&stage);
        assert_eq!(why.len(), 1, "{expected}");
        assert!(why[0].0 == "t" && why[0].1.starts_with(expected), "{expected}: {why:?}");
    }
}

#[test]
fn a_server_that_dies_is_told_and_the_work_goes_on() {
    let scripts = vec![call("mcp__t__die", &json!({})), call("mcp__t__echo", &json!({})), done()];
    let mut stage = stage(scripts, layers(&["mcp:t/*"], &[], &[]));
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    let died = "The server `t` cannot be used: it has ended: Listening.\\nout of luck.";
    assert_eq!(stage.next_results(), [(died.to_owned(), true)]);
    let gone = "The server `t` cannot be used: it has ended.";
    assert_eq!(stage.next_results(), [(gone.to_owned(), true)]);
    assert_eq!(unavailable(&stage).len(), 2);
}

#[test]
fn a_call_that_takes_too_long_is_called_off() {
    let scripts = vec![call("mcp__t__hang", &json!({})), call("mcp__t__echo", &json!({})), done()];
    let mut stage = stage(scripts, layers(&["mcp:t/*"], &[], &[]));
    let server = stage.charge.servers.get_mut("t").unwrap().as_mut().unwrap();
    server.timeout_ms = Some(2_000);
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    assert_eq!(stage.next_results(), [("It was called off after 2 s.".to_owned(), true)]);
    assert_eq!(stage.next_results(), [("heard".to_owned(), false)]);
    let heard = heard(&stage);
    let called_off = heard.iter().find(|heard| heard["method"] == "notifications/cancelled");
    assert_eq!(called_off.unwrap()["params"], json!({"requestId": 4}));
}

#[test]
fn what_a_server_says_is_bounded() {
    let scripts = vec![call("mcp__t__long", &json!({})), call("mcp__t__huge", &json!({})), done()];
    let mut stage = stage(scripts, layers(&["mcp:t/*"], &[], &[]));
    assert_eq!(stage.say("Go."), Outcome::Over);
    stage.asked.recv().unwrap();
    let [(long, false)] = &stage.next_results()[..] else { panic!("it failed") };
    assert!(long.ends_with("[49152 of 60000 bytes are shown]"), "{}", long.len());
    assert_eq!(stage.next_results(), [("The answer is too large.".to_owned(), true)]);
}

#[test]
fn names_are_as_providers_want_them_and_like_no_other() {
    let long = "x".repeat(70);
    let tools: Vec<Value> = ["a.b", "a/b", &long, &format!("{long}y")]
        .iter()
        .map(|name| json!({ "name": name }))
        .collect();
    let script = format!(
        "#!/bin/sh\nread -r x; echo '{{\"id\":1,\"result\":{{\"capabilities\":{{\"tools\":{{}}}}}}}}'\n\
         read -r x; read -r x; echo '{{\"id\":2,\"result\":{}}}'; cat > /dev/null\n",
        json!({ "tools": tools })
    );
    let mut stage = stage(vec![done()], layers(&["mcp:my.srv/*"], &[], &[]));
    let server = program(stage.folder.path(), &script);
    stage.charge.servers = BTreeMap::from([("my.srv".to_owned(), Ok(server))]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    let first = format!("mcp__my_srv__{}", "x".repeat(51));
    let second = format!("mcp__my_srv__{}_2", "x".repeat(49));
    let expected = ["mcp__my_srv__a_b", "mcp__my_srv__a_b_2", &first, &second];
    assert_eq!(offered(&stage.asked.recv().unwrap()), expected);
}

/// What an address answers up to the first use of a tool.
fn lead_up() -> Vec<Script> {
    let reply = |id: u32, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}});
    let list = json!({"tools": [{"name": "echo"}, {"name": "push"}]});
    vec![
        Script::json("mcp-session-id: s-1\r\n", &reply(1, hello)),
        Script::refusal(202, "", ""),
        Script::json("", &reply(2, list)),
    ]
}

#[test]
fn tools_at_an_address_are_used_over_streams_and_plain_answers() {
    let ping = json!({"jsonrpc": "2.0", "id": "q", "method": "ping"});
    let text = |id: u32, text: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}});
    let structured = json!({"jsonrpc": "2.0", "id": 4, "result": {"structuredContent": {"a": 1}}});
    let mut answers = lead_up();
    answers.push(Script::stream(&[text(2, "an old one"), ping, text(3, "streamed")]));
    answers.push(Script::refusal(202, "", ""));
    answers.push(Script::json("", &structured));
    answers.push(Script::refusal(503, "", "out of order"));
    let (url, heard) = serve(answers);
    let use_it = || call("mcp__t__echo", &json!({"say": "this"}));
    let mut stage =
        stage(vec![use_it(), use_it(), use_it(), done()], layers(&["mcp:t/echo"], &[], &[]));
    stage.charge.servers = BTreeMap::from([("t".to_owned(), Ok(address(&format!("{url}/mcp"))))]);
    assert_eq!(stage.say("Go."), Outcome::Over);
    assert_eq!(offered(&stage.asked.recv().unwrap()), ["mcp__t__echo"]);
    assert_eq!(stage.next_results(), [("streamed".to_owned(), false)]);
    assert_eq!(stage.next_results(), [("{\"a\":1}".to_owned(), false)]);
    let broken = "The server `t` cannot be used: it answered 503: out of order.";
    assert_eq!(stage.next_results(), [(broken.to_owned(), true)]);
    assert_eq!(unavailable(&stage), [("t".to_owned(), "it answered 503: out of order".to_owned())]);
    stage.close();
    let heard: Vec<Value> = heard.iter().take(6).collect();
    let head = |no: usize| heard[no]["head"].as_str().unwrap();
    assert!(head(0).contains("x-key: k-3") && !head(0).contains("mcp-session-id"), "{}", head(0));
    assert!(head(3).contains("mcp-session-id: s-1"), "{}", head(3));
    assert!(head(3).contains("mcp-protocol-version: 2025-06-18"), "{}", head(3));
    assert_eq!(heard[3]["params"]["arguments"], json!({"say": "this"}));
    assert_eq!((&heard[4]["id"], &heard[4]["result"]), (&json!("q"), &json!({})));
}

#[test]
fn all_shall_stop_while_a_server_is_at_work() {
    let mut stage = stage(vec![call("mcp__t__hang", &json!({}))], layers(&["mcp:t/*"], &[], &[]));
    let (stop, heard) = (stage.stop.clone(), stage.folder.path().join("server/heard"));
    let watcher = std::thread::spawn(move || {
        while !fs::read_to_string(&heard).unwrap_or_default().contains("tools/call") {
            std::thread::yield_now();
        }
        stop.send_replace(true);
    });
    assert_eq!(stage.say("Go."), Outcome::Over);
    watcher.join().unwrap();
    stage.close();
    assert!(!is_alive(&stage));
}
