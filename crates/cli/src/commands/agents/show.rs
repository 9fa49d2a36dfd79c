//! `legation agents show`.

use std::process::ExitCode;

use legation_core::agent::{Definition, Runner};
use legation_core::ids::AgentId;
use serde_json::{Value, json};

use super::catalogue::Catalogue;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{block, hanging, row, tame};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent's id.
    id: String,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let catalogue = Catalogue::load(output)?;
    let id = AgentId::new(&args.id);
    let definition = catalogue.roster.resolve(None, &id)?;
    let file = catalogue.loaded.get(id.as_str());
    let findings = || {
        let found = catalogue.findings();
        found.filter(|finding| file.is_some_and(|file| file.file == finding.file))
    };
    let enabled = catalogue.roster.is_enabled(id.as_str());
    let mut answer = serde_json::to_value(&definition).unwrap_or_default();
    if let Value::Object(answer) = &mut answer {
        answer.insert("source".to_owned(), catalogue.source(id.as_str()).into());
        answer.insert("format".to_owned(), json!(file.map(|file| file.vendor)));
        answer.insert("enabled".to_owned(), enabled.into());
        answer.insert("findings".to_owned(), catalogue.json(findings()).into());
    }
    output.answer(&answer, || {
        let source = catalogue.source(id.as_str());
        let known = facts(&definition, enabled);
        text(&definition, [("source", source)].into_iter().chain(known))
    });
    if !output.wants_json() {
        for finding in findings() {
            output.note(catalogue.text(finding, finding.severity).trim_end());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(definition: &Definition, facts: impl Iterator<Item = (&'static str, String)>) -> String {
    let id = definition.id.as_ref().map(AgentId::as_str).unwrap_or_default();
    let mut text = hanging("", &format!("{id}: {}", definition.name), 2);
    if !definition.description.is_empty() {
        text.push_str(&block(&definition.description, 2));
    }
    text.push('\n');
    for (name, value) in facts.filter(|(_, value)| !value.is_empty()) {
        text.push_str(&row(&format!("{name:<11}"), &value));
    }
    if !definition.prompt.is_empty() {
        text.push('\n');
        for line in definition.prompt.lines() {
            text.push_str(&format!("  {}\n", tame(line)));
        }
    }
    text
}

/// What there is to know, in words; what is not said is empty.
fn facts(definition: &Definition, enabled: bool) -> Vec<(&'static str, String)> {
    let legation = &definition.legation;
    let some = |value: Option<String>| value.unwrap_or_default();
    let listed = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let runner = legation.runner.map_or("chosen by what is installed", Runner::as_str);
    let seconds = |ms: u64| format!("{} s", ms / 1000);
    let subagents = definition.subagents.as_ref();
    let delegates =
        subagents.map_or_else(|| "nobody".to_owned(), |subagents| listed(&subagents.allow));
    let tools = &definition.tools;
    let allow = tools.allow.as_deref();
    let servers: Vec<&str> = definition.mcp_servers.keys().map(String::as_str).collect();
    vec![
        ("enabled", if enabled { "yes" } else { "no" }.to_owned()),
        ("runner", runner.to_owned()),
        ("command", legation.command.join(" ")),
        ("model", some(definition.model.clone())),
        ("turns", some(definition.max_turns.map(|turns| turns.to_string()))),
        ("timeout", some(legation.timeout_ms.map(seconds))),
        ("allowed", allow.map_or_else(|| "as its parent".to_owned(), listed)),
        ("asked", tools.ask.join(", ")),
        ("denied", tools.deny.join(", ")),
        ("servers", servers.join(", ")),
        ("delegates", delegates),
        ("never to", some(subagents.map(|subagents| subagents.deny.join(", ")))),
        ("verify", legation.verify.join("; ")),
    ]
}
