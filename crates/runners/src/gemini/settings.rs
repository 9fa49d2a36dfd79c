//! The settings that Gemini CLI is given beside the user's own: pure.
//!
//! They stand where those of the machine would, so nothing in a workspace or a home can
//! undo them, and the machine's own are under them.

use legation_core::agent::{Level, Tool};
use serde_json::{Value, json};

use super::around::Around;
use crate::door::{CALL_MS, SERVER};
use crate::envoy::Charge;
use crate::permissions::Scope;
use crate::settings::lay_over;

/// How often a provider is asked in all, before the program gives up: who has to wait long
/// waits better with us, where all others of the same account wait too.
const ATTEMPTS: u32 = 3;

/// All of them, as the text of a file.
pub fn settings(charge: &Charge, around: &Around) -> String {
    let mut all = Value::Object(around.machine.clone());
    let named = around.machine.get("mcp").and_then(|mcp| mcp.get("allowed")?.as_array());
    let named = named.map(|names| names.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    let servers: Vec<String> = servers(charge)
        .into_iter()
        .filter(|name| named.as_ref().is_none_or(|named| named.contains(&name.as_str())))
        .collect();
    lay_over(&mut all, ours(charge, &servers));
    if around.has_only_key {
        lay_over(&mut all, json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}));
    }
    all.to_string()
}

fn ours(charge: &Charge, servers: &[String]) -> Value {
    let mut ours = json!({
        "experimental": {"enableAgents": false},
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": ATTEMPTS,
        },
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "security": {"folderTrust": {"enabled": false}},
        "mcp": {"allowed": servers},
        "mcpServers": {SERVER: {
            "command": charge.door.exe, "args": ["mcp"], "env": charge.door.env,
            "trust": true, "timeout": CALL_MS,
        }},
    });
    if let Some(turns) = charge.max_turns {
        lay_over(&mut ours, json!({"model": {"maxSessionTurns": turns}}));
    }
    if let Some(temperature) = charge.temperature {
        // For the agent itself, whichever model it has; not for what the program asks aside.
        let config = json!({"generateContentConfig": {"temperature": temperature}});
        let own = json!([{"match": {"overrideScope": "core"}, "modelConfig": config}]);
        lay_over(&mut ours, json!({"modelConfigs": {"customOverrides": own}}));
    }
    if !Scope::of(&charge.tools, "shell").is_whole() {
        // These would be ways to run commands that no rule is asked about.
        let closed = json!({
            "hooksConfig": {"enabled": false},
            "tools": {"discoveryCommand": "", "callCommand": ""},
        });
        lay_over(&mut ours, closed);
    }
    ours
}

/// The MCP servers of which anything may be used.
fn servers(charge: &Charge) -> Vec<String> {
    let mut servers = vec![SERVER.to_owned()];
    for (name, level) in &charge.tools.others {
        let server =
            Tool::new(name).base().strip_prefix("mcp:").and_then(|rest| rest.split('/').next());
        if let Some(server) = server.filter(|_| *level == Level::Allow)
            && !servers.iter().any(|known| known == server)
        {
            servers.push(server.to_owned());
        }
    }
    servers
}
