//! What an attempt cost, as far as anybody can tell: by its runner's word or by the table.
//!
//! Pure. On the way both are used, since an attempt has to be stopped in time: what the
//! runner has said itself, and by the table what came after that. The runner's own figure
//! counts as soon as there is one, even where the table had said more; only what nobody has
//! put a price on by the end stays the table's.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_core::config::Price;
use legation_core::money::Usd;
use legation_core::prices::{CostBasis, estimate};
use legation_core::returns::{Receipt, Tokens};

use crate::envoy::Reader;
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
}

impl Pricing {
    /// How the tokens of what that runner runs are priced.
    pub fn new(
        own: BTreeMap<String, Price>,
        model: Option<String>,
        runner: Option<Runner>,
    ) -> Self {
        Self { own, model, runner }
    }

    /// What it cost so far: what the runner says, and by the table what it has used since.
    pub fn so_far(&self, hearing: &Hearing) -> Option<Usd> {
        match hearing.usage().cost {
            Some(own) => Some(own + self.since(hearing)),
            None => self.estimate(hearing, None),
        }
    }

    /// Enters in a receipt what it cost, both figures, and which of them counts.
    pub fn enter(&self, hearing: &Hearing, receipt: &mut Receipt) {
        receipt.cost_estimated_usd = self.estimate(hearing, receipt.tokens.as_ref());
        receipt.cost_basis = match (receipt.cost_usd, receipt.cost_estimated_usd) {
            (Some(_), _) => Some(CostBasis::Runner),
            (None, Some(_)) => Some(CostBasis::Table),
            (None, None) => None,
        };
        let own = receipt.cost_usd.map(|own| own + self.since(hearing));
        receipt.cost_usd = own.or(receipt.cost_estimated_usd);
    }

    /// What was used since the runner last said what it cost, by the table.
    fn since(&self, hearing: &Hearing) -> Usd {
        // These say what it cost together with the tokens that it was for. The others may
        // tell of those tokens later, which then are no more than was said already.
        let is_with_tokens = match self.runner {
            Some(Runner::ClaudeCode | Runner::OpenCode) => true,
            Some(Runner::Codex | Runner::Gemini | Runner::Acp | Runner::Llm | Runner::Command)
            | None => false,
        };
        let unpriced = hearing.envoy().filter(|_| is_with_tokens).map(Reader::unpriced);
        let since = unpriced.and_then(|it| self.priced(&it.by_model, it.tokens));
        since.unwrap_or_default()
    }

    fn estimate(&self, hearing: &Hearing, all: Option<&Tokens>) -> Option<Usd> {
        let all = all.copied().unwrap_or_else(|| hearing.usage().tokens);
        let nothing = BTreeMap::new();
        self.priced(hearing.by_model().unwrap_or(&nothing), all)
    }

    /// What those tokens cost by the table, of which some are known by their models.
    fn priced(&self, by_model: &BTreeMap<String, Tokens>, all: Tokens) -> Option<Usd> {
        let named = by_model.values().fold(Tokens::default(), |sum, tokens| sum.plus(tokens));
        let rest = all.minus(&named);
        let model = self.model.as_deref().unwrap_or_default();
        let by_model = by_model.iter().map(|(model, tokens)| (model.as_str(), *tokens));
        estimate(by_model.chain([(model, rest)]), &self.own)
    }
}
