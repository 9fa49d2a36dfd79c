//! What an attempt costs while it goes on, and in the end.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_core::money::Usd;
use legation_core::prices::CostBasis;
use legation_core::returns::{Receipt, Tokens};
use legation_runners::claude_code::ClaudeCode;
use legation_runners::command::{Report, Usage};
use legation_runners::envoy::{Ear, Event, Program};
use legation_runners::hearing::Hearing;
use legation_runners::opencode::OpenCode;
use legation_runners::pricing::Pricing;
use serde_json::json;
use tokio::sync::watch;

use crate::talked::Heard;

const MODEL: &str = "claude-sonnet-4-5";

/// What each word about usage makes of the cost, in cents, and what the receipt says.
fn costs(runner: Runner, events: Vec<Event>) -> (Vec<Option<u64>>, Receipt) {
    let heard = Heard::default();
    let (_stop, stopped) = watch::channel(false);
    let mut ear = Ear::new(heard.clone(), stopped);
    events.into_iter().for_each(|event| ear.hear(event));
    let mut hearing = Hearing::of(runner);
    let pricing = Pricing::new(BTreeMap::new(), Some(MODEL.to_owned()), Some(runner));
    let mut costs = Vec::new();
    for told in heard.told() {
        let line = serde_json::to_string(&told).unwrap() + "\n";
        for report in hearing.push(line.as_bytes()) {
            if matches!(report, Report::Usage(_)) {
                let cost = pricing.so_far(&hearing);
                costs.push(cost.map(|cost| cost.nanos() / 10_000_000));
            }
        }
    }
    let used = hearing.usage();
    let mut receipt =
        Receipt { tokens: Some(used.tokens), cost_usd: used.cost, ..Receipt::default() };
    pricing.enter(&hearing, &mut receipt);
    (costs, receipt)
}

/// What a program says that prints these lines.
fn said(mut program: impl Program, lines: &[String]) -> Vec<Event> {
    let mut events = Vec::new();
    lines.iter().for_each(|line| program.push(format!("{line}\n").as_bytes(), &mut events));
    events
}

/// A message of Claude Code for which 60 cents are to be paid.
fn message() -> String {
    let usage = json!({"input_tokens": 200_000, "output_tokens": 0});
    let message = json!({"model": MODEL, "usage": usage});
    json!({"type": "stream_event", "event": {"type": "message_start", "message": message}})
        .to_string()
}

/// The last line of a turn, after so many messages in all.
fn result(messages: u64, cost: f64) -> String {
    let models = json!({MODEL: {"inputTokens": messages * 200_000, "costUSD": cost}});
    json!({
        "type": "result", "subtype": "success", "result": "", "total_cost_usd": cost,
        "usage": {"input_tokens": 0}, "modelUsage": models,
    })
    .to_string()
}

#[test]
fn claude_code_costs_by_the_table_until_it_says_so_itself() {
    let lines = [message(), message(), result(2, 1.10), message(), result(3, 1.75)];
    let (costs, receipt) = costs(Runner::ClaudeCode, said(ClaudeCode::default(), &lines));
    // A limit of 50 cents is crossed with the first message, and not with the last line.
    assert_eq!(costs, [60, 120, 110, 170, 175].map(Some));
    assert_eq!(receipt.cost_usd, Usd::from_dollars(1.75));
    assert_eq!(receipt.cost_estimated_usd, Usd::from_dollars(1.80));
    assert_eq!(receipt.cost_basis, Some(CostBasis::Runner));
}

#[test]
fn a_claude_code_that_was_stopped_cost_what_the_table_says() {
    let (_, receipt) =
        costs(Runner::ClaudeCode, said(ClaudeCode::default(), &[message(), result(1, 0.0)]));
    assert_eq!(receipt.cost_usd, Usd::from_dollars(0.60));
    assert_eq!(receipt.cost_basis, Some(CostBasis::Table));
}

#[test]
fn a_claude_code_that_was_stopped_in_its_second_turn_cost_its_own_word_and_the_rest_by_the_table() {
    let lines = [message(), result(1, 0.50), message(), result(2, 0.0)];
    let (costs, receipt) = costs(Runner::ClaudeCode, said(ClaudeCode::default(), &lines));
    assert_eq!(costs, [60, 50, 110].map(Some));
    assert_eq!(receipt.cost_usd, Usd::from_dollars(1.10));
    assert_eq!(receipt.cost_basis, Some(CostBasis::Runner));
}

#[test]
fn opencode_costs_by_the_table_where_it_knows_no_price() {
    let step = |cost: f64| {
        let part = json!({"reason": "stop", "tokens": {"input": 200_000}, "cost": cost});
        json!({"type": "step_finish", "sessionID": "s", "part": part}).to_string()
    };
    let unknown = [step(0.0), step(0.0)];
    let (costs_unknown, _) = costs(Runner::OpenCode, said(OpenCode::default(), &unknown));
    assert_eq!(costs_unknown, [60, 120].map(Some));
    let known = [step(0.5), step(0.5)];
    let (costs_known, _) = costs(Runner::OpenCode, said(OpenCode::default(), &known));
    assert_eq!(costs_known, [50, 100].map(Some));
}

#[test]
fn what_an_agent_says_that_it_cost_is_not_counted_again_with_its_tokens() {
    let used = |input, cost| {
        let tokens = Tokens { input, ..Tokens::default() };
        let usage =
            Usage { tokens, cost: Usd::from_dollars(cost).filter(|cost| *cost > Usd::ZERO) };
        Event::Used { usage, model: None }
    };
    let (costs, receipt) = costs(Runner::Acp, vec![used(0, 0.55), used(200_000, 0.0)]);
    assert_eq!(costs, [55, 55].map(Some));
    assert_eq!(receipt.cost_usd, Usd::from_dollars(0.55));
}
