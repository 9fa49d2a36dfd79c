//! How Gemini CLI is started: pure but for what was seen around it.

use std::io;

use super::around::{Around, MACHINE_VARIABLE};
use super::permissions::policy;
use super::settings::settings;
use crate::envoy::{Charge, Spawn, Stdin, Turn};
use crate::permissions::Scope;

/// The command line, environment and files of one turn.
pub fn spawn(
    charge: &Charge,
    turn: &Turn<'_>,
    conversation: Option<&str>,
    around: &Around,
) -> io::Result<Spawn> {
    let file = |name: &str| charge.scratch.join("gemini").join(name);
    let (settings_file, policy_file) = (file("settings.json"), file("policy.toml"));
    let mut command = charge.program.clone();
    let mut add = |words: &[&str]| command.extend(words.iter().map(|word| (*word).to_owned()));
    add(&["--output-format", "stream-json", "--approval-mode", "default"]);
    add(&["--policy", &policy_file.to_string_lossy()]);
    if let Some(rules) = &around.rules {
        // Whoever names a file takes the user's own rules away; here they are again.
        add(&["--policy", &rules.to_string_lossy()]);
    }
    if let Some(model) = &charge.model {
        add(&["--model", model]);
    }
    if let Some(conversation) = conversation {
        add(&["--resume", conversation]);
    }
    let mut env = vec![
        (MACHINE_VARIABLE.to_owned(), settings_file.to_string_lossy().into_owned()),
        // As shipped it starts itself once more, and the first does not pass signals on.
        ("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned()),
        ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), "true".to_owned()),
        ("GEMINI_TELEMETRY_ENABLED".to_owned(), "false".to_owned()),
        ("NO_BROWSER".to_owned(), "true".to_owned()),
    ];
    if charge.is_fenced {
        // It would need powers that nothing inside a fence has.
        env.push(("GEMINI_SANDBOX".to_owned(), "false".to_owned()));
    }
    let files =
        vec![(settings_file, settings(charge, around)), (policy_file, policy(&charge.tools))];
    Ok(Spawn { command, env, files, stdin: Stdin::Once(said(charge, turn, conversation)) })
}

/// What is said. A system prompt of ours would replace all of the program's own, which
/// says how its tools are used; so the agent's instructions come first in the brief.
fn said(charge: &Charge, turn: &Turn<'_>, conversation: Option<&str>) -> String {
    let instructions = charge.instructions.trim_end();
    let text = if conversation.is_some() || instructions.is_empty() {
        turn.text.to_owned()
    } else {
        format!("{instructions}\n\n{}", turn.text)
    };
    if Scope::of(&charge.tools, "read").is_whole() {
        return text;
    }
    // It puts the content of a file in the place of `@file`, whatever its rules say.
    text.replace('@', "\\@")
}
