//! `legation help`: of a verb, or of an error code.

use std::process::ExitCode;

use clap::{Command, CommandFactory as _};
use legation_core::Code;
use legation_core::text::nearest::nearest;
use legation_core::text::shown;
use serde_json::json;

use crate::Cli;
use crate::error::CommandError;
use crate::output::Output;

/// The document in which every code has a section.
const ERRORS: &str = include_str!("../../../../docs/errors.md");

/// Explains a verb, or an error code such as MAX_DEPTH_EXCEEDED.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// An error code, or a verb.
    #[arg(value_name = "CODE|VERB")]
    words: Vec<String>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    if let [word] = args.words.as_slice()
        && let Some(code) = code(word)
    {
        let text = section(code.as_str());
        output.answer(&json!({"code": code, "text": text}), || text.clone());
        return Ok(ExitCode::SUCCESS);
    }
    let program = Cli::command();
    let mut command = &program;
    for word in &args.words {
        command = command.find_subcommand(word).ok_or_else(|| unknown(word, command))?;
    }
    // What the verb says of itself, to the letter.
    let typed = [program.get_name()].into_iter().chain(args.words.iter().map(String::as_str));
    let asked = Cli::command().try_get_matches_from(typed.chain(["--help"]));
    let text = asked.err().map(|help| help.to_string()).unwrap_or_default();
    output.answer(&json!({"verb": args.words.join(" "), "text": text}), || text.clone());
    Ok(ExitCode::SUCCESS)
}

/// The code of this name, however its letters are written.
fn code(word: &str) -> Option<Code> {
    let name = word.to_uppercase().replace('-', "_");
    Code::ALL.iter().copied().find(|code| code.as_str() == name)
}

/// What the document says about a code, without the marks of its examples.
fn section(code: &str) -> String {
    let title = format!("## {code}");
    let lines = ERRORS.lines().skip_while(|line| *line != title).skip(1);
    let lines = lines.take_while(|line| !line.starts_with("## "));
    let mut text = format!("{code}\n");
    let mut is_example = false;
    for line in lines {
        if line.starts_with("```") {
            is_example = !is_example;
            continue;
        }
        let indent = if is_example && !line.is_empty() { "  " } else { "" };
        text.push_str(&format!("{indent}{line}\n"));
    }
    text.trim_end().to_owned()
}

fn unknown(word: &str, command: &Command) -> CommandError {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let near = nearest(word, verbs.map(Command::get_name).chain(codes));
    let near = near.map(|near| format!("did you mean {near}?"));
    let hint = near.unwrap_or_else(|| {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        format!("`legation --help` lists the verbs; the codes are {}", codes.join(", "))
    });
    CommandError::usage(format!("there is no verb and no error code {}", shown::quote(word)))
        .hint(hint)
}
