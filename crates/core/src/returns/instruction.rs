//! What a child is told about the form of its return, and how it is asked again.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use super::limits::MAX_SUMMARY_CHARS;
use super::model::{Metadata, Return};
use super::violation::Violation;
use crate::ids::{AgentId, SessionId};

/// How often an agent may be asked to mend its return.
pub const MAX_ASKS: u32 = 2;

/// The schema of a return, on one line. The form never changes while we run.
static SCHEMA: LazyLock<String> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(Return);
    schema.remove("$schema");
    schema.remove("title");
    schema.as_value().to_string()
});

/// The return as an example.
#[derive(Serialize)]
struct Form<'a> {
    status: &'static str,
    summary: &'static str,
    artifacts: [Example; 1],
    metadata: Known<'a>,
    errors: [(); 0],
    next_steps: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'static str>,
}

/// What the runtime knows before the work is done.
#[derive(Serialize)]
struct Known<'a> {
    session_id: &'a SessionId,
    agent_type: &'a AgentId,
    delegation_depth: u32,
    delegation_path: &'a [AgentId],
}

#[derive(Serialize)]
struct Example {
    r#type: &'static str,
    path: &'static str,
    summary: &'static str,
}

impl<'a> Form<'a> {
    fn new(known: &'a Metadata, has_data: bool) -> Self {
        let metadata = Known {
            session_id: &known.session_id,
            agent_type: &known.agent_type,
            delegation_depth: known.delegation_depth,
            delegation_path: &known.delegation_path,
        };
        Self {
            status: "<completed | partial | failed | blocked>",
            summary: "<what you did and found>",
            artifacts: [Example {
                r#type: "<implementation | report | …>",
                path: "<path in the workspace>",
                summary: "<what it is>",
            }],
            metadata,
            errors: [],
            next_steps: "<what should happen next>",
            data: has_data.then_some("<see the schema of data>"),
        }
    }
}

/// The instruction that ends every prompt: the form of the return, with what the
/// runtime knows filled in, and the agent's own schema for `data` if it has one.
pub fn instruction(known: &Metadata, data_schema: Option<&Value>) -> String {
    let data = data_schema.map(|schema| {
        format!("- `data`: your structured answer. It has to match this JSON Schema: {schema}\n")
    });
    let form = Form::new(known, data_schema.is_some());
    // A form of plain texts can always be written.
    let form = serde_json::to_string(&form).unwrap_or_default();
    let data = data.unwrap_or_default();
    let schema = &*SCHEMA;
    format!(
        "## How to finish\n\
         \n\
         Your last output is your return: exactly one JSON object. No prose before or after it, no Markdown, no plain-text report. \
         If you were given the tool `submit_result`, or can run `legation submit`, hand it in that way instead; the last one handed in counts.\n\
         \n\
         The form, with your session filled in:\n\
         \n\
         {form}\n\
         \n\
         - `status`: `completed` when everything is done, `partial` when part of it is, `failed` when nothing usable came of it, `blocked` when you cannot go on without somebody else.\n\
         - `summary`: two to five sentences, at most {MAX_SUMMARY_CHARS} characters.\n\
         - `artifacts`: the files and folders you made or changed, relative to the workspace. With `completed`, each must exist and have content. Use [] for none.\n\
         - `metadata`: copy it as it stands above; another session id is refused.\n\
         - `errors`: needed unless `completed`; each is {{\"type\", \"message\", \"recoverable\", \"recommendation\"}}, `code` optional.\n\
         {data}\
         \n\
         The return is checked by a program, and so is the disk. Anything but JSON is answered with \"Return is not valid JSON\", and a `completed` that the disk does not bear out is not believed.\n\
         \n\
         JSON Schema of the return: {schema}\n"
    )
}

/// Asks for the return again, saying exactly what was wrong with the last one.
pub fn ask_again(violation: &Violation, known: &Metadata, asks_left: u32) -> String {
    let hint = violation.hint.as_deref().map(|hint| format!("\nTo mend it: {hint}."));
    let left = match asks_left {
        0 => "This is the last time you are asked.".to_owned(),
        1 => "You can be asked once more after this.".to_owned(),
        more => format!("You can be asked {more} more times after this."),
    };
    format!(
        "Your return was not accepted. It failed the check `{}`: {}.{}\n\
         \n\
         Do no further work. Send the whole return again as exactly one JSON object and nothing else, with \"session_id\": \"{}\" in `metadata`. {left}\n",
        violation.check,
        violation.message,
        hint.unwrap_or_default(),
        known.session_id,
    )
}
