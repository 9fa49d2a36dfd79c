use expect_test::expect;
use legation_core::agent::{
    Definition, Roster, Severity, Subagents, check_configured, check_references,
};
use legation_core::config::{Config, Grant};
use legation_core::ids::AgentId;

use super::roster;

fn findings(agents: &str) -> String {
    let found = check_references(&roster(agents, &Config::default())).into_iter();
    let line = |finding: legation_core::agent::Finding| {
        let (level, key) = (finding.severity.as_str(), finding.key);
        format!("{level} {key} {}: {} ({})\n", finding.reference, finding.message, finding.hint)
    };
    found.map(line).collect()
}

#[test]
fn names_that_are_written_out_must_exist() {
    expect![[r#"
        error subagents.allow reviewr: `a` names `reviewr`, and there is no such agent (did you mean `reviewer`?)
        error subagents.allow xyzzy: `a` names `xyzzy`, and there is no such agent (correct the name, or write the agent)
        warning subagents.deny reviwer: `a` names `reviwer`, and there is no such agent (did you mean `reviewer`?)
        warning subagents.allow off: `b` may delegate to `off`, which is disabled (enable `off`, or take the name out)
    "#]].assert_eq(&findings(
        "
        a: -> reviewr,general-purpose,data-*,xyzzy !reviwer,ghost-*,b
        b: -> off
        off: disabled
        reviewer:
        ",
    ));
}

#[test]
fn an_agent_names_itself_only_if_it_is_recursive() {
    expect![[r#"
        error subagents.allow a: `a` names itself in `subagents.allow` (take the name out, or set `subagents.recursive: true`)
    "#]].assert_eq(&findings("a: -> a\nb: -> b recursive\nc: -> *"));
}

#[test]
fn a_cycle_is_shown_from_its_first_agent_round_to_it_again() {
    expect![[r#"
        error subagents.allow a: `c` names `a` and closes a cycle: a → b → c → a (take one of the names out, or make one of the agents `recursive`)
        error subagents.allow x: `y` names `x` and closes a cycle: x → y → x (take one of the names out, or make one of the agents `recursive`)
    "#]].assert_eq(&findings(
        "
        start: -> a
        a: -> b,leaf
        b: -> leaf,c
        c: -> a,b
        leaf:
        x: -> y
        y: -> x
        ",
    ));
}

#[test]
fn patterns_denied_names_and_recursive_agents_close_no_cycle() {
    expect![[r#""#]].assert_eq(&findings(
        "
        a: -> b
        b: -> a* !c
        c: -> d
        d: -> c !c
        e: -> f recursive
        f: -> e
        ",
    ));
}

#[test]
fn two_ways_to_the_same_agent_are_no_cycle() {
    expect![[r#""#]].assert_eq(&findings("a: -> b,c\nb: -> d\nc: -> d\nd:"));
}

/// Agents in a row, each naming the next, the last naming `last`.
fn chain(length: usize, last: &str) -> Roster {
    let name = |place: usize| format!("agent-{place}");
    let definitions = (0..length).map(|place| Definition {
        id: Some(AgentId::from(name(place))),
        subagents: Some(Subagents {
            allow: vec![if place + 1 < length { name(place + 1) } else { last.to_owned() }],
            ..Subagents::default()
        }),
        ..Definition::default()
    });
    Roster::new(definitions, &Config::default())
}

#[test]
fn a_chain_of_twenty_thousand_agents_is_walked_to_its_end() {
    assert_eq!(check_references(&chain(20_000, "general-purpose")), []);
    let found = check_references(&chain(20_000, "agent-0"));
    let message = found.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>();
    assert_eq!(
        message,
        ["`agent-19999` names `agent-0` and closes a cycle: agent-0 → agent-1 → agent-2 → \
             agent-3 → agent-4 → agent-5 → agent-6 → agent-7 → (19992 more) → agent-0"]
    );
}

#[test]
fn severities_are_shown_by_name() {
    let all = [Severity::Error, Severity::Warning, Severity::Note].map(Severity::as_str);
    assert_eq!(all, ["error", "warning", "note"]);
}

#[test]
fn names_in_the_configuration_that_nobody_has_are_found() {
    let mut config = Config::default();
    config.agents.disabled =
        ["builder", "bilder", "b*", "general-purpose"].map(str::to_owned).into();
    let grant = |parent: &str, child: &str| Grant {
        name: "wide".to_owned(),
        parent: parent.to_owned(),
        child: child.to_owned(),
        tools: vec!["web".to_owned()],
    };
    config.agents.grants = vec![grant("builder", "tester"), grant("xyzzy", "tset")];
    let lines = check_configured(&roster("builder:\ntester:", &config)).into_iter();
    let lines: Vec<String> =
        lines.map(|found| format!("{}\n  {}\n", found.message, found.hint)).collect();
    expect![[r#"
        `agents.disabled` names `bilder`, and there is no such agent
          did you mean `builder`?
        `agents.grants` names `xyzzy` as the parent of the grant `wide`, and there is no such agent
          correct the name, or take it out
        `agents.grants` names `tset` as the child of the grant `wide`, and there is no such agent
          correct the name, or take it out
    "#]]
    .assert_eq(&lines.concat());
}
