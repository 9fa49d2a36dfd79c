use legation_core::agent::{Definition, LegationKey, Roster, Runner, ToolRules};
use legation_core::config::Config;
use legation_core::ids::AgentId;

use super::{path, roster};

#[test]
fn the_first_definition_of_an_id_counts_and_one_without_an_id_does_not() {
    let named = |id: Option<&str>, name: &str| Definition {
        id: id.map(AgentId::new),
        name: name.to_owned(),
        ..Definition::default()
    };
    let definitions = [named(Some("a"), "first"), named(Some("a"), "second"), named(None, "none")];
    let roster = Roster::new(definitions, &Config::default());
    let names: Vec<&str> = roster.iter().map(|(_, agent)| agent.name.as_str()).collect();
    assert_eq!(names, ["first"]);
    assert_eq!(roster.names().collect::<Vec<_>>(), ["a", "general-purpose"]);
}

#[test]
fn an_agent_is_switched_off_by_the_configuration_or_by_its_file() {
    let mut config = Config::default();
    config.agents.disabled =
        vec!["a".to_owned(), "test-*".to_owned(), "general-purpose".to_owned()];
    let roster = roster("a:\nb:\nc: disabled\ntest-one:", &config);
    let enabled = ["a", "b", "c", "test-one", "general-purpose"].map(|id| roster.is_enabled(id));
    assert_eq!(enabled, [false, true, false, false, false]);
}

fn parent() -> Definition {
    Definition {
        id: Some(AgentId::new("boss")),
        prompt: "You lead.".to_owned(),
        model: Some("opus".to_owned()),
        tools: ToolRules { allow: Some(vec!["read".to_owned()]), ..ToolRules::default() },
        subagents: Some(legation_core::agent::Subagents {
            allow: vec!["*".to_owned()],
            ..Default::default()
        }),
        legation: LegationKey {
            runner: Some(Runner::Command),
            command: vec!["./run.sh".to_owned()],
            verify: vec!["cargo test".to_owned()],
            ..LegationKey::default()
        },
        ..Definition::default()
    }
}

#[test]
fn general_purpose_is_its_parent_again_with_nobody_to_delegate_to() {
    let roster = Roster::new([parent()], &Config::default());
    let made = roster.resolve(Some(&AgentId::new("boss")), &AgentId::new("general-purpose"));
    let made = made.unwrap().into_owned();
    assert_eq!(made.id, Some(AgentId::new("general-purpose")));
    assert_eq!(made.prompt, "You lead.");
    assert_eq!(made.model.as_deref(), Some("opus"));
    assert_eq!(made.tools, parent().tools);
    assert_eq!(made.legation.runner, Some(Runner::Command));
    assert_eq!(made.legation.command, ["./run.sh"]);
    assert_eq!(made.legation.verify, [""; 0]);
    assert_eq!(made.subagents, None);
}

#[test]
fn under_a_human_general_purpose_has_no_prompt_and_the_global_permissions() {
    let roster = Roster::new([parent()], &Config::default());
    for root in [None, Some(AgentId::new("general-purpose"))] {
        let made = roster.resolve(root.as_ref(), &AgentId::new("general-purpose")).unwrap();
        assert_eq!(made.prompt, "");
        assert_eq!(made.tools, ToolRules::default());
        assert_eq!(made.legation, LegationKey::default());
    }
}

#[test]
fn general_purpose_may_use_what_its_parent_may() {
    let roster = Roster::new([parent()], &Config::default());
    let levels = |at: &str| {
        let permissions = roster.permissions(&path(at), None).unwrap();
        ["read", "edit", "delegate"].map(|tool| permissions.verdict(tool).level.as_str())
    };
    assert_eq!(levels("boss"), ["allow", "deny", "allow"]);
    assert_eq!(levels("boss general-purpose"), ["allow", "deny", "deny"]);
    assert_eq!(levels("general-purpose"), ["allow", "allow", "deny"]);
}

#[test]
fn a_file_called_general_purpose_is_an_agent_like_any_other() {
    let own = "boss: -> *\ngeneral-purpose: allow=web";
    let roster = roster(own, &Config::default());
    let made = roster.resolve(Some(&AgentId::new("boss")), &AgentId::new("general-purpose"));
    assert_eq!(made.unwrap().prompt, "You are general-purpose.");
    assert_eq!(roster.names().collect::<Vec<_>>(), ["boss", "general-purpose"]);
}

#[test]
fn runners_are_written_as_they_are_read() {
    for runner in Runner::ALL {
        let written = serde_json::to_value(runner).unwrap();
        assert_eq!(written, runner.as_str());
    }
}
