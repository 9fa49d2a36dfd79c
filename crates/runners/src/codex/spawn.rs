//! How Codex is started: pure.
//!
//! The user's configuration is read, since it says which provider and which login is meant;
//! what in it starts programs (hooks, plugins, notifications, MCP servers) is off for a
//! child. Instructions of the project (`AGENTS.md`) are read. Sessions are written where
//! the user's own are, so that a turn can be gone on with.

use serde_json::Value;

use super::permissions::{Permissions, permissions};
use super::strict::return_schema;
use crate::envoy::{Charge, Spawn, Stdin};

/// Seconds that a call of ours may take: our own limits end it long before.
const CALL_SECONDS: u64 = 24 * 3600;
/// Bytes of instructions that fit on a command line; longer ones are said with the brief.
const MAX_ARGUMENT: usize = 64 << 10;
/// Features that start programs or spend without being asked. A Codex that does not know one
/// of them has none of it, so they are no reason not to start.
const OFF: &[&str] = &[
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "hooks",
    "image_generation",
    "memories",
    "plugins",
];
/// The tools of ours that an agent has who may not hand work on.
const NO_DELEGATING: &[&str] = &["submit_result", "list_agents", "explain_permissions"];

/// What a turn builds on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before<'a> {
    /// The thread to go on with.
    pub thread: Option<&'a str>,
    /// MCP servers that the user's configuration names.
    pub servers: &'a [String],
}

/// The command line and files of one turn.
pub fn spawn(charge: &Charge, text: &str, before: &Before<'_>) -> Spawn {
    let told = permissions(charge);
    let mut files = Vec::new();
    let mut command = charge.program.clone();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["exec"]);
    if before.thread.is_some() {
        add(&["resume"]);
    }
    add(&["--json", "--skip-git-repo-check"]);
    if let Some(model) = &charge.model {
        add(&["-m", model]);
    }
    for feature in &told.disabled {
        add(&["--disable", feature]);
    }
    for setting in settings(charge, &told, before) {
        add(&["-c", &setting]);
    }
    if let Some(schema) = charge.schema.as_ref().and_then(return_schema) {
        let file = charge.scratch.join("return.schema.json");
        add(&["--output-schema", &file.to_string_lossy()]);
        files.push((file, schema.to_string()));
    }
    if let Some(thread) = before.thread {
        add(&[thread]);
    }
    add(&["-"]);
    let said = match before.thread {
        None if charge.instructions.len() > MAX_ARGUMENT => {
            format!("{}\n\n{text}", charge.instructions)
        }
        None | Some(_) => text.to_owned(),
    };
    Spawn { command, env: Vec::new(), files, stdin: Stdin::Once(said) }
}

fn settings(charge: &Charge, told: &Permissions, before: &Before<'_>) -> Vec<String> {
    let mut settings = vec![
        format!("sandbox_mode={}", quoted(told.sandbox.as_str())),
        // Nobody is asked: what is not allowed is denied.
        "approval_policy=\"never\"".to_owned(),
        format!("web_search={}", quoted(if told.web { "live" } else { "disabled" })),
        "notify=[]".to_owned(),
        "check_for_update_on_startup=false".to_owned(),
    ];
    settings.extend(OFF.iter().map(|feature| format!("features.{feature}=false")));
    settings
        .extend(before.servers.iter().map(|server| format!("mcp_servers.{server}.enabled=false")));
    settings.push(format!("mcp_servers.legation={}", server(charge, told)));
    let instructions = &charge.instructions;
    if !instructions.is_empty() && instructions.len() <= MAX_ARGUMENT && before.thread.is_none() {
        settings.push(format!("developer_instructions={}", quoted(instructions)));
    }
    settings
}

/// Our server. It takes what it needs from the environment that Codex itself has, so that
/// no token stands on a command line, where others can read it.
fn server(charge: &Charge, told: &Permissions) -> String {
    let names: Vec<String> = charge.door.env.keys().map(|name| quoted(name)).collect();
    let only = NO_DELEGATING.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let only = if told.delegate { String::new() } else { format!(",enabled_tools=[{only}]") };
    format!(
        "{{command={},args=[\"mcp\"],env_vars=[{}],enabled=true,\
         default_tools_approval_mode=\"approve\",tool_timeout_sec={CALL_SECONDS}{only}}}",
        quoted(&charge.door.exe.to_string_lossy()),
        names.join(","),
    )
}

/// A text as it stands in TOML. What JSON escapes, TOML does alike, but for one character.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
