//! What a return is worth in the light of its receipt.
//!
//! A claim can only lose: `completed` may become `partial`, and nothing ever
//! becomes better than it said it was.

use std::collections::BTreeSet;
use std::fmt;

use super::limits::MAX_ERRORS;
use super::model::{Evidence, Receipt, Return, ReturnError, ReturnStatus, Verification};
use crate::Code;
use crate::agent::Operation;
use crate::ids::DelegationId;

/// Types of artifacts that may be claimed without having been changed.
pub(super) const MAY_BE_UNCHANGED: [&str; 2] = ["report", "reference"];
/// Names that one doubt spells out; the rest are counted.
const NAMED: usize = 5;

/// Why a `completed` is not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Artifacts are claimed that are as they were before.
    Unchanged(Vec<String>),
    /// Verification commands failed.
    Unverified(Vec<Verification>),
    /// The output ended in the middle.
    Truncated,
    /// Delegations below have not come back.
    Unreturned(Vec<DelegationId>),
    /// Something should have been made, and nothing was done.
    NoEvidence,
}

/// The verdict on a return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the attempt's status is.
    pub status: ReturnStatus,
    /// How much of it was seen.
    pub evidence: Evidence,
    /// Why the status is not the one that was claimed; empty if it is.
    pub doubts: Vec<Doubt>,
}

/// Judges a claim by what was seen.
pub fn judge(claim: &Return, receipt: &Receipt, operation: Option<Operation>) -> Judgement {
    let evidence = evidence(receipt);
    if claim.status != ReturnStatus::Completed {
        return Judgement { status: claim.status, evidence, doubts: Vec::new() };
    }
    let mut doubts = Vec::new();
    let unchanged = unchanged(claim, receipt);
    if !unchanged.is_empty() {
        doubts.push(Doubt::Unchanged(unchanged));
    }
    let failed = receipt.verify.iter().filter(|done| done.exit_code != Some(0));
    let failed: Vec<_> = failed.cloned().collect();
    if !failed.is_empty() {
        doubts.push(Doubt::Unverified(failed));
    }
    if receipt.truncated {
        doubts.push(Doubt::Truncated);
    }
    let open = receipt.grandchildren.iter().filter(|child| child.ended.is_none());
    let open: Vec<_> = open.map(|child| child.delegation_id.clone()).collect();
    if !open.is_empty() {
        doubts.push(Doubt::Unreturned(open));
    }
    // Honest reading and thinking leaves no trace; making something does.
    if evidence == Evidence::None && operation == Some(Operation::Implement) {
        doubts.push(Doubt::NoEvidence);
    }
    let status = if doubts.is_empty() { ReturnStatus::Completed } else { ReturnStatus::Partial };
    Judgement { status, evidence, doubts }
}

/// Judges a claim and writes the verdict into both: the return gets its final
/// status and an error for each doubt, the receipt the evidence and the reasons.
pub fn settle(
    mut claim: Return,
    mut receipt: Receipt,
    operation: Option<Operation>,
) -> (Return, Receipt) {
    let judgement = judge(&claim, &receipt, operation);
    claim.status = judgement.status;
    // The doubts come first: they are why the status is what it is.
    let doubts = judgement.doubts.iter().map(Doubt::as_error);
    claim.errors.splice(..0, doubts);
    claim.errors.truncate(MAX_ERRORS);
    receipt.evidence = judgement.evidence;
    receipt.downgraded = judgement.doubts.iter().map(Doubt::to_string).collect();
    (claim, receipt)
}

/// Whether the runtime saw the attempt do anything at all.
pub(crate) fn evidence(receipt: &Receipt) -> Evidence {
    let called = receipt.tool_calls.values().any(|count| *count > 0);
    let changed = !receipt.files_changed.is_empty() || !receipt.commits.is_empty();
    if called || changed || !receipt.grandchildren.is_empty() {
        Evidence::Seen
    } else {
        Evidence::None
    }
}

/// The claimed artifacts that neither are changed files nor have one below them.
fn unchanged(claim: &Return, receipt: &Receipt) -> Vec<String> {
    let changed: BTreeSet<&str> = receipt.files_changed.iter().map(String::as_str).collect();
    let differs = |path: &str| {
        let below = format!("{path}/");
        let next = changed.range(below.as_str()..).next();
        changed.contains(path) || next.is_some_and(|file| file.starts_with(&below))
    };
    let claimed = claim.artifacts.iter().filter(|artifact| {
        !MAY_BE_UNCHANGED.iter().any(|kind| artifact.kind.eq_ignore_ascii_case(kind))
    });
    let unchanged = claimed.filter(|artifact| !differs(&artifact.path));
    unchanged.map(|artifact| artifact.path.clone()).collect()
}

impl Doubt {
    fn as_error(&self) -> ReturnError {
        let (kind, code, recommendation) = match self {
            Self::Unchanged(_) => (
                "unchanged_artifact",
                Code::ValidationFailed,
                "Look at what was really changed, then retry with the missing work named.",
            ),
            Self::Unverified(_) => (
                "verification_failed",
                Code::BuildError,
                "Retry with the output of the failed commands in the note.",
            ),
            Self::Truncated => {
                ("truncated", Code::UnknownError, "Retry; the end of the work was never heard of.")
            }
            Self::Unreturned(_) => (
                "unreturned_delegation",
                Code::Conflict,
                "Wait for the delegations below, or cancel them, then retry.",
            ),
            Self::NoEvidence => (
                "no_evidence",
                Code::ValidationFailed,
                "Retry, and say which files are to be changed.",
            ),
        };
        ReturnError {
            kind: kind.to_owned(),
            message: self.to_string(),
            code: Some(code.as_str().to_owned()),
            recoverable: true,
            recommendation: recommendation.to_owned(),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unchanged(paths) => {
                let names = paths.iter().map(|path| format!("{path:?}"));
                write!(f, "claimed artifacts do not differ from the base: {}", listed(names))
            }
            Self::Unverified(commands) => {
                let names = commands.iter().map(|done| match done.exit_code {
                    Some(code) => format!("`{}` exited with {code}", done.command),
                    None => format!("`{}` was stopped", done.command),
                });
                write!(f, "verification failed: {}", listed(names))
            }
            Self::Truncated => f.write_str("the output ended in the middle"),
            Self::Unreturned(ids) => {
                let names = ids.iter().map(ToString::to_string);
                write!(f, "delegations below have not returned: {}", listed(names))
            }
            Self::NoEvidence => f.write_str("no tool was called and nothing was changed"),
        }
    }
}

/// The first few names, and how many more there are.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut text = names.take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
