//! `legation install` and `uninstall`: the settings of other programs, changed and put back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::{Value, json};

use crate::session::Session;

const BINARY: &str = env!("CARGO_BIN_EXE_legation");

/// A program, its settings below the project and below the home, and where its commands are.
const PROGRAMS: [(&str, &str, &str, &str); 4] = [
    ("claude-code", ".mcp.json", ".claude.json", ".claude/commands/delegate.md"),
    ("codex", ".codex/config.toml", ".codex/config.toml", ".agents/skills/delegate/SKILL.md"),
    (
        "opencode",
        "opencode.json",
        ".config/opencode/opencode.json",
        ".opencode/command/delegate.md",
    ),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json", ".gemini/commands/delegate.toml"),
];

/// Settings as people write them, by the name of the section that servers stand in.
fn settings(program: &str) -> Vec<String> {
    if program == "codex" {
        return [
            "",
            "\n",
            "model = \"x\"\n",
            "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"o\"\n\n# the end\n",
            "[mcp_servers]\n",
            "[mcp_servers.other.env]\nA = \"b\"\n[tui]\ntheme = 'dark'",
            "model = \"x\"\r\n[tui]\r\na = 1\r\n",
        ]
        .map(str::to_owned)
        .to_vec();
    }
    let section = if program == "opencode" { "mcp" } else { "mcpServers" };
    [
        "",
        "{}",
        " {\n} \n",
        "{ }",
        "{\"theme\":1.50,\"big\":12345678901234567890123}",
        "{\n  \"theme\": \"a } , \\\" ]\",\n  \"list\": [1, [2, {}]]\n}\n",
        "{\n    \"SECTION\": {},\n    \"z\": null\n}\n",
        "{\n    \"SECTION\": {\n    }\n}",
        "{\n\t\"SECTION\": {\n\t\t\"other\": {\n\t\t\t\"command\": \"o\"\n\t\t}\n\t},\n\t\"z\": 1\n}\n",
        "{\"SECTION\": {\"other\": {\"command\": \"o\"}}, \"z\": 1}\n",
        "{\r\n  \"SECTION\": {\r\n    \"other\": {}\r\n  }\r\n}\r\n",
        "{\n  \"é\": \"ü\", \"SECTION\"  :  { \"a\" : {} , \"b\" : {} } }",
    ]
    .map(|text| text.replace("SECTION", section))
    .to_vec()
}

/// Everything below the project and the home, apart from what Legation itself keeps.
fn all(session: &Session) -> BTreeMap<PathBuf, Option<String>> {
    let files =
        session.files().into_iter().filter(|path| !path.to_string_lossy().contains(".local"));
    files.map(|path| (path.clone(), std::fs::read_to_string(&path).ok())).collect()
}

fn written(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()))
}

/// What the program would find under our name.
fn entry(program: &str, text: &str) -> Value {
    let (section, all): (&str, Value) = match program {
        "codex" => ("mcp_servers", toml::from_str(text).unwrap()),
        "opencode" => ("mcp", serde_json::from_str(text).unwrap()),
        _ => ("mcpServers", serde_json::from_str(text).unwrap()),
    };
    all[section]["legation"].clone()
}

#[test]
fn what_is_installed_is_taken_back_to_the_byte() {
    for (program, of_project, of_user, _) in PROGRAMS {
        for user in [false, true] {
            let session = Session::new();
            let (folder, file) = match user {
                false => (session.dir(), of_project),
                true => (session.root().join("home"), of_user),
            };
            let file = folder.join(file);
            let texts = settings(program).into_iter().map(Some).chain([None]);
            for text in texts {
                if let Some(text) = &text {
                    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                    std::fs::write(&file, text).unwrap();
                }
                let before = all(&session);
                let scope = if user { &["--user"][..] } else { &[] };
                let with = |verb: &'static str| [&[verb, program, "--yes"], scope].concat();
                let seen = session.run(&with("install"));
                assert!(seen.contains("has the tools of Legation"), "{program} {text:?} {seen}");
                assert!(!entry(program, &written(&file)).is_null(), "{program} {text:?}");
                let again = session.run(&with("install"));
                assert!(again.starts_with("There is nothing to change."), "{program} {again}");
                let seen = session.run(&with("uninstall"));
                assert!(seen.contains("is without the tools"), "{program} {text:?} {seen}");
                assert_eq!(all(&session), before, "{program} {text:?}");
                let again = session.run(&with("uninstall"));
                assert!(again.starts_with("There is nothing to change."), "{program} {again}");
                // The next settings begin with a clean folder.
                let _ = std::fs::remove_file(&file);
                let outer = file.strip_prefix(&folder).unwrap().components().next().unwrap();
                let _ = std::fs::remove_dir_all(folder.join(outer));
            }
        }
    }
}

#[test]
fn each_program_gets_what_it_needs() {
    let session = Session::new();
    let mut found = BTreeMap::new();
    for (program, settings, _, command) in PROGRAMS {
        session.run(&["install", program, "--yes"]);
        found.insert(program, entry(program, &written(&session.dir().join(settings))));
        let words = written(&session.dir().join(command));
        assert!(words.contains("Call the tool `delegate` of the MCP server `legation`"), "{words}");
    }
    let expected = json!({
        "claude-code": {"type": "stdio", "command": BINARY, "args": ["mcp"], "alwaysLoad": true,
            "timeout": 86_400_000},
        "codex": {"command": BINARY, "args": ["mcp"], "default_tools_approval_mode": "approve",
            "tool_timeout_sec": 86_400},
        "gemini": {"command": BINARY, "args": ["mcp"], "trust": true, "timeout": 86_400_000},
        "opencode": {"type": "local", "command": [BINARY, "mcp"], "enabled": true,
            "timeout": 86_400_000},
    });
    assert_eq!(json!(found), expected);
    let gemini: toml::Table =
        toml::from_str(&written(&session.dir().join(".gemini/commands/direct.toml"))).unwrap();
    assert!(gemini["prompt"].as_str().unwrap().ends_with("The user's words: {{args}}\n"));
    let claude = written(&session.dir().join(".claude/commands/delegation.md"));
    assert!(claude.ends_with("The user's words: $ARGUMENTS\n"), "{claude}");
}

#[test]
fn what_is_changed_is_shown_and_in_a_pipe_nothing_else_happens() {
    let session = Session::new();
    session.write(
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"o\"}\n  }\n}\n",
    );
    session.write(".claude/commands/direct.md", "my own\n");
    let before = all(&session);
    let seen = session.run(&["install", "claude-code"]).replace(BINARY, "$BINARY");
    let (settings, rest) = seen.split_once("--- /dev/null").unwrap();
    expect![[r#"
        --- $TMP/project/.mcp.json
        +++ $TMP/project/.mcp.json
        @@ -1,5 +1,14 @@
         {
           "mcpServers": {
        -    "other": {"command": "o"}
        +    "other": {"command": "o"},
        +    "legation": {
        +      "type": "stdio",
        +      "command": "$BINARY",
        +      "args": [
        +        "mcp"
        +      ],
        +      "alwaysLoad": true,
        +      "timeout": 86400000
        +    }
           }
         }

    "#]]
    .assert_eq(settings);
    assert!(rest.contains("+++ $TMP/project/.claude/commands/delegation.md"), "{rest}");
    let (_, end) = rest.split_once("Nothing was changed").unwrap();
    expect![[r#"
        ; --yes does it without asking.
          $TMP/project/.claude/commands/direct.md is there already and stays as it is
          Claude Code asks once in each project whether it may start the server.
    "#]]
    .assert_eq(end);
    assert_eq!(all(&session), before);
    let told: Value =
        serde_json::from_str(&session.run(&["install", "claude-code", "--json"])).unwrap();
    assert_eq!((&told["applied"], &told["scope"]), (&json!(false), &json!("project")));
    assert_eq!(told["files"][0]["action"], "change");
    assert_eq!(told["files"][1]["action"], "create");
    assert_eq!(all(&session), before);
}

/// Installs, shows the settings, and takes it back.
fn commented(program: &str, file: &str, text: &str) -> String {
    let session = Session::new();
    session.write(file, text);
    let seen = session.run(&["install", program, "--yes"]);
    assert!(!seen.contains("[exit "), "{seen}");
    let installed = written(&session.dir().join(file)).replace(BINARY, "$BINARY");
    session.run(&["uninstall", program, "--yes"]);
    assert_eq!(written(&session.dir().join(file)), text, "it is taken back to the byte");
    installed
}

#[test]
fn comments_stay_where_they_are_and_with_what_they_are_about() {
    let opencode = "{\n  // mine\n  \"theme\": \"dark\", // not // light\n  /* \"mcp\": 1, */\n}\n";
    expect![[r#"
        {
          // mine
          "theme": "dark", // not // light
          "mcp": {
            "legation": {
              "type": "local",
              "command": [
                "$BINARY",
                "mcp"
              ],
              "enabled": true,
              "timeout": 86400000
            }
          }
          /* "mcp": 1, */
        }
    "#]]
    .assert_eq(&commented("opencode", "opencode.jsonc", opencode));
    let servers = "{\n  \"mcp\": { // servers\n    // none yet\n  },\n}\n";
    expect![[r#"
        {
          "mcp": { // servers
            "legation": {
              "type": "local",
              "command": [
                "$BINARY",
                "mcp"
              ],
              "enabled": true,
              "timeout": 86400000
            }
            // none yet
          },
        }
    "#]]
    .assert_eq(&commented("opencode", "opencode.json", servers));
    let gemini = "{\n  \"a\": \"// no comment \\\" /*\" // one\n}\n";
    expect![[r#"
        {
          "a": "// no comment \" /*", // one
          "mcpServers": {
            "legation": {
              "command": "$BINARY",
              "args": [
                "mcp"
              ],
              "trust": true,
              "timeout": 86400000
            }
          }
        }
    "#]]
    .assert_eq(&commented("gemini", ".gemini/settings.json", gemini));
}

#[test]
fn an_entry_that_its_owner_moved_is_taken_out_and_comments_are_not() {
    let session = Session::new();
    session.write("opencode.jsonc", "{\n  // mine\n  \"theme\": \"dark\", // about it\n}\n");
    session.run(&["install", "opencode", "--yes"]);
    let path = session.dir().join("opencode.jsonc");
    // As a program would write it that lays everything out anew.
    let text = written(&path).replace("    ", "\t").replace("// mine", "// still mine");
    std::fs::write(&path, text).unwrap();
    let seen = session.run(&["uninstall", "opencode", "--yes"]);
    assert!(seen.contains("is without the tools of Legation again"), "{seen}");
    expect![[r#"
        {
          // still mine
          "theme": "dark" // about it
        }
    "#]]
    .assert_eq(&written(&path));
}

#[test]
fn what_cannot_be_added_to_is_shown_to_be_put_in_by_hand() {
    let session = Session::new();
    let text = "{\n  // mine\n  \"mcpServers\": {}\n}\n";
    session.write(".mcp.json", text);
    let seen = session.run(&["install", "claude-code", "--yes"]).replace(BINARY, "$BINARY");
    expect![[r#"
        ! ERROR: $TMP/project/.mcp.json is not JSON (key must be a string at line 2 column 3), and its program allows no comments; it stays as it is
        ! Suggestion: put this into it by hand:
        ! {
        !   "mcpServers": {
        !     "legation": {
        !       "type": "stdio",
        !       "command": "$BINARY",
        !       "args": [
        !         "mcp"
        !       ],
        !       "alwaysLoad": true,
        !       "timeout": 86400000
        !     }
        !   }
        ! }
        [exit 1]
    "#]].assert_eq(&seen);
    assert_eq!(written(&session.dir().join(".mcp.json")), text);
}

#[test]
fn settings_that_make_no_sense_are_left_alone() {
    let cases: [(&str, &str, &[u8]); 8] = [
        ("claude-code", ".mcp.json", b"{\"mcpServers\": {}"),
        ("claude-code", ".mcp.json", b"[]"),
        ("claude-code", ".mcp.json", b"{\"mcpServers\": []}"),
        ("claude-code", ".mcp.json", b"{\"a\": \"\xff\"}"),
        ("gemini", ".gemini/settings.json", b"{\"a\": 1,}"),
        ("codex", ".codex/config.toml", b"mcp_servers = 1\n"),
        ("codex", ".codex/config.toml", b"mcp_servers = {}\n"),
        ("codex", ".codex/config.toml", b"model = \n"),
    ];
    for (program, file, text) in cases {
        let session = Session::new();
        session.write(file, text);
        let seen = session.run(&["install", program, "--yes"]);
        assert!(seen.contains("ERROR: $TMP/project/"), "{program} {seen}");
        assert!(seen.ends_with("[exit 1]\n"), "{program} {seen}");
        assert_eq!(std::fs::read(session.dir().join(file)).unwrap(), text, "{program}");
    }
}

#[test]
fn what_its_owner_has_changed_since_stays() {
    let session = Session::new();
    let file = session.dir().join(".mcp.json");
    let install = || session.run(&["install", "claude-code", "--yes"]);
    let uninstall = || session.run(&["uninstall", "claude-code", "--yes"]);
    // Another entry, before and after ours.
    install();
    let both = written(&file).replace("{\n    \"legation\"", "{\n    \"a\": {},\n    \"legation\"");
    let both = both.replace("\n    }\n  }\n}", "\n    },\n    \"z\": {}\n  }\n}");
    std::fs::write(&file, &both).unwrap();
    uninstall();
    let left: Value = serde_json::from_str(&written(&file)).unwrap();
    assert_eq!(left, json!({"mcpServers": {"a": {}, "z": {}}}));
    // Our own entry.
    std::fs::remove_file(&file).unwrap();
    install();
    let slower = written(&file).replace("86400000", "1000");
    std::fs::write(&file, &slower).unwrap();
    session.write(".claude/commands/direct.md", "my own\n");
    let seen = uninstall();
    assert!(
        seen.contains("the entry in $TMP/project/.mcp.json was changed since and stays"),
        "{seen}"
    );
    assert!(seen.contains("commands/direct.md was changed since and stays"), "{seen}");
    assert_eq!(written(&file), slower);
    assert_eq!(written(&session.dir().join(".claude/commands/direct.md")), "my own\n");
    assert!(!session.dir().join(".claude/commands/delegate.md").exists());
}

#[test]
fn a_program_that_writes_its_own_settings_meanwhile_keeps_what_it_wrote() {
    let session = Session::new();
    let file = session.root().join("home/.claude.json");
    session.run(&["install", "claude-code", "--user", "--yes"]);
    // Written anew from what was read, in another order and with more in it.
    let mut all: Value = serde_json::from_str(&written(&file)).unwrap();
    all["mcpServers"]["legation"]["timeout"] = json!(86_400_000);
    let all = json!({"starts": 1, "mcpServers": all["mcpServers"], "user": "x"});
    std::fs::write(&file, format!("{all:#}")).unwrap();
    session.run(&["uninstall", "claude-code", "--user", "--yes"]);
    expect![[r#"
        {
          "starts": 1,
          "user": "x"
        }"#]]
    .assert_eq(&written(&file));
}

#[test]
fn what_another_machine_has_installed_is_known_by_its_looks() {
    for (program, settings, _, command) in PROGRAMS {
        let session = Session::new();
        session.run(&["install", program, "--yes"]);
        let state = session.root().join("home/.local");
        std::fs::remove_dir_all(state).unwrap();
        let file = session.dir().join(settings);
        let moved = written(&file).replace(BINARY, "/elsewhere/bin/legation");
        std::fs::write(&file, moved).unwrap();
        session.run(&["uninstall", program, "--yes"]);
        assert!(entry(program, &written(&file)).is_null(), "{program}");
        assert!(!session.dir().join(command).exists(), "{program}");
    }
}

#[test]
fn a_program_that_has_moved_is_put_in_the_place_of_the_old_one() {
    for (program, settings, _, _) in PROGRAMS {
        let session = Session::new();
        let text = if program == "codex" { "a = 1\n" } else { "{\"a\": 1}\n" };
        session.write(settings, text);
        let before = all(&session);
        session.run(&["install", program, "--yes"]);
        let moved = session.root().join("moved-legation");
        let linked = std::fs::hard_link(BINARY, &moved);
        linked.or_else(|_| std::fs::copy(BINARY, &moved).map(drop)).unwrap();
        let mut command = std::process::Command::new(&moved);
        command
            .args(["install", program, "--yes"])
            .current_dir(session.dir())
            .env("HOME", session.root().join("home"))
            .env_remove("XDG_STATE_HOME");
        assert!(command.output().unwrap().status.success());
        std::fs::remove_file(&moved).unwrap();
        let text = written(&session.dir().join(settings));
        assert!(text.contains("/moved-legation"), "{program} {text}");
        assert!(!text.contains(BINARY), "{program} {text}");
        session.run(&["uninstall", program, "--yes"]);
        assert_eq!(all(&session), before, "{program}");
    }
}

#[test]
fn an_attempt_changes_no_settings() {
    let mut session = Session::new();
    session.set("LEGATION_TOKEN", "del-1.exec-1.00");
    expect![[r#"
        ! ERROR: an attempt cannot change its user's settings
        ! Suggestion: leave that to the user
        [exit 6]
    "#]]
    .assert_eq(&session.run(&["install", "codex", "--yes"]));
}
