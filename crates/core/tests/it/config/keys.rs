//! Every key: its default, a value in range, one below, one above, one of another type.

use expect_test::expect;
use legation_core::config::{
    Config, Fault, KEYS, Key, KeyPath, Kind, Layer, MAX_CHARS, MAX_ITEMS, Node, Origin, at, get,
    merge, names_in, put,
};
use serde_json::{Value, json};

use super::{path, project, told};

/// A layer that sets one key; a family gets a member, complete but for what is set.
pub(super) fn layer(key: &Key, value: Value) -> Layer {
    let mut whole = json!({});
    if key.is_family() {
        whole = json!({"prices": {"m": {"input": 1, "output": 2}}});
    }
    put(&mut whole, &member(key), value);
    Layer::new(Origin::Project, whole)
}

/// The path of a key, with a name of the user's own where it takes one.
pub(super) fn member(key: &Key) -> KeyPath {
    KeyPath::of(key.parts().map(|part| if part == "*" { "m" } else { part }))
}

fn grant() -> Value {
    json!({"name": "n", "parent": "p", "child": "c", "tools": ["web"]})
}

/// Values that a kind takes.
pub(super) fn good(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Flag => vec![json!(true), json!(false)],
        Kind::Word(words) => words.iter().map(|word| json!(word)).collect(),
        Kind::Whole { min, max } => vec![json!(min), json!(max), json!(min as f64)],
        Kind::Number { min, max } => vec![json!(min), json!(max), json!((min + max) / 2.0)],
        Kind::Text => vec![json!("x"), json!("é".repeat(MAX_CHARS))],
        Kind::List => vec![json!([]), json!(["a", "b"]), json!(vec!["x"; MAX_ITEMS])],
        Kind::Grants => vec![json!([]), json!([grant()]), json!(vec![grant(); MAX_ITEMS])],
    }
}

/// Values of the right type that are too small or too large.
pub(super) fn out_of_range(kind: Kind) -> Vec<Value> {
    match kind {
        Kind::Flag | Kind::Word(_) => vec![],
        Kind::Whole { min, max } => {
            let below = i64::try_from(min).unwrap() - 1;
            vec![json!(below), json!(max + 1), json!(u64::MAX), json!(-1e300), json!(1e300)]
        }
        Kind::Number { min, max } => vec![json!(min - 0.001), json!(max * 1.001), json!(1e300)],
        Kind::Text => vec![json!(""), json!("x".repeat(MAX_CHARS + 1))],
        Kind::List => vec![json!(vec!["x"; MAX_ITEMS + 1]), json!(["x", ""])],
        Kind::Grants => vec![json!(vec![grant(); MAX_ITEMS + 1])],
    }
}

/// Values of every other type.
pub(super) fn wrong_type(kind: Kind) -> Vec<Value> {
    let all = [json!(true), json!("x"), json!(1.5), json!(["x"]), json!([1]), json!({"x": 1})];
    let is_other = |value: &Value| match kind {
        Kind::Flag => !value.is_boolean(),
        Kind::Word(_) | Kind::Text => !value.is_string(),
        Kind::Whole { .. } => true,
        Kind::Number { .. } => !value.is_number(),
        Kind::List => *value != json!(["x"]),
        Kind::Grants => true,
    };
    all.into_iter().filter(is_other).collect()
}

#[test]
fn the_table_and_the_model_have_the_same_keys() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let mut leaves = Vec::new();
    let mut open = vec![(KeyPath::default(), defaults)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(fields) => {
                open.extend(fields.iter().map(|(name, value)| (path.child(name), value.clone())));
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                leaves.push(path.to_string());
            }
        }
    }
    leaves.sort();
    let mut keys: Vec<_> =
        KEYS.iter().filter(|key| !key.is_family()).map(|key| key.path.to_owned()).collect();
    keys.sort();
    assert_eq!(keys, leaves);

    // Prices have no members by default.
    let prices = KEYS.iter().filter(|key| key.is_family()).map(|key| key.path);
    let price = r#"{"input":1.0,"output":2.0,"cacheRead":3.0,"cacheWrite":4.0}"#;
    let price: legation_core::config::Price = serde_json::from_str(price).unwrap();
    let fields = serde_json::to_value(price).unwrap();
    let fields: Vec<_> =
        fields.as_object().unwrap().keys().map(|name| format!("prices.*.{name}")).collect();
    assert_eq!(prices.collect::<Vec<_>>(), fields);
}

#[test]
fn every_default_is_what_merging_nothing_gives() {
    let effective = merge(&[]).unwrap();
    assert_eq!(effective.config, Config::default());
    for key in KEYS.iter().filter(|key| !key.is_family()) {
        let setting = effective.setting(&key.key_path()).unwrap();
        assert_eq!(setting.value, key.default_value(), "{}", key.path);
        assert_eq!(setting.place.origin, Origin::Default);
    }
}

#[test]
fn every_key_accepts_its_own_default() {
    for key in KEYS.iter().filter(|key| !key.is_family()) {
        let effective = merge(&[layer(key, key.default_value())]).unwrap();
        assert_eq!(effective.config, Config::default(), "{}", key.path);
        assert!(effective.is_set(&key.key_path()), "{}", key.path);
    }
}

#[test]
fn every_key_takes_what_is_in_range_and_the_model_holds_it() {
    for key in KEYS {
        for value in good(key.kind) {
            let effective = merge(&[layer(key, value.clone())]).unwrap();
            let held = serde_json::to_value(&effective.config).unwrap();
            let held = get(&held, &member(key)).unwrap();
            let is_same =
                *held == value || held.as_f64().is_some_and(|it| Some(it) == value.as_f64());
            assert!(is_same, "{} = {value} became {held}", key.path);
        }
    }
}

#[test]
fn every_key_refuses_what_is_out_of_range_by_name() {
    for key in KEYS {
        for value in out_of_range(key.kind) {
            let problems = merge(&[layer(key, value.clone())]).unwrap_err();
            assert_eq!(problems.len(), 1, "{} = {value}", key.path);
            assert!(problems[0].key.is_within(&member(key)), "{}", problems[0]);
            assert!(matches!(problems[0].fault, Fault::OutOfRange { .. }), "{}", problems[0]);
        }
    }
}

#[test]
fn every_key_refuses_another_type_by_name() {
    for key in KEYS {
        for value in wrong_type(key.kind) {
            let problems = merge(&[layer(key, value.clone())]).unwrap_err();
            assert!(problems[0].key.is_within(&member(key)), "{}", problems[0]);
            assert!(matches!(problems[0].fault, Fault::WrongType { .. }), "{}", problems[0]);
        }
    }
}

#[test]
fn null_is_a_value_of_optional_keys_alone() {
    for key in KEYS {
        let merged = merge(&[layer(key, Value::Null)]);
        assert_eq!(merged.is_ok(), key.is_optional, "{}", key.path);
    }
}

#[test]
fn every_section_refuses_to_be_a_plain_value() {
    for section in ["thresholds", "limits", "patterns", "patterns.hints", "prices", "prices.m"] {
        assert_eq!(at(&path(section)), Node::Section);
        let mut value = json!({});
        put(&mut value, &path(section), json!(1));
        let problems = merge(&[Layer::new(Origin::Project, value)]).unwrap_err();
        assert_eq!(problems[0].key, path(section));
    }
}

#[test]
fn the_bounds_have_the_ranges_that_users_are_told() {
    expect![[r#"
        .legation/config.toml:2: limits.maxDepth = 6 is out of range: it takes a whole number from 1 to 5
        .legation/config.toml:3: limits.maxConcurrentAgents = 0 is out of range: it takes a whole number from 1 to 100000
        .legation/config.toml:4: limits.maxConcurrentTotal = 100001 is out of range: it takes a whole number from 1 to 100000
        .legation/config.toml:5: limits.maxDelegationsPerTask = 1000001 is out of range: it takes a whole number from 1 to 1000000
        .legation/config.toml:6: limits.maxAgentsPerTree = 0 is out of range: it takes a whole number from 1 to 1000000
        .legation/config.toml:7: limits.tokenBudgetPerChild = -1 is out of range: it takes a whole number from 0 to 1000000000000
        .legation/config.toml:8: limits.maxCostUsd = -0.5 is out of range: it takes a number from 0 to 1000000
        .legation/config.toml:9: limits.subtaskTimeout = 0 is out of range: it takes a whole number from 1 to 604800000
    "#]]
    .assert_eq(&told(&[project(json!({"limits": {
        "maxDepth": 6, "maxConcurrentAgents": 0, "maxConcurrentTotal": 100_001,
        "maxDelegationsPerTask": 1_000_001, "maxAgentsPerTree": 0, "tokenBudgetPerChild": -1,
        "maxCostUsd": -0.5, "subtaskTimeout": 0,
    }}))]));
}

#[test]
fn zero_means_zero_where_a_budget_is_set_to_it() {
    let limits = json!({"tokenBudgetPerChild": 0, "maxTotalTokens": 0, "maxCostUsd": 0, "maxContextPerAgent": 0});
    let config = merge(&[project(json!({"limits": limits}))]).unwrap().config;
    assert_eq!(config.limits.token_budget_per_child, 0);
    assert_eq!(config.limits.max_total_tokens, 0);
    assert_eq!(config.limits.max_cost_usd.nanos(), 0);
    assert_eq!(config.limits.max_context_per_agent, 0);
}

#[test]
fn a_section_knows_the_names_in_it() {
    assert_eq!(names_in(&path("patterns")), ["default", "hints"]);
    assert_eq!(names_in(&path("prices.x")), ["input", "output", "cacheRead", "cacheWrite"]);
    assert_eq!(names_in(&path("prices")), Vec::<&str>::new());
    assert_eq!(at(&path("limits.maxDepth.x")), Node::Unknown);
}
