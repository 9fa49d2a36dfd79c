//! How it is started.

use std::path::Path;

use expect_test::expect;
use legation_runners::envoy::{Charge, Spawn, Stdin, Turn};
use legation_runners::opencode::{CONFIG_VARIABLE, spawn};
use serde_json::{Value, json};

use crate::contract;

fn charge() -> Charge {
    let (scratch, workspace) = ("/w/scratch".into(), "/w".into());
    let (program, instructions) = (vec!["opencode".to_owned()], "Be careful.".to_owned());
    Charge { program, instructions, scratch, workspace, ..contract::charge() }
}

const FIRST: Turn<'_> = Turn { text: "Say hi.", no: 0 };

fn config(spawn: &Spawn) -> Value {
    let text = spawn.env.iter().find(|(name, _)| name == CONFIG_VARIABLE).unwrap();
    serde_json::from_str(&text.1).unwrap()
}

#[test]
fn the_first_turn_has_a_title_so_that_none_is_asked_for() {
    let mut charge = charge();
    charge.model = Some("anthropic/claude-sonnet-4-5".to_owned());
    charge.temperature = Some(0.2);
    charge.max_turns = Some(7);
    let spawn = spawn(&charge, &FIRST, None, None).unwrap();
    expect![[r#"
        opencode run --format json --agent legation --title legation --model anthropic/claude-sonnet-4-5
    "#]].assert_eq(&(spawn.command.join(" ") + "\n"));
    assert_eq!(spawn.stdin, Stdin::Once("Say hi.".to_owned()));
    let file = Path::new("/w/scratch/opencode/instructions.md").to_owned();
    assert_eq!(spawn.files, [(file, "Be careful.".to_owned())]);
    let mut told = config(&spawn);
    let agent = told["agent"]["legation"].as_object_mut().unwrap();
    agent.remove("permission").unwrap();
    expect![[r#"
        {
          "instructions": [
            "/w/scratch/opencode/instructions.md"
          ],
          "autoupdate": false,
          "share": "disabled",
          "snapshot": false,
          "agent": {
            "legation": {
              "mode": "primary",
              "steps": 7,
              "temperature": 0.2
            }
          },
          "mcp": {
            "legation": {
              "type": "local",
              "command": [
                "/bin/legation",
                "mcp"
              ],
              "environment": {
                "LEGATION_TOKEN": "secret",
                "PATH": "/a:/it's"
              },
              "enabled": true,
              "timeout": 86400000
            }
          }
        }
    "#]]
    .assert_eq(&(serde_json::to_string_pretty(&told).unwrap() + "\n"));
}

#[test]
fn a_later_turn_goes_on_where_the_last_ended() {
    let mut charge = charge();
    charge.instructions = String::new();
    let turn = Turn { text: "Again.", no: 1 };
    let spawn = spawn(&charge, &turn, Some("ses_1"), None).unwrap();
    expect![[r#"
        opencode run --format json --agent legation --session ses_1
    "#]]
    .assert_eq(&(spawn.command.join(" ") + "\n"));
    assert_eq!(spawn.files, []);
    assert_eq!(config(&spawn).get("instructions"), None);
}

#[test]
fn what_the_user_has_put_into_the_same_variable_stays_under_ours() {
    let charge = charge();
    let theirs = json!({
        "share": "auto",
        "instructions": ["RULES.md"],
        "provider": {"local": {"npm": "x"}},
        "agent": {"legation": {"permission": {"bash": "allow"}, "prompt": "p"}},
        "mcp": {"jira": {"type": "local"}},
    });
    let spawn = spawn(&charge, &FIRST, None, Some(&theirs.to_string())).unwrap();
    let told = config(&spawn);
    assert_eq!(told["share"], "disabled");
    assert_eq!(told["instructions"], json!(["RULES.md", "/w/scratch/opencode/instructions.md"]));
    assert_eq!(told["provider"]["local"]["npm"], "x");
    assert_eq!(told["mcp"]["jira"]["type"], "local");
    assert_eq!(told["mcp"]["legation"]["command"], json!(["/bin/legation", "mcp"]));
    let permission = told["agent"]["legation"]["permission"].as_object().unwrap();
    assert_eq!(permission.keys().next().unwrap(), "*", "everything is closed first");
}

#[test]
fn a_variable_that_is_no_json_is_an_error() {
    let charge = charge();
    let problem = spawn(&charge, &FIRST, None, Some("{")).unwrap_err().to_string();
    assert!(problem.contains("`OPENCODE_CONFIG_CONTENT` is no JSON"), "{problem}");
}
