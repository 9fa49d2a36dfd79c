//! `legation help` and `legation completions`.

use expect_test::expect;
use legation_core::Code;

use crate::session::Session;

#[test]
fn every_error_code_has_its_help() {
    let session = Session::new();
    for code in Code::ALL {
        let seen = session.run(&["help", code.as_str()]);
        assert!(seen.starts_with(&format!("{code}\n\n")), "{code}: {seen}");
        assert!(seen.lines().count() > 4 && !seen.contains("```"), "{code}: {seen}");
        assert_eq!(session.run(&["help", &code.as_str().to_lowercase()]), seen);
    }
    expect![[r#"
        {
          "code": "TIMEOUT",
          "text": "TIMEOUT\n\nThe time allowed is used up. The attempt was really stopped, and what it had made\nby then is kept: the result is `partial`, never lost.\n\n  Operation timed out after 3600s\n\n`legation diff ID SUBTASK` shows what it left. Retry the subtask, which gives it the same\ntime again; delegate anew with `--timeout`, as far as its operation class allows; or make\nit smaller."
        }
    "#]].assert_eq(&session.run(&["--json", "help", "TIMEOUT"]));
}

#[test]
fn verbs_are_explained_as_their_own_help_does() {
    let session = Session::new();
    assert_eq!(session.run(&["help"]), session.run(&["--help"]));
    assert_eq!(session.run(&["help", "trace"]), session.run(&["trace", "--help"]));
    let new = session.run(&["agents", "new", "--help"]);
    assert_eq!(session.run(&["help", "agents", "new"]), new);
    expect![[r#"
        ! ERROR: there is no verb and no error code `delegat`
        ! Suggestion: did you mean delegate?
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["help", "delegat"]));
    expect![[r#"
        ! ERROR: there is no verb and no error code `max_dept_exceeded`
        ! Suggestion: did you mean MAX_DEPTH_EXCEEDED?
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["help", "max_dept_exceeded"]));
    assert!(session.run(&["help", "waltz"]).contains("the codes are MAX_DEPTH_EXCEEDED, "));
}

#[test]
fn every_shell_gets_a_script_that_knows_the_verbs() {
    let session = Session::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = session.run(&["completions", shell]);
        assert!(script.contains("check-return") && script.contains("idempotency-key"), "{shell}");
    }
    expect![[r#"
        ! ERROR: invalid value 'tcl' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]
        ! Suggestion: `legation completions --help` tells what it takes
        [exit 2]
    "#]].assert_eq(&session.run(&["completions", "tcl"]));
}
