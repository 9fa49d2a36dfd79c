//! `legation config set` and `unset`: one setting changes, all else stays.

use expect_test::expect;

use crate::session::Session;

const FILE: &str = "\
# Ours.
enabled = true # as everywhere

[limits] # not too deep
# Two are enough.
maxDepth = 3 # was 5
[permissions]
deny = [\"web\"]
";

/// What is seen of several commands in a row.
fn seen(session: &Session, commands: &[&[&str]]) -> String {
    let said = commands.iter().map(|args| format!("$ {}\n{}", args.join(" "), session.run(args)));
    said.collect()
}

fn file(session: &Session) -> String {
    std::fs::read_to_string(session.dir().join(".legation/config.toml")).unwrap()
}

#[test]
fn a_word_in_the_place_of_the_sandbox_is_shown_and_changed_as_what_it_is_short_for() {
    let session = Session::new();
    session
        .write(".legation/config.toml", "# Ours.\nsandbox = \"auto\" # short\nmode = \"auto\"\n");
    let listed = session.run(&["config", "list", "--origin"]);
    let fence = listed.lines().find(|line| line.contains("sandbox.fence")).unwrap();
    assert!(fence.contains("auto") && fence.contains(".legation/config.toml:2"), "{fence}");
    let commands: &[&[&str]] = &[
        &["config", "set", "sandbox", "require"],
        &["config", "set", "sandbox.pids", "64"],
        &["config", "set", "sandbox", "on"],
        &["config", "set", "limits", "5"],
    ];
    expect![[r#"
        $ config set sandbox require
        sandbox.fence = require
        $ config set sandbox.pids 64
        sandbox.pids = 64
        $ config set sandbox on
        ! ERROR: sandbox.fence = on cannot be: it takes one of require, auto, off
        ! Suggestion: `legation config get sandbox.fence` shows what is in force
        [exit 2]
        $ config set limits 5
        ! ERROR: limits is a section and has no value of its own
        ! Suggestion: name a key in it, such as those of `legation config get limits`
        [exit 2]
    "#]]
    .assert_eq(&seen(&session, commands));
    expect![[r#"
        mode = "auto"
        # Ours.
        [sandbox]
        fence = "require" # short
        pids = 64
    "#]]
    .assert_eq(&file(&session));
    session.write(".legation/config.toml", "sandbox = \"off\"\n");
    expect![[r#"
        $ config unset sandbox.fence
        sandbox.fence = auto, the default
    "#]]
    .assert_eq(&seen(&session, &[&["config", "unset", "sandbox.fence"]]));
    expect![[r#"
        [sandbox]
    "#]]
    .assert_eq(&file(&session));
}

#[test]
fn a_setting_changes_and_comments_stay() {
    let session = Session::new();
    session.write(".legation/config.toml", FILE);
    let commands: &[&[&str]] = &[
        &["config", "set", "limits.maxDepth", "2"],
        &["config", "set", "limits.maxDepth", "2"],
        &["config", "set", "limits.maxCostUsd", "0.5"],
        &["config", "set", "mode", "auto"],
        &["config", "set", "permissions.deny", "web, mcp:*"],
        &["config", "set", "patterns.hints.review", "[\"judge, harshly\"]"],
        &["config", "set", "agents.planner", "2"],
        &["config", "unset", "enabled"],
        &["config", "unset", "enabled"],
        &["--json", "config", "unset", "agents.planner"],
    ];
    expect![[r#"
        $ config set limits.maxDepth 2
        limits.maxDepth = 2
        $ config set limits.maxDepth 2
        limits.maxDepth = 2 (as before)
        $ config set limits.maxCostUsd 0.5
        limits.maxCostUsd = 0.5
        $ config set mode auto
        mode = auto
        $ config set permissions.deny web, mcp:*
        permissions.deny = ["web","mcp:*"]
        $ config set patterns.hints.review ["judge, harshly"]
        patterns.hints.review = ["judge, harshly"]
        $ config set agents.planner 2
        agents.planner = 2
        $ config unset enabled
        enabled = true, the default
        $ config unset enabled
        enabled = true, the default (as before)
        $ --json config unset agents.planner
        {
          "key": "agents.planner",
          "value": null,
          "file": ".legation/config.toml",
          "changed": true
        }
    "#]]
    .assert_eq(&seen(&session, commands));
    expect![[r##"
        # Ours.
        mode = "auto"

        [limits] # not too deep
        # Two are enough.
        maxDepth = 2 # was 5
        maxCostUsd = 0.5
        [permissions]
        deny = ["web", "mcp:*"]

        [patterns.hints]
        review = ["judge, harshly"]

        [agents]
    "##]]
    .assert_eq(&file(&session));
}

#[test]
fn the_first_setting_makes_the_file() {
    let session = Session::new();
    assert_eq!(session.run(&["config", "set", "limits.maxDepth", "2"]), "limits.maxDepth = 2\n");
    assert_eq!(file(&session), "[limits]\nmaxDepth = 2\n");
    assert_eq!(session.run(&["config", "get", "limits.maxDepth"]), "2\n");
}

#[test]
fn what_cannot_be_set_is_named_and_the_file_stays() {
    let session = Session::new();
    session.write(".legation/config.toml", FILE);
    let commands: &[&[&str]] = &[
        &["config", "set", "limits.maxDepth", "9"],
        &["config", "set", "limits.maxDepth", "-1"],
        &["config", "set", "limits.maxDepth", "two"],
        &["config", "set", "enabled", "yes"],
        &["config", "set", "mode", "waltz"],
        &["config", "set", "limits", "2"],
        &["config", "set", "limits.maxDeph", "2"],
        &["config", "set", "limits..maxDepth", "2"],
        &["config", "set", "prices.small.input", "3"],
        &["config", "set", "agents.grants", "x"],
        &["config", "set", "limits.maxDepth"],
        &["config", "unset", "limits"],
    ];
    expect![[r#"
        $ config set limits.maxDepth 9
        ! ERROR: limits.maxDepth = 9 cannot be: it takes a whole number from 1 to 5
        ! Suggestion: `legation config get limits.maxDepth` shows what is in force
        [exit 2]
        $ config set limits.maxDepth -1
        ! ERROR: limits.maxDepth = -1 cannot be: it takes a whole number from 1 to 5
        ! Suggestion: `legation config get limits.maxDepth` shows what is in force
        [exit 2]
        $ config set limits.maxDepth two
        ! ERROR: limits.maxDepth = two cannot be: it takes a whole number from 1 to 5
        ! Suggestion: `legation config get limits.maxDepth` shows what is in force
        [exit 2]
        $ config set enabled yes
        ! ERROR: enabled = yes cannot be: it takes true or false
        ! Suggestion: `legation config get enabled` shows what is in force
        [exit 2]
        $ config set mode waltz
        ! ERROR: mode = waltz cannot be: it takes one of disabled, suggest, auto, smart
        ! Suggestion: `legation config get mode` shows what is in force
        [exit 2]
        $ config set limits 2
        ! ERROR: limits is a section and has no value of its own
        ! Suggestion: name a key in it, such as those of `legation config get limits`
        [exit 2]
        $ config set limits.maxDeph 2
        ! ERROR: there is no key limits.maxDeph
        ! Suggestion: did you mean limits.maxDepth?
        [exit 2]
        $ config set limits..maxDepth 2
        ! ERROR: "limits..maxDepth" is not a key: a part between the dots is empty
        ! Suggestion: `legation config list` shows all keys
        [exit 2]
        $ config set prices.small.input 3
        ! ERROR: bad configuration: .legation/config.toml:11: prices.small needs output, which is missing
        ! Suggestion: nothing was written; what only holds together goes in by hand
        [exit 2]
        $ config set agents.grants x
        ! ERROR: agents.grants is more than a line can say
        ! Suggestion: write it into .legation/config.toml; docs/configuration.md shows how
        [exit 2]
        $ config set limits.maxDepth
        ! ERROR: the following required arguments were not provided: <VALUE>
        ! Suggestion: write `legation config set <KEY> <VALUE>`; `legation config set --help` tells what it takes
        [exit 2]
        $ config unset limits
        ! ERROR: limits is a section and has no value of its own
        ! Suggestion: name a key in it, such as those of `legation config get limits`
        [exit 2]
    "#]].assert_eq(&seen(&session, commands));
    assert_eq!(file(&session), FILE);
    session.write(".legation/config.toml", "[limits\n");
    expect![[r#"
        ! ERROR: .legation/config.toml cannot be read: unclosed table, expected `]`
        ! Suggestion: correct it by hand; `legation config check` says where
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["config", "set", "limits.maxDepth", "2"]));
    session.write(".legation/config.toml", "limits = 3\n");
    expect![[r#"
        ! ERROR: .legation/config.toml has a value at limits, where a section should be
        ! Suggestion: nothing was changed
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["config", "set", "limits.maxDepth", "2"]));
    assert_eq!(file(&session), "limits = 3\n");
}

#[test]
fn a_stronger_layer_is_told() {
    let mut session = Session::new();
    session.set("LEGATION_LIMITS__MAX_DEPTH", "4");
    expect![[r#"
        limits.maxDepth = 4
        ! warning: LEGATION_LIMITS__MAX_DEPTH is stronger than .legation/config.toml
    "#]]
    .assert_eq(&session.run(&["config", "set", "limits.maxDepth", "2"]));
}

#[test]
fn an_attempt_changes_no_settings() {
    let mut session = Session::new();
    session.set("LEGATION_TOKEN", "del-1.exec-1.seal");
    let commands: &[&[&str]] = &[
        &["config", "set", "limits.maxDepth", "5"],
        &["config", "unset", "limits.maxDepth"],
        &["agents", "new", "friend"],
        &["agents", "enable", "general-purpose"],
        &["agents", "disable", "general-purpose"],
    ];
    let before = session.files();
    for command in commands {
        let seen = session.run(command);
        let refused = "! ERROR: an attempt cannot change the user's settings\n";
        assert!(seen.starts_with(refused) && seen.ends_with("[exit 6]\n"), "{command:?} {seen}");
    }
    assert_eq!(session.files(), before);
}
