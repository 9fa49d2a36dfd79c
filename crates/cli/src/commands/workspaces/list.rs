//! `legation workspaces list`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use legation_core::ids::DelegationId;
use serde_json::{Value, json};

use super::stock::{Entry, Stock, age, size};
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{clipped, tame, width};
use crate::reach::block_on;
use crate::show::figures::short;

pub(super) fn run(output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take()?;
    let (there, kept): (Vec<&Entry>, Vec<&Entry>) =
        stock.entries.iter().partition(|entry| entry.standing.is_some());
    let agents = agents(&stock)?;
    let agent = |entry: &Entry| agents.get(&entry.attempt).map(String::as_str);
    let values = |entries: &[&Entry]| -> Vec<Value> {
        entries.iter().map(|entry| entry.json(agent(entry))).collect()
    };
    let value = json!({"workspaces": values(&there), "kept": values(&kept)});
    output.answer(&value, || match stock.entries.as_slice() {
        [] => "No workspace is there, and no work is kept.\n".to_owned(),
        entries => entries.iter().map(|entry| line(entry, agent(entry))).collect(),
    });
    Ok(ExitCode::SUCCESS)
}

/// Who works where nothing was written down yet; the journal knows.
fn agents(stock: &Stock) -> Result<BTreeMap<String, String>, CommandError> {
    let unknown = stock.entries.iter().filter(|entry| entry.provenance().is_none());
    let trees: BTreeSet<&str> = unknown.map(Entry::tree).filter(|tree| !tree.is_empty()).collect();
    let mut agents = BTreeMap::new();
    let Some(reader) = stock.reach.reader()? else { return Ok(agents) };
    block_on(async {
        for tree in trees {
            // What the journal has forgotten, nobody knows.
            let Ok(found) = reader.find(&DelegationId::new(tree)).await else { continue };
            let attempts = found.state.attempts.iter();
            agents.extend(attempts.map(|(_, one)| (one.id.to_string(), one.agent.to_string())));
        }
        Ok(agents)
    })
}

/// One entry in two lines: what it is, and where.
fn line(entry: &Entry, agent: Option<&str>) -> String {
    let mut facts = vec![entry.attempt.clone()];
    facts.extend(Some(short(entry.subtask()).to_owned()).filter(|text| !text.is_empty()));
    let agent = agent.or_else(|| entry.provenance().map(|known| known.agent.as_str()));
    facts.extend(agent.filter(|agent| !agent.is_empty()).map(str::to_owned));
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
