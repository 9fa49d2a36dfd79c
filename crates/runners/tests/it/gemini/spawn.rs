//! How it is started.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use legation_core::agent::Level;
use legation_runners::envoy::{Charge, Spawn, Stdin, Turn};
use legation_runners::gemini::{Around, settings, spawn};
use serde_json::{Value, json};

use crate::contract;

fn charge() -> Charge {
    let (scratch, workspace) = ("/w/scratch".into(), "/w".into());
    let (program, instructions) = (vec!["gemini".to_owned()], "Be careful.".to_owned());
    Charge { program, instructions, scratch, workspace, ..contract::charge() }
}

const FIRST: Turn<'_> = Turn { text: "Say hi.", no: 0 };

fn shown(spawn: &Spawn) -> String {
    let Stdin::Once(said) = &spawn.stdin else { panic!("it is told more than once") };
    let env: Vec<String> =
        spawn.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}\n{}\n{said:?}\n", spawn.command.join(" "), env.join("\n"))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_first_turn_says_who_the_agent_is() {
    let mut charge = charge();
    charge.model = Some("gemini-2.5-flash".to_owned());
    let rules = Some(PathBuf::from("/u/.gemini/policies"));
    let around = Around { rules, ..Around::default() };
    let spawn = spawn(&charge, &FIRST, None, &around).unwrap();
    expect![[r#"
        gemini --output-format stream-json --approval-mode default --policy /w/scratch/gemini/policy.toml --policy /u/.gemini/policies --model gemini-2.5-flash
        GEMINI_CLI_SYSTEM_SETTINGS_PATH=/w/scratch/gemini/settings.json
        GEMINI_CLI_NO_RELAUNCH=true
        GEMINI_CLI_TRUST_WORKSPACE=true
        GEMINI_TELEMETRY_ENABLED=false
        NO_BROWSER=true
        GEMINI_SANDBOX=false
        "Be careful.\n\nSay hi."
    "#]].assert_eq(&shown(&spawn));
    let files: Vec<&Path> = spawn.files.iter().map(|(path, _)| path.as_path()).collect();
    let scratch = Path::new("/w/scratch/gemini");
    assert_eq!(files, [scratch.join("settings.json"), scratch.join("policy.toml")]);
}

#[test]
fn a_later_turn_goes_on_where_the_last_ended() {
    let mut charge = charge();
    charge.is_fenced = false;
    let turn = Turn { text: "Again.", no: 1 };
    let spawn = spawn(&charge, &turn, Some("d80b0064"), &Around::default()).unwrap();
    expect![[r#"
        gemini --output-format stream-json --approval-mode default --policy /w/scratch/gemini/policy.toml --resume d80b0064
        GEMINI_CLI_SYSTEM_SETTINGS_PATH=/w/scratch/gemini/settings.json
        GEMINI_CLI_NO_RELAUNCH=true
        GEMINI_CLI_TRUST_WORKSPACE=true
        GEMINI_TELEMETRY_ENABLED=false
        NO_BROWSER=true
        "Again."
    "#]].assert_eq(&shown(&spawn));
}

#[test]
fn whoever_may_not_read_is_not_read_to() {
    let mut charge = charge();
    charge.tools.read = Level::Deny;
    let turn = Turn { text: "See @.env, ana@example.org.", no: 0 };
    let spawn = spawn(&charge, &turn, None, &Around::default()).unwrap();
    let said = "Be careful.\n\nSee \\@.env, ana\\@example.org.";
    assert_eq!(spawn.stdin, Stdin::Once(said.to_owned()));
}

#[test]
fn its_settings_have_our_server_and_no_agents() {
    let charge = charge();
    let told = read(&settings(&charge, &Around::default()));
    expect![[r#"
        {
          "experimental": {
            "enableAgents": false
          },
          "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": 3
          },
          "privacy": {
            "usageStatisticsEnabled": false
          },
          "telemetry": {
            "enabled": false
          },
          "security": {
            "folderTrust": {
              "enabled": false
            }
          },
          "mcp": {
            "allowed": [
              "legation"
            ]
          },
          "mcpServers": {
            "legation": {
              "command": "/bin/legation",
              "args": [
                "mcp"
              ],
              "env": {
                "LEGATION_TOKEN": "secret",
                "PATH": "/a:/it's"
              },
              "trust": true,
              "timeout": 86400000
            }
          }
        }
    "#]]
    .assert_eq(&(serde_json::to_string_pretty(&told).unwrap() + "\n"));
}

#[test]
fn settings_of_the_machine_stay_under_ours() {
    let mut charge = charge();
    charge.max_turns = Some(7);
    charge.temperature = Some(0.5);
    charge.tools.shell = Level::Deny;
    charge.tools.others.insert("mcp:jira/*".to_owned(), Level::Allow);
    charge.tools.others.insert("mcp:github/search".to_owned(), Level::Allow);
    let machine = json!({
        "security": {"disableYoloMode": true},
        "mcp": {"allowed": ["legation", "jira"], "excluded": ["evil"]},
        "mcpServers": {"jira": {"command": "jira-mcp"}},
        "experimental": {"enableAgents": true},
    });
    let machine = machine.as_object().unwrap().clone();
    let around = Around { machine, has_only_key: true, rules: None };
    let told = read(&settings(&charge, &around));
    assert_eq!(told["mcp"], json!({"allowed": ["legation", "jira"], "excluded": ["evil"]}));
    assert_eq!(told["mcpServers"]["jira"]["command"], "jira-mcp");
    assert_eq!(told["mcpServers"]["legation"]["trust"], true);
    assert_eq!(told["experimental"]["enableAgents"], false);
    assert_eq!(told["model"]["maxSessionTurns"], 7);
    let config = &told["modelConfigs"]["customOverrides"][0]["modelConfig"];
    assert_eq!(config["generateContentConfig"]["temperature"], 0.5);
    let security = json!({
        "disableYoloMode": true,
        "folderTrust": {"enabled": false},
        "auth": {"selectedType": "gemini-api-key"},
    });
    assert_eq!(told["security"], security);
    // Without a shell there is no other way to run a command either.
    assert_eq!(told["hooksConfig"]["enabled"], false);
    assert_eq!(told["tools"]["discoveryCommand"], "");
}

#[test]
fn what_is_around_it_is_looked_for_where_the_environment_says() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let machine = home.join("machine.json");
    let look = |key: Option<&str>| {
        Around::look(&|name: &str| match name {
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH" => Some(machine.to_string_lossy().into_owned()),
            "GEMINI_CLI_HOME" => Some(home.to_string_lossy().into_owned()),
            "GEMINI_API_KEY" => key.map(str::to_owned),
            _ => None,
        })
    };
    assert_eq!(look(None).unwrap(), Around::default());
    assert!(look(Some("key")).unwrap().has_only_key);
    fs::create_dir_all(home.join(".gemini/policies")).unwrap();
    assert_eq!(look(None).unwrap().rules, Some(home.join(".gemini/policies")));
    for (settings, has_only_key) in [
        (r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#, false),
        ("// a remark\n{}", false),
        (r#"{"ui":{}}"#, true),
        ("", true),
    ] {
        fs::write(home.join(".gemini/settings.json"), settings).unwrap();
        assert_eq!(look(Some("key")).unwrap().has_only_key, has_only_key, "{settings}");
    }
    fs::write(&machine, r#"{"admin":{"secureModeEnabled":true}}"#).unwrap();
    assert_eq!(look(None).unwrap().machine["admin"]["secureModeEnabled"], true);
    fs::write(&machine, "{").unwrap();
    let problem = look(None).unwrap_err().to_string();
    assert!(problem.contains("machine.json cannot be read"), "{problem}");
}
