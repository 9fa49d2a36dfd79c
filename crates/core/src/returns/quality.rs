//! How good a piece of work is, measured and never self-reported.

use super::judge::MAY_BE_UNCHANGED;
use super::model::{Artifact, Receipt, Verification};

/// What there is to measure by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measures<'a> {
    /// Verification commands that the runtime ran.
    pub verify: &'a [Verification],
    /// Artifacts that were claimed.
    pub artifacts_claimed: usize,
    /// How many of those were found with content and changed as claimed.
    pub artifacts_verified: usize,
    /// Scores that reviewers gave, 0 to 100; higher ones count as 100.
    pub reviews: &'a [u32],
}

/// The measured quality, 0 to 100: the plain mean of those of three parts that
/// are known, rounded half up. The parts are the share of verification commands
/// that passed, the share of claimed artifacts that were verified, and the mean
/// of the reviewers' scores. Where none is known, neither is the quality.
pub fn measured_quality(measures: &Measures<'_>) -> Option<u32> {
    let passed = measures.verify.iter().filter(|done| done.exit_code == Some(0)).count();
    let verified = measures.artifacts_verified.min(measures.artifacts_claimed);
    let scores = measures.reviews.iter().map(|score| f64::from((*score).min(100)));
    let parts = [
        mean(100.0 * passed as f64, measures.verify.len()),
        mean(100.0 * verified as f64, measures.artifacts_claimed),
        mean(scores.sum(), measures.reviews.len()),
    ];
    let known = parts.iter().flatten();
    let quality = mean(known.clone().sum(), known.count())?;
    Some((quality + 0.5).floor() as u32)
}

/// The quality of an attempt's work: what it claims to have made, what was seen of it, and
/// the scores that reviewers gave it. A report may be as it was before.
pub fn quality_of(claimed: &[Artifact], receipt: &Receipt, reviews: &[u32]) -> Option<u32> {
    let is_verified = |artifact: &&Artifact| {
        let is_there = |file: &String| {
            let rest = file.strip_prefix(artifact.path.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        MAY_BE_UNCHANGED.contains(&artifact.kind.as_str())
            || receipt.files_changed.iter().any(is_there)
    };
    measured_quality(&Measures {
        verify: &receipt.verify,
        artifacts_claimed: claimed.len(),
        artifacts_verified: claimed.iter().filter(is_verified).count(),
        reviews,
    })
}

fn mean(sum: f64, count: usize) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
