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
            "message": "the following required arguments were not provided: <TEXT>",
            "hint": "run `legation --help` for the commands and their options",
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
            "message": "the following required arguments were not provided: --parent <ID> --child <ID>",
            "hint": "run `legation --help` for the commands and their options",
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
            "hint": "use one of: list, show, check, explain",
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
            "hint": "use one of: list, get, check, schema",
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
            "hint": "use one of: decide, parse, check-return, agents, config, shell",
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
