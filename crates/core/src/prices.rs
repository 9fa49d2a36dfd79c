//! What models cost: a dated table of list prices, what a project puts in its place, and
//! sums by it.
//!
//! A price is an estimate. Where a runner says itself what it cost, that counts; where
//! neither is known, nothing is made up.

mod table;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Price;
use crate::money::Usd;
use crate::returns::Tokens;

pub use table::{AS_OF, TABLE};

/// Where a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The runner said so.
    Runner,
    /// Tokens times the table of prices.
    Table,
}

/// Models that somebody runs on a machine of their own: a list price would be a lie.
const OWN_MACHINE: &[&str] = &["ollama/", "vllm/"];

/// The price of a model: what the project says, else what the table does.
///
/// The longest name that the model's begins with decides, so that dated releases need no
/// line of their own; but a release with a number of its own is another model.
pub fn price(model: &str, own: &BTreeMap<String, Price>) -> Option<Price> {
    let named: Vec<_> = own.iter().map(|(name, price)| (name.as_str(), price)).collect();
    if let Some(price) = longest(model, &named) {
        return Some(price.clone());
    }
    if OWN_MACHINE.iter().any(|start| model.starts_with(start)) {
        return None;
    }
    let listed: Vec<_> = TABLE.iter().map(|(name, price)| (*name, price)).collect();
    longest(model, &listed).cloned()
}

/// What so many tokens cost.
pub fn cost(price: &Price, tokens: &Tokens) -> Usd {
    let cache_read = price.cache_read.unwrap_or(price.input);
    let cache_write = price.cache_write.unwrap_or(price.input);
    let parts = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.reasoning, price.output),
        (tokens.cache_read, cache_read),
        (tokens.cache_write, cache_write),
    ];
    // A dollar for a million tokens is a thousand billionths for one. The cast saturates.
    let nanos = |(tokens, price): (u64, f64)| (tokens as f64 * price * 1_000.0).round() as u64;
    parts.into_iter().map(|part| Usd::from_nanos(nanos(part))).sum()
}

/// What tokens of several models cost together; nothing where a price is missing.
pub fn estimate<'a>(
    used: impl IntoIterator<Item = (&'a str, Tokens)>,
    own: &BTreeMap<String, Price>,
) -> Option<Usd> {
    let used = used.into_iter().filter(|(_, tokens)| *tokens != Tokens::default());
    let costs = used.map(|(model, tokens)| Some(cost(&price(model, own)?, &tokens)));
    let costs: Option<Vec<Usd>> = costs.collect();
    costs.filter(|costs| !costs.is_empty()).map(|costs| costs.into_iter().sum())
}

/// The price under the longest name, with or without whose model it is.
fn longest<'a>(model: &str, prices: &[(&str, &'a Price)]) -> Option<&'a Price> {
    let mut name = Some(model);
    while let Some(model) = name {
        let fitting = prices.iter().filter(|(start, _)| fits(model, start));
        if let Some((_, price)) = fitting.max_by_key(|(start, _)| start.len()).copied() {
            return Some(price);
        }
        name = model.split_once('/').map(|(_, rest)| rest);
    }
    None
}

/// Whether a name means that model: all of it, or followed by something that is no number
/// of a release.
fn fits(model: &str, start: &str) -> bool {
    let Some(rest) = model.strip_prefix(start) else { return false };
    let Some(rest) = rest.strip_prefix(['-', '@', ':']) else { return rest.is_empty() };
    let number = rest.split(['-', '.', '@', ':']).next().unwrap_or_default();
    let is_release = number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    !is_release
}
