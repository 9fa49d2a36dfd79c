//! Taking back what was installed. What its owner has changed since stays theirs.

use std::path::Path;
use std::process::ExitCode;

use super::change::{self, Change, Deed};
use super::entry::Entry;
use super::place::Place;
use super::record::Record;
use super::{Plan, Target};
use crate::error::CommandError;
use crate::output::Output;

pub(in crate::commands) fn run(
    target: &Target,
    yes: bool,
    output: &mut Output,
) -> Result<ExitCode, CommandError> {
    let place = target.place()?;
    let mut record = Record::read(&place.record)?;
    let mut notes = Vec::new();
    let mut changes = vec![settings(&place, &mut record, &mut notes)?];
    for (path, text) in &place.commands {
        changes.push(command(path, text, &mut record, &mut notes)?);
    }
    changes.retain(|change| change.before != change.after);
    Plan { place: &place, changes, notes, deed: Deed::Uninstall }.carry_out(yes, record, output)
}

/// The settings file without our entry.
fn settings(
    place: &Place,
    record: &mut Record,
    notes: &mut Vec<String>,
) -> Result<Change, CommandError> {
    let path = place.settings.clone();
    let before = change::read(&path)?;
    let entry = Entry::of(place.program, &place.binary);
    let after = before.as_deref().and_then(|text| without(text, &path, &entry, record));
    let stays = before.as_deref().is_some_and(|text| after.is_none() && !entry.is_absent(text));
    if stays {
        notes.push(format!("the entry in {} was changed since and stays", path.display()));
    }
    // A text that comes to nothing is a file that was made for the entry alone.
    let after = match after {
        Some(text) => text,
        None => before.clone(),
    };
    record.forget(&path);
    Ok(Change { path, before, after })
}

/// The text without our entry, or no file at all; nothing where it cannot be told apart.
fn without(text: &str, path: &Path, entry: &Entry, record: &Record) -> Option<Option<String>> {
    if let Some(splice) = record.splice(path)
        && let Some(undone) = splice.undone(text).filter(|undone| entry.is_absent(undone))
    {
        let is_made = !splice.was_there && undone.trim().is_empty();
        return Some(Some(undone).filter(|_| !is_made));
    }
    if !entry.looks_ours(text)? {
        return None;
    }
    if text == entry.alone() {
        return Some(None);
    }
    let splice = record.splice(path);
    let with_section = splice.is_some_and(|splice| entry.has_section(splice.piece()));
    entry.take_out(text, with_section).map(Some)
}

/// A command's file, gone if it is still ours.
fn command(
    path: &Path,
    text: &str,
    record: &mut Record,
    notes: &mut Vec<String>,
) -> Result<Change, CommandError> {
    let before = change::read(path)?;
    let splice = record.splice(path);
    let is_ours = before.as_deref().is_some_and(|there| {
        there == text || splice.is_some_and(|splice| splice.is_as_left(there))
    });
    if before.is_some() && !is_ours && splice.is_some() {
        notes.push(format!("{} was changed since and stays", path.display()));
    }
    let after = before.clone().filter(|_| !is_ours);
    record.forget(path);
    Ok(Change { path: path.to_owned(), before, after })
}
