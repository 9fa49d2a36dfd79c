//! `legation workspaces list`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::stock::{Entry, Stock, age, size};
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{clipped, tame, width};
use crate::show::figures::short;

pub(super) fn run(output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take()?;
    let (there, kept): (Vec<&Entry>, Vec<&Entry>) =
        stock.entries.iter().partition(|entry| entry.standing.is_some());
    let values = |entries: &[&Entry]| -> Vec<Value> {
        entries.iter().map(|entry| entry.json(None)).collect()
    };
    let value = json!({"workspaces": values(&there), "kept": values(&kept)});
    output.answer(&value, || match stock.entries.as_slice() {
        [] => "No workspace is there, and no work is kept.\n".to_owned(),
        entries => entries.iter().map(line).collect(),
    });
    Ok(ExitCode::SUCCESS)
}

/// One entry in two lines: what it is, and where.
fn line(entry: &Entry) -> String {
    let mut facts = vec![entry.attempt.clone()];
    facts.extend(Some(short(entry.subtask()).to_owned()).filter(|text| !text.is_empty()));
    let agent = entry.provenance().map(|known| known.agent.clone());
    facts.extend(agent.filter(|agent| !agent.is_empty()));
    facts.extend(entry.bytes().map(size));
    facts.push(age(entry.age_ms()));
    if entry.exempt() {
        facts.push("stays".to_owned());
    }
    let first = format!("{:<7} {}", entry.state_words(), facts.join(" · "));
    let place = match (&entry.standing, &entry.work) {
        (Some(standing), _) => standing.place.root.display().to_string(),
        (None, Some(work)) => work.reference.clone(),
        (None, None) => String::new(),
    };
    // A path that is cut is of no use to anybody.
    format!("{}\n        {}\n", clipped(&first, width()), tame(&place))
}
