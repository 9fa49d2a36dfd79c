//! List prices, in dollars per million tokens.
//!
//! They change; `[prices]` in the configuration is there for that.

use crate::config::Price;

/// When these were the prices.
pub const AS_OF: &str = "2025-11";

/// Prices by the beginning of a model's name.
pub const TABLE: &[(&str, Price)] = &[
    ("claude-opus-4-5", by_kind([5.0, 25.0], 0.5, Some(6.25))),
    ("claude-opus-4-1", by_kind([15.0, 75.0], 1.5, Some(18.75))),
    ("claude-opus-4", by_kind([15.0, 75.0], 1.5, Some(18.75))),
    ("claude-sonnet-4-5", by_kind([3.0, 15.0], 0.3, Some(3.75))),
    ("claude-sonnet-4", by_kind([3.0, 15.0], 0.3, Some(3.75))),
    ("claude-haiku-4-5", by_kind([1.0, 5.0], 0.1, Some(1.25))),
    ("claude-3-7-sonnet", by_kind([3.0, 15.0], 0.3, Some(3.75))),
    ("claude-3-5-sonnet", by_kind([3.0, 15.0], 0.3, Some(3.75))),
    ("claude-3-5-haiku", by_kind([0.8, 4.0], 0.08, Some(1.0))),
    ("claude-3-opus", by_kind([15.0, 75.0], 1.5, Some(18.75))),
    ("claude-3-haiku", by_kind([0.25, 1.25], 0.03, Some(0.3))),
    ("gpt-5.1", by_kind([1.25, 10.0], 0.125, None)),
    ("gpt-5.1-codex-mini", by_kind([0.25, 2.0], 0.025, None)),
    ("gpt-5-mini", by_kind([0.25, 2.0], 0.025, None)),
    ("gpt-5-nano", by_kind([0.05, 0.4], 0.005, None)),
    ("gpt-5-pro", by_kind([15.0, 120.0], 15.0, None)),
    ("gpt-5", by_kind([1.25, 10.0], 0.125, None)),
    ("gpt-4.1-mini", by_kind([0.4, 1.6], 0.1, None)),
    ("gpt-4.1-nano", by_kind([0.1, 0.4], 0.025, None)),
    ("gpt-4.1", by_kind([2.0, 8.0], 0.5, None)),
    ("gpt-4o-mini", by_kind([0.15, 0.6], 0.075, None)),
    ("gpt-4o", by_kind([2.5, 10.0], 1.25, None)),
    ("o4-mini", by_kind([1.1, 4.4], 0.275, None)),
    ("o3-mini", by_kind([1.1, 4.4], 0.55, None)),
    ("o3-pro", by_kind([20.0, 80.0], 20.0, None)),
    ("o3", by_kind([2.0, 8.0], 0.5, None)),
    ("codex-mini", by_kind([1.5, 6.0], 0.375, None)),
    ("gemini-3-pro", by_kind([2.0, 12.0], 0.2, None)),
    ("gemini-2.5-pro", by_kind([1.25, 10.0], 0.125, None)),
    ("gemini-2.5-flash-lite", by_kind([0.1, 0.4], 0.01, None)),
    ("gemini-2.5-flash", by_kind([0.3, 2.5], 0.03, None)),
    ("gemini-2.0-flash", by_kind([0.1, 0.4], 0.025, None)),
    ("deepseek-chat", by_kind([0.28, 0.42], 0.028, None)),
    ("deepseek-reasoner", by_kind([0.28, 0.42], 0.028, None)),
    ("grok-4-fast", by_kind([0.2, 0.5], 0.05, None)),
    ("grok-4", by_kind([3.0, 15.0], 0.75, None)),
    ("grok-code-fast-1", by_kind([0.2, 1.5], 0.02, None)),
];

const fn by_kind([input, output]: [f64; 2], cache_read: f64, cache_write: Option<f64>) -> Price {
    Price { input, output, cache_read: Some(cache_read), cache_write }
}
