//! `legation parse`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use legation_core::text::delegate::{self, Parsed};
use legation_core::text::shown;
use legation_core::text::story::StoryId;

use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::page::block;

/// The most output of an agent that is read at once.
const INPUT_MAX_BYTES: usize = 16 * 1024 * 1024;

/// How much of a rejected entry a person needs to find it.
const REJECTED_SHOWN_CHARS: usize = 150;

const INDENT: usize = 2;

/// Finds the [delegate:description:hours] entries in a text.
///
/// Entries in code, in quoted lines and without an end are text. Bad entries
/// are listed with the reason; they are not an error.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The story whose agent wrote the text; entries are numbered under it.
    #[arg(long, default_value_t)]
    story: StoryId,
    /// The depth of the agent that wrote the text; entries are one deeper.
    #[arg(long, value_name = "N", default_value_t = 0)]
    depth: u16,
    /// The file to read, or - for stdin.
    file: PathBuf,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let Args { story, depth, file } = args;
    let text = input::read_text(&file, INPUT_MAX_BYTES)?;
    let parsed = delegate::parse(&text, &story, u32::from(depth));
    output.answer(&parsed, || words(&parsed));
    Ok(ExitCode::SUCCESS)
}

fn words(parsed: &Parsed) -> String {
    let mut text = match parsed.delegations.len() {
        0 => "No delegations.\n".to_owned(),
        1 => "1 delegation\n".to_owned(),
        count => format!("{count} delegations\n"),
    };
    // Writing to a `String` cannot fail.
    for entry in &parsed.delegations {
        let _ = write!(
            text,
            "\n{}  {} h, depth {}\n{}",
            entry.child_story_id,
            entry.estimated_hours,
            entry.depth,
            block(&entry.description, INDENT),
        );
    }
    if !parsed.rejected.is_empty() {
        let _ = write!(text, "\n{} rejected\n", parsed.rejected.len());
    }
    for entry in &parsed.rejected {
        let heading = format!("Line {}: {}", entry.line, entry.reason);
        let _ = write!(
            text,
            "\n{}{}",
            block(&heading, 0),
            block(&shown::clip(&entry.text, REJECTED_SHOWN_CHARS), INDENT),
        );
    }
    text
}
