//! What happened, one line each, for those who read along in a pipe.

use legation_core::returns::Tokens;
use legation_engine::news::{News, Run, What};

use super::figures::{dollars, short, time, tokens};
use crate::page::tame;

/// What happened, in a line.
pub(crate) fn line(news: &News) -> String {
    let (word, rest) = words(&news.what);
    tame(format!("{} {} {word:<9} {rest}", news.timestamp, news.delegation).trim_end())
}

fn words(what: &What) -> (&str, String) {
    match what {
        What::Accepted { title, pattern, subtasks, .. } => {
            let pattern = serde_json::to_value(pattern).unwrap_or_default();
            let pattern = pattern.as_str().unwrap_or_default();
            let many = if *subtasks == 1 { "" } else { "s" };
            ("accepted", format!("{title} ({pattern}, {subtasks} subtask{many})"))
        }
        What::Grew { subtasks } => {
            let ids: Vec<&str> = subtasks.iter().map(|id| id.as_str()).collect();
            ("grew", ids.join(", "))
        }
        What::Started(run) => ("started", format!("{} {}", who(run), run.title)),
        What::Progress { run, current, total, last_action } => {
            ("progress", format!("{} {current}/{total} {last_action}", who(run)))
        }
        What::Used { run, tokens, cost_usd } => {
            let mut facts = vec![who(run), spent(*tokens)];
            facts.extend(cost_usd.map(|cost| dollars(cost.dollars())));
            ("used", facts.join(" "))
        }
        What::Ended { run, status, summary, duration_ms, tokens, cost_usd, .. } => {
            let mut facts = vec![who(run), time(*duration_ms)];
            facts.extend(tokens.map(spent));
            facts.extend(cost_usd.map(|cost| dollars(cost.dollars())));
            (status, format!("{}: {summary}", facts.join(" ")))
        }
        What::Asked { run, what } => ("asks", format!("{} {what}", who(run))),
        What::Retried { subtask, why } => ("retry", format!("{}: {why}", short(subtask.as_str()))),
        What::Merged { subtask, clean: true, .. } => ("merged", short(subtask.as_str()).to_owned()),
        What::Merged { subtask, clean: false, detail } => {
            ("unmerged", format!("{}: {detail}", short(subtask.as_str())))
        }
        What::SubtaskEnded { subtask, status } => {
            ("ended", format!("{} {status}", short(subtask.as_str())))
        }
        What::Paused { reason } => ("paused", reason.clone()),
        What::Resumed => ("resumed", String::new()),
        What::CancelRequested { by, reason } if reason.is_empty() => ("cancel", format!("by {by}")),
        What::CancelRequested { by, reason } => ("cancel", format!("by {by}: {reason}")),
        What::LeftBehind { detail } => ("left", detail.clone()),
        What::Finished { status, summary, duration_ms, .. } => {
            ("finished", format!("{status} after {}: {summary}", time(*duration_ms)))
        }
    }
}

fn who(run: &Run) -> String {
    format!("{} [{}]", short(run.subtask.as_str()), run.agent)
}

/// Tokens that count.
pub(super) fn spent(used: Tokens) -> String {
    tokens(used.counted())
}
