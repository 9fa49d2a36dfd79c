//! `legation shell`.

use std::io::{self, BufRead, Read};
use std::process::ExitCode;

use legation_core::Code;
use legation_core::text::shown;
use legation_core::text::slash::{self, SlashCommand};
use legation_core::text::span;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::page;

/// The longest line that is read.
const LINE_MAX_BYTES: usize = 1024 * 1024;

/// Where values begin, behind their names.
const COLUMN: usize = 10;

/// Reads slash commands: /delegate, /direct and /delegation.
///
/// Without -c, one command per line from stdin; an answer per line, and a bad
/// line does not stop the others.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Say what a command means instead of running it.
    #[arg(long)]
    parse_only: bool,
    /// The command, for example '/delegate -p debate Compare the two plans'.
    #[arg(short = 'c', value_name = "COMMAND", allow_hyphen_values = true)]
    command: Option<String>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    match args.command {
        Some(line) => {
            let command = parse(&line)?;
            if !args.parse_only {
                return Err(cannot_run());
            }
            output.answer(&command, || words(&command));
            Ok(ExitCode::SUCCESS)
        }
        None if args.parse_only => parse_lines(io::stdin().lock(), output),
        None => Err(cannot_run()),
    }
}

fn parse(line: &str) -> Result<SlashCommand, CommandError> {
    slash::parse(line).map_err(|problem| {
        CommandError::usage(problem.to_string()).hint(format!("usage: {}", problem.usage()))
    })
}

fn cannot_run() -> CommandError {
    CommandError::usage("this version can only say what a slash command means, not run it")
        .hint("add --parse-only")
}

/// Answers line by line; a bad line makes the exit code that of a usage error.
fn parse_lines(mut lines: impl BufRead, output: &mut Output) -> Result<ExitCode, CommandError> {
    let mut exit = ExitCode::SUCCESS;
    for number in 1_usize.. {
        let line = next_line(&mut lines).map_err(|problem| {
            CommandError::failed(Code::UnknownError, format!("cannot read stdin: {problem}"))
        })?;
        let Some(line) = line else { break };
        let answer = line.and_then(|line| match line.trim() {
            "" => Ok(None),
            line => parse(line).map(Some),
        });
        match answer {
            Ok(None) => {}
            Ok(Some(command)) => {
                output.line(&command, || shown::visible(&command.to_string()).into_owned());
            }
            Err(error) => {
                exit = ExitCode::from(2);
                report(&error.details(json!({"line": number})), number, output);
            }
        }
    }
    Ok(exit)
}

fn report(error: &CommandError, number: usize, output: &mut Output) {
    if output.wants_json() {
        output.line(&error.to_json(), String::new);
    } else {
        output.note(&format!("line {number}: {}", error.to_text()));
    }
}

/// The next line, or what is wrong with it; `None` at the end.
fn next_line(lines: &mut impl BufRead) -> io::Result<Option<Result<String, CommandError>>> {
    let mut line = Vec::new();
    let most = LINE_MAX_BYTES as u64 + 1;
    if lines.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() > LINE_MAX_BYTES && line.last() != Some(&b'\n') {
        lines.skip_until(b'\n')?;
        let message = format!("a command has at most {LINE_MAX_BYTES} bytes");
        return Ok(Some(Err(CommandError::usage(message))));
    }
    Ok(Some(input::utf8(line, "the command")))
}

/// The command as names and values, one below the other.
fn words(command: &SlashCommand) -> String {
    let mut text = String::new();
    add_fields(&mut text, &serde_json::to_value(command).unwrap_or_default());
    text
}

fn add_fields(text: &mut String, fields: &Value) {
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => add_field(text, name, "yes"),
            Value::Number(number) => add_field(text, name, &number.to_string()),
            Value::String(value) => add_field(text, name, value),
            Value::Object(inner) => match inner.get("agoMs").and_then(Value::as_u64) {
                Some(ms) => add_field(text, name, &format!("{} ago", span::show_ms(ms))),
                None => add_fields(text, value),
            },
            Value::Array(settings) => {
                for setting in settings {
                    let key = setting.get("key").and_then(Value::as_str);
                    let value = setting.get("value").unwrap_or(&Value::Null);
                    add_field(text, "set", &format!("{} = {value}", key.unwrap_or_default()));
                }
            }
        }
    }
}

fn add_field(text: &mut String, name: &str, value: &str) {
    text.push_str(&page::hanging(&format!("{name:COLUMN$}"), value, COLUMN));
}
