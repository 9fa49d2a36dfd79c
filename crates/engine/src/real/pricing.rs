//! What an attempt cost, as far as anybody can tell.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_core::config::Price;
use legation_core::money::Usd;
use legation_core::prices::{CostBasis, estimate};
use legation_core::returns::{Receipt, Tokens};
use legation_runners::hearing::Hearing;

/// How the tokens of an attempt are priced.
pub(super) struct Pricing {
    /// Prices of the project.
    pub(super) own: BTreeMap<String, Price>,
    /// The model of whatever nobody says which model used it.
    pub(super) model: Option<String>,
    /// What runs it.
    pub(super) runner: Option<Runner>,
}

impl Pricing {
    /// What it cost so far: what the runner says, else by the table. A runner that will
    /// say so itself is waited for, since what was once told cannot be taken back.
    pub(super) fn so_far(&self, hearing: &Hearing) -> Option<Usd> {
        let says_itself = match self.runner {
            Some(Runner::ClaudeCode | Runner::OpenCode) => true,
            Some(Runner::Codex | Runner::Gemini | Runner::Acp | Runner::Llm | Runner::Command)
            | None => false,
        };
        let own = hearing.usage().cost;
        own.or_else(|| (!says_itself).then(|| self.estimate(hearing, None)).flatten())
    }

    /// Enters in a receipt what it cost, both figures, and which of them counts.
    pub(super) fn enter(&self, hearing: &Hearing, receipt: &mut Receipt) {
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
