//! Looking things up in the journal, without an engine.

use jiff::Timestamp;
use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::returns::told_to_parent;
use legation_core::text::shown;
use legation_core::time::Now;
use legation_core::tree::SubtaskNo;
use legation_engine::protocol::Wish;
use legation_engine::read::{Found, Reader, Sight};
use legation_runners::workspace::Spaces;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::reach::{Reach, unreadable};
use crate::show::figures::text;
use crate::show::tree::{self, Detail};

/// Ids that are told where a beginning fits several.
const MAX_TOLD: usize = 5;

/// A delegation in words: its tree, what came of it, and what to do next.
pub(crate) fn told(reach: &Reach, view: &Value) -> String {
    let shortened = view.get("shortened").and_then(Value::as_str);
    let shortened = shortened.map(|note| format!("{note}\n")).unwrap_or_default();
    tree::page(view, Detail::Words) + &tree::summary(view, reader(reach, view)) + &shortened
}

/// Who looks at a delegation.
fn reader(reach: &Reach, view: &Value) -> tree::Reader {
    if reach.is_attempt() {
        return tree::Reader::Attempt;
    }
    let id = text(view, "delegationId");
    // Where it cannot be known, saying how to apply it does no harm.
    let applied = |spaces: Spaces| spaces.is_applied(id).unwrap_or(false);
    let is_done = tree::has_changes(view)
        && Spaces::open(&reach.paths.project, &reach.paths.state).is_ok_and(applied);
    if is_done { tree::Reader::Done } else { tree::Reader::Person }
}

/// The time.
pub(crate) fn now() -> Now {
    Now(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0))
}

/// A delegation with its tree, by its id or the beginning of it.
pub(crate) async fn find(reach: &Reach, id: &str) -> Result<Found, CommandError> {
    let Some(reader) = reach.reader()? else {
        return Err(not_found(id).hint("nothing was delegated in this project yet"));
    };
    match reader.find(&DelegationId::new(id)).await {
        Ok(found) => Ok(found),
        Err(legation_engine::Error::NotFound(_)) => {
            let id = unique(&reader, id).await?;
            reader.find(&id).await.map_err(|error| unreadable(&error))
        }
        Err(error) => Err(unreadable(&error)),
    }
}

/// What there is to see of a delegation. An attempt may not read the journal; the engine shows
/// it what it has delegated itself.
pub(crate) async fn seen(reach: &Reach, id: &str, sight: Sight) -> Result<Value, CommandError> {
    if reach.has_token() {
        let delegation = DelegationId::new(id);
        return reach.told(Wish::Look { delegation, sight }).await;
    }
    let found = find(reach, id).await?;
    Ok(sight.of(&found.state, found.no, now()))
}

/// How a delegation stands. An attempt is told no more than fits into its context, unless it
/// asks for all of it.
pub(crate) async fn status(reach: &Reach, id: &str, full: bool) -> Result<Value, CommandError> {
    let view = seen(reach, id, Sight::Status).await?;
    Ok(if reach.has_token() && !full { told_to_parent(view) } else { view })
}

/// What an attempt has delegated itself, as the engine lists it: what is under way, then what
/// ended last.
pub(crate) async fn own(reach: &Reach) -> Result<Vec<Value>, CommandError> {
    let mut told = reach.told(Wish::List).await?;
    match told.get_mut("delegations").map(Value::take) {
        Some(Value::Array(entries)) => Ok(entries),
        Some(_) | None => Ok(Vec::new()),
    }
}

/// A subtask of a delegation. The end of a made id is enough to name it, as it is in what is
/// shown.
pub(crate) fn subtask(found: &Found, name: &str) -> Result<SubtaskNo, CommandError> {
    let state = &found.state;
    let delegation = &state.delegations[found.no];
    let all = || delegation.subtasks.iter().copied();
    let end = format!("-{name}");
    let exact = all().find(|no| state.subtasks[*no].id.as_str() == name);
    let mut ending = all().filter(|no| state.subtasks[*no].id.as_str().ends_with(&end));
    let unique = || ending.next().filter(|_| ending.next().is_none());
    exact.or_else(unique).ok_or_else(|| {
        let id = &delegation.id;
        let message = format!("there is no subtask {} in {id}", shown::quote(name));
        CommandError::failed(Code::Conflict, message)
            .hint(format!("`legation status {id}` lists its subtasks"))
            .details(json!({"missing": "subtask", "id": name}))
    })
}

/// The whole id of a delegation. An attempt may not read the journal and has to give all of it.
pub(crate) async fn resolve(reach: &Reach, id: &str) -> Result<DelegationId, CommandError> {
    if reach.is_attempt() {
        return Ok(DelegationId::new(id));
    }
    let found = find(reach, id).await?;
    Ok(found.state.delegations[found.no].id.clone())
}

async fn unique(reader: &Reader, start: &str) -> Result<DelegationId, CommandError> {
    let fits = if start.is_empty() {
        Vec::new()
    } else {
        let fits = reader.beginning_with(start, MAX_TOLD + 1).await;
        fits.map_err(|error| unreadable(&error))?
    };
    match fits.as_slice() {
        [] => Err(not_found(start).hint("`legation status --all` lists what there is")),
        [id] => Ok(DelegationId::new(id)),
        several => {
            let told: Vec<&str> = several.iter().take(MAX_TOLD).map(String::as_str).collect();
            let more = if several.len() > MAX_TOLD { " and more" } else { "" };
            let message = format!("several delegations begin with {}", shown::quote(start));
            Err(CommandError::failed(Code::Conflict, message)
                .hint(format!("give more of it: {}{more}", told.join(", ")))
                .details(json!({"id": start, "fits": told})))
        }
    }
}

fn not_found(id: &str) -> CommandError {
    let message = format!("there is no delegation {}", shown::quote(id));
    CommandError::failed(Code::Conflict, message)
        .details(json!({"missing": "delegation", "id": id}))
}
