//! Figures of the engine and of its peers, side by side.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// What one run printed.
pub type Figures = Map<String, Value>;

/// The name of the engine among its peers.
const OURS: &str = "legation";

/// A peer and how its script is called.
#[derive(Debug)]
pub struct Peer {
    /// `bench_<script>.py`.
    pub script: &'static str,
    /// `venv-<venv>`, which is also its name.
    pub venv: &'static str,
    /// One way of several to use it.
    pub variant: &'static str,
    /// What it can do beside one task after another.
    more: &'static [&'static str],
}

/// Every peer with a script.
pub const PEERS: &[Peer] = &[
    peer("openai", "openai-agents", "", &["fan", "durable"]),
    peer("openai", "openai-agents", "handoff", &[]),
    peer("pydantic", "pydantic-ai", "", &["fan"]),
    peer("langgraph", "langgraph", "", &["fan", "durable"]),
    peer("langgraph", "langgraph", "raw", &["fan", "durable"]),
    peer("langgraph", "langgraph", "supervisor", &["durable"]),
    peer("deepagents", "deepagents", "", &["fan", "durable"]),
    peer("autogen", "autogen", "", &["fan"]),
    peer("adk", "google-adk", "", &["fan", "durable"]),
    peer("adk", "google-adk", "transfer", &[]),
    peer("agno", "agno", "", &["fan"]),
    peer("smol", "smolagents", "", &["fan"]),
    peer("crewai", "crewai", "", &["fan"]),
];

const fn peer(
    script: &'static str,
    venv: &'static str,
    variant: &'static str,
    more: &'static [&'static str],
) -> Peer {
    Peer { script, venv, variant, more }
}

impl Peer {
    /// Its name for people.
    pub fn shown(&self) -> String {
        named(self.venv, self.variant)
    }

    /// Whether it can be asked for this run.
    pub fn takes(&self, run: &Run) -> bool {
        ["hello", "seq"].contains(&run.mode) || self.more.contains(&run.mode)
    }
}

fn named(peer: &str, variant: &str) -> String {
    if variant.is_empty() { peer.to_owned() } else { format!("{peer} ({variant})") }
}

/// One run of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its mode.
    pub mode: &'static str,
    /// How much of it.
    pub n: u32,
}

/// A figure that is shown, and what it is meant to be.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    run: Run,
    key: &'static str,
    reach: Reach,
}

#[derive(Clone, Copy, Debug)]
enum Reach {
    AtMost(f64),
    AtLeast(f64),
    Nothing,
}

impl Goal {
    /// A figure that must not be larger.
    pub const fn at_most(mode: &'static str, n: u32, key: &'static str, limit: f64) -> Self {
        Self { run: Run { mode, n }, key, reach: Reach::AtMost(limit) }
    }

    /// A figure that must not be smaller.
    pub const fn at_least(mode: &'static str, n: u32, key: &'static str, limit: f64) -> Self {
        Self { run: Run { mode, n }, key, reach: Reach::AtLeast(limit) }
    }

    /// A figure that is only shown.
    pub const fn shown(mode: &'static str, n: u32, key: &'static str) -> Self {
        Self { run: Run { mode, n }, key, reach: Reach::Nothing }
    }

    /// Whether the engine was measured and falls short.
    pub fn is_missed(&self, found: &[Figures]) -> bool {
        self.of(found, OURS).is_some_and(|(_, ours)| match self.reach {
            Reach::AtMost(limit) => ours > limit,
            Reach::AtLeast(limit) => ours < limit,
            Reach::Nothing => false,
        })
    }

    /// Whether there is a limit, and no figure to hold against it.
    pub fn is_unmeasured(&self, found: &[Figures]) -> bool {
        !matches!(self.reach, Reach::Nothing) && self.of(found, OURS).is_none()
    }

    /// What it is about, in words.
    pub fn what(&self) -> String {
        format!("{} {}: {}", self.run.mode, self.run.n, self.key)
    }

    fn all(&self, found: &[Figures]) -> Vec<(String, f64)> {
        let of_run = |figures: &&Figures| {
            let n = figures.get("n").and_then(Value::as_u64);
            text(figures, "mode") == self.run.mode && n == Some(u64::from(self.run.n))
        };
        let figure = |figures: &Figures| {
            let name = named(text(figures, "peer"), text(figures, "variant"));
            Some((name, figures.get(self.key)?.as_f64()?))
        };
        found.iter().filter(of_run).filter_map(figure).collect()
    }

    fn of(&self, found: &[Figures], name: &str) -> Option<(String, f64)> {
        self.all(found).into_iter().find(|(peer, _)| peer == name)
    }

    fn wanted(&self) -> String {
        match self.reach {
            Reach::AtMost(limit) => format!("≤ {}", short(limit)),
            Reach::AtLeast(limit) => format!("≥ {}", short(limit)),
            Reach::Nothing => String::new(),
        }
    }
}

fn text<'a>(figures: &'a Figures, key: &str) -> &'a str {
    figures.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The middle of each figure over several runs of the same thing.
pub fn medians(runs: &[Figures]) -> Figures {
    let Some(first) = runs.first() else { return Figures::new() };
    let middle = |key: &String, value: &Value| {
        let figures = runs.iter().filter_map(|run| run.get(key)?.as_f64());
        let mut figures: Vec<f64> = figures.collect();
        figures.sort_by(f64::total_cmp);
        match figures.get(figures.len() / 2) {
            Some(figure) if value.is_f64() => Value::from(*figure),
            Some(_) | None => value.clone(),
        }
    };
    let mut medians: Figures =
        first.iter().map(|(key, value)| (key.clone(), middle(key, value))).collect();
    medians.insert("runs".into(), runs.len().into());
    medians
}

/// Every figure with its goal, and below it each peer with its ratio to ours.
pub fn table(goals: &[Goal], found: &[Figures]) -> String {
    let mut table = format!("{:<34} {:>12} {:>12}\n", "", OURS, "wanted");
    for goal in goals {
        let Some((_, ours)) = goal.of(found, OURS) else { continue };
        let what = goal.what();
        let verdict = if goal.is_missed(found) { "  MISSED" } else { "" };
        let (figure, wanted) = (short(ours), goal.wanted());
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{what:<34} {figure:>12} {wanted:>12}{verdict}");
        let mut peers = goal.all(found);
        peers.retain(|(name, _)| name != OURS);
        peers.sort_by(|one, other| one.1.total_cmp(&other.1));
        for (name, figure) in peers {
            let ratio = Some(figure / ours).filter(|ratio| ratio.is_finite());
            let ratio = ratio.map_or_else(String::new, |ratio| format!("× {}", short(ratio)));
            let _ = writeln!(table, "    {name:<30} {:>12} {ratio:>12}", short(figure));
        }
    }
    table.trim_end().to_owned()
}

/// About three digits.
fn short(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 1.0 => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    }
}
