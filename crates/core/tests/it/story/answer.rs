//! What a child says at its end, and what the runtime saw of it.

use legation_core::Code;
use legation_core::ids::AttemptId;
use legation_core::prices::CostBasis;
use legation_core::returns::{
    Artifact, Metadata, Receipt, Return, ReturnError, ReturnStatus, Tokens, Verification,
};
use legation_core::time::Now;
use legation_core::tree::command::{End, Said, Timing};
use serde_json::Value;

use super::words::usd;

/// The end of an attempt before it is known whose.
pub(crate) struct Answer(End);

pub(crate) fn completed(summary: &str) -> Answer {
    Answer::new(ReturnStatus::Completed, summary, Vec::new())
}

pub(crate) fn partial(summary: &str) -> Answer {
    Answer::new(ReturnStatus::Partial, summary, vec![error(summary)])
}

pub(crate) fn failed(summary: &str) -> Answer {
    Answer::new(ReturnStatus::Failed, summary, vec![error(summary)])
}

pub(crate) fn blocked(summary: &str) -> Answer {
    Answer::new(ReturnStatus::Blocked, summary, vec![error(summary)])
}

fn error(message: &str) -> ReturnError {
    ReturnError {
        kind: "execution".to_owned(),
        message: message.to_owned(),
        code: None,
        recoverable: true,
        recommendation: "Try again.".to_owned(),
    }
}

impl Answer {
    fn new(status: ReturnStatus, summary: &str, errors: Vec<ReturnError>) -> Self {
        let claim = Return {
            status,
            summary: summary.to_owned(),
            artifacts: Vec::new(),
            // What a child says of itself is never believed.
            metadata: Metadata {
                session_id: "sess_0_000000".into(),
                agent_type: "liar".into(),
                delegation_depth: 0,
                delegation_path: vec!["nobody".into()],
                duration_seconds: None,
            },
            errors,
            next_steps: None,
            data: None,
        };
        Self::said(Said::Return(claim))
    }

    /// An end that is not a return.
    pub(crate) fn said(said: Said) -> Self {
        let receipt = Receipt { exit_code: Some(0), ..Receipt::default() };
        Self(End {
            attempt: "".into(),
            said,
            receipt,
            quality: None,
            hold_until: None,
            raw: None,
            timing: Timing::default(),
        })
    }

    fn claim(mut self, change: impl FnOnce(&mut Return)) -> Self {
        let Said::Return(claim) = &mut self.0.said else { panic!("it made no return") };
        change(claim);
        self
    }

    fn seen(mut self, change: impl FnOnce(&mut Receipt)) -> Self {
        change(&mut self.0.receipt);
        self
    }

    pub(crate) fn data(self, data: Value) -> Self {
        self.claim(|claim| claim.data = Some(data))
    }

    /// It claims these artifacts.
    pub(crate) fn artifacts(self, paths: &[&str]) -> Self {
        let artifact = |path: &&str| Artifact {
            kind: "implementation".to_owned(),
            path: (*path).to_owned(),
            summary: None,
        };
        self.claim(|claim| claim.artifacts = paths.iter().map(artifact).collect())
    }

    /// Its error has this code.
    pub(crate) fn code(self, code: Code) -> Self {
        self.claim(|claim| claim.errors.iter_mut().for_each(|e| e.code = Some(code.to_string())))
    }

    /// Its error says that trying again cannot help.
    pub(crate) fn hopeless(self) -> Self {
        self.claim(|claim| claim.errors.iter_mut().for_each(|e| e.recoverable = false))
    }

    /// The file system says that these files differ from the base.
    pub(crate) fn files(self, paths: &[&str]) -> Self {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        self.seen(|receipt| receipt.files_changed = paths)
    }

    /// The runtime ran this command itself.
    pub(crate) fn verified(self, command: &str, exit_code: i32) -> Self {
        let command = command.to_owned();
        let verification = Verification { command, exit_code: Some(exit_code) };
        self.seen(|receipt| receipt.verify.push(verification))
    }

    /// The runner's own figure.
    pub(crate) fn cost(self, dollars: f64) -> Self {
        self.seen(|receipt| receipt.cost_usd = Some(usd(dollars)))
    }

    /// The runner says itself that it cost this.
    pub(crate) fn own_cost(self, dollars: f64) -> Self {
        let own = |receipt: &mut Receipt| receipt.cost_basis = Some(CostBasis::Runner);
        self.cost(dollars).seen(own)
    }

    pub(crate) fn tokens(self, output: u64) -> Self {
        self.seen(|receipt| receipt.tokens = Some(Tokens { output, ..Tokens::default() }))
    }

    pub(crate) fn exit_code(self, code: Option<i32>) -> Self {
        self.seen(|receipt| receipt.exit_code = code)
    }

    pub(crate) fn quality(mut self, quality: u32) -> Self {
        self.0.quality = Some(quality);
        self
    }

    /// The provider asked to wait.
    pub(crate) fn hold_until(mut self, until: Now) -> Self {
        self.0.hold_until = Some(until);
        self
    }

    pub(crate) fn raw(mut self, raw: &str) -> Self {
        self.0.raw = Some(raw.to_owned());
        self
    }

    /// It had ended by itself before any word to stop reached it.
    pub(crate) fn by_itself(mut self, at: Option<Now>) -> Self {
        self.0.timing.by_itself = true;
        self.0.timing.ended_at = at;
        self
    }

    /// Its return was handed in at this time.
    pub(crate) fn handed_in(mut self, at: Now) -> Self {
        self.0.timing.handed_in_at = Some(at);
        self
    }

    pub(super) fn of(mut self, attempt: AttemptId) -> End {
        self.0.attempt = attempt;
        self.0
    }
}
