//! `legation agents new`, `enable` and `disable`.

use expect_test::expect;

use crate::session::Session;

fn read(session: &Session, file: &str) -> String {
    std::fs::read_to_string(session.dir().join(file)).unwrap()
}

#[test]
fn a_new_agent_is_a_file_that_works_at_once() {
    let session = Session::new();
    expect![[r#"
        .legation/agents/idle.md is written.
        Change it, then try: legation delegate --agent idle "…"
    "#]]
    .assert_eq(&session.run(&["agents", "new", "idle"]));
    expect![[r#"
        ---
        id: idle
        description: "Say here what it is good at."
        legation:
          command:
            - sh
            - -c
            - |
              # The task comes on standard input, as JSON. What is done here is kept.
              legation submit --status completed --summary "idle has nothing to do yet."
        ---
    "#]]
    .assert_eq(&read(&session, ".legation/agents/idle.md"));
    let quoted = "Finds: \"mistakes\"\n# and more";
    let new = ["--json", "agents", "new", "linter", "--description", quoted];
    let new = [&new[..], &["--", "./lint.sh", "--fast", "a \"b\""]].concat();
    expect![[r#"
        {
          "agent": "linter",
          "file": ".legation/agents/linter.md"
        }
    "#]]
    .assert_eq(&session.run(&new));
    expect![[r#"
        ---
        id: linter
        description: "Finds: \"mistakes\"\n# and more"
        legation:
          # It says what came of it: by `legation submit`, or by a return that it prints.
          command: ["./lint.sh","--fast","a \"b\""]
        ---
    "#]]
    .assert_eq(&read(&session, ".legation/agents/linter.md"));
    assert_eq!(session.run(&["agents", "check"]), "2 agents: 0 errors, 0 warnings, 0 notes\n");
    let shown: serde_json::Value =
        serde_json::from_str(&session.run(&["--json", "agents", "show", "linter"])).unwrap();
    assert_eq!(shown["description"], quoted);
    assert_eq!(shown["legation"]["command"], serde_json::json!(["./lint.sh", "--fast", "a \"b\""]));
}

#[test]
fn an_id_that_cannot_be_or_is_taken_makes_no_file() {
    let session = Session::new();
    session.write(".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: x\n---\n");
    let before = session.files();
    for (id, told) in [
        (
            "Foo_Bar",
            "`Foo_Bar` cannot be the id of an agent\n! Suggestion: write it like foo-bar\n",
        ),
        ("../x", "`../x` cannot be the id of an agent\n"),
        ("", "`` cannot be the id of an agent\n"),
        ("user", "`user` cannot be the id of an agent\n"),
        ("reviewer", "there is an agent reviewer already: .claude/agents/reviewer.md\n"),
        ("general-purpose", "there is an agent general-purpose already: built in\n"),
    ] {
        let seen = session.run(&["agents", "new", id]);
        assert!(seen.starts_with(&format!("! ERROR: {told}")), "{id}: {seen}");
    }
    assert_eq!(session.files(), before);
}

#[test]
fn agents_are_switched_off_and_on_again() {
    let session = Session::new();
    session.write(".legation/config.toml", "[agents]\n# Too dear.\ndisabled = [\"ghost\"]\n");
    session.run(&["agents", "new", "linter"]);
    let run = |args: &[&str]| format!("$ {}\n{}", args.join(" "), session.run(args));
    let seen = [
        run(&["agents", "disable", "linter"]),
        run(&["agents", "disable", "linter"]),
        run(&["delegate", "--dry-run", "--agent", "linter", "Fix it"]),
        run(&["agents", "disable", "lintr"]),
        run(&["agents", "enable", "ghost"]),
        run(&["--json", "agents", "enable", "linter"]),
        run(&["agents", "enable", "linter"]),
    ];
    expect![[r#"
        $ agents disable linter
        linter is disabled
        $ agents disable linter
        linter is disabled (as before)
        $ delegate --dry-run --agent linter Fix it
        ! ERROR: Agent `linter` is disabled.
        ! Suggestion: take `linter` out of `agents.disabled` in the configuration, or name another agent
        [exit 6]
        $ agents disable lintr
        ! ERROR: There is no agent `lintr`.
        ! Suggestion: did you mean `linter`? `legation agents list` shows them all
        [exit 1]
        $ agents enable ghost
        ghost is enabled
        $ --json agents enable linter
        {
          "agent": "linter",
          "enabled": true,
          "changed": true
        }
        $ agents enable linter
        linter is enabled (as before)
    "#]].assert_eq(&seen.concat());
    assert_eq!(read(&session, ".legation/config.toml"), "[agents]\n# Too dear.\ndisabled = []\n");
}
