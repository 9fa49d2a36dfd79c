//! A tree as far as its news tell, while it grows.
//!
//! It knows what happened and when, and draws nothing: lines of text come out.

use std::collections::BTreeMap;

use legation_core::ids::{AttemptId, DelegationId, SubtaskId};
use legation_core::money::Usd;
use legation_engine::news::{News, Run, What};
use legation_engine::protocol::Told;

use super::figures::{bar, dollars, short, ticking, time, tokens};
use super::news::spent;
use crate::page::clipped;

/// A line of the tree, and how what it is about stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) status: String,
}

/// A tree as far as its news tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    root: Option<DelegationId>,
    delegations: BTreeMap<DelegationId, Branch>,
    /// Where each attempt belongs.
    attempts: BTreeMap<AttemptId, (DelegationId, SubtaskId)>,
    /// Milliseconds since the beginning in which the whole was paused.
    paused_ms: u64,
    /// Tokens and dollars that each attempt is known to have used.
    spent: BTreeMap<AttemptId, (u64, Option<Usd>)>,
}

/// A delegation.
#[derive(Clone, Debug, Default)]
struct Branch {
    title: String,
    status: String,
    parent: Option<AttemptId>,
    /// Since when it is paused, by our own clock.
    paused: Option<u64>,
    leaves: BTreeMap<SubtaskId, Leaf>,
}

/// A subtask.
#[derive(Clone, Debug)]
struct Leaf {
    id: SubtaskId,
    /// Its place among the others.
    place: usize,
    title: String,
    agent: String,
    status: String,
    /// When its last attempt started, by our own clock.
    started_ms: Option<u64>,
    progress: Option<(u64, u64)>,
    facts: Vec<String>,
    last: String,
}

impl Leaf {
    fn new(id: &SubtaskId, place: usize, (title, agent): (&str, &str)) -> Self {
        Self {
            id: id.clone(),
            place,
            title: title.to_owned(),
            agent: agent.to_owned(),
            status: "queued".to_owned(),
            started_ms: None,
            progress: None,
            facts: Vec::new(),
            last: String::new(),
        }
    }
}

impl Model {
    /// The delegation that is waited for, with what it starts with.
    pub(crate) fn begin(&mut self, root: &DelegationId, title: &str, chosen: &[Told]) {
        self.root = Some(root.clone());
        let branch = self.delegations.entry(root.clone()).or_default();
        title.clone_into(&mut branch.title);
        if branch.status.is_empty() {
            "pending".clone_into(&mut branch.status);
        }
        for told in chosen {
            branch.leaf(&told.subtask, &told.title, told.agent.as_str());
        }
    }

    /// Takes in what happened, at a time of our own clock.
    pub(crate) fn take(&mut self, news: &News, now_ms: u64) {
        let id = &news.delegation;
        match &news.what {
            What::Accepted { title, .. } => {
                let branch = self.delegations.entry(id.clone()).or_default();
                title.clone_into(&mut branch.title);
            }
            What::Grew { subtasks } => {
                let branch = self.delegations.entry(id.clone()).or_default();
                for subtask in subtasks {
                    branch.leaf(subtask, "", "");
                }
            }
            What::Started(run) => self.started(id, run, now_ms),
            What::Progress { run, current, total, last_action } => {
                let leaf = self.leaf(id, run);
                leaf.progress = Some((*current, *total));
                last_action.clone_into(&mut leaf.last);
            }
            What::Used { run, tokens, cost_usd } => {
                self.spent.insert(run.attempt.clone(), (tokens.counted(), *cost_usd));
                let leaf = self.leaf(id, run);
                leaf.facts = vec![spent(*tokens)];
                leaf.facts.extend(cost_usd.map(|cost| dollars(cost.dollars())));
            }
            What::Ended { run, status, summary, duration_ms, tokens, cost_usd, .. } => {
                let used = tokens.map_or(0, |it| it.counted());
                self.spent.insert(run.attempt.clone(), (used, *cost_usd));
                let leaf = self.leaf(id, run);
                // Its attempt is done; the subtask has ended once its work is merged.
                let status = if status == "completed" { "merging" } else { status };
                status.clone_into(&mut leaf.status);
                summary.clone_into(&mut leaf.last);
                (leaf.started_ms, leaf.progress) = (None, None);
                leaf.facts = vec![time(*duration_ms)];
                leaf.facts.extend(tokens.map(spent));
                leaf.facts.extend(cost_usd.map(|cost| dollars(cost.dollars())));
            }
            What::Asked { run, what } => {
                let leaf = self.leaf(id, run);
                "asks".clone_into(&mut leaf.status);
                what.clone_into(&mut leaf.last);
            }
            What::Retried { subtask, why } => self.mark(id, subtask, "queued", why),
            What::Merged { subtask, clean: false, detail } => {
                self.mark(id, subtask, "merging", detail);
            }
            What::Merged { clean: true, .. } | What::LeftBehind { .. } => {}
            What::SubtaskEnded { subtask, status } => self.mark(id, subtask, status, ""),
            What::Paused { .. } => {
                self.stands(id, "paused").paused.get_or_insert(now_ms);
            }
            What::Resumed => self.resumed(id, now_ms),
            What::CancelRequested { .. } => {
                self.stands(id, "cancelling");
            }
            What::Finished { status, .. } => {
                self.stands(id, status);
            }
        }
    }

    /// What stood still goes on as if no time had passed.
    fn resumed(&mut self, id: &DelegationId, now_ms: u64) {
        let Some(since) = self.stands(id, "running").paused.take() else { return };
        // While one above is paused, that pause is still to come to an end.
        let stood_ms = self.clock(id, now_ms).saturating_sub(since);
        if self.root.as_ref() == Some(id) {
            self.paused_ms = self.paused_ms.saturating_add(stood_ms);
        }
        let below: Vec<DelegationId> =
            self.delegations.keys().filter(|it| self.is_below(it, id)).cloned().collect();
        for id in below {
            let branch = self.delegations.entry(id).or_default();
            for started in branch.leaves.values_mut().filter_map(|it| it.started_ms.as_mut()) {
                *started = started.saturating_add(stood_ms);
            }
        }
    }

    /// The delegation and those above it.
    fn upward<'a>(
        &'a self,
        from: &'a DelegationId,
    ) -> impl Iterator<Item = (&'a DelegationId, &'a Branch)> {
        let known = |id: &'a DelegationId| self.delegations.get_key_value(id);
        std::iter::successors(known(from), move |(_, branch)| {
            let (above, _) = self.attempts.get(branch.parent.as_ref()?)?;
            known(above)
        })
    }

    fn is_below(&self, id: &DelegationId, above: &DelegationId) -> bool {
        self.upward(id).any(|(it, _)| it == above)
    }

    /// The time at which a delegation stands: now, or since when it is paused.
    fn clock(&self, id: &DelegationId, now_ms: u64) -> u64 {
        self.upward(id).filter_map(|(_, branch)| branch.paused).fold(now_ms, u64::min)
    }

    fn started(&mut self, id: &DelegationId, run: &Run, now_ms: u64) {
        let branch = self.delegations.entry(id.clone()).or_default();
        branch.parent.clone_from(&run.parent);
        if branch.status.is_empty() || branch.status == "pending" {
            "running".clone_into(&mut branch.status);
        }
        let leaf = self.leaf(id, run);
        "running".clone_into(&mut leaf.status);
        leaf.started_ms = Some(now_ms);
        leaf.facts.clear();
        leaf.last.clear();
        self.attempts.insert(run.attempt.clone(), (id.clone(), run.subtask.clone()));
    }

    fn leaf(&mut self, id: &DelegationId, run: &Run) -> &mut Leaf {
        let branch = self.delegations.entry(id.clone()).or_default();
        let leaf = branch.leaf(&run.subtask, &run.title, run.agent.as_str());
        run.title.clone_into(&mut leaf.title);
        leaf.agent = run.agent.to_string();
        leaf
    }

    fn mark(&mut self, id: &DelegationId, subtask: &SubtaskId, status: &str, last: &str) {
        let branch = self.delegations.entry(id.clone()).or_default();
        let leaf = branch.leaf(subtask, "", "");
        status.clone_into(&mut leaf.status);
        leaf.started_ms = None;
        if !last.is_empty() {
            last.clone_into(&mut leaf.last);
        }
    }

    fn stands(&mut self, id: &DelegationId, status: &str) -> &mut Branch {
        let branch = self.delegations.entry(id.clone()).or_default();
        status.clone_into(&mut branch.status);
        branch
    }

    /// The tree in lines of at most so many columns; at most so many lines.
    pub(crate) fn lines(&self, columns: usize, rows: usize, now_ms: u64) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((root, branch)) =
            self.root.as_ref().and_then(|root| self.delegations.get_key_value(root))
        {
            let done = branch.leaves.values().filter(|leaf| is_over(&leaf.status)).count();
            let total = branch.leaves.len();
            let bar = bar(done as u64, total as u64);
            let elapsed = self.clock(root, now_ms).saturating_sub(self.paused_ms);
            let mut facts = vec![format!("{bar} {done} of {total}"), ticking(elapsed)];
            let used: u64 = self.spent.values().map(|(used, _)| used).sum();
            let paid = self.spent.values().filter_map(|(_, cost)| *cost);
            facts.extend(Some(used).filter(|used| *used > 0).map(tokens));
            facts.extend(paid.reduce(|all, cost| all + cost).map(|cost| dollars(cost.dollars())));
            facts.extend(Some(branch.title.clone()).filter(|title| !title.is_empty()));
            facts.push(root.to_string());
            let text = facts.join(" · ");
            lines.push(Line { text, status: branch.status.clone() });
            let drawing = Drawing { model: self, below: self.below(), now_ms };
            drawing.add(&mut lines, root, "");
        }
        for line in &mut lines {
            line.text = clipped(&line.text, columns.saturating_sub(11));
        }
        fit(lines, rows)
    }

    /// What the attempts of each subtask delegated in turn.
    fn below(&self) -> BTreeMap<(&DelegationId, &SubtaskId), Vec<&DelegationId>> {
        let mut below: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (id, branch) in &self.delegations {
            let asked = branch.parent.as_ref().and_then(|parent| self.attempts.get(parent));
            if let Some((above, subtask)) = asked {
                below.entry((above, subtask)).or_default().push(id);
            }
        }
        below
    }
}

/// A tree that is being turned into lines.
struct Drawing<'a> {
    model: &'a Model,
    below: BTreeMap<(&'a DelegationId, &'a SubtaskId), Vec<&'a DelegationId>>,
    now_ms: u64,
}

impl Drawing<'_> {
    fn add(&self, lines: &mut Vec<Line>, id: &DelegationId, before: &str) {
        let Some(branch) = self.model.delegations.get(id) else { return };
        let now_ms = self.model.clock(id, self.now_ms);
        let leaves = branch.in_order();
        for (index, leaf) in leaves.iter().enumerate() {
            let last = index + 1 == leaves.len();
            let (fork, under) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let text = format!("{before}{fork}{}", leaf.row(now_ms));
            lines.push(Line { text, status: leaf.status.clone() });
            let under = format!("{before}{under}");
            for nested in self.below.get(&(id, &leaf.id)).into_iter().flatten() {
                self.add(lines, nested, &under);
            }
        }
    }
}

impl Branch {
    fn leaf(&mut self, id: &SubtaskId, title: &str, agent: &str) -> &mut Leaf {
        let place = self.leaves.len();
        self.leaves.entry(id.clone()).or_insert_with(|| Leaf::new(id, place, (title, agent)))
    }

    /// The subtasks in the order in which they came.
    fn in_order(&self) -> Vec<&Leaf> {
        let mut leaves: Vec<&Leaf> = self.leaves.values().collect();
        leaves.sort_by_key(|leaf| leaf.place);
        leaves
    }
}

impl Leaf {
    fn row(&self, now_ms: u64) -> String {
        let title = if self.title == self.id.as_str() { "" } else { &self.title };
        let name = format!("{} {}", short(self.id.as_str()), clipped(title, 30));
        let mut facts = vec![name.trim_end().to_owned()];
        facts.extend(Some(self.agent.clone()).filter(|agent| !agent.is_empty()));
        let running = self.started_ms.map(|started| ticking(now_ms.saturating_sub(started)));
        facts.extend(running);
        facts.extend(self.progress.map(|(done, total)| bar(done, total)));
        facts.extend(self.facts.iter().cloned());
        facts.extend(Some(self.last.clone()).filter(|last| !last.is_empty()));
        facts.join(" · ")
    }
}

fn is_over(status: &str) -> bool {
    ["completed", "partial", "failed", "blocked", "cancelled", "skipped"].contains(&status)
}

/// As many lines as there is room for: what is over goes first.
fn fit(lines: Vec<Line>, rows: usize) -> Vec<Line> {
    let too_many = (lines.len() + 1).saturating_sub(rows.max(2));
    if lines.len() <= rows.max(2) {
        return lines;
    }
    let mut left = too_many;
    let mut kept: Vec<Line> = Vec::with_capacity(rows);
    for (index, line) in lines.into_iter().enumerate() {
        if index > 0 && left > 0 && is_over(&line.status) {
            left -= 1;
        } else {
            kept.push(line);
        }
    }
    kept.truncate(rows.max(2) - 1);
    kept.push(Line { text: format!("… {too_many} more"), status: String::new() });
    kept
}
