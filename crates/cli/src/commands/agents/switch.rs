//! `legation agents enable` and `legation agents disable`: the list `agents.disabled`.

use std::process::ExitCode;

use legation_core::config::KeyPath;
use legation_core::ids::AgentId;
use serde_json::{Value, json};

use super::catalogue::Catalogue;
use crate::commands::config::changeable;
use crate::config::{Edit, PROJECT_FILE, merged};
use crate::error::CommandError;
use crate::output::Output;

/// Where it is written down.
const KEY: [&str; 2] = ["agents", "disabled"];

#[derive(clap::Args)]
pub(super) struct Args {
    /// The agent's id.
    id: String,
}

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    On,
    Off,
}

pub(super) fn run(args: &Args, to: To, output: &mut Output) -> Result<ExitCode, CommandError> {
    let project = changeable()?;
    let catalogue = Catalogue::load(output)?;
    let (id, key) = (AgentId::new(&args.id), KeyPath::of(KEY));
    let effective = merged(&project.layers())?;
    let mut names = effective.config.agents.disabled;
    let is_off = names.contains(&args.id);
    // A name that is on the list can be taken off it, whether or not there is such an agent.
    if !is_off {
        catalogue.roster.resolve(None, &id)?;
    }
    let changed = is_off == (to == To::On);
    if changed {
        names.retain(|name| *name != args.id);
        if to == To::Off {
            names.push(args.id.clone());
        }
        let mut edit = Edit::open(&project)?;
        edit.set(&key, &Value::from(names))?;
        edit.save()?;
    }
    // A variable may be stronger than the file.
    let now = merged(&project.layers())?.config.agents.disabled;
    let enabled = !now.contains(&args.id);
    if enabled != (to == To::On) {
        output.note(&format!("warning: another layer is stronger than {PROJECT_FILE}; `legation config list --origin` shows which"));
    }
    let value = json!({"agent": id, "enabled": enabled, "changed": changed});
    output.answer(&value, || {
        let stands = if enabled { "enabled" } else { "disabled" };
        let note = if changed { "" } else { " (as before)" };
        format!("{id} is {stands}{note}")
    });
    Ok(ExitCode::SUCCESS)
}
