//! `legation history`.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use legation_core::text::slash::{Since, StatusFilter};
use legation_core::time::Now;
use legation_core::tree::view::Stamp;
use legation_engine::read::{Delegation, MAX_PAGE, Page, Reader, listed};
use serde_json::{Value, json};

use crate::commands::values;
use crate::error::CommandError;
use crate::listing;
use crate::look;
use crate::output::Output;
use crate::reach::{Reach, block_on, unreadable};
use crate::show::figures::text;

/// Delegations that are listed where nothing else is said.
const USUAL_LIMIT: u32 = 20;
/// Delegations that are listed at most.
const MAX_LIMIT: u64 = 10_000;

/// Lists what was delegated, what ended last first.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// At most so many, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = USUAL_LIMIT, value_parser = limit, allow_negative_numbers = true)]
    pub(crate) limit: u32,
    /// Only those that stand so: completed, partial, failed, blocked, cancelled, pending,
    /// running, paused or all.
    #[arg(long, value_name = "STATUS", value_parser = values::named::<StatusFilter>)]
    pub(crate) status: Option<StatusFilter>,
    /// Only those that ended since then: a span such as 2h or 7d, or a date.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<Since>,
}

fn limit(text: &str) -> Result<u32, String> {
    values::whole(text, 1, MAX_LIMIT)
}

impl Args {
    /// As a slash command says it.
    pub(crate) fn new(
        limit: Option<u32>,
        status: Option<StatusFilter>,
        since: Option<Since>,
    ) -> Self {
        Self { limit: limit.unwrap_or(USUAL_LIMIT), status, since }
    }
}

pub(crate) fn run(args: &Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    let reach = Reach::current()?;
    let since = args.since.as_ref().map(moment).transpose()?;
    let (entries, total) = if reach.has_token() {
        block_on(own(&reach, args, since))?
    } else {
        let (rows, total) = match reach.reader()? {
            Some(reader) => block_on(read(&reader, args, since))?,
            None => (Vec::new(), 0),
        };
        (rows.iter().map(listed).collect(), total)
    };
    let value = json!({"delegations": entries, "pagination": {"page": 1, "total": total}});
    output.answer(&value, || match entries.len() {
        0 => "Nothing fits.\n".to_owned(),
        listed if (listed as u64) < total => {
            format!("{}{listed} of {total}; --limit shows more\n", listing::page(&entries))
        }
        _ => listing::page(&entries),
    });
    Ok(ExitCode::SUCCESS)
}

/// What an attempt has delegated itself, as far as it fits.
async fn own(
    reach: &Reach,
    args: &Args,
    since: Option<Now>,
) -> Result<(Vec<Value>, u64), CommandError> {
    let wanted = args.status.filter(|status| *status != StatusFilter::All);
    let wanted = wanted.and_then(|status| serde_json::to_value(status).ok());
    let since = since.map(|at| Stamp(at).to_string());
    let mut entries = look::own(reach).await?;
    entries.retain(|entry| {
        let (status, ended) = (entry.get("status"), text(entry, "endedAt"));
        let stands_so = wanted.as_ref().map_or(!ended.is_empty(), |wanted| status == Some(wanted));
        let at = if ended.is_empty() { text(entry, "acceptedAt") } else { ended };
        // Stamps sort as text.
        stands_so && since.as_deref().is_none_or(|since| at >= since)
    });
    let total = entries.len() as u64;
    entries.truncate(usize::try_from(args.limit).unwrap_or(MAX_PAGE));
    Ok((entries, total))
}

async fn read(
    reader: &Reader,
    args: &Args,
    since: Option<Now>,
) -> Result<(Vec<Delegation>, u64), CommandError> {
    let limit = usize::try_from(args.limit).unwrap_or(MAX_PAGE);
    let ended = |status: &str| Some(status.to_owned());
    let status = match args.status {
        None | Some(StatusFilter::All) => None,
        Some(StatusFilter::Completed) => ended("completed"),
        Some(StatusFilter::Partial) => ended("partial"),
        Some(StatusFilter::Failed) => ended("failed"),
        Some(StatusFilter::Blocked) => ended("blocked"),
        Some(StatusFilter::Cancelled) => ended("cancelled"),
        Some(StatusFilter::Pending) => return active(reader, "pending", (limit, since)).await,
        Some(StatusFilter::Running) => return active(reader, "running", (limit, since)).await,
        Some(StatusFilter::Paused) => return active(reader, "paused", (limit, since)).await,
    };
    let page = reader.history(status, since, Page::first(limit)).await;
    let page = page.map_err(|error| unreadable(&error))?;
    Ok((page.delegations, page.total))
}

/// Those under way that stand so, accepted since then.
async fn active(
    reader: &Reader,
    status: &str,
    (limit, since): (usize, Option<Now>),
) -> Result<(Vec<Delegation>, u64), CommandError> {
    let mut rows = reader.active(MAX_PAGE).await.map_err(|error| unreadable(&error))?;
    let since = since.map_or(0, |since| i64::try_from(since.0).unwrap_or(i64::MAX));
    rows.retain(|row| row.status == status && row.accepted_at >= since);
    let total = rows.len() as u64;
    rows.truncate(limit);
    Ok((rows, total))
}

/// The instant that is meant; a date without an offset is one in UTC.
fn moment(since: &Since) -> Result<Now, CommandError> {
    match since {
        Since::AgoMs(ms) => Ok(Now(look::now().0.saturating_sub(*ms))),
        Since::At(text) => {
            let exact = text.parse::<Timestamp>().ok();
            let plain = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
            let at = exact.or_else(|| plain().map(|zoned| zoned.timestamp()));
            let at = at.and_then(|at| u64::try_from(at.as_millisecond()).ok()).map(Now);
            at.ok_or_else(|| {
                CommandError::usage(format!("--since {text} is out of reach"))
                    .hint("give a date after 1970")
            })
        }
    }
}
