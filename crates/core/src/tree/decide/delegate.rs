//! Accepting a delegation: all bounds together, or nothing.

use std::sync::Arc;

use super::resolve;
use crate::code::Code;
use crate::config::{Limits, Pattern};
use crate::digest;
use crate::ids::{AgentId, SubtaskId};
use crate::tree::arena::AttemptNo;
use crate::tree::bounds::{self, Ask, Batch, Purse, Standing};
use crate::tree::command::{Delegate, Target};
use crate::tree::event::{Accepted, Body, Caller, NewSubtask, Settings};
use crate::tree::ledger::Amount;
use crate::tree::pattern::{self, Draft, Opening};
use crate::tree::plan::{Graph, MAX_ROUNDS, check_graph};
use crate::tree::rejection::{Refusal, Rejection};
use crate::tree::state::State;

/// Digits of the key that makes a repeated identical call recognisable.
const CALL_DIGITS: usize = 32;

/// Decides whether a delegation fits, and what it starts with.
pub(super) fn decide(state: &State, command: &Delegate) -> Result<Vec<Body>, Rejection> {
    let parent = caller(state, command)?;
    let call_key = whole_call_key(command);
    known_already(state, command, parent, &call_key)?;
    let settings = settings(state, command);
    // What a root has done by one agent is no delegation; what that agent hands on is.
    let is_direct = parent.is_none() && command.pattern == Pattern::Direct;
    if !settings.enabled && !is_direct {
        return Err(disabled().into());
    }
    let mut bodies = Vec::with_capacity(2);
    let fresh;
    let root: [AgentId; 1];
    let (view, standing) = match (parent, &command.caller) {
        (Some(no), _) => (state, bounds::standing(state, no)),
        (None, Caller::Root { name, depth }) => {
            // The checks of a first delegation look at the tree as it will be opened.
            let opened = Body::TreeOpened(settings.clone());
            fresh = opened_tree(&opened);
            bodies.push(opened);
            root = [name.clone()];
            (&fresh, root_standing(&settings.limits, &root, *depth))
        }
        (None, Caller::Attempt(id)) => return Err(Rejection::not_found("attempt", id.as_str())),
    };
    let request = Request { state: view, limits: &settings.limits, command, parent };
    bodies.push(Body::DelegationAccepted(Box::new(request.accept(standing, call_key)?)));
    Ok(bodies)
}

fn opened_tree(opened: &Body) -> State {
    let mut state = State::default();
    let event = crate::tree::event::Event::new(crate::time::Now::default(), opened.clone());
    crate::tree::evolve(&mut state, &event);
    state
}

fn root_standing<'a>(limits: &Limits, path: &'a [AgentId], depth: u32) -> Standing<'a> {
    Standing {
        depth,
        max_depth: limits.max_depth,
        path,
        keys: &[],
        asked: 0,
        context: None,
        child_width: None,
    }
}

/// Who asks, looked up. An attempt that has ended or has to stop may ask for nothing.
fn caller(state: &State, command: &Delegate) -> Result<Option<AttemptNo>, Rejection> {
    let Caller::Attempt(id) = &command.caller else {
        return Ok(None);
    };
    let no = state.attempt(id)?;
    let attempt = &state.attempts[no];
    if attempt.ended() || attempt.stop.is_some() || state.is_cancelled(state.delegation_of(no)) {
        let refusal = Refusal::new(
            Code::PermissionDenied,
            "This attempt has ended or has to stop. It cannot delegate any more.",
            "Nothing can be done in its name; start a new delegation.",
        );
        return Err(refusal.into());
    }
    Ok(Some(no))
}

/// The same key gives the same delegation; so does an identical call of one
/// attempt while the first is open.
fn known_already(
    state: &State,
    command: &Delegate,
    parent: Option<AttemptNo>,
    call_key: &Arc<str>,
) -> Result<(), Rejection> {
    let same = |key: Arc<str>| state.by_call.get(&(parent, key)).map(|no| &state.delegations[*no]);
    let by_key = command.idempotency_key.as_deref().and_then(|key| same(Arc::from(key)));
    let identical = parent.and_then(|_| same(call_key.clone())).filter(|d| d.ended.is_none());
    if let Some(delegation) = by_key.or(identical) {
        return Err(Rejection::Same(delegation.id.clone()));
    }
    if state.find(&command.id).is_some() || (parent.is_none() && state.settings.is_some()) {
        let message = format!("`{}` is already there.", command.id);
        return Err(Rejection::conflict(message, "Start a delegation with an id of its own."));
    }
    Ok(())
}

fn whole_call_key(command: &Delegate) -> Arc<str> {
    let mut parts = vec![command.title.as_str(), command.task.as_str()];
    let call = (command.pattern, command.rounds, command.aggregate, command.call);
    let call = format!("{call:?}");
    parts.push(&call);
    // Whatever else a part says; the form keeps lists of different lengths apart.
    let say =
        |t: &Target| format!("{:?}", (&t.depends_on, t.timeout_ms, t.tokens, t.required, &t.files));
    let said: Vec<String> = command.subtasks.iter().map(say).collect();
    for (target, said) in command.subtasks.iter().zip(&said) {
        parts.extend([target.id.as_str(), target.agent.as_str(), target.task.as_str(), said]);
    }
    // A prefix that no user's key can be mistaken for.
    Arc::from(format!("call\u{0}{}", digest::hex(&parts, CALL_DIGITS)))
}

/// A root's call may only tighten what the configuration allows.
fn settings(state: &State, command: &Delegate) -> Settings {
    if let Some(settings) = &state.settings {
        return settings.clone();
    }
    let mut settings = command.settings.clone();
    let (limits, call) = (&mut settings.limits, &command.call);
    limits.max_total_tokens = limits.max_total_tokens.min(call.tokens.unwrap_or(u64::MAX));
    limits.max_cost_usd = limits.max_cost_usd.min(call.cost.unwrap_or(limits.max_cost_usd));
    limits.max_depth = limits.max_depth.min(call.max_depth.unwrap_or(u32::MAX));
    settings
}

fn disabled() -> Refusal {
    Refusal::new(
        Code::DelegationDisabled,
        "Delegation is switched off.",
        "Set `enabled = true` in .legation/config.toml, or ENABLE_DELEGATION=true.",
    )
}

/// A call to be checked as a whole.
struct Request<'a> {
    state: &'a State,
    limits: &'a Limits,
    command: &'a Delegate,
    parent: Option<AttemptNo>,
}

impl Request<'_> {
    /// Every check, in order; the first that fails is the answer.
    fn accept(&self, mut caller: Standing<'_>, call_key: Arc<str>) -> Result<Accepted, Rejection> {
        let (command, call) = (self.command, &self.command.call);
        caller.max_depth = caller.max_depth.min(call.max_depth.map_or(u32::MAX, |below| {
            // Below a root the call's depth is counted from the caller.
            if self.parent.is_some() { caller.depth.saturating_add(below) } else { below }
        }));
        // At the bottom of the tree, how deep it is matters more than whom or what it asks for.
        bounds::check_depth(&caller, &command.title)?;
        if let Some(rounds) = command.rounds.filter(|rounds| !(1..=MAX_ROUNDS).contains(rounds)) {
            let message = format!("A debate or review has 1 to {MAX_ROUNDS} rounds, not {rounds}.");
            let hint = "Ask for another number; each round costs as much as the first.";
            return Err(Refusal::new(Code::ValidationFailed, message, hint).into());
        }
        let graph = self.graph()?;
        let opening = pattern::open(command, &graph.needs, self.state.subtasks.next());
        let batch = self.batch(&opening);
        self.check_permitted(&caller)?;
        let admitted = bounds::admit(self.state, self.limits, &caller, &batch);
        let reserved = admitted.map_err(|refusal| self.with_holder(refusal))?;
        let granted = batch.asks.iter().map(|ask| ask.key.clone()).zip(reserved).collect();
        let subtasks = self.subtasks(&opening.drafts, granted);
        let times: Vec<u64> = subtasks.iter().map(|subtask| subtask.timeout_ms).collect();
        let longest = graph.longest(&times).saturating_mul(opening.repeats);
        let most = Amount {
            tokens: call.tokens.unwrap_or(self.limits.max_total_tokens),
            cost: call.cost.unwrap_or(self.limits.max_cost_usd),
        };
        Ok(Accepted {
            id: command.id.clone(),
            caller: command.caller.clone(),
            parent: self.parent,
            task_id: command.task_id.clone(),
            title: command.title.clone(),
            task: command.task.clone(),
            pattern: command.pattern,
            rounds: opening.rounds,
            aggregate: command.aggregate,
            asked: u32::try_from(opening.asked).unwrap_or(u32::MAX),
            cast: opening.cast,
            judge: opening.judge,
            resolver: command.resolver.as_ref().map(resolve::named),
            width: self.limits.max_concurrent_agents.min(call.width.unwrap_or(u32::MAX)).max(1),
            max_depth: caller.max_depth,
            cap: (call.tokens.is_some() || call.cost.is_some()).then_some(most),
            timeout_ms: self.limits.delegation_timeout.max(longest),
            subtasks,
            include_dirty: command.include_dirty,
            waits: command.waits && self.parent.is_some(),
            idempotency_key: command.idempotency_key.clone(),
            call_key,
        })
    }

    /// Whether the caller may use everybody it names, and whoever judges in the end.
    fn check_permitted(&self, caller: &Standing<'_>) -> Result<(), Refusal> {
        let judge = pattern::judge_of(self.command).map(|judge| (&judge.agent, &judge.permitted));
        let targets = self.command.subtasks.iter();
        let mut all = targets.map(|target| (&target.agent, &target.permitted)).chain(judge);
        all.try_for_each(|(agent, permitted)| match permitted {
            Ok(()) => Ok(()),
            // Only the tree knows the path that has to be shown.
            Err(no) if no.code == Code::CycleDetected => Err(bounds::names_itself(caller, agent)),
            Err(no) => Err(no.clone().into()),
        })
    }

    /// The graph of what was asked; in a sequence each also needs the one before it.
    fn graph(&self) -> Result<Graph, Refusal> {
        let targets = &self.command.subtasks;
        let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
        let mut needs: Vec<Vec<&str>> = Vec::with_capacity(ids.len());
        for (position, target) in targets.iter().enumerate() {
            let mut names: Vec<&str> = target.depends_on.iter().map(SubtaskId::as_str).collect();
            let before = position.checked_sub(1).and_then(|before| ids.get(before));
            names.extend(before.filter(|_| self.command.pattern == Pattern::Sequential));
            needs.push(names);
        }
        check_graph(&ids, &needs)
    }

    /// A caller whose budget is in the hands of what it delegated before can help itself.
    fn with_holder(&self, refusal: Refusal) -> Refusal {
        let held = self.parent.map(|_| self.state.ledger.get(self.state.purse_of(self.parent)));
        let is_held = held.is_some_and(|account| account.reserved != Amount::ZERO);
        if refusal.code != Code::BudgetExceeded || !is_held {
            return refusal;
        }
        let hint = "What you delegated before holds the rest until it ends: wait for it, ask for \
            all of it in one batch, or give each call a budget and a cost of its own.";
        Refusal { hint: hint.to_owned(), ..refusal }
    }

    fn batch<'b>(&'b self, opening: &'b Opening) -> Batch<'b> {
        let task: Arc<str> = Arc::from(self.command.task.as_str());
        let later = opening.cast.iter().map(|cast| Ask {
            title: &self.command.title,
            task: &self.command.task,
            agent: &cast.agent,
            key: bounds::call_key(&cast.agent, &pattern::task_of(cast, &task)),
            habits: &cast.habits,
            tokens: None,
        });
        let remainder = self.state.ledger.get(self.state.purse_of(self.parent)).remainder();
        let call = &self.command.call;
        // A root's cost has already tightened the whole tree; it is no need on top of that.
        let cost = call.cost.filter(|_| self.parent.is_some());
        Batch {
            title: &self.command.title,
            asks: opening.drafts.iter().map(Draft::ask).collect(),
            later: later.collect(),
            asked: opening.asked,
            purse: Purse { remainder, tokens: call.tokens, cost },
        }
    }

    fn subtasks(&self, drafts: &[Draft], granted: Vec<(Arc<str>, Amount)>) -> Vec<NewSubtask> {
        let new = drafts.iter().zip(granted);
        new.map(|(draft, granted)| draft.granted(self.limits, granted)).collect()
    }
}
