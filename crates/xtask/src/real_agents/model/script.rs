//! What the model does next: the script that the last words of the user name.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::text;

/// What shells are called in the programs' requests.
const SHELLS: &[&str] =
    &["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command"];
/// Tools by which a program is known, and what that one's tool for the web is called.
const WEB: &[(&str, &str)] = &[("Write", "WebFetch"), ("bash", "webfetch")];
/// What tools that write files are called.
const WRITERS: &[&str] = &["Write", "write", "write_file"];

/// One thing that the model does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Runs a command.
    Shell(String),
    /// Writes a file.
    Write(&'static str, &'static str),
    /// Wants something from the web, which it was not offered.
    Web,
    /// Calls one of our tools.
    Call(&'static str, Value),
    /// Says something.
    Say(&'static str),
    /// Says the return that it was asked for: completed, with these files.
    Return(&'static [&'static str]),
}

/// Scripts by name. A text that contains `(script NAME)` follows one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripts(HashMap<&'static str, Vec<Step>>);

/// A conversation as it was sent.
pub(super) struct Asked {
    pub(super) turns: Vec<Said>,
    pub(super) tools: Vec<Tool>,
}

/// One thing that was said.
pub(super) struct Said {
    pub(super) is_user: bool,
    pub(super) text: String,
    /// Tools that were called with it.
    pub(super) calls: usize,
}

/// A tool that is offered.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) schema: Value,
    /// The group of tools it belongs to, where the dialect has such groups.
    pub(super) group: Option<String>,
}

/// What the model does now.
pub(super) enum Move {
    Say(String),
    Use { tool: String, group: Option<String>, arguments: Value },
}

impl Scripts {
    /// Adds a script.
    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, steps: Vec<Step>) -> Self {
        self.0.insert(name, steps);
        self
    }

    /// What comes next in this conversation. What the model did since it was given its
    /// script tells how far it is.
    pub(super) fn next(&self, asked: &Asked) -> Move {
        let given = asked.turns.iter().enumerate().rev().find_map(|(at, turn)| {
            let name = turn.is_user.then(|| named(&turn.text))??;
            Some((at, self.0.get(name)?))
        });
        let Some((at, steps)) = given else { return Move::Say("Nobody wants anything.".into()) };
        let done: usize = asked
            .turns
            .iter()
            .skip(at)
            .filter(|turn| !turn.is_user)
            .map(|turn| turn.calls.max(1))
            .sum();
        match steps.get(done) {
            Some(step) => step.carry_out(asked),
            None => Move::Say("That was all.".to_owned()),
        }
    }
}

/// The name of the last script in a text.
fn named(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once("(script ")?;
    rest.split_once(')').map(|(name, _)| name)
}

impl Step {
    fn carry_out(&self, asked: &Asked) -> Move {
        match self {
            Self::Shell(command) => shell(asked, command),
            Self::Write(path, content) => write(asked, path, content),
            Self::Web => web(asked),
            Self::Call(name, arguments) => {
                let ours = asked
                    .tools
                    .iter()
                    .find(|tool| tool.name == *name || tool.name.ends_with(&format!("_{name}")));
                match ours {
                    Some(tool) => tool.used_with(arguments.clone()),
                    None => Move::Say(format!("There is no tool {name}.")),
                }
            }
            Self::Say(words) => Move::Say((*words).to_owned()),
            Self::Return(files) => Move::Say(returned(asked, files)),
        }
    }
}

impl Tool {
    fn used_with(&self, arguments: Value) -> Move {
        Move::Use { tool: self.name.clone(), group: self.group.clone(), arguments }
    }

    fn parameter(&self, names: &[&'static str]) -> Option<(&'static str, &Value)> {
        let all = self.schema.get("properties")?;
        names.iter().find_map(|name| Some((*name, all.get(*name)?)))
    }
}

fn shell(asked: &Asked, command: &str) -> Move {
    let Some(tool) = asked.tools.iter().find(|tool| SHELLS.contains(&tool.name.as_str())) else {
        return Move::Say("There is no shell.".to_owned());
    };
    let (name, schema) = tool.parameter(&["cmd", "command"]).unwrap_or(("command", &Value::Null));
    let value = match text(schema, "type") {
        "array" => json!(["bash", "-c", command]),
        _ => json!(command),
    };
    let mut arguments = json!({ name: value });
    if tool.parameter(&["description"]).is_some()
        && let Some(all) = arguments.as_object_mut()
    {
        all.insert("description".to_owned(), json!("A step of the script"));
    }
    tool.used_with(arguments)
}

/// A call of the tool that the program would have, had it been given it. Which program it is
/// shows in what it offers.
fn web(asked: &Asked) -> Move {
    let offers = |name: &str| asked.tools.iter().any(|tool| tool.name == name);
    let known = WEB.iter().find(|(offered, _)| offers(offered));
    let tool = known.map_or("web_fetch", |(_, tool)| *tool).to_owned();
    let arguments = json!({"url": "http://a.b", "prompt": "http://a.b", "format": "text"});
    Move::Use { tool, group: None, arguments }
}

fn write(asked: &Asked, path: &str, content: &str) -> Move {
    let writer = asked.tools.iter().find(|tool| WRITERS.contains(&tool.name.as_str()));
    let Some(tool) = writer else {
        return shell(asked, &format!("printf '%s' '{content}' > '{path}'"));
    };
    let names = ["file_path", "filePath", "path"];
    let name = tool.parameter(&names).map_or("file_path", |(name, _)| name);
    tool.used_with(json!({name: path, "content": content}))
}

/// The return, with what the brief says about itself.
fn returned(asked: &Asked, files: &[&str]) -> String {
    let said = asked.turns.iter().rev().filter(|turn| turn.is_user);
    let metadata = said.map(|turn| turn.text.as_str()).find_map(metadata).unwrap_or_default();
    let artifacts: Vec<Value> = files
        .iter()
        .map(|path| json!({"type": "implementation", "path": path, "summary": "made"}))
        .collect();
    json!({
        "status": "completed", "summary": "The script was followed to its end.",
        "artifacts": artifacts, "metadata": metadata, "errors": [],
    })
    .to_string()
}

/// The object after `"metadata":` in the instruction about returns.
fn metadata(said: &str) -> Option<Value> {
    let starts = said.match_indices("\"session_id\"").map(|(at, _)| at);
    starts.into_iter().find_map(|at| {
        let open = said.get(..at)?.rfind('{')?;
        let mut values = serde_json::Deserializer::from_str(said.get(open..)?).into_iter();
        let value: Value = values.next()?.ok()?;
        value.get("delegation_path")?.is_array().then_some(value)
    })
}
