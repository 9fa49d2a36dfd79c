//! What models cost.

use std::collections::BTreeMap;

use legation_core::config::Price;
use legation_core::money::Usd;
use legation_core::prices::{TABLE, cost, estimate, price};
use legation_core::returns::Tokens;

fn none() -> BTreeMap<String, Price> {
    BTreeMap::new()
}

fn input(model: &str, own: &BTreeMap<String, Price>) -> Option<f64> {
    price(model, own).map(|price| price.input)
}

#[test]
fn the_longest_name_decides_and_another_release_is_another_model() {
    for (model, expected) in [
        ("claude-sonnet-4-5", Some(3.0)),
        ("claude-sonnet-4-5-20250929", Some(3.0)),
        ("anthropic/claude-haiku-4-5", Some(1.0)),
        ("openrouter/anthropic/claude-opus-4-5", Some(5.0)),
        ("claude-opus-4-1-20250805", Some(15.0)),
        ("claude-opus-4-20250514", Some(15.0)),
        ("claude-opus-4-9", None),
        ("claude-sonnet-4-5@20250929", Some(3.0)),
        ("gpt-5", Some(1.25)),
        ("gpt-5-codex", Some(1.25)),
        ("gpt-5-mini-2025-08-07", Some(0.25)),
        ("gpt-5.1-codex-mini", Some(0.25)),
        ("gpt-5.9", None),
        ("gpt-50", None),
        ("o3", Some(2.0)),
        ("o3-mini", Some(1.1)),
        ("o30", None),
        ("gemini-2.5-flash-lite-preview", Some(0.1)),
        ("ollama/deepseek-chat", None),
        ("vllm/gpt-5", None),
        ("", None),
        ("/", None),
        ("nobody-knows", None),
    ] {
        assert_eq!(input(model, &none()), expected, "{model}");
    }
}

#[test]
fn what_a_project_says_comes_first() {
    let own = |input: f64| Price { input, output: 2.0, ..Price::default() };
    let prices = BTreeMap::from([
        ("gpt-5".to_owned(), own(7.0)),
        ("ollama/llama3".to_owned(), own(0.0)),
        ("openrouter/gpt-5".to_owned(), own(8.0)),
    ]);
    assert_eq!(input("gpt-5", &prices), Some(7.0));
    assert_eq!(input("openai/gpt-5", &prices), Some(7.0));
    assert_eq!(input("openrouter/gpt-5", &prices), Some(8.0));
    // A line for a family speaks of its members, too, and before the built-in table.
    assert_eq!(input("gpt-5-mini", &prices), Some(7.0));
    assert_eq!(input("ollama/llama3:70b", &prices), Some(0.0));
    assert_eq!(input("claude-haiku-4-5", &prices), Some(1.0));
}

#[test]
fn every_kind_of_token_has_its_price() {
    let tokens =
        Tokens { input: 2_000, output: 100, reasoning: 0, cache_read: 400, cache_write: 60 };
    let sonnet = price("claude-sonnet-4-5", &none()).unwrap();
    assert_eq!(cost(&sonnet, &tokens), Usd::from_nanos(7_845_000));
    let plain = Price { input: 1.0, output: 10.0, cache_read: None, cache_write: None };
    let tokens = Tokens { input: 1, output: 1, reasoning: 1, cache_read: 1, cache_write: 1 };
    assert_eq!(cost(&plain, &tokens), Usd::from_nanos(1_000 + 10_000 + 10_000 + 1_000 + 1_000));
    let most = Tokens { input: u64::MAX, ..tokens };
    assert_eq!(cost(&plain, &most), Usd::MAX);
}

#[test]
fn a_price_that_is_missing_makes_the_whole_unknown() {
    let some = Tokens { input: 1_000_000, ..Tokens::default() };
    let nothing = Tokens::default();
    assert_eq!(
        estimate([("gpt-5", some), ("o3", some)], &none()),
        Some(Usd::from_nanos(3_250_000_000))
    );
    assert_eq!(estimate([("gpt-5", some), ("nobody", some)], &none()), None);
    assert_eq!(
        estimate([("gpt-5", some), ("nobody", nothing)], &none()),
        Some(Usd::from_nanos(1_250_000_000))
    );
    assert_eq!(estimate([("gpt-5", nothing)], &none()), None);
    assert_eq!(estimate([], &none()), None);
}

#[test]
fn every_line_of_the_table_is_found_by_its_own_name() {
    for (name, listed) in TABLE {
        assert_eq!(price(name, &none()).as_ref(), Some(listed), "{name}");
        assert!(listed.input > 0.0 && listed.output >= listed.input, "{name}");
    }
}
