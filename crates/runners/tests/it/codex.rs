//! Codex: how it is started, what it is told about permissions, what it says.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::process::Command;

use expect_test::{Expect, expect};
use legation_core::agent::Level;
use legation_core::returns::{Expectation, Fact, check as check_return};
use legation_runners::codex::{
    Before, Parser, Record, named_in, permissions, return_schema, spawn, table,
};
use legation_runners::envoy::{End, Stdin};
use serde_json::{Value, json};

use crate::contract::{charge, shown};
use crate::talked::layers;

fn check(transcript: &str, last_words: &str, expected: &Expect) {
    let (mut parser, mut events) = (Parser::default(), Vec::new());
    parser.push(transcript.as_bytes(), &mut events);
    parser.overhear(last_words, &mut events);
    let outcome = parser.end(&End { status: None, last_words });
    expected.assert_eq(&format!("{}{outcome:?}", shown(&events)));
}

#[test]
fn a_turn_is_told_and_an_unknown_model_is_no_failure() {
    check(
        include_str!("codex/fixtures/turn-1.jsonl"),
        "",
        &expect![[r#"
        calls it 00000017-0000-4000-8000-000000000017
        uses shell: /bin/bash -lc 'echo hi > c.txt; cat c.txt'
        a tool came back
        said "first answer"
        used 1600 in, 86 out, 14 reasoning, 400 read, 0 written, unknown by some model
        Over"#]],
    );
}

#[test]
fn a_provider_without_room_is_a_failure_of_its_kind() {
    check(
        include_str!("codex/fixtures/limited.jsonl"),
        "",
        &expect![[r#"
        calls it 00000016-0000-4000-8000-000000000016
        Broken(Fault { kind: RateLimit, message: "exceeded retry limit, last status: 429 Too Many Requests", retry_after: None })"#]],
    );
}

#[test]
fn every_kind_of_item_is_understood() {
    check(
        r#"{"type":"thread.started","thread_id":"t1"}
{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[{"path":"a.rs","kind":"add"},{"path":"b.rs","kind":"update"}],"status":"completed"}}
{"type":"item.started","item":{"id":"2","type":"mcp_tool_call","server":"legation","tool":"delegate","arguments":{"task":"do it"},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call","server":"legation","tool":"delegate","arguments":"no object","result":{"content":[{"type":"text","text":"ok"}]},"status":"completed"}}
{"type":"item.completed","item":{"id":"3","type":"web_search","query":"weather"}}
{"type":"item.completed","item":{"id":"4","type":"command_execution","command":"rm -rf /","status":"declined"}}
{"type":"item.completed","item":{"id":"5","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"6","type":"todo_list","items":[]}}
"#,
        "2026 ERROR codex_core::tools::router: error=unsupported call: exec_command\nother words",
        &expect![[r#"
            calls it t1
            uses edit: a.rs, b.rs
            a tool came back
            uses mcp:legation/delegate: do it
            a tool came back
            uses web: weather
            a tool came back
            uses shell: rm -rf /
            a tool came back
            denied shell: rm -rf /
            denied shell: Codex was not given `exec_command`
            Broken(Fault { kind: Cut, message: "Codex ended in the middle of a turn. 2026 ERROR codex_core::tools::router: error=unsupported call: exec_command\nother words", retry_after: None })"#]],
    );
}

#[test]
fn one_that_does_not_begin_was_not_started() {
    check(
        "",
        "Error: Unknown feature flag: shell_tool",
        &expect![[
            r#"Broken(Fault { kind: NotStarted, message: "Codex did not begin. Error: Unknown feature flag: shell_tool", retry_after: None })"#
        ]],
    );
}

#[test]
fn another_thread_counts_from_the_beginning() {
    let (mut parser, mut events) = (Parser::default(), Vec::new());
    for thread in ["a", "a", "b"] {
        parser.begin(Some("large"));
        let turn = format!(
            "{{\"type\":\"thread.started\",\"thread_id\":\"{thread}\"}}\n\
             {{\"type\":\"turn.completed\",\"usage\":{{\"input_tokens\":100,\"cached_input_tokens\":400,\"output_tokens\":5,\"reasoning_output_tokens\":9}}}}\n"
        );
        parser.push(turn.as_bytes(), &mut events);
    }
    expect![[r#"
        calls it a
        used 0 in, 0 out, 5 reasoning, 100 read, 0 written, unknown by large
        calls it b
        used 0 in, 0 out, 5 reasoning, 100 read, 0 written, unknown by large
    "#]]
    .assert_eq(&shown(&events));
}

#[test]
fn it_is_started_closed_and_without_a_token_on_its_command_line() {
    let mut charge = charge();
    charge.model = Some("gpt-5".to_owned());
    charge.instructions = "Be \"brief\".\nAlways.".to_owned();
    let servers = ["theirs".to_owned()];
    let first = spawn(&charge, "the brief", &Before { thread: None, servers: &servers });
    assert_eq!(first.stdin, Stdin::Once("the brief".to_owned()));
    let again = spawn(&charge, "once more", &Before { thread: Some("t1"), servers: &servers });
    let words = |command: &[String]| command.join(" ").replace(" -", "\n-");
    let shown = format!("{}\n\n{}", words(&first.command), words(&again.command));
    assert!(!shown.contains("secret"));
    let (first, again) = shown.split_once("\n\n").unwrap();
    expect![[r#"
        /bin/agent exec
        --json
        --skip-git-repo-check
        -m gpt-5
        --disable multi_agent
        --disable multi_agent_v2
        -c sandbox_mode="danger-full-access"
        -c approval_policy="never"
        -c web_search="disabled"
        -c notify=[]
        -c check_for_update_on_startup=false
        -c features.apps=false
        -c features.browser_use=false
        -c features.computer_use=false
        -c features.goals=false
        -c features.hooks=false
        -c features.image_generation=false
        -c features.memories=false
        -c features.plugins=false
        -c mcp_servers.theirs.enabled=false
        -c mcp_servers.legation={command="/bin/legation",args=["mcp"],env_vars=["LEGATION_TOKEN","PATH"],enabled=true,default_tools_approval_mode="approve",tool_timeout_sec=86400,enabled_tools=["submit_result","list_agents","explain_permissions"]}
        -c developer_instructions="Be \"brief\".\nAlways."
        -"#]].assert_eq(first);
    // What is said again is said under the same rules, in the same thread.
    let left: Vec<&str> = first.lines().filter(|line| !again.contains(line)).collect();
    assert_eq!(left, ["-c developer_instructions=\"Be \\\"brief\\\".\\nAlways.\""]);
    assert!(again.starts_with("/bin/agent exec resume\n") && again.ends_with("} t1\n-"));
}

#[test]
fn what_is_given_on_the_command_line_is_what_codex_reads() {
    let mut charge = charge();
    charge.instructions = "quotes \" and \\ and \u{7f} and \u{1} and\nlines\u{e9}".to_owned();
    let spawn = spawn(&charge, "", &Before::default());
    let settings = spawn.command.iter().filter(|word| word.contains('='));
    let settings: String = settings.map(|setting| format!("{setting}\n")).collect();
    let read: toml::Table = settings.parse().unwrap();
    assert_eq!(read["developer_instructions"].as_str(), Some(charge.instructions.as_str()));
    let server = &read["mcp_servers"]["legation"];
    assert_eq!(server["command"].as_str(), Some("/bin/legation"));
    assert_eq!(read["sandbox_mode"].as_str(), Some("danger-full-access"));
}

#[test]
fn instructions_that_fit_no_command_line_are_said() {
    let mut charge = charge();
    charge.instructions = "x".repeat(200_000);
    let spawn = spawn(&charge, "the brief", &Before::default());
    assert!(spawn.command.iter().all(|word| word.len() < 100_000));
    let Stdin::Once(said) = spawn.stdin else { panic!() };
    assert_eq!(said.len(), 200_000 + "\n\nthe brief".len());
}

#[test]
fn what_is_closed_is_switched_off() {
    use Level::{Allow, Ask, Deny};
    let cases = [
        ("all", [Allow; 5], None, true),
        ("nothing", [Deny; 5], None, true),
        ("what would have to be asked", [Ask; 5], None, true),
        (
            "a part of a shell",
            [Allow, Allow, Deny, Deny, Deny],
            Some(("shell(git *)", Allow)),
            true,
        ),
        ("all but a part", [Allow, Allow, Allow, Deny, Deny], Some(("shell(rm *)", Deny)), true),
        ("no fence", [Allow, Allow, Allow, Allow, Deny], None, false),
        ("no fence and no edits", [Allow, Deny, Allow, Deny, Deny], None, false),
    ];
    let mut shown = String::new();
    for (what, [read, edit, shell, web, delegate], other, is_fenced) in cases {
        let mut charge = charge();
        charge.is_fenced = is_fenced;
        let others = other.into_iter().map(|(name, level)| (name.to_owned(), level)).collect();
        charge.tools = legation_runners::envoy::Tools {
            read,
            edit,
            shell,
            web,
            delegate,
            others,
            layers: layers(&[], &[], &[]),
        };
        shown.push_str(&format!("{what}: {:?}\n", permissions(&charge)));
    }
    expect![[r#"
        all: Permissions { sandbox: Ours, disabled: ["multi_agent", "multi_agent_v2"], web: true, delegate: true }
        nothing: Permissions { sandbox: Ours, disabled: ["multi_agent", "multi_agent_v2", "shell_tool", "unified_exec", "view_image"], web: false, delegate: false }
        what would have to be asked: Permissions { sandbox: Ours, disabled: ["multi_agent", "multi_agent_v2", "shell_tool", "unified_exec", "view_image"], web: false, delegate: true }
        a part of a shell: Permissions { sandbox: Ours, disabled: ["multi_agent", "multi_agent_v2", "shell_tool", "unified_exec"], web: false, delegate: false }
        all but a part: Permissions { sandbox: Ours, disabled: ["multi_agent", "multi_agent_v2", "shell_tool", "unified_exec"], web: false, delegate: false }
        no fence: Permissions { sandbox: WorkspaceWrite, disabled: ["multi_agent", "multi_agent_v2"], web: true, delegate: false }
        no fence and no edits: Permissions { sandbox: ReadOnly, disabled: ["multi_agent", "multi_agent_v2"], web: false, delegate: false }
    "#]].assert_eq(&shown);
}

#[test]
fn people_are_shown_what_it_is_told() {
    let mut tools = charge().tools;
    tools.others.insert("shell(rm *)".to_owned(), Level::Deny);
    tools.others.insert("mcp:a/b".to_owned(), Level::Allow);
    let rows = table(&tools).into_iter();
    let rows = rows.map(|row| format!("{} {:?}: {}\n", row.tool, row.level, row.told));
    expect![[r#"
        read Allow: through its shell, and view_image
        edit Allow: the fence, else --sandbox workspace-write
        shell Allow: --disable shell_tool: Codex cannot be told about parts
        web Ask: web_search=disabled
        delegate Deny: not offered; of the server `legation` only what hands in a return
        mcp:a/b Allow: not offered
        its own sub-agents Deny: --disable multi_agent
    "#]]
    .assert_eq(&rows.collect::<String>());
}

#[test]
fn servers_of_the_user_are_known_by_name() {
    let configuration = "model = \"x\"\n[mcp_servers.theirs]\ncommand = \"a\"\n[mcp_servers.legation]\ncommand = \"b\"\n[mcp_servers.other-1]\nurl = \"c\"\n";
    assert_eq!(named_in(configuration).unwrap(), ["other-1", "theirs"]);
    assert_eq!(named_in("").unwrap(), [""; 0]);
    for bad in ["[mcp_servers.\"a.b\"]\ncommand = \"a\"\n", "no toml at all ["] {
        let problem = named_in(bad).unwrap_err().to_string();
        assert!(problem.contains("a.b") || problem.contains("configuration of Codex"), "{problem}");
    }
}

#[test]
fn a_schema_is_given_only_where_it_can_be_enforced() {
    let strict = json!({
        "type": "object", "required": ["verdict"], "additionalProperties": false,
        "properties": {"verdict": {"type": "string", "enum": ["accept", "revise"]}},
    });
    let loose = [
        json!({}),
        json!(true),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"$ref": "#/x"}),
        json!({"anyOf": [{"type": "object"}, {"type": "null"}]}),
        (0..9).fold(json!({"type": "string"}), |items, _| json!({"type": "array", "items": items})),
    ];
    for schema in loose {
        assert_eq!(return_schema(&schema), None, "{schema}");
    }
    let mut charge = charge();
    charge.schema = Some(strict.clone());
    let spawn = spawn(&charge, "", &Before::default());
    let (file, text) = &spawn.files[0];
    assert!(spawn.command.contains(&file.to_string_lossy().into_owned()));
    assert_eq!(text.parse::<Value>().ok(), return_schema(&strict));
}

#[test]
fn a_return_in_the_enforced_form_is_valid() {
    let returned = json!({
        "status": "failed", "summary": "No luck.", "artifacts": [],
        "metadata": {
            "session_id": "sess_1700000000_abc123", "agent_type": "worker", "delegation_depth": 1,
            "delegation_path": ["user", "worker"], "duration_seconds": null,
        },
        "errors": [{
            "type": "execution", "message": "It broke.", "code": null, "recoverable": true,
            "recommendation": "Try again.",
        }],
        "next_steps": null, "data": {"verdict": "accept"},
    });
    let known = charge().known;
    let expect = Expectation { session_id: &known.session_id, schema: None };
    let checked = check_return(&returned, &expect, &|_: &str| Fact::Missing);
    assert!(checked.is_ok(), "{checked:?}");
}

/// A line of the record that Codex keeps.
fn noted(thread: &str, input: u64) -> String {
    let usage = json!({"input_tokens": input, "cached_input_tokens": 200, "output_tokens": 50});
    let payload = json!({"thread_id": thread, "usage": usage, "thread_token_usage": usage});
    format!("{}\n", json!({"ordinal": 1, "type": "token_usage_record", "payload": payload}))
}

#[test]
fn what_the_record_says_is_told_at_once_and_not_again_at_the_end() {
    let (mut parser, mut events) = (Parser::default(), Vec::new());
    parser.begin(None);
    parser.push(b"{\"type\":\"thread.started\",\"thread_id\":\"t1\"}\n", &mut events);
    let model = json!({"type": "turn_context", "payload": {"model": "large"}});
    let record = [
        format!("{model}\nno JSON\n"),
        noted("t1", 1000),
        noted("another", 9999),
        noted("t1", 900),
    ];
    record.iter().for_each(|line| parser.note(line.as_bytes(), &mut events));
    let end = r#"{"type":"turn.completed","usage":{"input_tokens":1000,"cached_input_tokens":200,"output_tokens":70}}"#;
    parser.push(format!("{end}\n").as_bytes(), &mut events);
    expect![[r#"
        calls it t1
        used 800 in, 50 out, 0 reasoning, 200 read, 0 written, unknown by large
        1000 in its context
        900 in its context
        used 0 in, 20 out, 0 reasoning, 0 read, 0 written, unknown by large
    "#]]
    .assert_eq(&shown(&events));
}

#[test]
fn a_record_is_found_by_its_thread_and_followed() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/16");
    fs::create_dir_all(&day).unwrap();
    assert!(Record::find(home.path(), "t1").is_none());
    let path = day.join("rollout-2026-11-16T06-06-05-t1.jsonl");
    fs::write(&path, "one\n").unwrap();
    let mut record = Record::find(home.path(), "t1").unwrap();
    assert_eq!(record.read(), b"one\n");
    assert_eq!(record.read(), b"");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"two\n").unwrap();
    assert_eq!(record.read(), b"two\n");
    assert!(Record::find(home.path(), "t2").is_none());
}

#[test]
fn a_record_that_would_make_us_wait_is_none() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/16");
    fs::create_dir_all(&day).unwrap();
    let pipe = Command::new("mkfifo").arg(day.join("rollout-x-t1.jsonl")).status().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", day.join("rollout-x-t2.jsonl")).unwrap();
    assert!(pipe.success());
    assert!(Record::find(home.path(), "t1").is_none());
    assert!(Record::find(home.path(), "t2").is_none());
}
