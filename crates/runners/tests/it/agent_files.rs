//! Reading agent files: what comes out of each, and what is said about the bad ones.

mod folders;
mod hostile;
mod wild;

use std::fmt::Write as _;
use std::path::Path;

use legation_core::agent::{Definition, ToolRules};
use legation_runners::agents::{AgentFile, Finding, Vendor, read};

/// Reads a file's content and tells all that came of it.
fn tell(vendor: Vendor, name: &str, bytes: &[u8]) -> String {
    let (agent, findings) = read(vendor, Path::new(name), bytes);
    let agent = agent.map_or_else(|| "no agent\n".to_owned(), |agent| describe(&agent));
    agent + &findings.iter().map(line).collect::<String>()
}

/// A finding on a line, as `severity file:line [key] message (hint)`.
fn line(finding: &Finding) -> String {
    let file = finding.file.display();
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let key = finding.key.as_ref().map(|key| format!(" [{key}]")).unwrap_or_default();
    let severity = finding.severity.as_str();
    format!("{severity} {file}{line}{key} {} ({})\n", finding.message, finding.hint)
}

/// What a definition says, leaving out what it does not say.
fn describe(agent: &AgentFile) -> String {
    let Definition {
        id: _,
        name,
        description,
        model,
        temperature,
        max_turns,
        tools,
        subagents,
        mcp_servers,
        color,
        icon,
        version,
        disabled,
        legation,
        prompt,
    } = &agent.definition;
    let mut text = format!("{}: {name}\n  {description}\n", agent.id);
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(text, "  {key}: {value}").unwrap();
        }
    };
    add("model", model.clone());
    add("temperature", temperature.map(|value| value.to_string()));
    add("turns", max_turns.map(|value| value.to_string()));
    add("color", color.clone());
    add("icon", icon.clone());
    add("version", version.clone());
    add("disabled", disabled.then(|| "yes".to_owned()));
    let ToolRules { allow, ask, deny } = tools;
    let some = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    add("allow", allow.as_ref().map(|list| list.join(", ")));
    add("ask", some(ask));
    add("deny", some(deny));
    let json = |value: serde_json::Value| value.to_string();
    add("subagents", subagents.as_ref().map(|it| json(serde_json::to_value(it).unwrap())));
    let servers = (!mcp_servers.is_empty()).then(|| serde_json::to_value(mcp_servers).unwrap());
    add("servers", servers.map(json));
    let legation = serde_json::to_value(legation).unwrap();
    let empty = serde_json::to_value(legation_core::agent::LegationKey::default()).unwrap();
    add("legation", (legation != empty).then(|| json(legation)));
    add("prompt", Some(format!("{prompt:?}")));
    text
}
