use expect_test::expect;
use legation_core::agent::may_delegate;
use legation_core::config::Config;
use legation_core::ids::AgentId;

use super::{config, roster};

const AGENTS: &str = "
    coordinator: -> data-*,citation-checker,ghost !data-thief
    data-analyst:
    data-thief:
    citation-checker:
    sleeper: disabled
    hermit:
    empty: ->
    open: -> *
    loop: -> loop,data-analyst
    fractal: -> fractal recursive
    star-fractal: -> * recursive
    barred: deny=delegate(data-analyst) -> *
    listed: allow=delegate(data-analyst) -> *
";

/// The answer to each question `parent child`; `user` is a root.
fn answers(config: &Config, questions: &[&str]) -> String {
    let roster = roster(AGENTS, config);
    let answer = |question: &&str| {
        let (parent, child) = question.split_once(' ').unwrap();
        let parent = Some(AgentId::new(parent)).filter(|parent| parent.as_str() != "user");
        match may_delegate(&roster, parent.as_ref(), &AgentId::new(child)) {
            Ok(()) => format!("{question}: yes\n"),
            Err(no) => format!("{question}: {}\n  {no}\n  {}\n", no.code, no.hint),
        }
    };
    questions.iter().map(answer).collect()
}

#[test]
fn a_root_may_use_every_enabled_agent() {
    let mut config = Config::default();
    config.agents.disabled = vec!["data-thief".to_owned()];
    expect![[r#"
        user data-analyst: yes
        user general-purpose: yes
        user sleeper: AGENT_NOT_ALLOWED
          Agent `sleeper` is disabled.
          take `disabled` out of the file of `sleeper`, or name another agent
        user data-thief: AGENT_NOT_ALLOWED
          Agent `data-thief` is disabled.
          take `data-thief` out of `agents.disabled` in the configuration, or name another agent
        user data-analist: AGENT_NOT_FOUND
          There is no agent `data-analist`.
          did you mean `data-analyst`? `legation agents list` shows them all
        user xyzzy: AGENT_NOT_FOUND
          There is no agent `xyzzy`.
          `legation agents list` shows all agents
    "#]]
    .assert_eq(&answers(
        &config,
        &[
            "user data-analyst",
            "user general-purpose",
            "user sleeper",
            "user data-thief",
            "user data-analist",
            "user xyzzy",
        ],
    ));
}

#[test]
fn below_a_root_it_takes_subagents_that_name_the_child() {
    expect![[r#"
        coordinator data-analyst: yes
        coordinator citation-checker: yes
        coordinator data-thief: AGENT_NOT_ALLOWED
          Agent `coordinator` may not delegate to `data-thief`: its `subagents.deny` names `data-thief`.
          take `data-thief` out of `subagents.deny` in the file of `coordinator`
        coordinator hermit: AGENT_NOT_ALLOWED
          Agent `coordinator` may not delegate to `hermit`: its `subagents.allow` does not name it.
          add `hermit` to `subagents.allow` in the file of `coordinator`
        coordinator ghost: AGENT_NOT_FOUND
          There is no agent `ghost`.
          `legation agents list` shows all agents
        coordinator general-purpose: AGENT_NOT_ALLOWED
          Agent `coordinator` may not delegate to `general-purpose`: its `subagents.allow` does not name it.
          add `general-purpose` to `subagents.allow` in the file of `coordinator`
        coordinator sleeper: AGENT_NOT_ALLOWED
          Agent `sleeper` is disabled.
          take `disabled` out of the file of `sleeper`, or name another agent
        hermit data-analyst: AGENT_NOT_ALLOWED
          Agent `hermit` may not delegate: it has no `subagents` key.
          add `subagents: {allow: [data-analyst]}` to the file of `hermit`
        empty data-analyst: AGENT_NOT_ALLOWED
          Agent `empty` may not delegate to `data-analyst`: its `subagents.allow` does not name it.
          add `data-analyst` to `subagents.allow` in the file of `empty`
        open general-purpose: yes
        nobody data-analyst: AGENT_NOT_FOUND
          There is no agent `nobody`.
          `legation agents list` shows all agents
        general-purpose hermit: AGENT_NOT_ALLOWED
          Agent `general-purpose` may not delegate: it has no `subagents` key.
          add `subagents: {allow: [hermit]}` to the file of `general-purpose`
    "#]].assert_eq(&answers(
        &Config::default(),
        &[
            "coordinator data-analyst",
            "coordinator citation-checker",
            "coordinator data-thief",
            "coordinator hermit",
            "coordinator ghost",
            "coordinator general-purpose",
            "coordinator sleeper",
            "hermit data-analyst",
            "empty data-analyst",
            "open general-purpose",
            "nobody data-analyst",
            "general-purpose hermit",
        ],
    ));
}

#[test]
fn a_pattern_never_means_the_agent_itself() {
    expect![[r#"
        open open: AGENT_NOT_ALLOWED
          Agent `open` may not delegate to `open`: its `subagents.allow` does not name it.
          add `open` to `subagents.allow` in the file of `open`
        loop loop: AGENT_NOT_ALLOWED
          Agent `loop` may not delegate to `loop`: it is not recursive.
          set `subagents.recursive: true` in the file of `loop`
        fractal fractal: yes
        star-fractal star-fractal: AGENT_NOT_ALLOWED
          Agent `star-fractal` may not delegate to `star-fractal`: its `subagents.allow` does not name it.
          add `star-fractal` to `subagents.allow` in the file of `star-fractal`
    "#]].assert_eq(&answers(
        &Config::default(),
        &[
            "open open",
            "loop loop",
            "fractal fractal",
            "star-fractal star-fractal",
        ],
    ));
}

#[test]
fn a_rule_that_denies_the_tool_denies_the_delegation() {
    expect![[r#"
        barred data-analyst: AGENT_NOT_ALLOWED
          Agent `barred` denies `delegate(data-analyst)`: the rule `delegate(data-analyst)`.
          change the rule about `delegate`, or name another agent
        barred hermit: yes
        listed data-analyst: yes
        listed hermit: AGENT_NOT_ALLOWED
          Agent `listed` denies `delegate(hermit)`: not on the list of allowed tools.
          change the rule about `delegate`, or name another agent
    "#]]
    .assert_eq(&answers(
        &Config::default(),
        &["barred data-analyst", "barred hermit", "listed data-analyst", "listed hermit"],
    ));
    expect![[r#"
        user hermit: AGENT_NOT_ALLOWED
          The configuration denies `delegate(hermit)`: the rule `delegate`.
          change the rule about `delegate`, or name another agent
        open hermit: AGENT_NOT_ALLOWED
          The configuration denies `delegate(hermit)`: the rule `delegate`.
          change the rule about `delegate`, or name another agent
    "#]]
    .assert_eq(&answers(&config("deny=delegate"), &["user hermit", "open hermit"]));
    expect![[r#"
        open hermit: yes
    "#]]
    .assert_eq(&answers(&config("ask=delegate"), &["open hermit"]));
}
