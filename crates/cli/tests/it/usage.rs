//! What is said about a bad command line, and about an answer that nobody can read.

use expect_test::expect;

use crate::session::Session;

#[test]
fn a_usage_error_in_json_names_the_arguments_that_are_missing() {
    let session = Session::new();
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "the following required arguments were not provided: <TASK>",
            "hint": "write `legation decide <TASK>`; `legation decide --help` tells what it takes",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "decide"]));
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "the following required arguments were not provided: --parent <PATH> --child <ID>",
            "hint": "write `legation agents explain --parent <PATH> --child <ID>`; `legation agents explain --help` tells what it takes",
            "details": null
          }
        }
        [exit 2]
    "#]].assert_eq(&session.run(&["--json", "agents", "explain"]));
}

#[test]
fn a_missing_subcommand_is_named_as_such_with_those_there_are() {
    let session = Session::new();
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "a subcommand is needed",
            "hint": "use one of: list, show, check, new, enable, disable, explain",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "agents"]));
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "a subcommand is needed",
            "hint": "use one of: list, get, set, unset, check, schema",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["config", "--json"]));
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "a subcommand is needed",
            "hint": "use one of: demo, delegate, direct, submit, hint, status, tree, trace, cost, history, pause, resume, cancel, retry, skip, approve, reject, diff, apply, rollback, workspaces, clean, decide, parse, check-return, agents, config, doctor, shell, mcp, serve, install, uninstall, completions, help",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json"]));
}

#[test]
fn odd_settings_are_told_by_every_verb_that_reads_the_configuration() {
    let session = Session::new();
    session.write(".legation/config.toml", "[limts]\nmaxDepth = 2\n");
    let told = |args: &[&str]| -> String {
        let seen = session.run(args);
        let told = seen.lines().filter(|line| line.starts_with("! "));
        format!("{}\n", told.collect::<Vec<_>>().join("\n"))
    };
    expect![[r#"
        ! warning: .legation/config.toml:1: limts is not a known key and is ignored; did you mean limits?
    "#]].assert_eq(&told(&["decide", "Fix the bug", "--no-cache"]));
    expect![[r#"
        ! warning: .legation/config.toml:1: limts is not a known key and is ignored; did you mean limits?
    "#]].assert_eq(&told(&["--json", "decide", "Fix the bug", "--no-cache"]));
    expect![[r#"
        ! warning: .legation/config.toml:1: limts is not a known key and is ignored; did you mean limits?
    "#]].assert_eq(&told(&["agents", "list"]));
    expect![[r#"
        ! warning: .legation/config.toml:1: limts is not a known key and is ignored; did you mean limits?
    "#]].assert_eq(&told(&["agents", "check"]));
    expect![[r#"
        ! warning: .legation/config.toml:1: limts is not a known key and is ignored; did you mean limits?
    "#]].assert_eq(&told(&["config", "list"]));
}

#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let session = Session::new();
    let task = ["decide", "Fix the bug", "--no-cache"];
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap().into();
    expect![[r#"
        ! ERROR: cannot write the answer to stdout: No space left on device (os error 28)
        ! Suggestion: make room, or send the output somewhere else
        [exit 1]
    "#]]
    .assert_eq(&session.run_to(&task, full()));
    expect![[r#"
        ! ERROR: cannot write the answer to stdout: No space left on device (os error 28)
        ! Suggestion: make room, or send the output somewhere else
        [exit 1]
    "#]]
    .assert_eq(&session.run_to(&["--json", "decide"], full()));
    expect![[r#"
        ! ERROR: cannot write the answer to stdout: No space left on device (os error 28)
        ! Suggestion: make room, or send the output somewhere else
        [exit 1]
    "#]]
    .assert_eq(&session.run_to(&["--help"], full()));
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let session = Session::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let seen = session.run_to(&["decide", "Fix the bug", "--no-cache"], writer.into());
    assert_eq!(seen, "");
}

#[test]
fn text_that_runs_backwards_is_shown_and_not_obeyed() {
    let session = Session::new();
    session.write(
        ".claude/agents/odd.md",
        "---\nname: odd\ndescription: safe \u{202e}live\u{2066}\n---\nDo \u{202e}it.\u{1b}[31m\n",
    );
    let seen = [
        session.run(&["agents", "list"]),
        session.run(&["agents", "show", "odd"]),
        session.run(&["decide", "Fix \u{202e}the\u{2069} bug\u{7}", "--no-cache"]),
    ];
    for (seen, shown) in seen.iter().zip(["safe \\u{202e}live", "Do \\u{202e}it.", "bug\\u{7}"]) {
        assert!(seen.contains(shown), "{seen}");
        assert!(!seen.contains(['\u{202e}', '\u{2066}', '\u{2069}', '\u{1b}', '\u{7}']), "{seen}");
    }
}

#[test]
fn only_the_unknown_keys_that_are_told_are_compared_with_known_ones() {
    let session = Session::new();
    let keys: String = (0..100_000).map(|n| format!(",\"descriptiom{n:06}\":1")).collect();
    session.write(
        "task.json",
        format!("{{\"title\":\"Fix the bug\",\"acceptance_criteria\":[]{keys}}}"),
    );
    let seen = session.run(&["decide", "--task-file", "task.json", "--no-cache"]);
    let told: Vec<&str> = seen.lines().filter(|line| line.starts_with("! ")).collect();
    assert_eq!(told.len(), 11);
    expect![[r#"
        ! warning: task.json: unknown key `acceptance_criteria` is ignored; did you mean `acceptanceCriteria`?
        ! warning: task.json: and 99991 more unknown keys
    "#]].assert_eq(&format!("{}\n{}\n", told[0], told[10]));
}

#[test]
fn arguments_that_cannot_mean_anything_are_usage_errors() {
    let session = Session::new();
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "a value is required for '--agent <AGENT>' but none was supplied",
            "hint": "`legation decide --help` tells what it takes",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "decide", "Fix the bug", "--agent", ""]));
    let both = ["check-return", "--session-id", "s", "--schema", "-", "-"];
    expect![[r#"
        ! ERROR: --schema and FILE cannot both read stdin
        ! Suggestion: put one of the two into a file
        [exit 2]
    "#]]
    .assert_eq(&session.run(&both));
}

#[test]
fn the_binary_keeps_a_program_when_it_is_told_to() {
    let session = Session::new();
    let dir = session.dir();
    let order = serde_json::json!({
        "attempt": "exec-1",
        "session": "sess_1_abcdef",
        "dir": dir,
        "program": ["/bin/sh", "-c", "cat; exit 3"],
        "env": [["A", "1"]],
        "cwd": dir,
        "stdin": "the brief",
    });
    // The line break says that the keeper is ready; the exit code is its own.
    expect![[r#"

        the brief"#]]
    .assert_eq(&session.run_with(&["keep"], order.to_string().as_bytes()));
    let report = std::fs::read_to_string(dir.join("exit.json")).unwrap();
    assert!(report.contains("\"code\":3,"), "{report}");
    expect![[r#"
        [exit 2]
    "#]]
    .assert_eq(&session.run_with(&["keep"], b"{\"attempt\":"));
}
