use std::collections::BTreeMap;

use expect_test::expect;
use legation_core::agent::{Definition, Roster, Wish, choose};
use legation_core::config::Config;
use legation_core::ids::AgentId;

const DESCRIBED: [(&str, &str); 6] = [
    ("db-expert", "Use this agent when the database schema or slow queries need work"),
    ("doc-fixer", "Fixes documentation and broken links"),
    ("doc-writer", "Writes documentation with working links"),
    ("goci", "Go CI agent"),
    ("tester", "Writes unit tests for the parser"),
    ("vague", "Use when the user needs this and that with all of it"),
];

fn described(config: &Config) -> Roster {
    let definitions = DESCRIBED.into_iter().map(|(id, description)| Definition {
        id: Some(AgentId::new(id)),
        description: description.to_owned(),
        ..Definition::default()
    });
    Roster::new(definitions, config)
}

fn choice(hints: &[(&str, &[&str])], agents: &[&str], texts: &[&str]) -> String {
    let hints: BTreeMap<String, Vec<String>> = hints
        .iter()
        .map(|(id, words)| {
            ((*id).to_owned(), words.iter().map(|word| (*word).to_owned()).collect())
        })
        .collect();
    let agents: Vec<AgentId> = agents.iter().map(AgentId::new).collect();
    let roster = described(&Config::default());
    let line = |(index, text): (usize, &&str)| {
        let wish = Wish { text, hints: &hints, agents: &agents, index, path: &[] };
        let choice = choose(&roster, &wish);
        format!("{} ({})\n", choice.agent, choice.reason)
    };
    texts.iter().enumerate().map(line).collect()
}

#[test]
fn the_hint_that_stands_first_in_the_text_chooses() {
    let hints: [(&str, &[&str]); 3] = [
        ("cleaner", &["delete", "remove"]),
        ("doc-fixer", &["documentation", "links", "delete links"]),
        ("nobody", &["", "..."]),
    ];
    expect![[r#"
        cleaner (the hint `remove`)
        doc-fixer (the hint `documentation`)
        doc-fixer (the hint `delete links`)
        tester (number 1 of the agents given)
    "#]]
    .assert_eq(&choice(
        &hints,
        &["tester"],
        &[
            "Remove the links",
            "Documentation: remove old pages",
            "DELETE LINKS to nowhere",
            "undelete the removed pages",
        ],
    ));
}

#[test]
fn agents_that_the_call_names_take_turns() {
    expect![[r#"
        x (number 1 of the agents given)
        y (number 2 of the agents given)
        x (number 1 of the agents given)
    "#]]
    .assert_eq(&choice(&[], &["x", "y"], &["one", "two", "three"]));
}

#[test]
fn the_description_that_shares_most_words_chooses_if_it_shares_two() {
    expect![[r#"
        db-expert (its description shares `queries`, `schema`, `slow`)
        doc-fixer (its description shares `documentation`, `links`)
        doc-writer (its description shares `documentation`, `links`, `working`)
        general-purpose (no hint, no list and no description fits)
        general-purpose (no hint, no list and no description fits)
        general-purpose (no hint, no list and no description fits)
    "#]]
    .assert_eq(&choice(
        &[],
        &[],
        &[
            "Make the slow queries on the schema fast",
            "Repair documentation links",
            "Write unit tests and documentation with working links",
            "Rework the parser",
            "These are for all of them, and with this or that",
            "",
        ],
    ));
}

#[test]
fn only_agents_that_may_be_called_are_looked_at_for_their_words() {
    let mut config = Config::default();
    config.agents.disabled = vec!["doc-fixer".to_owned()];
    let roster = described(&config);
    let hints = BTreeMap::new();
    let mut wish = Wish {
        text: "Repair documentation links",
        hints: &hints,
        agents: &[],
        index: 0,
        path: &[],
    };
    assert_eq!(choose(&roster, &wish).agent.as_str(), "doc-writer");
    let path = [AgentId::new("tester")];
    wish.path = &path;
    assert_eq!(choose(&roster, &wish).agent.as_str(), "general-purpose");
}

#[test]
fn many_shared_words_are_shown_in_part() {
    let text = "one two three four five six seven";
    let definition = Definition {
        id: Some(AgentId::new("counter")),
        description: text.to_owned(),
        ..Definition::default()
    };
    let roster = Roster::new([definition], &Config::default());
    let hints = BTreeMap::new();
    let wish = Wish { text, hints: &hints, agents: &[], index: 0, path: &[] };
    expect!["its description shares `five`, `four`, `one`, `seven`, `six` and 2 more"]
        .assert_eq(&choose(&roster, &wish).reason);
}

#[test]
fn short_words_count_and_so_do_words_that_are_common() {
    expect![[r#"
        goci (its description shares `ci`, `go`)
        goci (its description shares `agent`, `ci`)
        general-purpose (no hint, no list and no description fits)
    "#]]
    .assert_eq(&choice(
        &[],
        &[],
        &["Repair the Go CI", "An agent for CI", "It is in the hands of you and them"],
    ));
}
