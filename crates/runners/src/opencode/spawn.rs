//! How OpenCode is started: pure.

use std::io;

use serde_json::{Value, json};

use super::permissions::permissions;
use crate::door::{CALL_MS, SERVER};
use crate::envoy::{Charge, Spawn, Stdin, Turn};
use crate::settings::lay_over;

/// The variable that OpenCode reads settings from, which it lays over those in files.
pub const CONFIG_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
/// What the agent that we describe is called there.
const AGENT: &str = "legation";
/// What every conversation is called. Without a name one would be asked of a model, and
/// nobody be told what that cost.
const TITLE: &str = "legation";

/// The command line, environment and files of one turn. `theirs` is what the user has put
/// into the same variable.
pub fn spawn(
    charge: &Charge,
    turn: &Turn<'_>,
    conversation: Option<&str>,
    theirs: Option<&str>,
) -> io::Result<Spawn> {
    let mut config: Value = match theirs.filter(|text| !text.trim().is_empty()) {
        Some(text) => serde_json::from_str(text).map_err(|problem| {
            let why = format!("`{CONFIG_VARIABLE}` is no JSON: {problem}");
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?,
        None => json!({}),
    };
    let instructions = charge.scratch.join("opencode").join("instructions.md");
    let has_instructions = !charge.instructions.trim().is_empty();
    let mut files = Vec::new();
    if has_instructions {
        // They come on top of the program's own, and of the user's.
        let known = config.get("instructions").and_then(Value::as_array);
        let mut all = known.cloned().unwrap_or_default();
        all.push(json!(instructions));
        lay_over(&mut config, json!({ "instructions": all }));
        files.push((instructions, charge.instructions.clone()));
    }
    // Entries of theirs for the same agent would come before ours, where the last counts.
    if let Some(agents) = config.get_mut("agent").and_then(Value::as_object_mut) {
        agents.shift_remove(AGENT);
    }
    lay_over(&mut config, ours(charge));
    let mut command = charge.program.clone();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["run", "--format", "json", "--agent", AGENT]);
    match conversation {
        Some(conversation) => add(&["--session", conversation]),
        None => add(&["--title", TITLE]),
    }
    if let Some(model) = &charge.model {
        add(&["--model", model]);
    }
    let on = |name: &str| (name.to_owned(), "1".to_owned());
    let env = vec![
        (CONFIG_VARIABLE.to_owned(), config.to_string()),
        on("OPENCODE_DISABLE_AUTOUPDATE"),
        on("OPENCODE_DISABLE_LSP_DOWNLOAD"),
        on("OPENCODE_DISABLE_SHARE"),
    ];
    Ok(Spawn { command, env, files, stdin: Stdin::Once(turn.text.to_owned()) })
}

fn ours(charge: &Charge) -> Value {
    let mut agent = json!({
        "mode": "primary",
        "permission": permissions(&charge.tools, charge.is_fenced),
    });
    if let Some(temperature) = charge.temperature {
        lay_over(&mut agent, json!({ "temperature": temperature }));
    }
    if let Some(turns) = charge.max_turns {
        lay_over(&mut agent, json!({ "steps": turns }));
    }
    json!({
        "autoupdate": false,
        "share": "disabled",
        // Its own copies of the workspace: ours is a copy already.
        "snapshot": false,
        "agent": {AGENT: agent},
        "mcp": {SERVER: {
            "type": "local", "command": [charge.door.exe, "mcp"], "environment": charge.door.env,
            "enabled": true, "timeout": CALL_MS,
        }},
    })
}
