//! Claude Code: how it is started, what it is told about permissions, what it says.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use legation_core::agent::Level;
use legation_core::money::Usd;
use legation_runners::claude_code::{Parser, permissions, spawn, table};
use legation_runners::envoy::{End, Event, FaultKind, Outcome, Stdin, Tools};

use crate::contract::{charge, shown};
use crate::talked::layers;

const SILENT: End<'static> = End { status: None, last_words: "" };

fn heard(transcript: &str) -> (Vec<Event>, Outcome) {
    let (mut parser, mut events) = (Parser::default(), Vec::new());
    parser.push(transcript.as_bytes(), &mut events);
    (events, parser.end(&SILENT))
}

fn check(transcript: &str, expected: &Expect) {
    let (events, outcome) = heard(transcript);
    expected.assert_eq(&format!("{}{outcome:?}", shown(&events)));
}

fn tools(levels: [Level; 5], others: &[(&str, Level)]) -> Tools {
    let [read, edit, shell, web, delegate] = levels;
    let others: BTreeMap<String, Level> =
        others.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect();
    Tools { read, edit, shell, web, delegate, others, layers: layers(&[], &[], &[]) }
}

#[test]
fn a_turn_is_told_message_by_message() {
    check(
        include_str!("claude_code/fixtures/turn-1.jsonl"),
        &expect![[r#"
        calls it 00000011-0000-4000-8000-000000000011
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        uses edit: a.txt
        used 0 in, 49 out, 0 reasoning, 0 read, 0 written, unknown by claude-sonnet-4-5
        1230 in its context
        a tool came back
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        said "first answer"
        used 0 in, 49 out, 0 reasoning, 0 read, 0 written, unknown by claude-sonnet-4-5
        1230 in its context
        used 0 in, 0 out, 0 reasoning, 0 read, 0 written, $0.01 by claude-sonnet-4-5
        Over"#]],
    );
}

#[test]
fn a_message_that_was_interrupted_counts_though_the_result_says_nothing_was_used() {
    check(
        include_str!("claude_code/fixtures/interrupted.jsonl"),
        &expect![[r#"
        calls it 00000007-0000-4000-8000-000000000007
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        said "first half,"
        1230 in its context
        Broken(Fault { kind: Provider, message: "[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null", retry_after: None })"#]],
    );
}

#[test]
fn what_is_denied_and_what_is_not_offered_is_told() {
    check(
        include_str!("claude_code/fixtures/denied.jsonl"),
        &expect![[r#"
        calls it 00000001-0000-4000-8000-000000000001
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        uses shell: touch x
        used 0 in, 49 out, 0 reasoning, 0 read, 0 written, unknown by claude-sonnet-4-5
        1230 in its context
        denied shell: Permission to use Bash has been denied because Claude Code i
        a tool came back
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        denied web: Claude Code was not given `WebFetch`
        used 0 in, 49 out, 0 reasoning, 0 read, 0 written, unknown by claude-sonnet-4-5
        1230 in its context
        used 1000 in, 1 out, 0 reasoning, 200 read, 30 written, unknown by claude-sonnet-4-5
        1230 in its context
        said "no"
        used 0 in, 49 out, 0 reasoning, 0 read, 0 written, unknown by claude-sonnet-4-5
        1230 in its context
        used 0 in, 0 out, 0 reasoning, 0 read, 0 written, $0.01 by claude-sonnet-4-5
        Over"#]],
    );
}

#[test]
fn an_overloaded_provider_is_no_success_whatever_the_subtype_says() {
    check(
        include_str!("claude_code/fixtures/overloaded.jsonl"),
        &expect![[r#"
        calls it 00000009-0000-4000-8000-000000000009
        said "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway."
        Broken(Fault { kind: RateLimit, message: "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway.", retry_after: None })"#]],
    );
}

#[test]
fn what_the_stream_missed_is_made_up_for_at_the_end() {
    check(
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"model":"large","usage":{"input_tokens":10,"output_tokens":1}}}}
{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":5}}}
{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0.5,"usage":{"input_tokens":10,"output_tokens":5},"modelUsage":{"large":{"inputTokens":10,"outputTokens":5},"small":{"inputTokens":100,"outputTokens":7}}}
"#,
        &expect![[r#"
            used 10 in, 1 out, 0 reasoning, 0 read, 0 written, unknown by large
            10 in its context
            used 0 in, 4 out, 0 reasoning, 0 read, 0 written, unknown by large
            10 in its context
            used 100 in, 7 out, 0 reasoning, 0 read, 0 written, $0.50 by small
            Over"#]],
    );
}

#[test]
fn a_result_that_cannot_be_read_is_no_success() {
    check(
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"usage\":{\"input_tokens\":-5}}\n",
        &expect![[
            r#"Broken(Fault { kind: Provider, message: "The result of Claude Code cannot be read: invalid value: integer `-5`, expected u64 at line 1 column 80", retry_after: None })"#
        ]],
    );
}

#[test]
fn how_long_the_provider_asks_to_wait_is_told() {
    let (_, outcome) = heard(concat!(
        r#"{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":30000,"error_status":429}"#,
        "\n",
        r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"slow down"}"#,
        "\n",
    ));
    let Outcome::Broken(fault) = outcome else { panic!("{outcome:?}") };
    assert_eq!((fault.retry_after, fault.message.as_str()), (Some(30.0), "slow down"));
}

#[test]
fn words_of_an_agent_below_are_not_the_agents_own() {
    check(
        r#"{"type":"assistant","parent_tool_use_id":"toolu_1","message":{"content":[{"type":"text","text":"{\"status\":\"completed\"}"}]}}
{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"text","text":"mine"}]}}
{"type":"user","message":{"content":"a string is fine, too"}}
"#,
        &expect![[r#"
            said "mine"
            Broken(Fault { kind: Cut, message: "Claude Code ended without a result. ", retry_after: None })"#]],
    );
}

#[test]
fn one_that_has_spent_what_it_may_says_so_and_is_not_tried_again() {
    let line = r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":0.6,"errors":["Reached maximum budget ($0.5)"]}"#;
    let (_, outcome) = heard(&format!("{line}\n"));
    let Outcome::Broken(fault) = outcome else { panic!("it is over") };
    assert_eq!((fault.kind, fault.kind.is_recoverable()), (FaultKind::Budget, false));
}

#[test]
fn it_is_started_closed_and_stays() {
    let mut charge = charge();
    charge.model = Some("opus".to_owned());
    charge.max_turns = Some(7);
    charge.max_cost = Usd::from_dollars(0.5);
    charge.instructions = "Be brief.".to_owned();
    let spawn = spawn(&charge, "the \"brief\"");
    assert_eq!(
        spawn.stdin,
        Stdin::Open(
            concat!(r#"{"type":"user","message":{"role":"user","content":"the \"brief\""}}"#, "\n")
                .to_owned()
        )
    );
    let command = spawn.command.join(" ").replace(" --", "\n--");
    let env = spawn.env.iter().map(|(name, value)| format!("{name}={value}\n"));
    let files = spawn.files.iter().map(|(file, text)| format!("{}: {text}\n", file.display()));
    let shown = format!("{command}\n\n{}\n{}", env.collect::<String>(), files.collect::<String>());
    expect![[r#"
        /bin/agent -p
        --output-format stream-json
        --verbose
        --include-partial-messages
        --input-format stream-json
        --no-session-persistence
        --setting-sources project
        --settings {"disableAllHooks":true}
        --mcp-config /attempt/tmp/envoy/mcp.json
        --strict-mcp-config
        --model opus
        --max-turns 7
        --max-budget-usd 0.5
        --append-system-prompt-file /attempt/tmp/envoy/instructions.md
        --permission-mode dontAsk
        --tools Read,Glob,Grep,NotebookRead,Edit,Write,NotebookEdit,Bash
        --allowedTools Read Glob Grep NotebookRead Edit Write NotebookEdit Bash mcp__legation
        --disallowedTools WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel Agent CronCreate EnterWorktree Monitor RemoteTrigger ScheduleWakeup SendMessage Skill Task Workflow

        CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1
        CLAUDE_CODE_DISABLE_CRON=1
        CLAUDE_CODE_DISABLE_AUTO_MEMORY=1
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
        DISABLE_AUTOUPDATER=1
        DISABLE_ERROR_REPORTING=1
        DISABLE_TELEMETRY=1
        CLAUDE_CODE_MAX_RETRIES=4
        BASH_MAX_TIMEOUT_MS=86400000
        CLAUDE_ENV_FILE=/attempt/tmp/envoy/shell.sh

        /attempt/tmp/envoy/mcp.json: {"mcpServers":{"legation":{"type":"stdio","command":"/bin/legation","args":["mcp"],"env":{"LEGATION_TOKEN":"secret","PATH":"/a:/it's"},"alwaysLoad":true,"timeout":86400000}}}
        /attempt/tmp/envoy/instructions.md: Be brief.
        /attempt/tmp/envoy/shell.sh: export PATH='/a:/it'\''s'

    "#]].assert_eq(&shown);
}

/// Permissions that an agent may have.
fn permitted() -> Vec<(&'static str, Tools)> {
    use Level::{Allow, Ask, Deny};
    vec![
        ("all", tools([Allow; 5], &[])),
        ("nothing", tools([Deny; 5], &[])),
        ("what would have to be asked", tools([Ask; 5], &[])),
        ("parts of a shell", tools([Allow, Deny, Deny, Deny, Deny], &[("shell(git *)", Allow)])),
        (
            "a shell without a part",
            tools([Allow, Deny, Allow, Deny, Deny], &[("shell(rm *)", Deny)]),
        ),
        (
            "parts that would mean something else in a list",
            tools(
                [Allow, Deny, Deny, Deny, Deny],
                &[("shell(x), Bash(*)", Allow), ("shell(a,b)", Allow)],
            ),
        ),
        (
            "a closed part that cannot be told",
            tools([Deny, Deny, Allow, Deny, Deny], &[("shell(a,b)", Deny)]),
        ),
        (
            "names that only Claude Code knows",
            tools(
                [Deny; 5],
                &[("TodoWrite", Allow), ("Task", Allow), ("Other", Deny), ("mcp:a/b", Allow)],
            ),
        ),
    ]
}

#[test]
fn only_what_is_allowed_is_offered() {
    let mut shown = String::new();
    for (what, tools) in permitted() {
        let told = permissions(&tools);
        let never = told.denied.iter().position(|name| name == "Agent").unwrap();
        let denied = told.denied[..never].join(" ");
        shown.push_str(&format!(
            "{what}\n  offered {}\n  allowed {}\n  denied {denied}\n",
            told.offered.join(" "),
            told.allowed.join(" "),
        ));
    }
    expect![[r#"
        all
          offered Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch
          allowed Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch mcp__legation
          denied 
        nothing
          offered 
          allowed mcp__legation
          denied Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
        what would have to be asked
          offered 
          allowed mcp__legation
          denied Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch
        parts of a shell
          offered Read Glob Grep NotebookRead Bash
          allowed Read Glob Grep NotebookRead Bash(git *) mcp__legation
          denied Edit Write NotebookEdit WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
        a shell without a part
          offered Read Glob Grep NotebookRead Bash
          allowed Read Glob Grep NotebookRead Bash mcp__legation
          denied Edit Write NotebookEdit Bash(rm *) WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
        parts that would mean something else in a list
          offered Read Glob Grep NotebookRead
          allowed Read Glob Grep NotebookRead mcp__legation
          denied Edit Write NotebookEdit Bash WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
        a closed part that cannot be told
          offered 
          allowed mcp__legation
          denied Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
        names that only Claude Code knows
          offered TodoWrite
          allowed TodoWrite mcp__legation
          denied Read Glob Grep NotebookRead Edit Write NotebookEdit Bash WebFetch WebSearch mcp__legation__delegate mcp__legation__delegate_batch mcp__legation__delegate_wait mcp__legation__delegate_status mcp__legation__delegate_list mcp__legation__delegate_cancel
    "#]].assert_eq(&shown);
}

#[test]
fn people_are_shown_what_it_is_told() {
    use Level::{Allow, Ask, Deny};
    let tools = tools(
        [Allow, Allow, Allow, Ask, Deny],
        &[("shell(rm *)", Deny), ("TodoWrite", Allow), ("mcp:a/b", Allow)],
    );
    let rows = table(&tools).into_iter();
    let rows = rows.map(|row| format!("{} {:?}: {}\n", row.tool, row.level, row.told));
    expect![[r#"
        read Allow: offers Read, Glob, Grep, NotebookRead
        edit Allow: offers Edit, Write, NotebookEdit
        shell Allow: offers Bash; denies Bash(rm *)
        web Ask: not offered
        delegate Deny: not offered; of the server `legation` only what hands in a return
        TodoWrite Allow: offers TodoWrite
        mcp:a/b Allow: not offered
        its own sub-agents Deny: not offered: Task, Agent, Workflow
    "#]]
    .assert_eq(&rows.collect::<String>());
}
