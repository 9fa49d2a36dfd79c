//! `legation workspaces show`.

use std::process::ExitCode;

use legation_core::ids::{AttemptId, DelegationId};
use legation_core::money::Usd;
use serde_json::{Value, json};

use super::stock::{Entry, Stock, age, size};
use crate::commands::diff::failed;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{count, row, tame};
use crate::reach::{Reach, block_on, unreadable};
use crate::show::figures::dollars;

/// Columns of a heading at the left.
const HEAD: usize = 14;
/// Files that are named on a screen.
const MAX_NAMED: usize = 20;

#[derive(clap::Args)]
pub(super) struct Args {
    /// The attempt, or the beginning of its id; or its delegation, if it has but one.
    id: String,
}

/// What the journal knows of an attempt.
#[derive(Default)]
struct Known {
    agent: Option<String>,
    session: Option<String>,
    cost: Option<Usd>,
    title: Option<String>,
    status: Option<&'static str>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take_inside()?;
    let entry = stock.find(&args.id)?;
    let known = known(&stock.reach, entry)?;
    let files = match (&entry.work, &entry.standing) {
        (Some(work), _) => stock.spaces.work_files(work),
        (None, Some(standing)) => stock.spaces.look(&standing.place).map(|seen| seen.files_changed),
        (None, None) => Ok(Vec::new()),
    };
    let files = files.map_err(|problem| failed(&problem))?;
    let mut value = entry.json(known.agent.as_deref());
    let noted = entry.provenance().map(|noted| noted.session.clone());
    let cost = known.cost.or_else(|| entry.provenance()?.cost);
    let session = known.session.clone().or(noted).filter(|session| !session.is_empty());
    if let Some(object) = value.as_object_mut() {
        let more = json!({
            "session": session, "estimatedCost": cost, "title": known.title,
            "status": known.status, "files": files,
            "commit": entry.work.as_ref().map(|work| work.commit.as_str()),
            "base": base(entry),
        });
        object.extend(more.as_object().cloned().unwrap_or_default());
    }
    output.answer(&value, || page(entry, &value, &files));
    Ok(ExitCode::SUCCESS)
}

fn base(entry: &Entry) -> Option<&str> {
    let place = entry.standing.as_ref().map(|standing| standing.place.base.as_str());
    place.or_else(|| entry.provenance().map(|known| known.base.as_str()))
}

/// What the journal says; nothing where it has forgotten.
fn known(reach: &Reach, entry: &Entry) -> Result<Known, CommandError> {
    let Some(reader) = reach.reader()? else { return Ok(Known::default()) };
    let found = block_on(async {
        match reader.find(&DelegationId::new(entry.tree())).await {
            Ok(found) => Ok(Some(found)),
            Err(legation_engine::Error::NotFound(_)) => Ok(None),
            Err(error) => Err(unreadable(&error)),
        }
    })?;
    let Some(state) = found.map(|found| found.state) else { return Ok(Known::default()) };
    let no = state.find_attempt(&AttemptId::new(&entry.attempt));
    Ok(no.map_or_else(Known::default, |no| {
        let attempt = &state.attempts[no];
        Known {
            agent: Some(attempt.agent.to_string()),
            session: Some(attempt.session.to_string()),
            cost: attempt.cost,
            title: Some(state.subtasks[attempt.subtask].title.clone()),
            status: Some(state.status(attempt.subtask)),
        }
    }))
}

fn page(entry: &Entry, value: &Value, files: &[String]) -> String {
    let fact = |head: &str, text: &str| match text {
        "" => String::new(),
        text => row(&format!("  {head:<HEAD$}"), &tame(text)),
    };
    let told = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let stays = if entry.exempt() { ", stays whatever its age" } else { "" };
    let mut text =
        format!("{} · {}, {}{stays}\n", entry.attempt, entry.state_words(), age(entry.age_ms()));
    text.push_str(&fact("delegation", entry.delegation()));
    text.push_str(&fact("subtask", entry.subtask()));
    text.push_str(&fact("title", &told("title")));
    text.push_str(&fact("agent", &told("agent")));
    text.push_str(&fact("session", &told("session")));
    let spent = value.get("estimatedCost").and_then(Value::as_f64);
    text.push_str(&fact("cost", &spent.map_or_else(|| "unknown".to_owned(), dollars)));
    text.push_str(&fact("workspace", &told("path")));
    text.push_str(&fact("size", &entry.bytes().map(size).unwrap_or_default()));
    text.push_str(&fact("kept as", &told("ref")));
    text.push_str(&beside(entry));
    if entry.work.as_ref().is_some_and(|work| work.in_branch) {
        text.push_str(&fact("in branch", "yes, your branch has it"));
    }
    text.push_str(&fact("changed", &count(files.len(), "file")));
    for file in files.iter().take(MAX_NAMED) {
        text.push_str(&format!("    {}\n", tame(file)));
    }
    if files.len() > MAX_NAMED {
        text.push_str(&format!("    and {} more\n", files.len() - MAX_NAMED));
    }
    text.push_str(&format!("{}\n", next(entry)));
    text
}

/// Its other branches, tags and stashes, by the names that git knows them by.
fn beside(entry: &Entry) -> String {
    let names = entry.beside();
    let more = names.len().saturating_sub(MAX_NAMED);
    let shown = names.iter().take(MAX_NAMED).enumerate().map(|(at, name)| {
        let head = if at == 0 { "and beside it" } else { "" };
        row(&format!("  {head:<HEAD$}"), &tame(name))
    });
    let rest = if more == 0 { String::new() } else { format!("    and {more} more\n") };
    shown.chain([rest]).collect()
}

/// What could be done with it.
fn next(entry: &Entry) -> String {
    let id = &entry.attempt;
    match (&entry.standing, &entry.work) {
        (Some(_), _) => format!("Next: legation workspaces shell {id}"),
        (None, _) => format!("Next: legation workspaces restore {id} [DIR]"),
    }
}
