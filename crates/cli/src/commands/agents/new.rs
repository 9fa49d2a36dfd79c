//! `legation agents new`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use legation_core::Code;
use legation_core::agent::{is_valid_id, kebab_case};
use legation_core::text::shown;
use serde_json::json;

use super::catalogue::Catalogue;
use crate::commands::config::changeable;
use crate::error::CommandError;
use crate::output::Output;

#[derive(clap::Args)]
pub(super) struct Args {
    /// What it is called: small letters, digits and hyphens.
    id: String,
    /// What it is good at; it is chosen by these words.
    #[arg(long, value_name = "TEXT", default_value = "Say here what it is good at.")]
    description: String,
    /// The program that it is, with its arguments; put -- before it.
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let project = changeable()?;
    let id = args.id.as_str();
    if !is_valid_id(id) {
        let near = kebab_case(id).map(|near| format!("write it like {near}"));
        let hint = near.unwrap_or_else(|| "use small letters, digits and hyphens".to_owned());
        let message = format!("{} cannot be the id of an agent", shown::quote(id));
        return Err(CommandError::usage(message).hint(hint));
    }
    let catalogue = Catalogue::load(output)?;
    let file = format!(".legation/agents/{id}.md");
    let path = project.dir.join(&file);
    if catalogue.roster.names().any(|name| name == id) || path.exists() {
        let message = format!("there is an agent {id} already: {}", catalogue.source(id));
        return Err(CommandError::failed(Code::Conflict, message)
            .hint("choose another id, or change that file"));
    }
    write(&path, &text(args)).map_err(|problem| {
        CommandError::failed(Code::UnknownError, format!("cannot write {file}: {problem}"))
            .hint("make room and give this user the right to write there")
    })?;
    output.answer(&json!({"agent": id, "file": file}), || {
        format!("{file} is written.\nChange it, then try: legation delegate --agent {id} \"…\"")
    });
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create_new(path)?.write_all(text.as_bytes())
}

/// The file. What others have said is quoted as JSON, which is YAML too.
fn text(args: &Args) -> String {
    let id = &args.id;
    let command = if args.command.is_empty() {
        format!(
            "  command:\n    - sh\n    - -c\n    - |\n      \
             # The task comes on standard input, as JSON. What is done here is kept.\n      \
             legation submit --status completed --summary \"{id} has nothing to do yet.\"\n"
        )
    } else {
        format!(
            "  # It says what came of it: by `legation submit`, or by a return that it prints.\n  \
             command: {}\n",
            json!(args.command)
        )
    };
    let description = json!(args.description);
    format!("---\nid: {id}\ndescription: {description}\nlegation:\n{command}---\n")
}
