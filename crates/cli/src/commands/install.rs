//! `legation install`: puts the tools of agents, and a few commands, into the settings of a
//! vendor's program. What is changed is shown first and written down, so that
//! `legation uninstall` can take back exactly that.

mod change;
mod dialect;
mod entry;
mod in_json;
mod in_toml;
mod lines;
mod place;
mod program;
mod record;
pub(super) mod remove;
mod splice;
mod words;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

use legation_core::Code;
use serde_json::{Value, json};

use self::change::{Change, Deed};
use self::entry::Entry;
use self::place::{Place, Scope};
use self::program::Program;
use self::record::Record;
use self::splice::Splice;
use crate::error::CommandError;
use crate::input;
use crate::output::Output;
use crate::reach::Reach;

/// Gives a vendor's agent program the tools of Legation.
///
/// Shows what it changes and asks. `legation uninstall` takes it back.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

/// Which program, and for whom.
#[derive(clap::Args)]
pub(crate) struct Target {
    /// The program.
    #[arg(value_enum)]
    program: Program,
    /// For all projects of this user, instead of this project.
    #[arg(long)]
    user: bool,
}

impl Target {
    fn place(&self) -> Result<Place, CommandError> {
        let denied = "an attempt cannot change its user's settings";
        let reach = Reach::from_outside(denied, "leave that to the user")?;
        let scope = if self.user { Scope::User } else { Scope::Project };
        Place::of(self.program, scope, &reach)
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let place = args.target.place()?;
    let mut record = Record::read(&place.record)?;
    let mut notes = Vec::new();
    let mut changes = vec![settings(&place, &mut record)?];
    for (path, text) in &place.commands {
        changes.push(command(path, text, &mut record, &mut notes)?);
    }
    changes.retain(|change| change.before != change.after);
    notes.extend(place.program.notes(place.scope).iter().map(|note| (*note).to_owned()));
    let plan = Plan { place: &place, changes, notes, deed: Deed::Install };
    plan.carry_out(args.yes, record, output)
}

/// The settings file with our entry in it.
fn settings(place: &Place, record: &mut Record) -> Result<Change, CommandError> {
    let path = &place.settings;
    let before = change::read(path)?;
    let entry = Entry::of(place.program, &place.binary);
    // What an earlier release has put there goes first, so that what was there before
    // that is what comes back at the end.
    let bare = match (&before, record.splice(path)) {
        (Some(text), Some(splice)) => splice.undone(text).filter(|bare| entry.is_absent(bare)),
        (Some(_) | None, _) => None,
    };
    if before.as_deref().is_some_and(|text| entry.is_in(text)) {
        return Ok(Change { path: path.clone(), after: before.clone(), before });
    }
    let base = bare.or_else(|| before.clone()).unwrap_or_default();
    let after = entry.put(&base).map_err(|reason| by_hand(place, &entry, &reason))?;
    let was_there = record.splice(path).map_or(before.is_some(), |splice| splice.was_there);
    record.keep(path, Splice::between(&base, &after, was_there));
    Ok(Change { path: path.clone(), before, after: Some(after) })
}

/// A command's file. One that somebody else has written stays.
fn command(
    path: &Path,
    text: &str,
    record: &mut Record,
    notes: &mut Vec<String>,
) -> Result<Change, CommandError> {
    let before = change::read(path)?;
    let is_ours = match (&before, record.splice(path)) {
        (None, _) => true,
        (Some(there), _) if there == text => true,
        (Some(there), Some(splice)) => splice.is_as_left(there),
        (Some(_), None) => false,
    };
    let after = if is_ours { Some(text.to_owned()) } else { before.clone() };
    if !is_ours {
        notes.push(format!("{} is there already and stays as it is", path.display()));
    } else if before.as_deref() != Some(text) {
        record.keep(path, Splice::between("", text, false));
    }
    Ok(Change { path: path.to_owned(), before, after })
}

/// What is to be done, and all there is to say about it.
struct Plan<'a> {
    place: &'a Place,
    changes: Vec<Change>,
    notes: Vec<String>,
    deed: Deed,
}

impl Plan<'_> {
    /// Shows it, asks, and does it.
    fn carry_out(
        self,
        yes: bool,
        mut record: Record,
        output: &mut Output,
    ) -> Result<ExitCode, CommandError> {
        let is_asked = !yes && !self.changes.is_empty();
        if !output.wants_json() {
            for change in &self.changes {
                output.line(&Value::Null, || change.shown());
            }
        }
        let applied = !self.changes.is_empty() && (!is_asked || confirmed(output));
        if applied {
            for change in &self.changes {
                change.carry_out(&mut record)?;
            }
            record.write(&self.place.record)?;
        }
        output.answer(&self.to_json(applied), || self.words(applied));
        Ok(ExitCode::SUCCESS)
    }

    fn to_json(&self, applied: bool) -> Value {
        let files: Vec<Value> = self.changes.iter().map(Change::to_json).collect();
        json!({
            "program": self.place.program.name(), "scope": self.place.scope.name(),
            "applied": applied, "files": files, "notes": self.notes,
        })
    }

    fn words(&self, applied: bool) -> String {
        let mut text = match (self.changes.is_empty(), applied) {
            (true, _) => "There is nothing to change.\n".to_owned(),
            (false, false) => "Nothing was changed; --yes does it without asking.\n".to_owned(),
            (false, true) => self.deed.done(self.place.program.title()),
        };
        for note in &self.notes {
            text.push_str(&format!("  {note}\n"));
        }
        text
    }
}

/// Asks whoever sits at the terminal; nobody there is no yes.
fn confirmed(output: &mut Output) -> bool {
    if !io::stdin().is_terminal() || output.wants_json() {
        return false;
    }
    output.note("Go on? [y/N]");
    input::is_yes()
}

/// What we cannot change without spoiling it is left to its owner.
fn by_hand(place: &Place, entry: &Entry, reason: &str) -> CommandError {
    let path = place.settings.display();
    CommandError::failed(Code::Conflict, format!("{path} {reason}; it stays as it is"))
        .hint(format!("put this into it by hand:\n{}", entry.snippet()))
        .details(json!({"file": place.settings, "snippet": entry.snippet()}))
}
