//! The properties, as questions about a state and a log. They change neither.

use std::collections::{BTreeMap, BTreeSet};

use legation_core::money::Usd;
use legation_core::tree::event::{Body, Event, MergeOutcome, Outcome};
use legation_core::tree::state::{Phase, Step};
use legation_core::tree::{AttemptNo, Effect, State, owed, replay};

use crate::child::{MOST_MILLIS, MOST_TOKENS};

/// A property that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{property}: {detail}")]
pub struct Broken {
    property: &'static str,
    detail: String,
}

impl Broken {
    /// Which property.
    pub fn property(&self) -> &'static str {
        self.property
    }

    pub(crate) fn new(property: &'static str, detail: impl Into<String>) -> Self {
        Self { property, detail: detail.into() }
    }
}

fn hold(
    holds: bool,
    property: &'static str,
    detail: impl FnOnce() -> String,
) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken::new(property, detail())) }
}

/// What must hold at every moment.
pub fn always(state: &State) -> Result<(), Broken> {
    ledger(state)?;
    slots(state)?;
    lineage(state)?;
    live(state)?;
    resolvers(state)?;
    let paused_start = owed(state).into_iter().find(|effect| {
        let Effect::Start(subtask) = effect else { return false };
        let delegation = state.subtasks[*subtask].delegation;
        state.is_paused(delegation) || state.is_cancelled(delegation)
    });
    hold(paused_start.is_none(), "a paused or cancelled tree owes nothing new", || {
        format!("{paused_start:?}")
    })
}

fn ledger(state: &State) -> Result<(), Broken> {
    for (no, account) in state.ledger.accounts().iter().enumerate() {
        let committed = account.settled() + account.reserved;
        hold(
            !committed.exceeds(account.ceiling),
            "reserved + settled never exceed a bound",
            || format!("account {no}: {account:?}"),
        )?;
    }
    let Some(tree) = state.ledger.accounts().first() else {
        return Ok(());
    };
    let tokens: u64 =
        state.attempts.iter().map(|(_, a)| a.tokens.map_or(0, |tokens| tokens.counted())).sum();
    let cost: Usd = state.attempts.iter().filter_map(|(_, a)| a.cost).sum();
    hold(
        tree.used.tokens == tokens && tree.used.cost == cost,
        "costs add up to the ledger",
        || format!("ledger {:?}, attempts {tokens} tokens and {cost:?}", tree.used),
    )?;
    // An attempt is stopped by the report that crosses. A crash may swallow one report before
    // it, and its last words may add one more.
    let attempts = state.attempts.len() as u64;
    let in_flight = attempts.saturating_mul(3 * MOST_TOKENS);
    let in_flight_usd = Usd::from_nanos(attempts * 3 * MOST_MILLIS * 1_000_000);
    let excess = tree.excess();
    let fits = excess.tokens <= in_flight && excess.cost <= in_flight_usd;
    hold(fits, "overrun is only what was in flight", || format!("{excess:?}"))?;
    for (no, attempt) in state.attempts.iter() {
        let account = state.ledger.get(state.subtasks[attempt.subtask].account);
        let over = account.used.exceeds(account.ceiling) && account.open;
        let own = attempt.tokens.is_some() || attempt.cost.is_some();
        let quiet = attempt.ended() || attempt.stop.is_some() || attempt.open_children > 0;
        let children = !attempt.children.is_empty();
        hold(!over || !own || quiet || children, "an attempt over its ceiling is stopped", || {
            format!("{no:?} {account:?}")
        })?;
    }
    Ok(())
}

fn slots(state: &State) -> Result<(), Broken> {
    for (no, delegation) in state.delegations.iter() {
        let held = delegation.subtasks.iter().flat_map(|s| &state.subtasks[*s].attempts);
        let held = held.filter(|a| state.attempts[**a].slot).count();
        let right = held == delegation.slots as usize && delegation.slots <= delegation.width;
        hold(right, "width is held", || {
            format!("{no:?}: {held} held, {} booked", delegation.slots)
        })?;
    }
    for (no, attempt) in state.attempts.iter() {
        let waits = matches!(attempt.step, Step::Awaiting | Step::Asking(_) | Step::Ended);
        hold(!(waits && attempt.slot), "who waits gives its slot back", || format!("{no:?}"))?;
        let most = state.subtasks[attempt.subtask].habits.max_concurrent.unwrap_or(u32::MAX);
        let within = attempt.child_slots <= most || attempt.ended();
        hold(within, "an agent's own width is held", || format!("{no:?}"))?;
    }
    Ok(())
}

fn lineage(state: &State) -> Result<(), Broken> {
    let Some(settings) = &state.settings else {
        return Ok(());
    };
    let limits = &settings.limits;
    let count = state.count <= u64::from(limits.max_agents_per_tree);
    hold(count, "the tree's count is bounded", || format!("{} in {limits:?}", state.count))?;
    for (no, attempt) in state.attempts.iter() {
        hold(attempt.depth <= limits.max_depth, "depth is bounded", || format!("{no:?}"))?;
        // A retry with another agent brings that agent's habits.
        let subtask = &state.subtasks[attempt.subtask];
        let recursive = subtask.habits.recursive || subtask.agent != attempt.agent;
        let above = attempt.path.len().saturating_sub(1);
        let recurs = attempt.path.iter().take(above).skip(1).any(|step| *step == attempt.agent);
        hold(!recurs || recursive, "no cycle", || format!("{:?}", attempt.path))?;
        let parent = state.delegations[state.delegation_of(no)].parent;
        let parent = parent.map(|parent| &state.attempts[parent]);
        let stopped = parent.is_some_and(|p| p.clock_stopped.is_some());
        let later = parent.is_some_and(|parent| attempt.deadline > parent.deadline);
        let open = !attempt.ended() && !stopped;
        hold(!(later && open), "no deadline is later than the parent's", || format!("{no:?}"))?;
    }
    Ok(())
}

fn live(state: &State) -> Result<(), Broken> {
    for (no, delegation) in state.delegations.iter() {
        let live = delegation.subtasks.iter().filter(|s| state.subtasks[**s].is_live()).count();
        hold(live == delegation.live as usize, "live subtasks are counted right", || {
            format!("{no:?}: {live} live, {} booked", delegation.live)
        })?;
        for subtask_no in &delegation.subtasks {
            let subtask = &state.subtasks[*subtask_no];
            let unmet = |n: &&legation_core::tree::SubtaskNo| {
                !state.subtasks[**n].outcome().is_some_and(|o| o.lets_on())
            };
            let unmet = subtask.needs.iter().filter(unmet).count();
            let started = subtask.phase == Phase::Running && subtask.attempts.len() == 1;
            hold(!started || unmet == 0, "nothing runs before what it needs", || {
                format!("{subtask_no:?} has {unmet} unmet needs")
            })?;
            hold(unmet == subtask.unmet as usize, "needs are counted right", || {
                format!("{subtask_no:?}: {unmet} unmet, {} booked", subtask.unmet)
            })?;
        }
    }
    Ok(())
}

fn resolvers(state: &State) -> Result<(), Broken> {
    for (no, subtask) in state.subtasks.iter() {
        let by = subtask.resolver.map(|no| &state.subtasks[no]);
        hold(by.is_none() || subtask.resolves.is_none(), "nobody resolves for a resolver", || {
            format!("{no:?}")
        })?;
        let waits = subtask.phase == Phase::Resolving;
        let open = by.is_some_and(|by| by.outcome().is_none());
        hold(!waits || open, "what waits for a resolver has one that is open", || {
            format!("{no:?} {by:?}")
        })?;
        let done = subtask.outcome() == Some(Outcome::Completed);
        let merged = by.is_none_or(|by| matches!(by.merge, Some(MergeOutcome::Clean { .. })));
        hold(!done || merged, "a conflict is resolved only by what was merged", || {
            format!("{no:?} {by:?}")
        })?;
        let mut others = state.subtasks.iter().filter(|(_, other)| other.resolves == Some(no));
        let tries = others.by_ref().count();
        hold(tries <= subtask.attempts.len(), "a conflict is handed over once", || {
            format!("{no:?} was handed over {tries} times")
        })?;
    }
    Ok(())
}

/// What the log must say at any time, and once all is over.
pub fn log(state: &State, events: &[Event], over: bool) -> Result<(), Broken> {
    let mut ends: BTreeMap<AttemptNo, u32> = state.attempts.iter().map(|(no, _)| (no, 0)).collect();
    let mut cancelled = BTreeSet::new();
    for event in events {
        if let Body::AttemptEnded(ended) = &event.body {
            ends.entry(ended.attempt).and_modify(|count| *count += 1);
        }
        if let Body::CancelRequested { delegation, .. } = &event.body {
            cancelled.insert(*delegation);
        }
        if let Body::AttemptStarted(started) = &event.body {
            let stopped = cancelled.contains(&state.subtasks[started.subtask].delegation);
            hold(!stopped, "nothing starts after cancel", || format!("{:?}", started.id))?;
        }
    }
    hold(ends.values().all(|count| *count <= 1), "no attempt ends twice", || format!("{ends:?}"))?;
    if !over {
        return Ok(());
    }
    let once = ends.values().all(|count| *count == 1);
    hold(once, "every started attempt has exactly one end", || format!("{ends:?}"))?;
    let untold = state.delegations.iter().find(|(_, d)| d.ended.is_none() || !d.told);
    hold(untold.is_none(), "a finished child has a told parent", || format!("{untold:?}"))?;
    let left = owed(state);
    hold(left.is_empty(), "nothing is owed when a tree has ended", || format!("{left:?}"))?;
    let open = state.ledger.accounts().iter().skip(1).any(|account| account.open);
    hold(!open, "every reservation is released in the end", || format!("{:?}", state.ledger))
}

/// The log, written down and read again, gives the same state.
pub fn replayed(state: &State, written: &[String]) -> Result<State, Broken> {
    let read = |line: &String| serde_json::from_str::<Event>(line);
    let events: Result<Vec<Event>, _> = written.iter().map(read).collect();
    let events =
        events.map_err(|problem| Broken::new("every event reads back", problem.to_string()))?;
    let again =
        replay(&events).map_err(|problem| Broken::new("the log replays", problem.to_string()))?;
    hold(again == *state, "replay(log) = state", || difference(state, &again))?;
    Ok(again)
}

fn difference(left: &State, right: &State) -> String {
    let (left, right) = (format!("{left:#?}"), format!("{right:#?}"));
    let lines = left.lines().zip(right.lines()).filter(|(a, b)| a != b);
    lines
        .take(5)
        .map(|(a, b)| format!("{} | {}", a.trim(), b.trim()))
        .collect::<Vec<_>>()
        .join("; ")
}
