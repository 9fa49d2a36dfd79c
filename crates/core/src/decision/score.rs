//! Factors, the points they give, the score and how sure it is.

use super::answer::{Contributions, Factors};
use crate::config::Thresholds;

/// What counts where the context utilisation is not known.
pub(super) const UNKNOWN_CONTEXT: f64 = 50.0;
/// What counts where the agent's confidence is not known.
pub(super) const UNKNOWN_CONFIDENCE: f64 = 75.0;
/// The lack of confidence that counts as full.
const FULL_DOUBT: f64 = 40.0;
/// The confidence of a decision that nothing makes surer.
const BASE_CONFIDENCE: u32 = 50;

/// Points for each factor: its share of what counts as full, times its weight.
pub(super) fn contributions(
    factors: &Factors,
    thresholds: &Thresholds,
    max_depth: u32,
) -> Contributions {
    // With no depth at all, none is left either: nothing of nothing gives nothing.
    let depth = f64::from(factors.depth_remaining);
    Contributions {
        complexity: points(30.0, f64::from(factors.complexity), thresholds.complexity_trigger),
        context_utilization: points(
            20.0,
            factors.context_utilization,
            thresholds.context_utilization,
        ),
        subtask_count: points(15.0, factors.subtask_count as f64, thresholds.min_subtasks),
        confidence: (15.0 * (100.0 - factors.agent_confidence) / FULL_DOUBT).min(15.0),
        agent_load: points(10.0, factors.agent_load, 100),
        depth_remaining: if max_depth == 0 { 0.0 } else { points(10.0, depth, max_depth) },
    }
}

/// A weight's share. A full mark of zero is reached by anything.
fn points(weight: f64, value: f64, full: u32) -> f64 {
    if full == 0 { weight } else { (weight * value / f64::from(full)).min(weight) }
}

impl Contributions {
    /// All points together, not rounded.
    pub(super) fn sum(&self) -> f64 {
        self.complexity
            + self.context_utilization
            + self.subtask_count
            + self.confidence
            + self.agent_load
            + self.depth_remaining
    }

    /// The score: the sum, rounded half up.
    pub(super) fn score(&self) -> u32 {
        // A half that binary fractions put a hair too low is still a half.
        const HAIR: f64 = 1e-9;
        (self.sum() + 0.5 + HAIR).floor().clamp(0.0, 100.0) as u32
    }
}

/// What a decision may be surer for: points, why, and whether it was earned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bonus {
    pub(super) points: u32,
    pub(super) why: &'static str,
    is_earned: bool,
    /// Whether the factor was known: one that is assumed can earn nothing.
    is_known: bool,
}

/// The confidence of a decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confidence {
    bonuses: [Bonus; 5],
}

/// Which of the factors were known and not assumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supplied {
    pub(super) context: bool,
    pub(super) confidence: bool,
}

impl Confidence {
    /// How sure a score with these factors is.
    pub(super) fn of(factors: &Factors, score: u32, supplied: Supplied) -> Self {
        let bonus = |points, why, is_earned, is_known| Bonus { points, why, is_earned, is_known };
        let Factors { complexity, context_utilization, subtask_count, agent_confidence, .. } =
            *factors;
        Self {
            bonuses: [
                bonus(15, "a clear complexity", !(20..=80).contains(&complexity), true),
                bonus(10, "a clear number of subtasks", !(2..5).contains(&subtask_count), true),
                bonus(
                    10,
                    "a clear agent confidence",
                    !(40.0..=90.0).contains(&agent_confidence),
                    supplied.confidence,
                ),
                bonus(
                    10,
                    "a clear context utilisation",
                    !(30.0..=85.0).contains(&context_utilization),
                    supplied.context,
                ),
                bonus(15, "a clear score", !(30..=80).contains(&score), true),
            ],
        }
    }

    /// The bonuses that were earned.
    pub(super) fn earned(&self) -> impl Iterator<Item = &Bonus> {
        self.bonuses.iter().filter(|bonus| bonus.is_earned)
    }

    /// The confidence, from 50 to 100.
    pub(super) fn total(&self) -> u32 {
        let earned: u32 = self.earned().map(|bonus| bonus.points).sum();
        (BASE_CONFIDENCE + earned).min(100)
    }

    /// The most that the known factors could have earned.
    pub(super) fn reachable(&self) -> u32 {
        let known = self.bonuses.iter().filter(|bonus| bonus.is_known);
        let known: u32 = known.map(|bonus| bonus.points).sum();
        (BASE_CONFIDENCE + known).min(100)
    }
}
