//! Agents: permissions, whom they may call, how they refer to each other, which is chosen.

mod choice;
mod delegation;
mod globs;
mod lattice;
mod limited;
mod names;
mod permissions;
mod references;
mod roster;

use legation_core::agent::{Definition, Roster, Subagents, ToolRules};
use legation_core::config::Config;
use legation_core::ids::AgentId;

/// Agents in a few words, one a line: `id: allow=a,b ask=c deny=d -> x,y !z recursive disabled`.
///
/// What stands after `->` is `subagents.allow`, `!z` is `subagents.deny`; without an
/// arrow there is no `subagents` key. `allow=` with nothing is an empty list.
fn roster(lines: &str, config: &Config) -> Roster {
    let definitions = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    Roster::new(definitions.map(definition), config)
}

fn definition(line: &str) -> Definition {
    let (id, rest) = line.split_once(':').unwrap();
    let (tools, subagents) = match rest.split_once("->") {
        Some((tools, subagents)) => (tools, Some(subagents)),
        None => (rest, None),
    };
    let mut definition = Definition {
        id: Some(AgentId::new(id)),
        name: id.to_owned(),
        prompt: format!("You are {id}."),
        tools: rules(tools),
        ..Definition::default()
    };
    definition.disabled = rest.contains("disabled");
    definition.subagents = subagents.map(|text| {
        let words = text.split_whitespace();
        let mut subagents = Subagents::default();
        for word in words {
            match word.strip_prefix('!') {
                Some(denied) => subagents.deny.extend(list(denied)),
                None if word == "recursive" => subagents.recursive = true,
                None if word == "disabled" => {}
                None => subagents.allow.extend(list(word)),
            }
        }
        subagents
    });
    definition
}

fn rules(text: &str) -> ToolRules {
    let mut rules = ToolRules::default();
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some(("allow", names)) => rules.allow = Some(list(names)),
            Some(("ask", names)) => rules.ask = list(names),
            Some(("deny", names)) => rules.deny = list(names),
            Some(_) | None => assert_eq!(word, "disabled"),
        }
    }
    rules
}

fn list(names: &str) -> Vec<String> {
    // A tilde stands for a blank, so that `shell(git~*)` is one word.
    let names = names.split(',').filter(|name| !name.is_empty());
    names.map(|name| name.replace('~', " ")).collect()
}

fn config(permissions: &str) -> Config {
    let rules = rules(permissions);
    let mut config = Config::default();
    config.permissions.allow = rules.allow;
    config.permissions.ask = rules.ask;
    config.permissions.deny = rules.deny;
    config
}

fn path(names: &str) -> Vec<AgentId> {
    names.split_whitespace().map(AgentId::new).collect()
}
