//! What a child might do: anything.

use fastrand::Rng;
use legation_core::Code;
use legation_core::ids::{AttemptId, SessionId};
use legation_core::money::Usd;
use legation_core::prices::CostBasis;
use legation_core::returns::{
    Artifact, Check, Metadata, Receipt, Return, ReturnError, ReturnStatus, StopReason, Tokens,
    Verification, Violation,
};
use legation_core::time::Now;
use legation_core::tree::command::{End, Said, Timing, Usage};
use serde_json::json;

use crate::plan::{one_in, usd};

/// The most one report of use may add: what can be in flight.
pub(crate) const MOST_TOKENS: u64 = 20_000;
/// The same in thousandths of a dollar.
pub(crate) const MOST_MILLIS: u64 = 1_000;

/// A child process that exists only here.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) attempt: AttemptId,
    pub(crate) frozen: bool,
    tokens: Tokens,
    cost: Option<Usd>,
}

impl Child {
    pub(crate) fn new(attempt: AttemptId) -> Self {
        Self { attempt, frozen: false, tokens: Tokens::default(), cost: None }
    }

    /// It works a little; the figures are totals.
    pub(crate) fn work(&mut self, rng: &mut Rng) -> Usage {
        self.tokens.input += rng.u64(0..MOST_TOKENS / 2);
        self.tokens.output += rng.u64(0..MOST_TOKENS / 2);
        self.tokens.cache_read += rng.u64(0..MOST_TOKENS);
        if rng.bool() {
            self.cost = Some(self.cost.unwrap_or_default() + usd(rng, MOST_MILLIS));
        }
        Usage {
            attempt: self.attempt.clone(),
            tokens: self.tokens,
            cost: self.cost,
            context: rng.bool().then(|| rng.u64(0..120_000)),
        }
    }

    /// It ends, somehow.
    pub(crate) fn end(&self, rng: &mut Rng, now: Now, wildness: u32) -> End {
        let said = match rng.u32(0..60) / (wildness + 1) {
            0 => Said::Nothing,
            1 => Said::Invalid(Violation::new(Check::Summary, "the summary is blank")),
            2 => {
                Said::NotStarted { code: Code::ToolUnavailable, why: "no such program".to_owned() }
            }
            _ => Said::Return(answer(rng, wildness)),
        };
        // Some have a figure of their own in the end, which may be less than was estimated.
        let is_own = self.tokens.input.is_multiple_of(4);
        let cost_usd = self.cost.map(|cost| if is_own { cost.share(2) } else { cost });
        let mut receipt = Receipt {
            stop_reason: if rng.u32(0..80) < wildness {
                StopReason::Killed
            } else {
                StopReason::Exited
            },
            exit_code: Some(rng.i32(0..3)),
            tokens: (self.tokens != Tokens::default()).then_some(self.tokens),
            cost_usd,
            cost_basis: cost_usd.filter(|_| is_own).map(|_| CostBasis::Runner),
            truncated: rng.u32(0..80) < wildness,
            ..Receipt::default()
        };
        if rng.bool() {
            receipt.files_changed = vec!["made.txt".to_owned()];
        }
        if one_in(rng, 4) {
            let exit_code = Some(i32::from(rng.u32(0..10) < wildness));
            receipt.verify = vec![Verification { command: "make test".to_owned(), exit_code }];
        }
        End {
            attempt: self.attempt.clone(),
            said,
            receipt,
            quality: rng.bool().then(|| rng.u32(0..=100)),
            hold_until: (rng.u32(0..80) < wildness).then(|| now.plus_ms(rng.u64(0..60_000))),
            raw: None,
            timing: Timing::default(),
        }
    }
}

fn answer(rng: &mut Rng, wildness: u32) -> Return {
    let statuses = [ReturnStatus::Partial, ReturnStatus::Failed, ReturnStatus::Blocked];
    let unwell = rng.u32(0..10) < wildness;
    let status = rng.choice(statuses).filter(|_| unwell).unwrap_or(ReturnStatus::Completed);
    let verdict = if rng.bool() { "accept" } else { "revise" };
    let data = json!({
        "verdict": verdict,
        "decision": rng.u32(0..3),
        "winner": format!("member-{}", rng.u32(0..4)),
        "findings": ["something"],
    });
    let codes = [Code::BuildError, Code::PermissionDenied, Code::UnknownError];
    let code = rng.choice(codes).map(|code| code.to_string());
    let artifact =
        Artifact { kind: "implementation".to_owned(), path: "made.txt".to_owned(), summary: None };
    Return {
        status,
        summary: format!("did {}", rng.u32(0..10)),
        artifacts: if one_in(rng, 12) { vec![artifact] } else { Vec::new() },
        // A lie: nothing of it may survive.
        metadata: Metadata {
            session_id: SessionId::from("sess_0_liar00"),
            agent_type: "root".into(),
            delegation_depth: 0,
            delegation_path: Vec::new(),
            duration_seconds: None,
        },
        errors: vec![ReturnError {
            kind: "execution".to_owned(),
            message: "it broke".to_owned(),
            code,
            recoverable: rng.bool(),
            recommendation: "try again".to_owned(),
        }],
        next_steps: None,
        data: rng.bool().then_some(data),
    }
}
