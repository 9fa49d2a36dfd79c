//! `legation agents explain`.

use expect_test::expect;

use super::project;
use crate::session::Session;

#[test]
fn explain_says_which_layer_decided_each_tool() {
    let ask = ["agents", "explain", "--parent", "research-coordinator", "--child", "data-analyst"];
    expect![[r#"
        research-coordinator may delegate to data-analyst.
          The `subagents` of `research-coordinator` allow it.

        TOOL        LEVEL  DECIDED BY
        read        deny   global: not on the list of allowed tools
        edit        deny   global: not on the list of allowed tools
        shell       deny   global: not on the list of allowed tools
        web         deny   data-analyst: the rule `web`
        delegate    deny   data-analyst: it has no `subagents` to delegate to
        filesystem  deny   research-coordinator: the rule `filesystem`
        neo4j       allow  global: the rule `neo4j`

        Told to command:
        edit  its workspace is read-only, where there is a fence
    "#]]
    .assert_eq(&project().run(&ask));
    let ask = [&ask[..], &["--json", "--tool", "web", "--tool", "neo4j"]].concat();
    expect![[r#"
        {
          "allowed": true,
          "reason": "The `subagents` of `research-coordinator` allow it.",
          "code": null,
          "hint": null,
          "parent": "research-coordinator",
          "path": [
            "user",
            "research-coordinator"
          ],
          "child": "data-analyst",
          "tools": [
            {
              "tool": "web",
              "effective": "deny",
              "decidedBy": "data-analyst",
              "because": "the rule `web`"
            },
            {
              "tool": "neo4j",
              "effective": "allow",
              "decidedBy": "global",
              "because": "the rule `neo4j`"
            }
          ],
          "runner": "command",
          "told": [
            {
              "tool": "edit",
              "level": "deny",
              "told": "its workspace is read-only, where there is a fence"
            }
          ],
          "inVain": []
        }
    "#]]
    .assert_eq(&project().run(&ask));
}

#[test]
fn explain_answers_no_with_the_reason_and_what_to_do() {
    let ask = |parent: &str, child: &str| {
        project().run(&[
            "agents",
            "explain",
            "--parent",
            parent,
            "--child",
            child,
            "--tool",
            "shell(git log)",
        ])
    };
    expect![[r#"
        research-coordinator may not delegate to general-purpose.
          Agent `research-coordinator` may not delegate to `general-purpose`: its
          `subagents.allow` does not name it.
          Suggestion: add `general-purpose` to `subagents.allow` in the file of
          `research-coordinator`

        TOOL            LEVEL  DECIDED BY
        shell(git log)  deny   global: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&ask("research-coordinator", "general-purpose"));
    expect![[r#"
        data-analyst may not delegate to research-coordinator.
          Agent `data-analyst` may not delegate: it has no `subagents` key.
          Suggestion: add `subagents: {allow: [research-coordinator]}` to the file of
          `data-analyst`

        TOOL            LEVEL  DECIDED BY
        shell(git log)  deny   global: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&ask("data-analyst", "research-coordinator"));
    expect![[r#"
        user may not delegate to code-helper.
          Agent `code-helper` is disabled.
          Suggestion: take `code-helper` out of `agents.disabled` in the configuration,
          or name another agent

        TOOL            LEVEL  DECIDED BY
        shell(git log)  deny   global: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&ask("user", "code-helper"));
    expect![[r#"
        user may delegate to data-analyst.
          A root may delegate to every enabled agent.

        TOOL            LEVEL  DECIDED BY
        shell(git log)  deny   global: not on the list of allowed tools

        Told to command:
        edit  its workspace is read-only, where there is a fence
    "#]]
    .assert_eq(&ask("user", "data-analyst"));
}

#[test]
fn a_grant_is_named_where_it_decides() {
    let session = project();
    session.write(
        ".legation/config.toml",
        "[permissions]\nallow = [\"read\", \"neo4j\"]\nask = [\"delegate\"]\n\
         [[agents.grants]]\nname = \"reading\"\nparent = \"research-coordinator\"\n\
         child = \"code-helper\"\ntools = [\"read\"]\n",
    );
    session.write(
        ".legation/agents/coordinator.md",
        "---\nid: research-coordinator\ndescription: x\ntools: [neo4j]\nsubagents: {allow: [code-helper]}\n---\n",
    );
    let ask = ["agents", "explain", "--parent", "research-coordinator", "--child", "code-helper"];
    expect![[r#"
        research-coordinator may delegate to code-helper.
          The `subagents` of `research-coordinator` allow it. A human is asked each
          time.

        TOOL              LEVEL  DECIDED BY
        read              allow  grant:reading: lifted as far as the other layers go
        edit              deny   global: not on the list of allowed tools
        shell             deny   global: not on the list of allowed tools
        web               deny   global: not on the list of allowed tools
        delegate          deny   code-helper: it has no `subagents` to delegate to
        neo4j             deny   code-helper: not on the list of allowed tools
        shell(git log *)  deny   global: not on the list of allowed tools
        shell(git log)    deny   global: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&session.run(&ask));
}

/// Three agents in a row, each a little narrower than the one above.
fn in_a_row() -> Session {
    let session = Session::new();
    let agents = [
        ("lead", "tools: Read, Edit, Bash, Task\nsubagents: {allow: [writer]}"),
        ("writer", "tools: Read, Edit, Task\nsubagents: {allow: [checker]}"),
        ("checker", "tools: Read, Edit, Bash"),
    ];
    for (id, rest) in agents {
        session.write(
            format!(".legation/agents/{id}.md"),
            format!("---\nid: {id}\ndescription: one of three\n{rest}\n---\n"),
        );
    }
    session
}

#[test]
fn everybody_above_has_a_say_in_what_is_left() {
    let session = in_a_row();
    let tools = ["--tool", "edit", "--tool", "shell"];
    let ask = |parents: &[&str]| {
        let fixed = ["agents", "explain", "--child", "checker"];
        let args: Vec<&str> = fixed.iter().chain(parents).chain(&tools).copied().collect();
        session.run(&args)
    };
    expect![[r#"
        user → lead → writer may delegate to checker.
          The `subagents` of `writer` allow it.

        TOOL   LEVEL  DECIDED BY
        edit   allow  global: the default
        shell  deny   writer: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&ask(&["--parent", "user/lead/writer"]));
    let several = ask(&["--parent", "lead", "--parent", "writer"]);
    assert_eq!(several, ask(&["--parent", "user/lead/writer"]));
    assert_eq!(several, ask(&["--parent", "lead/writer"]));
    expect![[r#"
        user → writer → lead may not delegate to checker.
          Agent `writer` may not delegate to `lead`: its `subagents.allow` does not name
          it.
          Suggestion: add `lead` to `subagents.allow` in the file of `writer`

        TOOL   LEVEL  DECIDED BY
        edit   allow  global: the default
        shell  deny   writer: not on the list of allowed tools

        Nothing is installed that could run it; see `legation doctor`.
    "#]]
    .assert_eq(&ask(&["--parent", "user/writer/lead"]));
    expect![[r#"
        ! ERROR: invalid value 'user//writer' for '--parent <PATH>': expected names with / between them, such as user/lead/writer
        ! Suggestion: `legation agents explain --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&ask(&["--parent", "user//writer"]));
    let json = session.run(&[
        "--json",
        "agents",
        "explain",
        "--parent",
        "lead/writer",
        "--child",
        "checker",
        "--tool",
        "shell",
    ]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["path"], serde_json::json!(["user", "lead", "writer"]));
    assert_eq!(json["parent"], "writer");
}

#[test]
fn what_a_runner_has_no_way_to_follow_is_told_and_warned_about() {
    let session = Session::new();
    let agent = |runner: &str| {
        let text = format!(
            "---\nid: a\ndescription: test agent\nmaxTurns: 3\ntemperature: 0.5\nlegation:\n  \
             runner: {runner}\n  command: [\"true\"]\n---\nDo it.\n"
        );
        session.write(".legation/agents/a.md", text);
        let told = session.run(&["agents", "explain", "--parent", "user", "--child", "a"]);
        let told = told.rsplit_once("no way to follow: ").map_or("", |(_, keys)| keys.trim());
        let check = session.run(&["agents", "check"]);
        let warnings = check.matches("has no effect").count();
        format!("{runner}: {told} ({warnings} warnings)\n")
    };
    let runners = ["command", "claude-code", "codex", "opencode", "gemini", "acp", "llm"];
    expect![[r#"
        command: maxTurns, temperature (2 warnings)
        claude-code: temperature (1 warnings)
        codex: maxTurns, temperature (2 warnings)
        opencode:  (0 warnings)
        gemini:  (0 warnings)
        acp: maxTurns, temperature (2 warnings)
        llm:  (0 warnings)
    "#]]
    .assert_eq(&runners.map(agent).concat());
    session.write(
        ".legation/agents/a.md",
        "---\nid: a\ndescription: test agent\ntemperature: 0.5\nlegation: {runner: codex}\n---\n",
    );
    expect![[r#"
        warning: .legation/agents/a.md: `temperature` has no effect: `codex` has no
          way to follow it
          suggestion: leave it out, or choose one of opencode, gemini, llm
        1 agent: 0 errors, 1 warning, 0 notes
    "#]]
    .assert_eq(&session.run(&["agents", "check"]));
}
