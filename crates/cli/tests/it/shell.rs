use expect_test::expect;

use crate::session::Session;

#[test]
fn a_command_is_explained_for_people() {
    let session = Session::new();
    let line = "/delegate --dry-run -p debate -b 0 Weigh plan-b against everything that the others have put forward until now";
    expect![[r#"
        command   delegate
        pattern   debate
        budget    0
        dryRun    yes
        task      Weigh plan-b against everything that the others have put forward until
                  now
    "#]]
    .assert_eq(&session.run(&["shell", "--parse-only", "-c", line]));
    expect![[r#"
        command   delegation
        action    history
        status    failed
        since     2d ago
    "#]]
    .assert_eq(&session.run(&[
        "shell",
        "--parse-only",
        "-c",
        "/delegation history --since 48h --status=failed",
    ]));
    expect![[r#"
        command   delegation
        action    config
        set       mode = "auto"
        set       limits.maxDepth = 2
    "#]]
    .assert_eq(&session.run(&[
        "shell",
        "--parse-only",
        "-c",
        "/delegation config --mode=auto limits.maxDepth=2",
    ]));
}

#[test]
fn a_command_is_one_json_value_for_programs() {
    let session = Session::new();
    expect![[r#"
        {
          "command": "delegate",
          "options": {
            "pattern": "parallel",
            "depth": 2,
            "agents": 5,
            "budget": 9000,
            "dryRun": false,
            "text": false
          },
          "task": "Mend the build"
        }
    "#]]
    .assert_eq(&session.run(&[
        "shell",
        "--json",
        "--parse-only",
        "-c",
        "/delegate --pattern parallel -d 2 --agents=5 -b 9000 Mend the build",
    ]));
    expect![[r#"
        {
          "command": "delegation",
          "action": "cancel",
          "id": "del-1",
          "options": {
            "reason": "no longer needed",
            "rollback": true
          }
        }
    "#]]
    .assert_eq(&session.run(&[
        "shell",
        "--json",
        "--parse-only",
        "-c",
        "/delegation cancel del-1 --reason 'no longer needed' --rollback",
    ]));
}

#[test]
fn a_bad_command_is_a_usage_error() {
    let session = Session::new();
    expect![[r#"
        ! ERROR: --depth cannot be `abc`; it takes a whole number from 1 to 5
        ! Suggestion: usage: /delegate [-p PATTERN] [-d DEPTH] [-a AGENTS] [-b TOKENS] [--dry-run] [--text] [--] TASK
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["shell", "--parse-only", "-c", "/delegate --depth=abc X"]));
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "/delegation has no action `cancle` (did you mean cancel?); there are status, pause, resume, cancel, history, hint, config, retry, skip, approve, reject, tree, trace, cost",
            "hint": "usage: /delegation status|pause|resume|cancel|history|hint|config|retry|skip|approve|reject|tree|trace|cost",
            "details": null
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["shell", "--json", "--parse-only", "-c", "/delegation cancle del-1"]));
    expect![[r#"
        ! ERROR: `-x` is not a slash command; there are /delegate, /direct, /delegation
        ! Suggestion: usage: /delegate [options] TASK, /direct TASK or /delegation ACTION
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["shell", "--parse-only", "-c", "-x"]));
}

#[test]
fn a_command_does_what_the_verb_of_the_same_name_does() {
    let session = Session::new();
    let dry = session.run(&["shell", "-c", "/delegate --dry-run -b 9000 Fix it"]);
    assert!(dry.contains("Bounds: depth 3, 5 at once, 10 subtasks, 9,000 tokens"), "{dry}");
    assert_eq!(session.run(&["shell", "-c", "/delegation status"]), session.run(&["status"]));
    let lines = b"/delegation status\n/delegation config limits.maxDepth=1\n\n/delegation config\n\
        /delegate --dry-run Fix it\n/delegation config limits.maxDepht=1\n/delegation tree del-9\n";
    let seen = session.run_with(&["shell"], lines);
    expect![[r#"
        No engine is running.
        Nothing is under way.
        limits.maxDepth = 1
        limits.maxDepth = 1
        Fix it
        Nothing was started. Pattern: parallel

        task-7a5b79cdcedd-sub-1  Fix it
          general-purpose: no hint, no list and no description fits
          at most 10m, 200,000 tokens

        Bounds: depth 1, 5 at once, 10 subtasks, 2,000,000 tokens, $20.00, 1h
        ! line 6: ERROR: there is no setting `limits.maxDepht`
        ! Suggestion: did you mean limits.maxDepth?
        ! line 7: ERROR: there is no delegation `del-9`
        ! Suggestion: nothing was delegated in this project yet
        [exit 2]
    "#]]
    .assert_eq(&seen);
    let lines = b"/delegation status\n/delegation hint Fix it\n/delegation cost del-9\n";
    expect![[r#"
        {"engine":{"pid":null},"delegations":[]}
        {"shouldConsiderDelegation":false,"quickFactors":{"complexity":5,"subtaskPotential":0},"hint":"The task is small enough to be done directly"}
        {"error":{"code":"CONFLICT","message":"there is no delegation `del-9`","hint":"nothing was delegated in this project yet","details":{"line":3}}}
        [exit 1]
    "#]].assert_eq(&session.run_with(&["--json", "shell"], lines));
}

#[test]
fn lines_from_stdin_are_answered_one_by_one() {
    let session = Session::new();
    let lines = b"/direct  Fix it\n\n  /delegate -p=dag Do  it\r\n/delegation tree del-1";
    expect![[r#"
        /direct Fix it
        /delegate --pattern dag Do  it
        /delegation tree del-1
    "#]]
    .assert_eq(&session.run_with(&["shell", "--parse-only"], lines));
    expect![[""]].assert_eq(&session.run_with(&["shell", "--parse-only"], b"\n\n"));
}

#[test]
fn a_bad_line_does_not_stop_the_others() {
    let session = Session::new();
    let lines = b"/direct a\n/drect b\n\xff\n/direct c\n";
    expect![[r#"
        /direct a
        /direct c
        ! line 2: ERROR: `/drect` is not a slash command (did you mean /direct?); there are /delegate, /direct, /delegation
        ! Suggestion: usage: /delegate [options] TASK, /direct TASK or /delegation ACTION
        ! line 3: ERROR: the command is not UTF-8 text: byte 0 does not belong there
        ! Suggestion: convert it to UTF-8, for example with iconv
        [exit 2]
    "#]]
    .assert_eq(&session.run_with(&["shell", "--parse-only"], lines));
    expect![[r#"
        {"command":"direct","options":{"pattern":null,"depth":null,"agents":null,"budget":null,"dryRun":false,"text":false},"task":"a"}
        {"error":{"code":"VALIDATION_FAILED","message":"`/drect` is not a slash command (did you mean /direct?); there are /delegate, /direct, /delegation","hint":"usage: /delegate [options] TASK, /direct TASK or /delegation ACTION","details":{"line":2}}}
        {"error":{"code":"VALIDATION_FAILED","message":"the command is not UTF-8 text: byte 0 does not belong there","hint":"convert it to UTF-8, for example with iconv","details":{"line":3}}}
        {"command":"direct","options":{"pattern":null,"depth":null,"agents":null,"budget":null,"dryRun":false,"text":false},"task":"c"}
        [exit 2]
    "#]]
    .assert_eq(&session.run_with(&["shell", "--json", "--parse-only"], lines));
}

#[test]
fn a_line_of_more_than_a_mebibyte_is_refused_and_the_next_is_read() {
    let session = Session::new();
    let start = "/nothing ";
    let most = format!("{start}{}", "x".repeat(1024 * 1024 - start.len()));
    let lines = format!("{most}\n{most}x\n/direct b\n{most}y");
    expect![[r#"
        /direct b
        ! line 1: ERROR: `/nothing` is not a slash command; there are /delegate, /direct, /delegation
        ! Suggestion: usage: /delegate [options] TASK, /direct TASK or /delegation ACTION
        ! line 2: ERROR: a command has at most 1048576 bytes
        ! line 4: ERROR: a command has at most 1048576 bytes
        [exit 2]
    "#]]
    .assert_eq(&session.run_with(&["shell", "--parse-only"], lines.as_bytes()));
}

#[test]
fn escape_sequences_in_a_command_do_not_reach_the_terminal() {
    let session = Session::new();
    expect![[r#"
        command   direct
        task      \u{1b}[2J wipe
    "#]]
    .assert_eq(&session.run(&["shell", "--parse-only", "-c", "/direct \u{1b}[2J wipe"]));
    expect![[r#"
        /direct \u{1b}[2J
    "#]]
    .assert_eq(&session.run_with(&["shell", "--parse-only"], b"/direct \x1b[2J\n"));
}

#[test]
fn a_setting_for_the_session_is_checked_at_once_and_shown_by_its_key() {
    let session = Session::new();
    let lines = b"/delegation config --limits.maxDepth=9\n/delegation config --mode=loud\n\
        /delegation config limits.maxDepth=2\n";
    expect![[r#"
        limits.maxDepth = 2
        ! line 1: ERROR: limits.maxDepth = 9 cannot be: it takes a whole number from 1 to 5
        ! Suggestion: `legation config get limits.maxDepth` shows what is in force
        ! line 2: ERROR: mode cannot be `loud`; it takes disabled, suggest, auto or smart
        ! Suggestion: usage: /delegation config [--mode=MODE] [KEY=VALUE …]
        [exit 2]
    "#]]
    .assert_eq(&session.run_with(&["shell"], lines));
}
