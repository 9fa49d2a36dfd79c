//! Returns: found, checked, judged, told.

mod check;
mod extract;
mod hostile;
mod instruction;
mod judge;
mod neutralise;
mod on_behalf;
mod path;
mod quality;
mod schema;
mod summarise;
mod tokens;
mod within;

use legation_core::ids::{AgentId, SessionId};
use legation_core::returns::{Expectation, Fact, Metadata, Return, Violation};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The session that every story here is about.
const SESSION: &str = "sess_1735460684_a1b2c3";

/// A return with which nothing is wrong, as long as `out.txt` has content.
fn good() -> Value {
    json!({
        "status": "completed",
        "summary": "Made it.",
        "artifacts": [{"type": "implementation", "path": "out.txt"}],
        "metadata": {
            "session_id": SESSION,
            "agent_type": "maker",
            "delegation_depth": 1,
            "delegation_path": ["user", "maker"],
        },
        "errors": [],
    })
}

/// A small disk: the name of a path says what is there.
fn disk(path: &str) -> Fact {
    match path {
        path if path.starts_with("missing") => Fact::Missing,
        path if path.starts_with("empty") => Fact::Empty,
        path if path.starts_with("link") => Fact::Outside,
        path if path.starts_with("locked") => Fact::Unreadable,
        _ => Fact::Present,
    }
}

fn check(value: &Value) -> Result<Return, Violation> {
    let session_id = &SessionId::new(SESSION);
    let expect = Expectation { session_id, schema: None };
    legation_core::returns::check(value, &expect, &disk)
}

fn check_text(output: &str) -> Result<Return, Violation> {
    let session_id = &SessionId::new(SESSION);
    let expect = Expectation { session_id, schema: None };
    legation_core::returns::check_text(output, &expect, &disk)
}

/// What the runtime knows of the attempt.
fn known() -> Metadata {
    let path = ["user", "maker"].map(AgentId::new);
    Metadata::known(SessionId::new(SESSION), &path, Some(1_500))
}

/// One line about an outcome.
fn told(outcome: Result<Return, Violation>) -> String {
    match outcome {
        Ok(_) => "valid".to_owned(),
        Err(violation) => {
            let hint = violation.hint.unwrap_or_default();
            format!("{}: {}\n    {hint}", violation.check, violation.message)
        }
    }
}

/// Any JSON value, four levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
