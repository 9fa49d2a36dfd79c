use expect_test::{Expect, expect};
use legation_core::agent::{Level, Permissions, ToolRules};
use legation_core::config::{Config, Grant};

use super::{config, path, roster, rules};

/// Says for every tool that is named anywhere what holds at the end of the path, and why.
fn explain(config: &Config, agents: &str, at: &str) -> String {
    explain_call(config, agents, at, None)
}

fn explain_call(config: &Config, agents: &str, at: &str, call: Option<&ToolRules>) -> String {
    let permissions = roster(agents, config).permissions(&path(at), call).unwrap();
    let rows = permissions.explain(&permissions.tools()).into_iter();
    let line = |row: legation_core::agent::Explained| {
        let level = row.effective.as_str();
        format!("{:<12} {level:<5} {} ({})\n", row.tool, row.decided_by, row.because)
    };
    rows.map(line).collect()
}

fn check(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

#[test]
fn a_child_keeps_only_what_every_layer_allows() {
    let agents = "
        research-coordinator: allow=neo4j,web deny=filesystem -> data-analyst
        data-analyst: allow=neo4j deny=web
    ";
    let at = "research-coordinator data-analyst";
    check(
        &explain(&config("allow=neo4j,web,filesystem"), agents, at),
        &expect![[r#"
            read         deny  global (not on the list of allowed tools)
            edit         deny  global (not on the list of allowed tools)
            shell        deny  global (not on the list of allowed tools)
            web          deny  data-analyst (the rule `web`)
            delegate     deny  data-analyst (it has no `subagents` to delegate to)
            filesystem   deny  research-coordinator (the rule `filesystem`)
            neo4j        allow global (the rule `neo4j`)
        "#]],
    );
}

#[test]
fn without_configuration_files_and_shell_are_free_the_web_is_asked_and_the_rest_denied() {
    check(
        &explain(&Config::default(), "helper: deny=mcp:git/push", "helper"),
        &expect![[r#"
            read         allow global (the default)
            edit         allow global (the default)
            shell        allow global (the default)
            web          ask   global (the default)
            delegate     deny  helper (it has no `subagents` to delegate to)
            mcp:git/push deny  global (the default)
        "#]],
    );
}

#[test]
fn a_list_of_allowed_tools_in_the_configuration_replaces_the_default_one() {
    check(
        &explain(&config("allow=web"), "a:", "a"),
        &expect![[r#"
        read         deny  global (not on the list of allowed tools)
        edit         deny  global (not on the list of allowed tools)
        shell        deny  global (not on the list of allowed tools)
        web          allow global (the rule `web`)
        delegate     deny  a (it has no `subagents` to delegate to)
    "#]],
    );
    check(
        &explain(&config("allow="), "a:", "a"),
        &expect![[r#"
            read         deny  global (not on the list of allowed tools)
            edit         deny  global (not on the list of allowed tools)
            shell        deny  global (not on the list of allowed tools)
            web          deny  global (not on the list of allowed tools)
            delegate     deny  global (not on the list of allowed tools)
        "#]],
    );
}

#[test]
fn the_configuration_can_ask_and_deny_without_a_list() {
    check(
        &explain(&config("ask=shell,mcp:* deny=edit"), "a: allow=*", "a"),
        &expect![[r#"
            read         allow global (the default)
            edit         deny  global (the rule `edit`)
            shell        ask   global (the rule `shell`)
            web          ask   global (the default)
            delegate     deny  a (it has no `subagents` to delegate to)
            *            deny  global (the rule `edit` about a part of it)
            mcp:*        ask   global (the rule `mcp:*`)
        "#]],
    );
}

#[test]
fn an_empty_list_means_none_and_an_absent_one_as_the_parent() {
    check(
        &explain(&Config::default(), "p: allow=read -> c\nc: ask=read", "p c"),
        &expect![[r#"
            read         ask   c (the rule `read`)
            edit         deny  p (not on the list of allowed tools)
            shell        deny  p (not on the list of allowed tools)
            web          deny  p (not on the list of allowed tools)
            delegate     deny  c (it has no `subagents` to delegate to)
        "#]],
    );
    check(
        &explain(&Config::default(), "c: allow=", "c"),
        &expect![[r#"
            read         deny  c (not on the list of allowed tools)
            edit         deny  c (not on the list of allowed tools)
            shell        deny  c (not on the list of allowed tools)
            web          deny  c (not on the list of allowed tools)
            delegate     deny  c (it has no `subagents` to delegate to)
        "#]],
    );
}

#[test]
fn inside_a_layer_deny_wins_over_ask_and_ask_over_allow() {
    check(
        &explain(&config("allow=*"), "a: allow=x,y,z ask=y,z deny=z", "a"),
        &expect![[r#"
            read         deny  a (not on the list of allowed tools)
            edit         deny  a (not on the list of allowed tools)
            shell        deny  a (not on the list of allowed tools)
            web          deny  a (not on the list of allowed tools)
            delegate     deny  a (it has no `subagents` to delegate to)
            *            deny  a (the rule `z` about a part of it)
            x            allow global (the rule `*`)
            y            ask   a (the rule `y`)
            z            deny  a (the rule `z`)
        "#]],
    );
}

#[test]
fn patterns_work_in_every_list() {
    check(
        &explain(
            &config("allow=read,mcp:*"),
            "a: allow=mcp:git/*,re* ask=mcp:git/push* deny=mcp:*/delete",
            "a",
        ),
        &expect![[r#"
            read         allow global (the rule `read`)
            edit         deny  global (not on the list of allowed tools)
            shell        deny  global (not on the list of allowed tools)
            web          deny  global (not on the list of allowed tools)
            delegate     deny  a (it has no `subagents` to delegate to)
            mcp:*        deny  a (the rule `mcp:*/delete` about a part of it)
            mcp:*/delete deny  a (the rule `mcp:*/delete`)
            mcp:git/*    deny  a (the rule `mcp:*/delete` about a part of it)
            mcp:git/push* deny  a (the rule `mcp:*/delete` about a part of it)
            re*          deny  global (not on the list of allowed tools)
        "#]],
    );
}

#[test]
fn a_whole_is_no_freer_than_its_parts() {
    let agents = "a: allow=read,shell(git~*) ask=web(*.org)\nb: deny=shell(rm~*)";
    check(
        &explain(&Config::default(), agents, "a"),
        &expect![[r#"
            read         allow global (the default)
            edit         deny  a (not on the list of allowed tools)
            shell        deny  a (not on the list of allowed tools)
            web          deny  a (not on the list of allowed tools)
            delegate     deny  a (it has no `subagents` to delegate to)
            shell(git *) allow global (the default)
            web(*.org)   ask   global (the default)
        "#]],
    );
    check(
        &explain(&Config::default(), agents, "b"),
        &expect![[r#"
            read         allow global (the default)
            edit         allow global (the default)
            shell        deny  b (the rule `shell(rm *)` about a part of it)
            web          ask   global (the default)
            delegate     deny  b (it has no `subagents` to delegate to)
            shell(rm *)  deny  b (the rule `shell(rm *)`)
        "#]],
    );
    let roster = roster(agents, &Config::default());
    let b = roster.permissions(&path("b"), None).unwrap();
    // Where every use is looked at, the parts that nobody denies stay free.
    assert_eq!(b.verdict_checked_by_use("shell").level, Level::Allow);
    assert_eq!(b.verdict_checked_by_use("shell(rm -r x)").level, Level::Deny);
    assert_eq!(b.verdict("shell(git push)").level, Level::Allow);
}

#[test]
fn a_call_can_only_take_away() {
    let call = rules("allow=read,web deny=edit");
    check(
        &explain_call(&Config::default(), "a: -> b\nb:", "a", Some(&call)),
        &expect![[r#"
            read         allow global (the default)
            edit         deny  call (the rule `edit`)
            shell        deny  call (not on the list of allowed tools)
            web          ask   global (the default)
            delegate     deny  call (not on the list of allowed tools)
        "#]],
    );
}

#[test]
fn delegating_follows_subagents_unless_a_rule_speaks_of_it() {
    let agents = "
        free: allow=read -> helper
        bare: allow= -> helper
        barred: deny=delegate -> helper
        asked: ask=delegate -> helper
        picky: allow=delegate(helper) -> *
        nobody: ->
        helper:
    ";
    let roster = roster(agents, &Config::default());
    let seen = ["free", "bare", "barred", "asked", "picky", "nobody", "helper"].map(|id| {
        let permissions = roster.permissions(&path(id), None).unwrap();
        let level = |tool: &str| permissions.verdict(tool).level.as_str();
        let levels = [level("delegate"), level("delegate(helper)"), level("d*")];
        format!("{id}: {}\n", levels.join(" "))
    });
    expect![[r#"
        free: allow allow deny
        bare: deny deny deny
        barred: deny deny deny
        asked: ask ask deny
        picky: deny allow deny
        nobody: deny deny deny
        helper: deny deny deny
    "#]]
    .assert_eq(&seen.concat());
}

fn with_grant(permissions: &str, tools: &str) -> Config {
    let mut config = config(permissions);
    config.agents.grants.push(Grant {
        name: "graph-access".to_owned(),
        parent: "p".to_owned(),
        child: "c".to_owned(),
        tools: super::list(tools),
    });
    config
}

#[test]
fn a_grant_lifts_the_ancestors_for_the_tools_it_names_and_says_so() {
    let agents = "
        p: allow=read -> c
        c: allow=read,graph,web,edit -> g
        g:
        q: allow=read -> c
    ";
    let config = with_grant("allow=read,edit,graph ask=web", "graph,web,read,rocket");
    check(
        &explain(&config, agents, "p c"),
        &expect![[r#"
        read         allow global (the rule `read`)
        edit         deny  p (not on the list of allowed tools)
        shell        deny  global (not on the list of allowed tools)
        web          ask   grant:graph-access (lifted as far as the other layers go)
        delegate     allow global (the default)
        graph        allow grant:graph-access (lifted as far as the other layers go)
        rocket       deny  global (not on the list of allowed tools)
    "#]],
    );
    // What the child has by grant it can pass on; another parent's child has nothing of it.
    check(
        &explain(&config, agents, "p c g"),
        &expect![[r#"
        read         allow global (the rule `read`)
        edit         deny  p (not on the list of allowed tools)
        shell        deny  global (not on the list of allowed tools)
        web          ask   grant:graph-access (lifted as far as the other layers go)
        delegate     deny  g (it has no `subagents` to delegate to)
        graph        allow grant:graph-access (lifted as far as the other layers go)
        rocket       deny  global (not on the list of allowed tools)
    "#]],
    );
    check(
        &explain(&config, agents, "p g"),
        &expect![[r#"
        read         allow global (the rule `read`)
        edit         deny  p (not on the list of allowed tools)
        shell        deny  global (not on the list of allowed tools)
        web          deny  p (not on the list of allowed tools)
        delegate     deny  g (it has no `subagents` to delegate to)
        graph        deny  p (not on the list of allowed tools)
    "#]],
    );
    let roster = roster(agents, &config);
    let other = roster.permissions(&path("q c"), None).unwrap();
    assert_eq!(other.verdict("graph").level, Level::Deny);
    assert_eq!(other.grants().count(), 0);
}

#[test]
fn a_grant_never_goes_beyond_the_configuration_or_the_child_itself() {
    let agents = "p: allow=read -> c\nc: deny=edit";
    let config = with_grant("allow=read,edit,shell deny=shell", "shell,edit,rocket");
    let roster = roster(agents, &config);
    let permissions = roster.permissions(&path("p c"), None).unwrap();
    for tool in ["shell", "edit", "rocket"] {
        assert_eq!(permissions.verdict(tool).level, Level::Deny, "{tool}");
    }
    assert_eq!(permissions.grants().collect::<Vec<_>>(), ["graph-access"]);
}

#[test]
fn a_tool_nobody_has_heard_of_is_denied() {
    let roster = roster("a:", &Config::default());
    let permissions = roster.permissions(&path("a"), None).unwrap();
    for tool in ["rocket", "", "READ", "shell2", "mcp:x/y", &"x".repeat(1_000_000)] {
        assert_eq!(permissions.verdict(tool).level, Level::Deny);
    }
}

#[test]
fn nobody_knows_the_permissions_of_an_agent_that_does_not_exist() {
    let roster = roster("reader:", &Config::default());
    let refusal = roster.permissions(&path("raeder"), None).unwrap_err();
    expect![[r#"
        AGENT_NOT_FOUND
        There is no agent `raeder`.
        did you mean `reader`? `legation agents list` shows them all
    "#]]
    .assert_eq(&format!("{}\n{}\n{}\n", refusal.code, refusal, refusal.hint));
}

#[test]
fn the_most_that_is_left_of_a_server_is_known_before_its_tools_are() {
    let agents = "
        all: deny=mcp:git/push
        one: allow=mcp:git/log
        none: deny=mcp:*
        asks: ask=mcp:git/log allow=read
        others: allow=read
    ";
    for (global, agent, expected) in [
        ("allow=mcp:*", "all", Level::Allow),
        ("allow=mcp:*", "one", Level::Allow),
        ("allow=mcp:*/log", "one", Level::Allow),
        ("allow=mcp:*", "none", Level::Deny),
        ("allow=mcp:*", "asks", Level::Ask),
        ("allow=mcp:*", "others", Level::Deny),
        ("ask=mcp:git/*", "all", Level::Ask),
        ("allow=mcp:db/*", "all", Level::Deny),
        ("", "all", Level::Deny),
    ] {
        let permissions = roster(agents, &config(global)).permissions(&path(agent), None).unwrap();
        assert_eq!(permissions.freest("mcp:git/*"), expected, "{global}, {agent}");
        let text = serde_json::to_string(&permissions).unwrap();
        assert_eq!(serde_json::from_str::<Permissions>(&text).unwrap(), permissions);
    }
}
