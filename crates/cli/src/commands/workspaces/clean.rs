//! `legation workspaces clean`, and `legation clean`, which is the same.

use std::process::ExitCode;
use std::time::Duration;

use legation_runners::workspace::{Because, Limits, Surplus};
use serde_json::{Value, json};

use super::stock::{Stock, age, age_ms, over, size};
use crate::commands::diff::failed;
use crate::commands::values;
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{clipped, count, row, tame, width};

const BYTES_PER_MB: u64 = 1024 * 1024;
const SECONDS_PER_DAY: u64 = 86_400;
/// Days that can be asked for, as many as can be configured.
const MAX_DAYS: u64 = 36_500;

/// Clears away workspaces that nobody uses and that are too old or too much.
///
/// Work is kept before its workspace goes. Without --yes it only tells what would go.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Do it.
    #[arg(long)]
    yes: bool,
    /// Days after which something is old; `workspace.maxAgeDays` where nothing is said.
    #[arg(long, value_name = "DAYS", value_parser = days, allow_negative_numbers = true)]
    older_than: Option<u32>,
    /// Also old work that is kept and that your branch does not have. It is then lost.
    #[arg(long)]
    unapplied: bool,
}

fn days(text: &str) -> Result<u32, String> {
    values::whole(text, 0, MAX_DAYS)
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let stock = Stock::take_inside()?;
    let workspace = stock.reach.project.config(output)?.config.workspace;
    let days = args.older_than.unwrap_or(workspace.max_age_days);
    let limits = Limits {
        max_age: Duration::from_secs(u64::from(days) * SECONDS_PER_DAY),
        quota_bytes: workspace.quota_mb.saturating_mul(BYTES_PER_MB),
        unapplied: args.unapplied,
    };
    let surplus = surplus(&stock, limits)?;
    let mut goes = Vec::new();
    let mut stays = Vec::new();
    for (what, because) in surplus {
        let problem = if args.yes { stock.spaces.clear_away(&what).err() } else { None };
        match problem {
            None => goes.push((what, because)),
            Some(problem) => stays.push((what, problem.to_string())),
        }
    }
    let bytes = goes.iter().map(|(what, _)| weight(what)).fold(0, u64::saturating_add);
    let told: Vec<Value> = goes.iter().map(|(what, because)| entry(what, *because)).collect();
    let left: Vec<Value> = stays
        .iter()
        .map(|(what, problem)| json!({"name": name(what), "problem": problem}))
        .collect();
    if !stays.is_empty() && !output.wants_json() {
        for (what, problem) in &stays {
            output.note(row(&format!("{} stays: ", name(what)), &tame(problem)).trim_end());
        }
    }
    let value = json!({"removed": args.yes, "items": told, "bytes": bytes, "problems": left});
    output.answer(&value, || page(&goes, (bytes, stock.spaces.is_git()), args.yes));
    if stays.is_empty() { Ok(ExitCode::SUCCESS) } else { Ok(ExitCode::from(1)) }
}

/// What would go, with nothing in it of a tree that is not over.
fn surplus(stock: &Stock, limits: Limits) -> Result<Vec<(Surplus, Because)>, CommandError> {
    let all = stock.spaces.surplus(limits, |_| false).map_err(|problem| failed(&problem))?;
    let trees = all.iter().filter_map(|(what, _)| what.tree()).collect();
    let over = over(&stock.reach, trees)?;
    let surplus = stock.spaces.surplus(limits, |tree| !over.contains(tree));
    surplus.map_err(|problem| failed(&problem))
}

/// What it is called.
fn name(what: &Surplus) -> String {
    match what {
        Surplus::Workspace(standing) => standing.place.attempt.clone(),
        Surplus::Kept(work) => work.attempt.clone(),
        Surplus::Names(names) => names.delegation.clone(),
        Surplus::Spare(spare) => {
            let name = spare.path.file_name().unwrap_or_default().to_string_lossy();
            name.into_owned()
        }
    }
}

fn kind(what: &Surplus) -> &'static str {
    match what {
        Surplus::Workspace(_) => "workspace",
        Surplus::Kept(_) => "kept",
        Surplus::Spare(_) => "spare",
        Surplus::Names(_) => "result",
    }
}

fn weight(what: &Surplus) -> u64 {
    match what {
        Surplus::Workspace(standing) => standing.bytes,
        Surplus::Kept(work) => work.bytes.unwrap_or_default(),
        Surplus::Spare(spare) => spare.bytes,
        Surplus::Names(names) => names.bytes.unwrap_or_default(),
    }
}

fn since_ms(what: &Surplus) -> u64 {
    match what {
        Surplus::Workspace(standing) => age_ms(standing.since),
        Surplus::Kept(work) => age_ms(work.since),
        Surplus::Spare(spare) => age_ms(spare.since),
        Surplus::Names(names) => age_ms(names.since),
    }
}

fn entry(what: &Surplus, because: Because) -> Value {
    let because = match because {
        Because::Age => "age",
        Because::Quota => "quota",
    };
    let bytes = match what {
        Surplus::Kept(work) => work.bytes,
        Surplus::Names(names) => names.bytes,
        Surplus::Workspace(_) | Surplus::Spare(_) => Some(weight(what)),
    };
    json!({
        "kind": kind(what), "name": name(what), "because": because, "bytes": bytes,
        "ageMs": since_ms(what),
    })
}

fn page(goes: &[(Surplus, Because)], (bytes, is_git): (u64, bool), done: bool) -> String {
    if goes.is_empty() {
        return "Nothing is too old and nothing too much: there is nothing to clear away.\n"
            .to_owned();
    }
    let mut text = String::new();
    for (what, because) in goes {
        let what_it_is = match what {
            Surplus::Workspace(_) => "workspace",
            Surplus::Kept(work) if work.in_branch && is_git => "kept work that your branch has",
            Surplus::Kept(work) if work.in_branch => "kept work that your files have",
            Surplus::Kept(_) => "kept work",
            Surplus::Spare(_) => "spare copy",
            Surplus::Names(names) if names.in_branch && is_git => "result that your branch has",
            Surplus::Names(names) if names.in_branch => "copies that nothing needs",
            Surplus::Names(_) => "result",
        };
        let why = match because {
            Because::Age => "old",
            Because::Quota => "over the quota",
        };
        let ago = age(since_ms(what));
        let line = format!("{}  {what_it_is} · {ago} · {why}", name(what));
        text.push_str(&format!("{}\n", clipped(&line, width())));
    }
    let mut all = vec![count(goes.len(), "thing")];
    all.extend(Some(size(bytes)).filter(|_| bytes > 0));
    let all = all.join(" with ");
    text.push_str(&match done {
        true => format!("{all} cleared away\n"),
        false => format!("{all} would go; --yes does it\n"),
    });
    text
}
