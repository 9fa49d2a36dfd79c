//! Variables in, a layer out.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use expect_test::expect;
use legation_core::config::{
    KEYS, Kind, Mode, RESERVED_NAMES, SHORT_NAMES, environment, get, merge,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys::{good, out_of_range};
use super::{lines, shown, told};
use crate::matching;

/// How a user would write a value; lists whose items have commas must be JSON.
fn written(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::List, Value::Array(items)) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(|item| item.as_str().unwrap()).collect();
            items.join(",")
        }
        (_, Value::String(text)) => text.clone(),
        (_, value) => value.to_string(),
    }
}

#[test]
fn every_key_can_be_set_by_its_variable() {
    for key in KEYS.iter().filter(|key| !key.is_family()) {
        let variable = key.variable().unwrap();
        for value in good(key.kind) {
            let layer = environment([(variable.clone(), written(key.kind, &value))]);
            assert_eq!(layer.warnings, [], "{variable}");
            let read = get(&layer.value, &key.key_path()).unwrap();
            let is_same =
                *read == value || read.as_f64().is_some_and(|it| Some(it) == value.as_f64());
            assert!(is_same, "{variable}: {value} became {read}");
            let effective = merge(&[layer]).unwrap();
            let place = &effective.setting(&key.key_path()).unwrap().place;
            assert_eq!(place.to_string(), variable);
        }
    }
}

#[test]
fn a_bad_value_is_an_error_that_names_the_variable() {
    for key in KEYS.iter().filter(|key| !key.is_family()) {
        let variable = key.variable().unwrap();
        let texts = out_of_range(key.kind).into_iter().filter(|value| !value.is_array());
        for value in texts.filter(|value| *value != json!("")) {
            let problems =
                merge(&[environment([(variable.clone(), written(key.kind, &value))])]).unwrap_err();
            assert!(problems[0].to_string().starts_with(&variable), "{}", problems[0]);
        }
    }
    expect![[r#"
        LEGATION_AGENTS__GRANTS: agents.grants takes a list of at most 1000 grants, not the text "x"
        LEGATION_ENABLED: enabled takes true or false, not the text "maybe"
        LEGATION_LIMITS__MAX_COST_USD: limits.maxCostUsd takes a number from 0 to 1000000, not the text "NaN"
        LEGATION_LIMITS__MAX_DEPTH: limits.maxDepth takes a whole number from 1 to 5, not the text ""
        LEGATION_LIMITS__MAX_TOTAL_TOKENS: limits.maxTotalTokens = 1e+30 is out of range: it takes a whole number from 0 to 1000000000000
        LEGATION_MODE: mode = "Auto" is not known: it takes one of disabled, suggest, auto, smart; did you mean auto?
        LEGATION_PERMISSIONS__DENY: permissions.deny takes a list of at most 1000 texts, not the text "[web"
        LEGATION_PRICES: prices takes a section with keys, not the text "cheap"
    "#]]
    .assert_eq(&{
        let told = told(&[environment([
            ("LEGATION_LIMITS__MAX_DEPTH", ""),
            ("LEGATION_ENABLED", "maybe"),
            ("LEGATION_LIMITS__MAX_COST_USD", "NaN"),
            ("LEGATION_LIMITS__MAX_TOTAL_TOKENS", "1000000000000000000000000000000"),
            ("LEGATION_PERMISSIONS__DENY", "[web"),
            ("LEGATION_MODE", "Auto"),
            ("LEGATION_PRICES", "cheap"),
            ("LEGATION_AGENTS__GRANTS", "x"),
        ])]);
        let mut told: Vec<_> = told.lines().map(str::to_owned).collect();
        told.sort();
        lines(told)
    });
}

#[test]
fn names_are_the_keys_in_capitals() {
    let names: Vec<_> = KEYS.iter().filter_map(|key| key.variable()).collect();
    for name in [
        "LEGATION_ENABLED",
        "LEGATION_LIMITS__MAX_DEPTH",
        "LEGATION_LIMITS__MAX_COST_USD",
        "LEGATION_PATTERNS__HINTS__DEBATE",
        "LEGATION_RECOVERY__CONTINUE_ON_PARTIAL_FAILURE",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    for reserved in RESERVED_NAMES {
        assert!(!names.iter().any(|known| known == reserved), "{reserved}");
    }
}

#[test]
fn short_names_work_and_the_long_one_wins() {
    let effective = merge(&[environment([
        ("MAX_DELEGATIONS_PER_STORY", "7"),
        ("LEGATION_LIMITS__MAX_DEPTH", "1"),
        ("MAX_DELEGATION_DEPTH", "2"),
        ("ENABLE_DELEGATION", "false"),
        ("MAX_CONTEXT_PER_AGENT", "50000"),
    ])])
    .unwrap();
    expect![[r#"
        enabled = false from ENABLE_DELEGATION
        limits.maxDepth = 1 from LEGATION_LIMITS__MAX_DEPTH
        limits.maxContextPerAgent = 50000 from MAX_CONTEXT_PER_AGENT
        limits.maxDelegationsPerTask = 7 from MAX_DELEGATIONS_PER_STORY
    "#]]
    .assert_eq(&lines(SHORT_NAMES.iter().map(|(_, key)| shown(&effective, key))));
    expect![[r#"
        MAX_DELEGATION_DEPTH: limits.maxDepth = 9 is out of range: it takes a whole number from 1 to 5
    "#]]
    .assert_eq(&told(&[environment([("MAX_DELEGATION_DEPTH", "9")])]));
}

#[test]
fn what_is_not_ours_is_not_looked_at_and_what_looks_like_ours_is_warned_about() {
    let mut variables = vec![
        ("PATH", "/bin"),
        ("DELEGATION_DEPTH", "x"),
        ("legation_mode", "x"),
        ("LEGATION_LIMITS__MAX_DEPHT", "2"),
        ("LEGATION_LIMITS_MAX_DEPTH", "2"),
        ("LEGATION_BANANA", "2"),
        ("LEGATION_TOKENS", "2"),
    ];
    variables.extend(RESERVED_NAMES.iter().map(|name| (*name, "x")));
    expect![[r#"
        warning: LEGATION_BANANA: no setting has this variable, it is ignored
        warning: LEGATION_LIMITS_MAX_DEPTH: no setting has this variable, it is ignored; did you mean LEGATION_LIMITS__MAX_DEPTH?
        warning: LEGATION_LIMITS__MAX_DEPHT: no setting has this variable, it is ignored; did you mean LEGATION_LIMITS__MAX_DEPTH?
        warning: LEGATION_TOKENS: no setting has this variable, it is ignored; did you mean LEGATION_TOKEN?
    "#]]
    .assert_eq(&told(&[environment(variables)]));
}

#[test]
fn flags_and_lists_are_read_as_people_write_them() {
    for (text, value) in
        [("1", true), ("YES", true), ("on", true), ("0", false), ("No", false), (" off ", false)]
    {
        let config = merge(&[environment([("LEGATION_ENABLED", text)])]).unwrap().config;
        assert_eq!(config.enabled, value, "{text}");
    }
    for (text, items) in [
        ("", vec![]),
        ("a", vec!["a"]),
        (" a , b,", vec!["a", "b"]),
        (r#"["a,b", "c"]"#, vec!["a,b", "c"]),
    ] {
        let config = merge(&[environment([("LEGATION_PERMISSIONS__ALLOW", text)])]).unwrap().config;
        let items: Vec<_> = items.into_iter().map(str::to_owned).collect();
        assert_eq!(config.permissions.allow, Some(items), "{text}");
    }
    let config =
        merge(&[environment([("LEGATION_WORKSPACE__DIR", ""), ("LEGATION_MODE", "auto ")])])
            .unwrap()
            .config;
    assert_eq!((config.workspace.dir, config.mode), (None, Mode::Auto));
}

#[test]
fn prices_come_as_json() {
    let text = r#"{"gpt-5.1": {"input": 1, "output": 2}}"#;
    let effective = merge(&[environment([("LEGATION_PRICES", text)])]).unwrap();
    assert_eq!(effective.config.prices["gpt-5.1"].output, 2.0);
    assert_eq!(
        shown(&effective, "prices.\"gpt-5.1\".input"),
        "prices.\"gpt-5.1\".input = 1 from LEGATION_PRICES"
    );
}

#[test]
fn bytes_that_are_no_text_are_refused_by_name() {
    let bad = OsStr::from_bytes(b"\xff\xfe").to_owned();
    let variables = [
        (OsString::from("LEGATION_MODE"), bad.clone()),
        (bad.clone(), bad.clone()),
        (OsString::from("PATH"), bad),
    ];
    expect![[r#"
        LEGATION_MODE: mode is not valid UTF-8
    "#]]
    .assert_eq(&told(&[environment(variables)]));
}

proptest! {
    #[test]
    fn no_environment_panics(pairs in proptest::collection::vec((matching("(LEGATION_[A-Z_]{0,20}|MAX_DELEGATION_DEPTH|\\PC{0,10})"), matching("\\PC{0,20}")), 0..10)) {
        let _ = merge(&[environment(pairs)]);
    }

    #[test]
    fn whatever_a_variable_of_ours_holds_it_is_taken_or_refused_by_name(index in 0..KEYS.len(), text in matching("\\PC{0,12}|-?[0-9]{0,30}(\\.[0-9]+)?|[\\[{].{0,8}")) {
        let name = KEYS[index].variable().unwrap_or_else(|| "LEGATION_PRICES".to_owned());
        if let Err(problems) = merge(&[environment([(name.clone(), text)])]) {
            for problem in problems {
                prop_assert!(problem.to_string().starts_with(&name), "{}", problem);
            }
        }
    }
}
