//! `legation config` in a terminal.

use expect_test::{expect, expect_file};

use crate::session::Session;

const PROJECT: &str = ".legation/config.toml";
const USER: &str = "../home/.config/legation/config.toml";
const CLAUDE: &str = ".claude/config.json";

/// What `config check` says, but for the digits of the version.
fn check(session: &Session) -> String {
    let seen = session.run(&["config", "check"]);
    let Some((before, after)) = seen.split_once("(version ") else {
        return seen;
    };
    let (version, after) = after.split_at(12);
    assert!(version.bytes().all(|byte| byte.is_ascii_hexdigit()), "{seen}");
    format!("{before}(version …{after}")
}

#[test]
fn every_setting_is_listed_with_where_it_was_made() {
    let mut session = Session::new();
    session.write(USER, "mode = \"auto\"\nlimits.maxDepth = 4\n");
    session.write(
        CLAUDE,
        r#"{"other": {"limits": 1},
 "delegation": {
  "limits": {"maxTotalTokens": 50000,
             "maxDepth": 5}}}"#,
    );
    session.write(
        PROJECT,
        "# ours\n[limits]\nmaxDepth = 2\nmaxCostUsd = 0.5\n\n[prices.\"gpt-5.1\"]\ninput = 1.25\noutput = 10\n\n\
         [permissions]\nallow = [\"read\", \"edit\", \"shell\", \"mcp:github/*\", \"mcp:linear/*\", \"delegate\"]\n",
    );
    session.set("MAX_CONTEXT_PER_AGENT", "9000");
    session.set("LEGATION_RECOVERY__CONTINUE_ON_PARTIAL_FAILURE", "off");
    let list = session.run(&["config", "list", "--origin"]);
    expect_file!["config/list.txt"].assert_eq(&list);
    for line in list.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_list_without_origins_fits_a_terminal_too() {
    let session = Session::new();
    let long = "x".repeat(300);
    session.write(
        PROJECT,
        format!("workspace.dir = '{long}'\n[prices.'{long}']\ninput = 1\noutput = 2\n"),
    );
    let list = session.run(&["config", "list"]);
    let dir = list.lines().find(|line| line.starts_with("workspace.dir"));
    assert_eq!(dir.unwrap().chars().count(), 80);
    assert!(dir.unwrap().ends_with("x…"));
    expect![[r#"
        enabled                                   true
        mode                                      suggest
        thresholds.delegationScore                60
    "#]]
    .assert_eq(&list.lines().take(3).map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn a_list_in_json_has_every_origin() {
    let session = Session::new();
    session.write(PROJECT, "mode = \"smart\"\nbanana = 1\n");
    let list = session.run(&["--json", "config", "list"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["configVersion"].as_str().unwrap().len(), 12);
    let settings = list["settings"].as_array().unwrap();
    assert_eq!(settings.len(), 64);
    expect![[r#"{"key":"mode","value":"smart","origin":"project","file":".legation/config.toml","line":1,"name":null}"#]]
        .assert_eq(&settings[1].to_string());
    expect![[r#"[{"origin":"project","file":".legation/config.toml","line":2,"message":".legation/config.toml:2: banana is not a known key and is ignored"}]"#]]
        .assert_eq(&list["warnings"].to_string());
}

#[test]
fn one_setting_or_one_section_is_shown() {
    let session = Session::new();
    session.write(PROJECT, "[limits]\nmaxCostUsd = 5\n[workspace]\nshare = [\"node_modules\"]\n");
    expect![[r#"
        5
        suggest
        ["node_modules"]
        none
    "#]]
    .assert_eq(
        &["limits.maxCostUsd", "mode", "delegation.workspace.share", "workspace.dir"]
            .map(|key| session.run(&["config", "get", key]))
            .concat(),
    );
    expect![[r#"
        recovery.autoRetry                 true
        recovery.maxRetries                2
        recovery.rollbackOnFailure         false
        recovery.continueOnPartialFailure  true
    "#]]
    .assert_eq(&session.run(&["config", "get", "recovery"]));
    expect![[r#"
        {
          "key": "limits.maxCostUsd",
          "value": 5,
          "origin": "project",
          "file": ".legation/config.toml",
          "line": 2,
          "name": null
        }
    "#]]
    .assert_eq(&session.run(&["--json", "config", "get", "limits.maxCostUsd"]));
    expect![[r#"
        {
          "key": "patterns.hints.debate",
          "value": [],
          "origin": "default",
          "file": null,
          "line": null,
          "name": null
        }
    "#]]
    .assert_eq(&session.run(&["--json", "config", "get", "patterns.hints.debate"]));
}

#[test]
fn a_section_in_json_is_its_settings_by_key() {
    let session = Session::new();
    let section = session.run(&["--json", "config", "get", "sandbox"]);
    let section: serde_json::Value = serde_json::from_str(&section).unwrap();
    assert_eq!(section["key"], "sandbox");
    assert_eq!(section["settings"]["sandbox.fence"]["value"], "auto");
    assert_eq!(section["settings"].as_object().unwrap().len(), 8);
}

#[test]
fn a_key_that_does_not_exist_is_a_usage_error() {
    let session = Session::new();
    expect![[r#"
        ! ERROR: there is no key limits.maxDpth
        ! Suggestion: did you mean limits.maxDepth?
        [exit 2]
        ! ERROR: there is no key banana
        ! Suggestion: `legation config list` shows all keys
        [exit 2]
        ! ERROR: "limits..x" is not a key: a part between the dots is empty
        ! Suggestion: `legation config list` shows all keys
        [exit 2]
    "#]]
    .assert_eq(
        &["limits.maxDpth", "banana", "limits..x"]
            .map(|key| session.run(&["config", "get", key]))
            .concat(),
    );
}

#[test]
fn a_sound_configuration_is_said_to_be_so() {
    let session = Session::new();
    expect![[r#"
        The configuration is sound (version …).
        Read: no file.
    "#]]
    .assert_eq(&check(&session));
    session.write(PROJECT, "\n");
    session.write(CLAUDE, "{}");
    expect![[r#"
        The configuration is sound (version …).
        Read: .claude/config.json, .legation/config.toml.
    "#]]
    .assert_eq(&check(&session));
}

#[test]
fn unknown_keys_warn_with_file_line_and_nearest_name() {
    let mut session = Session::new();
    session.write(PROJECT, "\n[limits]\nmax_depth = 2\n\n[[agents.grants]]\nname = 'n'\nparent = 'p'\nchild = 'c'\ntools = []\ntool = 1\n");
    session.write(
        CLAUDE,
        "{\n\"delegation\": {\"a \\\"{,\": [{\"x\": 1}],\n\"ui\": {\n\"compactMod\": true}}}",
    );
    session.write("claude.config.js", "module.exports = {}");
    session.set("LEGATION_LIMITS__MAX_DEPHT", "2");
    session.set("LEGATION_TOKEN", "secret");
    expect![[r#"
        warning: .claude/config.json:2: "a \"{," is not a known key and is ignored
        warning: .claude/config.json:4: ui.compactMod is not a known key and is ignored; did you mean ui.compactMode?
        warning: claude.config.js: not read: scripts are not evaluated yet; its settings belong in .legation/config.toml
        warning: .legation/config.toml:3: limits.max_depth is not a known key and is ignored; did you mean limits.maxDepth?
        warning: .legation/config.toml:10: agents.grants.0.tool is not a known key and is ignored; did you mean agents.grants.0.tools?
        warning: LEGATION_LIMITS__MAX_DEPHT: no setting has this variable, it is ignored; did you mean LEGATION_LIMITS__MAX_DEPTH?
        The configuration can be used, with 6 warnings (version …).
        Read: .claude/config.json, .legation/config.toml.
    "#]]
    .assert_eq(&check(&session));
}

#[test]
fn warnings_beside_an_answer_go_to_stderr() {
    let session = Session::new();
    session.write(PROJECT, "moed = 'auto'\n");
    expect![[r#"
        suggest
        ! warning: .legation/config.toml:1: moed is not a known key and is ignored; did you mean mode?
    "#]]
    .assert_eq(&session.run(&["config", "get", "mode"]));
}

#[test]
fn all_problems_of_all_sources_are_told_at_once() {
    let mut session = Session::new();
    session.write(USER, "limits.maxDepth = 99999999999999999999999\n");
    session.write(CLAUDE, "{\"delegation\": {\n  \"mode\": \"atuo\",\n  \"mode\": \"auto\"}}");
    session.write(
        PROJECT,
        "enabled = 'yes'\n[limits]\nmaxDepth = 0\nmaxCostUsd = nan\n[logging]\nhistoryRetention = 2026-01-01\n",
    );
    session.set("LEGATION_LIMITS__MAX_TOTAL_TOKENS", "-5");
    expect![[r#"
        ! ERROR: bad configuration, 7 problems:
        !   ~/.config/legation/config.toml:1: limits.maxDepth = 1e+23 is out of range: it takes a whole number from 1 to 5
        !   .claude/config.json:3: mode stands here for the second time
        !   .legation/config.toml:1: enabled takes true or false, not the text "yes"
        !   .legation/config.toml:3: limits.maxDepth = 0 is out of range: it takes a whole number from 1 to 5
        !   .legation/config.toml:4: limits.maxCostUsd = nan is not a finite number
        !   .legation/config.toml:6: logging.historyRetention = 2026-01-01 is a date, which no key takes
        !   LEGATION_LIMITS__MAX_TOTAL_TOKENS: limits.maxTotalTokens = -5 is out of range: it takes a whole number from 0 to 1000000000000
        ! Suggestion: correct it, then try `legation config check`
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["config", "list"]));
}

#[test]
fn problems_in_json_have_file_key_value_and_range() {
    let session = Session::new();
    session.write(PROJECT, "[limits]\nmaxDepth = 9\n");
    expect![[r#"
        {
          "error": {
            "code": "VALIDATION_FAILED",
            "message": "bad configuration: .legation/config.toml:2: limits.maxDepth = 9 is out of range: it takes a whole number from 1 to 5",
            "hint": "correct it, then try `legation config check`",
            "details": {
              "problems": [
                {
                  "origin": "project",
                  "file": ".legation/config.toml",
                  "line": 2,
                  "column": null,
                  "key": "limits.maxDepth",
                  "value": "9",
                  "takes": "a whole number from 1 to 5",
                  "message": ".legation/config.toml:2: limits.maxDepth = 9 is out of range: it takes a whole number from 1 to 5"
                }
              ]
            }
          }
        }
        [exit 2]
    "#]]
    .assert_eq(&session.run(&["--json", "config", "check"]));
}

/// What the first line of stderr says about one file.
fn told(file: &str, content: impl AsRef<[u8]>) -> String {
    let session = Session::new();
    session.write(file, content);
    let seen = session.run(&["config", "check"]);
    assert!(seen.ends_with("[exit 2]\n"), "{seen}");
    seen.lines().next().unwrap().to_owned() + "\n"
}

#[test]
fn files_that_cannot_be_read_say_where_and_why() {
    let deep = |open: &str, close: &str| open.repeat(10_000) + &close.repeat(10_000);
    expect![[r#"
        ! ERROR: bad configuration: .legation/config.toml:2:8: extra `=`, expected nothing
        ! ERROR: bad configuration: .legation/config.toml:3:1: duplicate key
        ! ERROR: bad configuration: .legation/config.toml:2:4: the text is not valid UTF-8
        ! ERROR: bad configuration: .legation/config.toml: is larger than 1048576 bytes
        ! ERROR: bad configuration: .legation/config.toml:1:88: cannot recurse further; max recursion depth met
        ! ERROR: bad configuration: .claude/config.json:2:2: expected `:`
        ! ERROR: bad configuration: .claude/config.json:1:128: recursion limit exceeded
        ! ERROR: bad configuration: .claude/config.json:1:26: number out of range
        ! ERROR: bad configuration: .claude/config.json:1:1: EOF while parsing a value
        ! ERROR: bad configuration: .claude/config.json: the file must hold an object, with the settings under "delegation"
        ! ERROR: bad configuration: .claude/config.json:1: the configuration takes a section with keys, not a list of 0
    "#]]
    .assert_eq(
        &[
            told(PROJECT, "# é\nmode = = 1\n"),
            told(PROJECT, "mode = 'auto'\n\nmode = 'auto'\n"),
            told(PROJECT, b"\n\xc3\xa9\xc3\xa9\xc3\xa9\xff\n"),
            told(PROJECT, vec![b'#'; (1 << 20) + 1]),
            told(PROJECT, "mode = ".to_owned() + &deep("[", "]")),
            told(CLAUDE, "{\"delegation\"\n 1}"),
            told(CLAUDE, deep("[", "]")),
            told(CLAUDE, r#"{"delegation": {"x": 1e999}}"#),
            told(CLAUDE, ""),
            told(CLAUDE, "[1]"),
            told(CLAUDE, r#"{"delegation": []}"#),
        ]
        .concat(),
    );
}

#[test]
fn a_folder_where_a_file_should_be_is_named() {
    let session = Session::new();
    session.write(".legation/config.toml/x", "");
    expect![[r#"
        ! ERROR: bad configuration: .legation/config.toml: is not a file
        ! Suggestion: correct it, then try `legation config check`
        [exit 2]
    "#]]
    .assert_eq(&check(&session));
}

#[test]
fn a_mark_at_the_beginning_of_a_file_is_no_part_of_it() {
    let session = Session::new();
    session.write(PROJECT, "\u{feff}mode = 'auto'\n");
    session.write(CLAUDE, "\u{feff}{\"delegation\": {\"enabled\": false}}");
    assert_eq!(session.run(&["config", "get", "mode"]), "auto\n");
    assert_eq!(session.run(&["config", "get", "enabled"]), "false\n");
}

#[test]
fn the_users_file_is_where_the_base_folder_says_if_that_is_absolute() {
    let mut session = Session::new();
    session.write(USER, "mode = 'auto'\n");
    session.write("../xdg/legation/config.toml", "mode = 'smart'\n");
    let xdg = session.dir().with_file_name("xdg");
    assert_eq!(session.run(&["config", "get", "mode"]), "auto\n");
    session.set("XDG_CONFIG_HOME", "relative");
    assert_eq!(session.run(&["config", "get", "mode"]), "auto\n");
    session.set("XDG_CONFIG_HOME", xdg.to_str().unwrap());
    let get = session.run(&["--json", "config", "get", "mode"]);
    assert!(get.contains(r#""value": "smart""#), "{get}");
    assert!(get.contains(r#""file": "$TMP/xdg/legation/config.toml""#), "{get}");
}

#[test]
fn the_project_is_found_from_a_folder_inside_it() {
    let session = Session::new();
    session.write(PROJECT, "mode = 'auto'\n");
    session.write("src/deep/.git/HEAD", "");
    assert_eq!(session.run_in("src/deep", &["config", "get", "mode"]), "auto\n");
    let session = Session::new();
    session.write(".git/HEAD", "");
    session.write(CLAUDE, r#"{"delegation": {"mode": "smart"}}"#);
    session.write("src/x", "");
    assert_eq!(session.run_in("src", &["config", "get", "mode"]), "smart\n");
}

#[test]
fn the_schema_is_the_published_one() {
    let session = Session::new();
    let schema = session.run(&["config", "schema"]);
    expect_file!["../../../../docs/config.schema.json"].assert_eq(&schema);
    assert_eq!(session.run(&["--json", "config", "schema"]), schema);
}

#[test]
fn a_large_file_full_of_nonsense_is_answered_in_little_time() {
    let session = Session::new();
    let mut toml = String::new();
    let mut json = String::from("{\"delegation\": {\"x\": 1");
    for n in 0..40_000 {
        toml.push_str(&format!("limit{n}.a.b.c = 1\n"));
        json.push_str(&format!(",\"k{n}\":[[{{}}]]"));
    }
    session.write(PROJECT, toml);
    session.write(CLAUDE, json + "}}");
    let seen = session.run(&["config", "check"]);
    let more: Vec<_> = seen.lines().filter(|line| line.contains(" more keys")).collect();
    expect![[r#"
        [
            "warning: .claude/config.json: and 39951 more keys that are not known",
            "warning: .legation/config.toml: and 39950 more keys that are not known",
        ]
    "#]]
    .assert_debug_eq(&more);
}
