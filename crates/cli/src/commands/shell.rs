//! `legation shell`.

mod session;

use std::io::{self, BufRead, IsTerminal as _, Read};
use std::process::ExitCode;

use legation_core::Code;
use legation_core::text::shown;
use legation_core::text::slash::{self, SlashCommand};
use legation_core::text::span;
use serde_json::{Value, json};

use self::session::Session;
use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::page;

/// The longest line that is read.
const LINE_MAX_BYTES: usize = 1024 * 1024;

/// Where values begin, behind their names.
const COLUMN: usize = 10;

/// Runs slash commands: /delegate, /direct and /delegation.
///
/// Without -c, one command per line from stdin; an answer per command, and a bad
/// line does not stop the others. What `/delegation config` sets holds until the end.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Say what a command means instead of running it.
    #[arg(long)]
    parse_only: bool,
    /// The command, for example '/delegate -p debate Compare the two plans'.
    #[arg(short = 'c', value_name = "COMMAND", allow_hyphen_values = true)]
    command: Option<String>,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let mut session = Session::default();
    let mut answer = |command: &SlashCommand, output: &mut Output| match args.parse_only {
        true => Ok(show(command, args.command.is_some(), output)),
        false => session.run(command.clone(), output),
    };
    match &args.command {
        Some(line) => answer(&parse(line)?, output),
        None => {
            if io::stdin().is_terminal() {
                output.note("A slash command a line, such as /delegation status. Ctrl-D ends it.");
            }
            output.several();
            each_line(io::stdin().lock(), output, answer)
        }
    }
}

/// Says what a command means.
fn show(command: &SlashCommand, is_alone: bool, output: &mut Output) -> ExitCode {
    if is_alone {
        output.answer(command, || words(command));
    } else {
        output.line(command, || shown::visible(&command.to_string()).into_owned());
    }
    ExitCode::SUCCESS
}

fn parse(line: &str) -> Result<SlashCommand, CommandError> {
    slash::parse(line).map_err(|problem| {
        CommandError::usage(problem.to_string()).hint(format!("usage: {}", problem.usage()))
    })
}

/// What is done with a command.
type Answer<'a> = dyn FnMut(&SlashCommand, &mut Output) -> Result<ExitCode, CommandError> + 'a;

/// Answers line by line; the first that does not go well decides the exit code.
fn each_line(
    mut lines: impl BufRead,
    output: &mut Output,
    mut answer: impl FnMut(&SlashCommand, &mut Output) -> Result<ExitCode, CommandError>,
) -> Result<ExitCode, CommandError> {
    let mut exit = ExitCode::SUCCESS;
    for number in 1_usize.. {
        let line = next_line(&mut lines).map_err(|problem| {
            CommandError::failed(Code::UnknownError, format!("cannot read stdin: {problem}"))
        })?;
        let Some(line) = line else { break };
        let done = line.and_then(|line| one_line(&line, output, &mut answer));
        let ended = done.unwrap_or_else(|error| {
            let ended = error.exit_code();
            report(&error.details(json!({"line": number})), number, output);
            ended
        });
        if exit == ExitCode::SUCCESS {
            exit = ended;
        }
    }
    Ok(exit)
}

fn one_line(
    line: &str,
    output: &mut Output,
    answer: &mut Answer<'_>,
) -> Result<ExitCode, CommandError> {
    match line.trim() {
        "" => Ok(ExitCode::SUCCESS),
        line => answer(&parse(line)?, output),
    }
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
