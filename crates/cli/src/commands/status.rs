//! `legation status`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use legation_core::ids::DelegationId;
use legation_core::text::shown::clip;
use legation_core::tree::view::{self, DelegationView, SubtaskView};
use legation_engine::client::engine_pid;
use legation_engine::protocol::Wish;
use legation_engine::read::{Delegation, Page, Reader, listed};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::listing;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on, unreadable};
use crate::show::figures::{approve, short};

/// Delegations that a list shows of each kind.
const MAX_LISTED: usize = 1_000;
/// Delegations whose progress a list shows; that takes reading their trees.
const MAX_READ: usize = 16;
/// Delegations that ended blocked and are listed with what is in their way.
const MAX_BLOCKED: usize = 20;
/// How many of those that ended blocked last are looked through for roots.
const MAX_LOOKED_AT: usize = 100;
/// How one ends that somebody has to move on.
const BLOCKED: &str = "blocked";
/// Characters that are told of what is in the way.
const MAX_WHY_CHARS: usize = 200;

/// Shows one delegation, or all that are under way.
///
/// Nothing is started for it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The delegation, or the beginning of its id.
    #[arg(conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Those that have ended, too.
    #[arg(long)]
    pub(crate) all: bool,
    /// All that was returned; an attempt is told 2 000 tokens of it without this.
    #[arg(long, requires = "id")]
    pub(crate) full: bool,
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    match &args.id {
        Some(id) => one(&reach, (id, args.full), output),
        None => several(&reach, args.all, output),
    }
}

fn one(
    reach: &Reach,
    (id, full): (&str, bool),
    output: &mut Output,
) -> Result<ExitCode, CommandError> {
    let view = block_on(look::status(reach, id, full))?;
    output.answer(&view, || look::told(reach, &view));
    Ok(ExitCode::SUCCESS)
}

fn several(reach: &Reach, all: bool, output: &mut Output) -> Result<ExitCode, CommandError> {
    if reach.has_token() {
        return own(reach, all, output);
    }
    let pid = engine_pid(&reach.paths);
    let reader = reach.reader()?;
    let is_first = reader.is_none();
    let entries = match reader {
        Some(reader) => block_on(entries(&reader, all))?,
        None => Vec::new(),
    };
    let value = json!({"engine": {"pid": pid}, "delegations": entries});
    output.answer(&value, || {
        let engine = match pid {
            Some(pid) => format!("The engine runs as process {pid}.\n"),
            None => "No engine is running.\n".to_owned(),
        };
        match entries.as_slice() {
            [] if all => format!("{engine}Nothing was delegated here yet.\n"),
            [] if is_first => format!("{engine}Nothing is under way.\n"),
            [] => format!("{engine}Nothing is under way. `--all` lists what has ended.\n"),
            entries => engine + &listing::page(entries),
        }
    });
    Ok(ExitCode::SUCCESS)
}

/// What an attempt has delegated itself.
fn own(reach: &Reach, all: bool, output: &mut Output) -> Result<ExitCode, CommandError> {
    let engine = block_on(reach.told(Wish::Ping))?;
    let mut entries = block_on(look::own(reach))?;
    entries.retain(|entry| all || entry.get("endedAt").is_none_or(Value::is_null));
    let value = json!({"engine": engine, "delegations": entries});
    output.answer(&value, || match entries.as_slice() {
        [] if all => "This attempt has delegated nothing yet.\n".to_owned(),
        [] => "Nothing of this attempt is under way. `--all` lists what has ended.\n".to_owned(),
        entries => listing::page(entries),
    });
    Ok(ExitCode::SUCCESS)
}

async fn entries(reader: &Reader, all: bool) -> Result<Vec<Value>, CommandError> {
    let active = reader.active(MAX_LISTED).await.map_err(|error| unreadable(&error))?;
    let mut known = read(reader, &active).await;
    let mut entries: Vec<Value> = Vec::with_capacity(active.len());
    for row in &active {
        let mut entry = listed(row);
        if let (Some(view), Some(entry)) = (known.remove(&row.id), entry.as_object_mut()) {
            entry.extend(standing(&view));
        }
        entries.push(entry);
    }
    if all {
        let past = reader.history(None, None, Page::first(MAX_LISTED)).await;
        let past = past.map_err(|error| unreadable(&error))?;
        entries.extend(with_blockers(reader, &past.delegations).await);
    } else {
        let page = Page::first(MAX_LOOKED_AT);
        let past = reader.history(Some(BLOCKED.to_owned()), None, page).await;
        let past = past.map_err(|error| unreadable(&error))?.delegations;
        let roots: Vec<Delegation> =
            past.into_iter().filter(|row| row.parent.is_none()).take(MAX_BLOCKED).collect();
        entries.extend(with_blockers(reader, &roots).await);
    }
    Ok(entries)
}

/// What has ended, the first few blocked roots with what is in their way.
async fn with_blockers(reader: &Reader, rows: &[Delegation]) -> Vec<Value> {
    let mut entries = Vec::with_capacity(rows.len());
    let mut read = 0;
    for row in rows {
        let mut entry = listed(row);
        if row.status == BLOCKED && row.parent.is_none() && read < MAX_BLOCKED {
            read += 1;
            let found = reader.find(&DelegationId::new(&row.id)).await;
            let waiting =
                found.map(|found| waiting(&view::status(&found.state, found.no, look::now())));
            // One that cannot be read shows less.
            if let (Ok(waiting), Some(entry)) = (waiting, entry.as_object_mut()) {
                entry.insert("waitingFor".to_owned(), json!(waiting));
            }
        }
        entries.push(entry);
    }
    entries
}

/// The trees of the first few. One that cannot be read shows less, and says why when it is
/// asked for by its id.
async fn read(reader: &Reader, rows: &[Delegation]) -> BTreeMap<String, DelegationView> {
    let mut views = BTreeMap::new();
    for row in rows.iter().filter(|row| row.parent.is_none()).take(MAX_READ) {
        if let Ok(found) = reader.find(&DelegationId::new(&row.id)).await {
            gather(view::status(&found.state, found.no, look::now()), &mut views);
        }
    }
    views
}

/// A delegation and all below it, each by its id.
fn gather(mut view: DelegationView, views: &mut BTreeMap<String, DelegationView>) {
    for below in view.subtasks.iter_mut().flat_map(|subtask| subtask.delegations.drain(..)) {
        gather(below, views);
    }
    views.insert(view.delegation_id.to_string(), view);
}

/// What only the tree knows.
fn standing(view: &DelegationView) -> Vec<(String, Value)> {
    let count = |status: &str| view.subtasks.iter().filter(|it| it.status == status).count();
    let mut standing = vec![
        ("status".to_owned(), json!(view.status)),
        ("progress".to_owned(), json!(view.progress)),
        ("agents".to_owned(), json!(count("running"))),
        ("elapsedTime".to_owned(), json!(view.metrics.elapsed_time)),
        ("waitingFor".to_owned(), json!(waiting(view))),
    ];
    if view.cancel_requested {
        standing.push(("cancelRequested".to_owned(), true.into()));
    }
    standing
}

/// What its subtasks wait for, in a sentence each.
fn waiting(view: &DelegationView) -> Vec<String> {
    let mut waiting = Vec::new();
    for subtask in &view.subtasks {
        let name = short(subtask.id.as_str());
        if let Some(wait) = &subtask.waits {
            let until = json!(wait.until);
            waiting.push(format!(
                "{name} until {}: {}",
                until.as_str().unwrap_or_default(),
                wait.why
            ));
        }
        let blockers: Vec<&str> = subtask.blocked_by.iter().map(|id| id.as_str()).collect();
        match subtask.status {
            "awaiting_approval" => {
                let answer = approve(view.delegation_id.as_str(), subtask.id.as_str());
                waiting.push(format!("{name} for an approval: {answer}"));
            }
            BLOCKED if blockers.is_empty() => match in_the_way(subtask) {
                Some(why) => waiting.push(format!("{name} is blocked: {why}")),
                None => waiting.push(format!("{name} is blocked")),
            },
            BLOCKED => waiting.push(format!("{name} for {}", blockers.join(", "))),
            _ => {}
        }
    }
    waiting
}

/// What is in the way of a subtask: what the runtime met, else what its agent says.
fn in_the_way(subtask: &SubtaskView) -> Option<String> {
    let met = subtask.error.as_ref().map(|trouble| &trouble.error);
    let said = subtask.answer.as_ref().and_then(|answer| answer.errors.first());
    let why = met.or(said)?.message.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(clip(&why, MAX_WHY_CHARS).into_owned())
}
