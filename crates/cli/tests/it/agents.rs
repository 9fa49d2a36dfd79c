//! `legation agents`, as a user sees it.

mod change;
mod explain;

use expect_test::expect;

use crate::session::Session;

fn project() -> Session {
    let mut session = Session::new();
    // Whatever else this machine has installed could run them, too.
    session.set("PATH", "/usr/bin:/bin");
    session.write(
        ".legation/agents/coordinator.md",
        "---\nid: research-coordinator\nname: Research Coordinator\n\
         description: Splits a question and brings the answers together\n\
         tools:\n  allow: [neo4j, web]\n  deny: [filesystem]\n\
         subagents:\n  allow: [data-analyst]\n  deny: [code-helper]\n---\nCoordinate.\n",
    );
    session.write(
        ".legation/agents/data-analyst.md",
        "---\nid: data-analyst\nname: Data Analyst\ndescription: Answers from the graph\n\
         tools: {allow: [neo4j], deny: [web]}\n\
         legation: {command: [./analyse.sh], timeout: 30m, verify: [make test]}\n---\nAnalyse.\n",
    );
    session.write(
        ".claude/agents/helper.md",
        "---\nname: Code Helper\ndescription: Helps\ntools: Read, Bash(git log:*)\n---\n",
    );
    session.write(
        ".legation/config.toml",
        "[permissions]\nallow = [\"neo4j\", \"web\", \"filesystem\"]\n\
         [agents]\ndisabled = [\"code-helper\"]\n",
    );
    session
}

/// The same with files that have something wrong with them.
fn untidy() -> Session {
    let session = project();
    session.write(
        ".claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Use when: reviewing code\ncolour: blue\n---\nReview.\n",
    );
    session.write(".legation/agents/broken.md", "---\nid: broken\nname: [unclosed\n---\n");
    session.write(
        ".legation/agents/lost.md",
        "---\nid: lost\ndescription: Knows the wrong people\nsubagents:\n  allow: [data-analist, lost]\n---\n",
    );
    session
}

#[test]
fn list_shows_every_agent_and_where_it_comes_from() {
    expect![[r#"
        code-helper (disabled) · any runner · .claude/agents/helper.md
            Helps
        data-analyst · command · .legation/agents/data-analyst.md
            Answers from the graph
        general-purpose · any runner · built in
            The caller again, with a context of its own.
        research-coordinator · any runner · .legation/agents/coordinator.md
            Splits a question and brings the answers together
    "#]]
    .assert_eq(&project().run(&["agents", "list"]));
    expect![[r#"
        {
          "agents": [
            {
              "id": "code-helper",
              "name": "Code Helper",
              "description": "Helps",
              "source": ".claude/agents/helper.md",
              "runner": null,
              "model": null,
              "enabled": false,
              "delegates": false
            },
            {
              "id": "data-analyst",
              "name": "Data Analyst",
              "description": "Answers from the graph",
              "source": ".legation/agents/data-analyst.md",
              "runner": "command",
              "model": null,
              "enabled": true,
              "delegates": false
            },
            {
              "id": "general-purpose",
              "name": "General purpose",
              "description": "The caller again, with a context of its own.",
              "source": "built in",
              "runner": null,
              "model": null,
              "enabled": true,
              "delegates": false
            },
            {
              "id": "research-coordinator",
              "name": "Research Coordinator",
              "description": "Splits a question and brings the answers together",
              "source": ".legation/agents/coordinator.md",
              "runner": null,
              "model": null,
              "enabled": true,
              "delegates": true
            }
          ],
          "errors": [],
          "warnings": [],
          "notes": []
        }
    "#]]
    .assert_eq(&project().run(&["agents", "list", "--json"]));
}

#[test]
fn list_works_with_bad_files_and_says_which() {
    expect![[r#"
        code-helper (disabled) · any runner · .claude/agents/helper.md
            Helps
        data-analyst · command · .legation/agents/data-analyst.md
            Answers from the graph
        general-purpose · any runner · built in
            The caller again, with a context of its own.
        lost · any runner · .legation/agents/lost.md
            Knows the wrong people
        research-coordinator · any runner · .legation/agents/coordinator.md
            Splits a question and brings the answers together
        reviewer · any runner · .claude/agents/reviewer.md
            Use when: reviewing code
        ! error: .legation/agents/broken.md:3: the frontmatter is not valid YAML:
        !   unclosed bracket '['
        !   suggestion: correct that line; quotes around a text help
        ! warning: .claude/agents/reviewer.md:4: unknown key `colour`
        !   suggestion: did you mean `color`?
        ! warning: .legation/agents/lost.md:5: `lost` names `data-analist`, and there is
        !   no such agent
        !   suggestion: did you mean `data-analyst`?
        ! warning: .legation/agents/lost.md:5: `lost` names itself in `subagents.allow`
        !   suggestion: take the name out, or set `subagents.recursive: true`
    "#]]
    .assert_eq(&untidy().run(&["agents", "list"]));
    let told: serde_json::Value =
        serde_json::from_str(&untidy().run(&["agents", "list", "--json"])).unwrap();
    let counts =
        ["agents", "errors", "warnings", "notes"].map(|key| told[key].as_array().unwrap().len());
    assert_eq!(counts, [6, 1, 3, 1]);
    expect![[r#"
        [
          {
            "severity": "error",
            "file": ".legation/agents/broken.md",
            "line": 3,
            "key": null,
            "message": "the frontmatter is not valid YAML: unclosed bracket '['",
            "hint": "correct that line; quotes around a text help"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&told["errors"]).unwrap());
}

#[test]
fn an_empty_project_has_the_one_agent_that_always_exists() {
    expect![[r#"
        general-purpose · any runner · built in
            The caller again, with a context of its own.
    "#]]
    .assert_eq(&Session::new().run(&["agents", "list"]));
}

#[test]
fn agents_of_the_home_are_there_in_every_project() {
    let session = Session::new();
    session.write("../home/.claude/agents/mine.md", "---\ndescription: Mine\n---\n");
    session.write("../home/.legation/agents/ours.md", "---\ndescription: Ours\n---\n");
    expect![[r#"
        general-purpose · any runner · built in
            The caller again, with a context of its own.
        mine · any runner · $TMP/home/.claude/agents/mine.md
            Mine
        ours · any runner · $TMP/home/.legation/agents/ours.md
            Ours
    "#]]
    .assert_eq(&session.run(&["agents", "list"]));
}

#[test]
fn check_names_file_line_and_key_and_counts() {
    expect![[r#"
        error: .legation/agents/broken.md:3: the frontmatter is not valid YAML:
          unclosed bracket '['
          suggestion: correct that line; quotes around a text help
        note: .claude/agents/reviewer.md:3: not quite YAML; it was read as plain text
          suggestion: put the value in quotes
        warning: .claude/agents/reviewer.md:4: unknown key `colour`
          suggestion: did you mean `color`?
        error: .legation/agents/lost.md:5: `lost` names `data-analist`, and there is
          no such agent
          suggestion: did you mean `data-analyst`?
        error: .legation/agents/lost.md:5: `lost` names itself in `subagents.allow`
          suggestion: take the name out, or set `subagents.recursive: true`
        5 agents: 3 errors, 1 warning, 1 note
        [exit 1]
    "#]]
    .assert_eq(&untidy().run(&["agents", "check"]));
    expect![[r#"
        3 agents: 0 errors, 0 warnings, 0 notes
    "#]]
    .assert_eq(&project().run(&["agents", "check"]));
    expect![[r#"
        {
          "ok": true,
          "agents": 3,
          "errors": [],
          "warnings": [],
          "notes": []
        }
    "#]]
    .assert_eq(&project().run(&["agents", "check", "--json"]));
}

#[test]
fn show_tells_all_about_one_agent() {
    expect![[r#"
        research-coordinator: Research Coordinator
          Splits a question and brings the answers together

        source     .legation/agents/coordinator.md
        enabled    yes
        runner     chosen by what is installed
        allowed    neo4j, web
        denied     filesystem
        delegates  data-analyst
        never to   code-helper

          Coordinate.
    "#]]
    .assert_eq(&project().run(&["agents", "show", "research-coordinator"]));
    expect![[r#"
        data-analyst: Data Analyst
          Answers from the graph

        source     .legation/agents/data-analyst.md
        enabled    yes
        runner     command
        command    ./analyse.sh
        timeout    1800 s
        allowed    neo4j
        denied     web
        delegates  nobody
        verify     make test

          Analyse.
    "#]]
    .assert_eq(&project().run(&["agents", "show", "data-analyst"]));
    expect![[r#"
        {
          "id": "code-helper",
          "name": "Code Helper",
          "description": "Helps",
          "model": null,
          "temperature": null,
          "maxTurns": null,
          "tools": {
            "allow": [
              "read",
              "shell(git log)",
              "shell(git log *)"
            ],
            "ask": [],
            "deny": []
          },
          "subagents": null,
          "color": null,
          "icon": null,
          "version": null,
          "disabled": false,
          "legation": {
            "runner": null,
            "command": [],
            "env": {},
            "operation": null,
            "timeoutMs": null,
            "context": null,
            "retry": null,
            "verify": [],
            "schema": null
          },
          "prompt": "",
          "source": ".claude/agents/helper.md",
          "format": "claude",
          "enabled": false,
          "findings": []
        }
    "#]]
    .assert_eq(&project().run(&["agents", "show", "--json", "code-helper"]));
    expect![[r#"
        general-purpose: General purpose
          The caller again, with a context of its own.

        source     built in
        enabled    yes
        runner     chosen by what is installed
        allowed    as its parent
        delegates  nobody
    "#]]
    .assert_eq(&project().run(&["agents", "show", "general-purpose"]));
    expect![[r#"
        reviewer: reviewer
          Use when: reviewing code

        source     .claude/agents/reviewer.md
        enabled    yes
        runner     chosen by what is installed
        allowed    as its parent
        delegates  nobody

          Review.
        ! note: .claude/agents/reviewer.md:3: not quite YAML; it was read as plain text
        !   suggestion: put the value in quotes
        ! warning: .claude/agents/reviewer.md:4: unknown key `colour`
        !   suggestion: did you mean `color`?
    "#]]
    .assert_eq(&untidy().run(&["agents", "show", "reviewer"]));
}

#[test]
fn an_agent_that_does_not_exist_is_not_found_and_the_nearest_is_named() {
    expect![[r#"
        ! ERROR: There is no agent `data-analist`.
        ! Suggestion: did you mean `data-analyst`? `legation agents list` shows them all
        [exit 1]
    "#]]
    .assert_eq(&project().run(&["agents", "show", "data-analist"]));
    let ask =
        ["agents", "explain", "--json", "--parent", "nobody-at-all", "--child", "data-analyst"];
    expect![[r#"
        {
          "error": {
            "code": "AGENT_NOT_FOUND",
            "message": "There is no agent `nobody-at-all`.",
            "hint": "`legation agents list` shows all agents",
            "details": null
          }
        }
        [exit 1]
    "#]]
    .assert_eq(&project().run(&ask));
}

#[test]
fn a_bad_configuration_is_a_usage_error() {
    let session = project();
    session.write(".legation/config.toml", "[permissions]\nallow = \"read\"\n");
    expect![[r#"
        ! ERROR: bad configuration: .legation/config.toml:2: permissions.allow takes a list of at most 1000 texts, not the text "read"
        ! Suggestion: correct it, then try `legation config check`
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["agents", "list"]));
}

#[test]
fn the_project_is_the_nearest_folder_with_legation_else_with_git() {
    let session = Session::new();
    session.write("outer/.legation/agents/outer.md", "---\ndescription: x\n---\n");
    session.write("outer/inner/.git", "gitdir: elsewhere");
    session.write("outer/inner/.claude/agents/inner.md", "---\ndescription: x\n---\n");
    session.write("git/.git/HEAD", "ref: refs/heads/main");
    session.write("git/.claude/agents/git.md", "---\ndescription: x\n---\n");
    session.write("git/deep/er/file", "");
    session.write("../home/work/.claude/agents/work.md", "---\ndescription: x\n---\n");
    session.write("../home/.legation/agents/mine.md", "---\ndescription: x\n---\n");
    let found = ["outer/inner", "git/deep/er", "../home/work", "../home"].map(|folder| {
        let told = std::process::Command::new(env!("CARGO_BIN_EXE_legation"))
            .args(["agents", "list"])
            .current_dir(session.dir().join(folder))
            .env("HOME", session.dir().join("../home").canonicalize().unwrap())
            .output()
            .unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let lines = told.lines().filter(|line| !line.starts_with(' '));
        let ids: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
        format!("{folder}: {}\n", ids.join(" "))
    });
    expect![[r#"
        outer/inner: general-purpose mine outer
        git/deep/er: general-purpose git mine
        ../home/work: general-purpose mine work
        ../home: general-purpose mine
    "#]]
    .assert_eq(&found.concat());
}

#[test]
fn text_from_a_file_cannot_move_the_cursor() {
    let session = Session::new();
    session.write(
        ".legation/agents/evil.md",
        "---\ndescription: \"\\e[2Jgone\"\n\"\\e[31mkey\": x\n---\n\x1b[1mbold\n",
    );
    for verb in [&["agents", "list"][..], &["agents", "show", "evil"], &["agents", "check"]] {
        let told = session.run(verb);
        assert!(!told.contains('\x1b'), "{told:?}");
    }
}

#[test]
fn check_warns_about_names_in_the_configuration_that_nobody_has() {
    let session = project();
    let config = r#"
[agents]
disabled = ["code-helpr", "tmp-*", "code-helper"]

[[agents.grants]]
name = "wide"
parent = "research-coordinator"
child = "data-analist"
tools = ["web"]
"#;
    session.write(".legation/config.toml", config);
    expect![[r#"
        warning: .legation/config.toml:3: `agents.disabled` names `code-helpr`, and
          there is no such agent
          suggestion: did you mean `code-helper`?
        warning: .legation/config.toml:5: `agents.grants` names `data-analist` as the
          child of the grant `wide`, and there is no such agent
          suggestion: did you mean `data-analyst`?
        3 agents: 0 errors, 2 warnings, 0 notes
    "#]]
    .assert_eq(&session.run(&["agents", "check"]));
}
