//! How Claude Code is started: pure.
//!
//! **What a child loads.** The instructions of the project (`CLAUDE.md`) are part of the
//! task and are read: `--setting-sources project`. What the user keeps for their own
//! sessions is not: no settings, no memory, no plugins of theirs, and no MCP server but
//! ours. Hooks are off altogether, since they run commands that no permission was asked
//! about. The price: a login that only the user's settings name, through a helper or a
//! gateway, is not found.
//!
//! **What it writes.** Nothing that it would need again: one process holds the whole
//! conversation (`--no-session-persistence`), so it works where its own folder can only be
//! read. The login is used where it lies, never copied: a copy that is renewed would make
//! the original worthless.
//!
//! **Why its own schema flag is not used.** `--json-schema` works beside `submit_result`,
//! but an agent that ends in any other way than by its tool `StructuredOutput` is told to
//! call that first: one more call of the model for each return that was handed in already
//! (measured: 2 calls in place of 1). `submit_result` checks as strictly, and asking again
//! costs no more.

use serde_json::json;

use super::permissions::permissions;
use crate::door::{CALL_MS, SERVER};
use crate::envoy::{Charge, Spawn, Stdin};

/// How often it asks an overloaded provider again by itself, about ten seconds in all.
/// Waiting longer is for the engine, which then holds everybody who has that account.
const RETRIES: &str = "4";
/// Switches in its environment that are set.
const SWITCHES: &[&str] = &[
    // A turn is over when its result is there; nothing may wake it up again.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_CRON",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
];

/// The command line, environment and files of a conversation, and its first words.
pub fn spawn(charge: &Charge, text: &str) -> Spawn {
    let mcp = charge.scratch.join("mcp.json");
    let mut files = vec![(mcp.clone(), servers(charge))];
    let mut command = charge.program.clone();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    add(&["--input-format", "stream-json", "--no-session-persistence"]);
    add(&["--setting-sources", "project", "--settings", r#"{"disableAllHooks":true}"#]);
    add(&["--mcp-config", &mcp.to_string_lossy(), "--strict-mcp-config"]);
    if let Some(model) = &charge.model {
        add(&["--model", model]);
    }
    if let Some(turns) = charge.max_turns {
        add(&["--max-turns", &turns.to_string()]);
    }
    if let Some(cost) = charge.max_cost {
        // Told beside what we count: it knows what its own models cost. The call that goes
        // beyond is the last one.
        add(&["--max-budget-usd", &cost.dollars().to_string()]);
    }
    if !charge.instructions.is_empty() {
        // They may be longer than an argument can be.
        let file = charge.scratch.join("instructions.md");
        add(&["--append-system-prompt-file", &file.to_string_lossy()]);
        files.push((file, charge.instructions.clone()));
    }
    let shell = charge.scratch.join("shell.sh");
    files.push((shell.clone(), path_of(charge)));
    let told = permissions(&charge.tools);
    // Nobody is asked: what is not allowed is denied.
    add(&["--permission-mode", "dontAsk", "--tools", &told.offered.join(",")]);
    add(&["--allowedTools"]);
    command.extend(told.allowed);
    command.push("--disallowedTools".to_owned());
    command.extend(told.denied);
    let mut env = environment();
    env.push(("CLAUDE_ENV_FILE".to_owned(), shell.to_string_lossy().into_owned()));
    Spawn { command, env, files, stdin: Stdin::Open(said(text)) }
}

/// What its shell reads before each command. Where Claude Code cannot keep a picture of the
/// user's shell in its own folder it starts a login shell, which forgets the path.
fn path_of(charge: &Charge) -> String {
    let path = charge.door.env.get("PATH").map_or("", String::as_str);
    if path.is_empty() {
        return String::new();
    }
    format!("export PATH='{}'\n", path.replace('\'', r"'\''"))
}

/// How something is said to it.
pub(super) fn said(text: &str) -> String {
    let said = json!({"type": "user", "message": {"role": "user", "content": text}});
    format!("{said}\n")
}

fn servers(charge: &Charge) -> String {
    let server = json!({
        "type": "stdio", "command": charge.door.exe, "args": ["mcp"], "env": charge.door.env,
        // Else the model would have to search for our tools before it could call them.
        "alwaysLoad": true, "timeout": CALL_MS,
    });
    json!({"mcpServers": {SERVER: server}}).to_string()
}

fn environment() -> Vec<(String, String)> {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut env: Vec<(String, String)> = SWITCHES.iter().map(|name| set(name, "1")).collect();
    env.push(set("CLAUDE_CODE_MAX_RETRIES", RETRIES));
    env.push(set("BASH_MAX_TIMEOUT_MS", &CALL_MS.to_string()));
    env
}
