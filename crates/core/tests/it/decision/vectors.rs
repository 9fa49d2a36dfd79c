//! Recorded questions with their answers, to the digit.

use legation_core::config::Pattern;
use legation_core::task::Task;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Question;

#[derive(Deserialize)]
struct Vector {
    name: String,
    task: Task,
    #[serde(default)]
    options: Options,
    expect: Value,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Options {
    context_utilization: Option<f64>,
    agent_confidence: Option<f64>,
    agent_load: Option<f64>,
    depth: Option<i64>,
    max_depth: Option<i64>,
    child_agents: Option<i64>,
}

/// Rounds every number to the four digits that the vectors have.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            json!((number.as_f64().unwrap_or(f64::NAN) * 10_000.0).round() / 10_000.0)
        }
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.clone(), rounded(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => value.clone(),
    }
}

#[test]
fn every_vector_matches_to_the_digit() {
    let text = include_str!("../fixtures/decision.json");
    let vectors: Vec<Vector> = serde_json::from_str(text).unwrap();
    assert_eq!(vectors.len(), 16);
    for Vector { name, task, options, expect } in vectors {
        let mut question = Question { task, ..Question::default() };
        question.known.context_utilization = options.context_utilization;
        question.known.agent_confidence = options.agent_confidence;
        question.known.agent_load = options.agent_load;
        question.known.depth = options.depth;
        question.known.max_depth = options.max_depth;
        question.known.child_agents = options.child_agents;
        let decision = question.ask();
        let got = serde_json::to_value(&decision).unwrap();
        let got: Value =
            expect.as_object().unwrap().keys().map(|key| (key.clone(), got[key].clone())).collect();
        assert_eq!(rounded(&got), rounded(&expect), "{name}");
        assert_eq!(
            decision.should_delegate,
            decision.suggested_pattern != Pattern::Direct,
            "{name}: the pattern is direct exactly when nothing is delegated"
        );
    }
}
