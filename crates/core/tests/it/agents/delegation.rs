use expect_test::expect;
use legation_core::agent::{Level, may_delegate};
use legation_core::config::{Config, Grant};
use legation_core::ids::AgentId;

use super::{config, path, roster};

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

/// The answer to each question: `user`, the agents below it and who is asked for.
fn answers(config: &Config, questions: &[&str]) -> String {
    let roster = roster(AGENTS, config);
    let answer = |question: &&str| {
        let (callers, child) = question.rsplit_once(' ').unwrap();
        let callers = callers.strip_prefix("user").unwrap_or(callers);
        match may_delegate(&roster, &path(callers), &AgentId::new(child)) {
            Ok(Level::Allow) => format!("{question}: yes\n"),
            Ok(Level::Ask) => format!("{question}: after a human's yes\n"),
            Ok(Level::Deny) => unreachable!("a denial is a refusal"),
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
          name another agent; for itself it would take its own name in `subagents.allow` and `subagents.recursive: true`
        loop loop: CYCLE_DETECTED
          Delegation cycle detected. Cannot delegate to avoid infinite loop.
          name another agent, or set `subagents.recursive: true` in the file of `loop`
        fractal fractal: yes
        star-fractal star-fractal: AGENT_NOT_ALLOWED
          Agent `star-fractal` may not delegate to `star-fractal`: its `subagents.allow` does not name it.
          add `star-fractal` to `subagents.allow` in the file of `star-fractal`
        hermit hermit: AGENT_NOT_ALLOWED
          Agent `hermit` may not delegate: it has no `subagents` key.
          add `subagents: {allow: [hermit], recursive: true}` to the file of `hermit`
    "#]].assert_eq(&answers(
        &Config::default(),
        &[
            "open open",
            "loop loop",
            "fractal fractal",
            "star-fractal star-fractal",
            "hermit hermit",
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
        user hermit: after a human's yes
        open hermit: after a human's yes
    "#]]
    .assert_eq(&answers(&config("ask=delegate"), &["user hermit", "open hermit"]));
}

#[test]
fn what_any_ancestor_denies_is_denied_below_it() {
    expect![[r#"
        user barred open hermit: yes
        user barred open data-analyst: AGENT_NOT_ALLOWED
          Agent `barred`, above `open`, denies `delegate(data-analyst)`: the rule `delegate(data-analyst)`.
          change the rule about `delegate`, or name another agent
        user barred loop open data-analyst: AGENT_NOT_ALLOWED
          Agent `barred`, above `open`, denies `delegate(data-analyst)`: the rule `delegate(data-analyst)`.
          change the rule about `delegate`, or name another agent
        user coordinator open data-analyst: yes
        user coordinator open data-thief: AGENT_NOT_ALLOWED
          Agent `coordinator`, above `open`, denies `delegate(data-thief)`: its `subagents.deny` names `data-thief`.
          take `data-thief` out of `subagents.deny` in the file of `coordinator`, or name another agent
        user coordinator loop open data-thief: AGENT_NOT_ALLOWED
          Agent `coordinator`, above `open`, denies `delegate(data-thief)`: its `subagents.deny` names `data-thief`.
          take `data-thief` out of `subagents.deny` in the file of `coordinator`, or name another agent
        user listed open data-analyst: yes
        user listed open hermit: AGENT_NOT_ALLOWED
          Agent `listed`, above `open`, denies `delegate(hermit)`: not on the list of allowed tools.
          change the rule about `delegate`, or name another agent
        user hermit open data-analyst: AGENT_NOT_ALLOWED
          Agent `hermit`, above `open`, denies `delegate(data-analyst)`: it has no `subagents` to delegate to.
          change the rule about `delegate`, or name another agent
        user ghost open data-analyst: AGENT_NOT_FOUND
          There is no agent `ghost`.
          `legation agents list` shows all agents
    "#]]
    .assert_eq(&answers(
        &Config::default(),
        &[
            "user barred open hermit",
            "user barred open data-analyst",
            "user barred loop open data-analyst",
            "user coordinator open data-analyst",
            "user coordinator open data-thief",
            "user coordinator loop open data-thief",
            "user listed open data-analyst",
            "user listed open hermit",
            "user hermit open data-analyst",
            "user ghost open data-analyst",
        ],
    ));
    expect![[r#"
        user barred open data-thief: AGENT_NOT_ALLOWED
          The configuration denies `delegate(data-thief)`: the rule `delegate(data-*)`.
          change the rule about `delegate`, or name another agent
    "#]]
    .assert_eq(&answers(&config("deny=delegate(data-*)"), &["user barred open data-thief"]));
}

#[test]
fn what_an_ancestor_asks_about_is_asked_below_it() {
    let lines = "
        careful: ask=delegate(hermit) -> *
        open: -> *
        hermit:
        other:
    ";
    let roster = roster(lines, &Config::default());
    let level = |callers: &str, child: &str| {
        may_delegate(&roster, &path(callers), &AgentId::new(child)).unwrap()
    };
    assert_eq!(level("careful open", "hermit"), Level::Ask);
    assert_eq!(level("careful open", "other"), Level::Allow);
    assert_eq!(level("open careful", "hermit"), Level::Ask);
    assert_eq!(level("open", "hermit"), Level::Allow);
}

#[test]
fn a_grant_lifts_what_an_ancestor_denies_for_the_agent_it_names() {
    let mut config = Config::default();
    config.agents.grants = vec![Grant {
        name: "thieves".to_owned(),
        parent: "coordinator".to_owned(),
        child: "open".to_owned(),
        tools: vec!["delegate(data-thief)".to_owned()],
    }];
    expect![[r#"
        user coordinator open data-thief: yes
        user coordinator loop open data-thief: AGENT_NOT_ALLOWED
          Agent `coordinator`, above `open`, denies `delegate(data-thief)`: its `subagents.deny` names `data-thief`.
          take `data-thief` out of `subagents.deny` in the file of `coordinator`, or name another agent
        user coordinator data-thief: AGENT_NOT_ALLOWED
          Agent `coordinator` may not delegate to `data-thief`: its `subagents.deny` names `data-thief`.
          take `data-thief` out of `subagents.deny` in the file of `coordinator`
    "#]]
    .assert_eq(&answers(
        &config,
        &[
            "user coordinator open data-thief",
            "user coordinator loop open data-thief",
            "user coordinator data-thief",
        ],
    ));
}

#[test]
fn a_denied_subagent_leaves_the_tool_to_the_others() {
    let roster = roster(AGENTS, &Config::default());
    let permissions = roster.permissions(&path("coordinator"), None).unwrap();
    let level = |tool: &str| permissions.verdict(tool).level;
    assert_eq!(level("delegate"), Level::Allow);
    assert_eq!(level("delegate(data-analyst)"), Level::Allow);
    assert_eq!(level("delegate(data-thief)"), Level::Deny);
    // Whoever asks about several at once gets the least of them.
    assert_eq!(level("delegate(data-t*)"), Level::Deny);
    assert_eq!(level("shell(data-thief)"), Level::Allow);
}

#[test]
fn an_account_is_that_of_the_first_step_that_may_not_be_taken() {
    let mut config = Config::default();
    config.permissions.ask = vec!["delegate(citation-checker)".to_owned()];
    let roster = roster(AGENTS, &config);
    let tell = |callers: &str, child: &str| {
        let callers = path(callers);
        match roster.account(&callers, &AgentId::new(child)) {
            Ok(account) => {
                let may = if account.answer.is_ok() { "may" } else { "may not" };
                let edit = account.permissions.verdict("edit").level;
                format!("{may}: {} edit {}\n", account.reason, edit.as_str())
            }
            Err(refusal) => format!("{}: {refusal}\n", refusal.code),
        }
    };
    let told = [
        tell("", "data-analyst"),
        tell("coordinator", "data-analyst"),
        tell("coordinator", "citation-checker"),
        tell("hermit open", "data-analyst"),
        tell("coordinator ghost", "data-analyst"),
        tell("", "ghost"),
    ];
    expect![[r#"
        may: A root may delegate to every enabled agent. edit allow
        may: The `subagents` of `coordinator` allow it. edit allow
        may: The `subagents` of `coordinator` allow it. A human is asked each time. edit allow
        may not: Agent `hermit` may not delegate: it has no `subagents` key. edit allow
        AGENT_NOT_FOUND: There is no agent `ghost`.
        AGENT_NOT_FOUND: There is no agent `ghost`.
    "#]]
    .assert_eq(&told.concat());
}

#[test]
fn an_agent_whose_file_is_bad_is_not_said_to_be_missing() {
    let bad = |id: &str| (id.to_owned(), format!("{id}.md:3: no colon"));
    let roster = roster(AGENTS, &Config::default()).without([bad("scribe"), bad("open")]);
    let told = |child: &str| match may_delegate(&roster, &[], &AgentId::new(child)) {
        Ok(_) => format!("{child}: yes\n"),
        Err(no) => format!("{child}: {}\n  {no}\n  {}\n", no.code, no.hint),
    };
    expect![[r#"
        scribe: AGENT_NOT_FOUND
          Agent `scribe` cannot be used: scribe.md:3: no colon.
          correct that file; `legation agents check` looks at all of them
        open: yes
        scribes: AGENT_NOT_FOUND
          There is no agent `scribes`.
          `legation agents list` shows all agents
    "#]]
    .assert_eq(&["scribe", "open", "scribes"].map(told).concat());
}
