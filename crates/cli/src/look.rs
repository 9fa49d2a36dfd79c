//! Looking things up in the journal, without an engine.

use jiff::Timestamp;
use legation_core::Code;
use legation_core::ids::DelegationId;
use legation_core::text::shown;
use legation_core::time::Now;
use legation_engine::read::{Found, Reader};
use serde_json::json;

use crate::error::CommandError;
use crate::reach::{Reach, unreadable};

/// Ids that are told where a beginning fits several.
const MAX_TOLD: usize = 5;

/// The time.
pub(crate) fn now() -> Now {
    Now(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0))
}

/// A delegation with its tree, by its id or the beginning of it.
pub(crate) async fn find(reach: &Reach, text: &str) -> Result<Found, CommandError> {
    let Some(reader) = reach.reader()? else {
        return Err(not_found(text).hint("nothing was delegated in this project yet"));
    };
    match reader.find(&DelegationId::new(text)).await {
        Ok(found) => Ok(found),
        Err(legation_engine::Error::NotFound(_)) => {
            let id = unique(&reader, text).await?;
            reader.find(&id).await.map_err(|error| unreadable(&error))
        }
        Err(error) => Err(unreadable(&error)),
    }
}

/// The whole id of a delegation. An attempt may not read the journal and has to give all of it.
pub(crate) async fn resolve(reach: &Reach, text: &str) -> Result<DelegationId, CommandError> {
    if reach.is_attempt() {
        return Ok(DelegationId::new(text));
    }
    let found = find(reach, text).await?;
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
