//! Options that do nothing under the pattern of a call. Whoever gives one expects something
//! of it, so it is refused and not dropped.

use super::{Call, bad};
use crate::config::Pattern;
use crate::tree::rejection::Refusal;

/// The patterns that have rounds.
const WITH_ROUNDS: &[Pattern] = &[Pattern::Debate, Pattern::Review];
/// The patterns that make one answer of several.
const WITH_AGGREGATE: &[Pattern] = &[Pattern::Ensemble];

/// Refuses what the pattern has no use for, whether the call or its plan says it.
pub(super) fn check(call: &Call, pattern: Pattern) -> Result<(), Refusal> {
    let plan = call.plan.as_ref();
    let given = [
        ("--rounds", call.rounds.is_some(), WITH_ROUNDS),
        ("--aggregate", call.aggregate.is_some(), WITH_AGGREGATE),
        ("rounds", plan.is_some_and(|plan| plan.rounds.is_some()), WITH_ROUNDS),
        ("aggregate", plan.is_some_and(|plan| plan.aggregate.is_some()), WITH_AGGREGATE),
    ];
    let idle = given.iter().find(|(_, is_given, fits)| *is_given && !fits.contains(&pattern));
    idle.map_or(Ok(()), |(option, _, fits)| Err(refusal(option, pattern, fits)))
}

fn refusal(option: &str, pattern: Pattern, fits: &[Pattern]) -> Refusal {
    let fits: Vec<&str> = fits.iter().map(|fits| fits.as_str()).collect();
    let (all, pattern) = (fits.join(" or "), pattern.as_str());
    let message = format!("`{option}` goes with the pattern {all}; this one is {pattern}.");
    let hint = format!("Leave it out, or choose `--pattern {}`.", fits.join("` or `--pattern "));
    bad(&message, &hint)
}
