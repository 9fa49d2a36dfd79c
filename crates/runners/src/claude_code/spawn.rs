//! How Claude Code is started: pure.

use legation_core::agent::Level;
use serde_json::json;

use crate::envoy::{Charge, Spawn, Stdin, Turn};

/// Milliseconds that a call of ours may take: our own limits end it long before.
const CALL_MS: u64 = 24 * 3_600_000;
/// Claude Code's own ways of starting agents, of waiting and of planning: nothing may be
/// spent that our ledger does not see.
const NEVER: &[&str] = &[
    "Task",
    "Agent",
    "Workflow",
    "SendMessage",
    "ScheduleWakeup",
    "CronCreate",
    "CronDelete",
    "EnterWorktree",
    "ExitWorktree",
    "RemoteTrigger",
];

/// The command line, environment and files of one turn.
pub fn spawn(charge: &Charge, turn: &Turn<'_>, conversation: Option<&str>) -> Spawn {
    let mcp = charge.scratch.join("mcp.json");
    let mut command = charge.program.clone();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]);
    add(&["--mcp-config", &mcp.to_string_lossy(), "--strict-mcp-config"]);
    add(&["--permission-mode", "dontAsk"]);
    if let Some(model) = &charge.model {
        add(&["--model", model]);
    }
    if let Some(turns) = charge.max_turns {
        add(&["--max-turns", &turns.to_string()]);
    }
    if !charge.instructions.is_empty() {
        add(&["--append-system-prompt", &charge.instructions]);
    }
    if let Some(conversation) = conversation {
        add(&["--resume", conversation]);
    }
    add(&["--allowedTools"]);
    command.extend(allowed(charge));
    command.push("--disallowedTools".to_owned());
    command.extend(NEVER.iter().map(|name| (*name).to_owned()));
    let said = json!({"type": "user", "message": {"role": "user", "content": turn.text}});
    Spawn {
        command,
        env: environment(),
        files: vec![(mcp, servers(charge))],
        stdin: Stdin::Open(format!("{said}\n")),
    }
}

/// Claude Code's names for what is allowed. What would have to be asked is not: nobody
/// could answer it there.
fn allowed(charge: &Charge) -> Vec<String> {
    let tools = &charge.tools;
    let groups: [(Level, &[&str]); 4] = [
        (tools.read, &["Read", "Glob", "Grep", "LS", "NotebookRead"]),
        (tools.edit, &["Edit", "MultiEdit", "Write", "NotebookEdit"]),
        (tools.shell, &["Bash", "BashOutput", "KillShell"]),
        (tools.web, &["WebFetch", "WebSearch"]),
    ];
    let allowed = groups.iter().filter(|(level, _)| *level == Level::Allow);
    let mut names: Vec<String> =
        allowed.flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned())).collect();
    names.push("TodoWrite".to_owned());
    names.push("mcp__legation".to_owned());
    names
}

fn servers(charge: &Charge) -> String {
    let server = json!({
        "type": "stdio", "command": charge.door.exe, "args": ["mcp"], "env": charge.door.env,
        "alwaysLoad": true, "timeout": CALL_MS,
    });
    json!({"mcpServers": {"legation": server}}).to_string()
}

fn environment() -> Vec<(String, String)> {
    let on = |name: &str| (name.to_owned(), "1".to_owned());
    vec![
        on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        on("DISABLE_AUTOUPDATER"),
        on("DISABLE_ERROR_REPORTING"),
        on("DISABLE_TELEMETRY"),
    ]
}
