//! What an attempt cost, as far as anybody can tell: by its runner's word or by the table.
//!
//! Pure. On the way both are used, since an attempt has to be stopped in time: what the
//! runner has said itself, and by the table what came after that. In the end only the
//! runner's own figure counts, where there is one.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_core::config::Price;
use legation_core::money::Usd;
use legation_core::prices::{CostBasis, estimate};
use legation_core::returns::{Receipt, Tokens};

use crate::hearing::Hearing;

/// How the tokens of an attempt are priced.
#[derive(Clone, Debug)]
pub struct Pricing {
    /// Prices of the project.
    own: BTreeMap<String, Price>,
    /// The model of whatever nobody says which model used it.
    model: Option<String>,
    /// What runs it.
    runner: Option<Runner>,
    /// What the runner said last that it cost, and what that was by the table.
    said: Option<(Usd, Usd)>,
}

impl Pricing {
    /// How the tokens of what that runner runs are priced.
    pub fn new(
        own: BTreeMap<String, Price>,
        model: Option<String>,
        runner: Option<Runner>,
    ) -> Self {
        Self { own, model, runner, said: None }
    }

    /// What it cost so far: what the runner says, and by the table what it has used since.
    pub fn so_far(&mut self, hearing: &Hearing) -> Option<Usd> {
        let estimate = self.estimate(hearing, None);
        let Some(own) = hearing.usage().cost else { return estimate };
        // These say what it cost together with the tokens that it was for. The others may
        // tell of those tokens later, which then are no more than was said already.
        let is_with_tokens = match self.runner {
            Some(Runner::ClaudeCode | Runner::OpenCode) => true,
            Some(Runner::Codex | Runner::Gemini | Runner::Acp | Runner::Llm | Runner::Command)
            | None => false,
        };
        let estimate = estimate.filter(|_| is_with_tokens).unwrap_or_default();
        let at_the_time = match self.said {
            Some((said, estimate)) if said == own => estimate,
            Some(_) | None => estimate,
        };
        self.said = Some((own, at_the_time));
        Some(own + estimate.saturating_sub(at_the_time))
    }

    /// Enters in a receipt what it cost, both figures, and which of them counts.
    pub fn enter(&self, hearing: &Hearing, receipt: &mut Receipt) {
        receipt.cost_estimated_usd = self.estimate(hearing, receipt.tokens.as_ref());
        receipt.cost_basis = match (receipt.cost_usd, receipt.cost_estimated_usd) {
            (Some(_), _) => Some(CostBasis::Runner),
            (None, Some(_)) => Some(CostBasis::Table),
            (None, None) => None,
        };
        receipt.cost_usd = receipt.cost_usd.or(receipt.cost_estimated_usd);
    }

    fn estimate(&self, hearing: &Hearing, all: Option<&Tokens>) -> Option<Usd> {
        let all = all.copied().unwrap_or_else(|| hearing.usage().tokens);
        let by_model = hearing.by_model().into_iter().flatten();
        let named = by_model.clone().fold(Tokens::default(), |sum, (_, tokens)| sum.plus(tokens));
        let rest = all.minus(&named);
        let model = self.model.as_deref().unwrap_or_default();
        let by_model = by_model.map(|(model, tokens)| (model.as_str(), *tokens));
        estimate(by_model.chain([(model, rest)]), &self.own)
    }
}
