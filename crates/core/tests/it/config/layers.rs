//! What wins, what is said about it, and what is refused.

use std::collections::BTreeMap;

use expect_test::expect;
use legation_core::config::Config;
use legation_core::config::{
    Layer, Mode, Origin, Place, Remark, Warning, config_version, merge, near_key,
};
use legation_core::digest::hex;
use serde_json::{Value, json};

use super::{lines, path, project, shown, told};

#[test]
fn later_origins_win_key_by_key_whatever_the_order_they_come_in() {
    let call = Layer::new(Origin::Call, json!({"mode": "smart"}));
    let user = Layer::new(
        Origin::User,
        json!({"mode": "auto", "limits": {"maxDepth": 4, "maxTotalTokens": 9}}),
    );
    let file = project(json!({"limits": {"maxDepth": 2}}));
    let effective = merge(&[call, file, user]).unwrap();
    expect![[r#"
        mode = "smart" from call
        limits.maxDepth = 2 from .legation/config.toml:2
        limits.maxTotalTokens = 9 from user
        limits.maxCostUsd = 20.0 from default
    "#]]
    .assert_eq(&lines(
        ["mode", "limits.maxDepth", "limits.maxTotalTokens", "limits.maxCostUsd"]
            .map(|key| shown(&effective, key)),
    ));
    assert_eq!(effective.config.mode, Mode::Smart);
    assert_eq!(effective.config.limits.max_depth, 2);
}

#[test]
fn the_order_of_origins_is_the_precedence() {
    assert!(Origin::ALL.is_sorted());
    let words: Vec<_> = Origin::ALL.iter().map(|origin| origin.as_str()).collect();
    let json: Vec<_> =
        Origin::ALL.iter().map(|origin| serde_json::to_value(origin).unwrap()).collect();
    assert_eq!(json, words);
    expect![
        "default < user < claude-json < claude-js < project < environment < session < task < call"
    ]
    .assert_eq(&words.join(" < "));
}

#[test]
fn a_word_in_the_place_of_the_sandbox_is_short_for_its_fence() {
    let user = Layer::new(Origin::User, json!({"sandbox": {"pids": 9, "fence": "auto"}}));
    let short = |value: Value| project(json!({"mode": "auto", "sandbox": value}));
    let effective = merge(&[user, short(json!("require"))]).unwrap();
    expect![[r#"
        sandbox.fence = "require" from .legation/config.toml:2
        sandbox.pids = 9 from user
    "#]]
    .assert_eq(&lines(["sandbox.fence", "sandbox.pids"].map(|key| shown(&effective, key))));
    expect![[r#"
        .legation/config.toml:2: sandbox.fence = "requier" is not known: it takes one of require, auto, off; did you mean require?
        .legation/config.toml:2: sandbox takes a section with keys, not true
    "#]].assert_eq(&(told(&[short(json!("requier"))]) + &told(&[short(json!(true))])));
    let validator = jsonschema::validator_for(legation_core::config::schema()).unwrap();
    let fits = |value: Value| validator.is_valid(&json!({"sandbox": value}));
    assert!(fits(json!("require")) && fits(json!({"fence": "off"})));
    assert!(!fits(json!("requier")) && !fits(json!(true)) && !fits(json!({"fense": "off"})));
}

#[test]
fn lists_are_replaced_not_joined() {
    let user =
        Layer::new(Origin::User, json!({"permissions": {"allow": ["web"], "deny": ["shell"]}}));
    let file = project(json!({"permissions": {"allow": ["read"]}}));
    let permissions = merge(&[user, file]).unwrap().config.permissions;
    assert_eq!(permissions.allow, Some(vec!["read".to_owned()]));
    assert_eq!(permissions.deny, ["shell"]);
}

#[test]
fn an_absent_allow_list_is_not_an_empty_one() {
    assert_eq!(Config::default().permissions.allow, None);
    let file = project(json!({"permissions": {"allow": []}}));
    assert_eq!(merge(&[file]).unwrap().config.permissions.allow, Some(vec![]));
}

#[test]
fn all_problems_of_all_layers_are_told_at_once() {
    let user = Layer::new(Origin::User, json!({"limits": {"maxDepth": "three"}}))
        .in_file("~/.config/legation/config.toml", Default::default());
    let file = project(json!({
        "mode": "atuo",
        "limits": {"maxDepth": 9, "maxTotalTokens": 2.5, "maxCostUsd": null},
        "agents": {"disabled": ["a", 5, ""]},
        "ui": 7,
        "workspace": {"dir": {"a": 1, "b": 2}},
    }));
    let broken = Layer::unreadable(
        Origin::ClaudeJson,
        ".claude/config.json",
        Some((3, 7)),
        "expected a comma",
    );
    expect![[r#"
        ~/.config/legation/config.toml: limits.maxDepth takes a whole number from 1 to 5, not the text "three"
        .claude/config.json:3:7: expected a comma
        .legation/config.toml:1: mode = "atuo" is not known: it takes one of disabled, suggest, auto, smart; did you mean auto?
        .legation/config.toml:3: limits.maxDepth = 9 is out of range: it takes a whole number from 1 to 5
        .legation/config.toml:4: limits.maxTotalTokens takes a whole number from 0 to 1000000000000, not the number 2.5
        .legation/config.toml:5: limits.maxCostUsd takes a number from 0 to 1000000, not null
        .legation/config.toml:7: agents.disabled.1 takes a text of 1 to 4096 characters, not the number 5
        .legation/config.toml:7: agents.disabled.2 = "" is out of range: it takes a text of 1 to 4096 characters
        .legation/config.toml:8: ui takes a section with keys, not the number 7
        .legation/config.toml:10: workspace.dir takes a text of 1 to 4096 characters, not a section of 2
    "#]]
    .assert_eq(&told(&[user, file, broken]));
}

#[test]
fn a_problem_says_what_was_found_and_what_is_taken() {
    let problems =
        merge(&[project(json!({"mode": "x", "limits": {"maxDepth": 9, "unmetered": 1}}))])
            .unwrap_err();
    let parts: Vec<_> =
        problems.iter().map(|problem| (problem.fault.value(), problem.fault.takes())).collect();
    assert_eq!(
        parts,
        [
            (Some("\"x\""), Some("one of disabled, suggest, auto, smart")),
            (Some("9"), Some("a whole number from 1 to 5")),
            (Some("the number 1"), Some("one of refuse, time")),
        ]
    );
}

#[test]
fn unknown_keys_are_ignored_with_a_warning_that_names_the_nearest() {
    expect![[r#"
        warning: .legation/config.toml:2: limits.maxDepht is not a known key and is ignored; did you mean limits.maxDepth?
        warning: .legation/config.toml:3: limits.max_total_tokens is not a known key and is ignored; did you mean limits.maxTotalTokens?
        warning: .legation/config.toml:4: limits.banana is not a known key and is ignored
        warning: .legation/config.toml:5: maxRetries is not a known key and is ignored; did you mean recovery.maxRetries?
        warning: .legation/config.toml:6: max_depht is not a known key and is ignored; did you mean limits.maxDepth?
        warning: .legation/config.toml:7: delegation is not a known key and is ignored; did you mean its keys, at the top level of this file?
        warning: .legation/config.toml:9: limit is not a known key and is ignored; did you mean limits?
        warning: .legation/config.toml:11: "a\nb" is not a known key and is ignored
    "#]]
    .assert_eq(&told(&[project(json!({
        "limits": {"maxDepht": 2, "max_total_tokens": 5, "banana": {"deep": [1]}},
        "maxRetries": 1,
        "max_depht": 1,
        "delegation": {"limits": {}},
        "limit": {"maxDepth": 1},
        "a\nb": 1,
    }))]));
}

#[test]
fn a_layer_that_is_no_section_at_all_is_refused() {
    for value in [json!(null), json!([]), json!("auto"), json!(1)] {
        let problems = merge(&[Layer::new(Origin::Session, value)]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].key.is_root());
    }
    expect![[r#"
        session: the configuration takes a section with keys, not a list of 0
    "#]]
    .assert_eq(&told(&[Layer::new(Origin::Session, json!([]))]));
}

#[test]
fn a_flood_of_bad_keys_is_counted_not_listed() {
    let many = (0..20_000).map(|n| (format!("k{n}"), json!(1))).collect::<serde_json::Map<_, _>>();
    let warnings = merge(&[Layer::new(Origin::Project, many.into())]).unwrap().warnings;
    assert_eq!(warnings.len(), 51);
    assert_eq!(warnings[50].to_string(), "project: and 19950 more keys that are not known");

    let many = json!({"agents": {"disabled": vec![1; 1000]}});
    let problems = merge(&[Layer::new(Origin::Project, many)]).unwrap_err();
    assert_eq!(problems.len(), 51);
    assert_eq!(problems[50].to_string(), "project: and 950 more problems like these");

    let half = |n| (format!("m{n}"), json!({"input": 1}));
    let many: serde_json::Map<_, _> = (0..1_000).map(half).collect();
    let problems = merge(&[Layer::new(Origin::Project, json!({"prices": many}))]).unwrap_err();
    assert_eq!(problems.len(), 50);
}

#[test]
fn long_values_and_names_are_shortened_in_messages() {
    let long = "x".repeat(1_000_000);
    let problems = merge(&[project(json!({"mode": long}))]).unwrap_err();
    assert!(problems[0].to_string().len() < 250, "{}", problems[0]);
    let warnings = merge(&[Layer::new(Origin::Project, json!({long: 1}))]).unwrap().warnings;
    assert!(warnings[0].to_string().len() < 250, "{}", warnings[0]);
}

#[test]
fn grants_are_complete_or_refused() {
    let good = json!({"name": "docs", "parent": "lead", "child": "writer", "tools": ["web"]});
    let config = merge(&[project(json!({"agents": {"grants": [good]}}))]).unwrap().config;
    assert_eq!(config.agents.grants[0].child, "writer");
    expect![[r#"
        .legation/config.toml:2: agents.grants.0 needs parent, which is missing
        .legation/config.toml:2: agents.grants.0 needs tools, which is missing
        .legation/config.toml:2: agents.grants.1 takes a grant: name, parent, child and tools, not the text "web"
        .legation/config.toml:2: agents.grants.2.tools takes a list of at most 1000 texts, not the text "web"
    "#]]
    .assert_eq(&told(&[project(json!({"agents": {"grants": [
        {"name": "a", "child": "b"}, "web", {"name": "a", "parent": "p", "child": "c", "tools": "web"},
    ]}}))]));
    let odd = json!({"name": "a", "parent": "p", "child": "c", "tools": [], "tool": 1});
    expect![[r#"
        warning: .legation/config.toml:2: agents.grants.0.tool is not a known key and is ignored; did you mean agents.grants.0.tools?
    "#]]
    .assert_eq(&told(&[project(json!({"agents": {"grants": [odd]}}))]));
}

#[test]
fn prices_merge_field_by_field_and_half_a_price_is_refused() {
    let user =
        Layer::new(Origin::User, json!({"prices": {"gpt-5.1": {"input": 1.25, "output": 10}}}));
    let file = project(json!({"prices": {"gpt-5.1": {"output": 8}}}));
    let effective = merge(&[user, file.clone()]).unwrap();
    let price = &effective.config.prices["gpt-5.1"];
    assert_eq!((price.input, price.output, price.cache_read), (1.25, 8.0, None));
    expect![[r#"
        prices."gpt-5.1".input = 1.25 from user
        prices."gpt-5.1".output = 8 from .legation/config.toml:2
    "#]]
    .assert_eq(&lines(
        effective
            .within(&path("prices"))
            .iter()
            .map(|(key, _)| shown(&effective, &key.to_string())),
    ));
    expect![[r#"
        .legation/config.toml:2: prices."gpt-5.1" needs input, which is missing
    "#]]
    .assert_eq(&told(&[file]));
    expect![[r#"
        .legation/config.toml:2: prices.bad.output = -1 is out of range: it takes a number from 0 to 1000000
        .legation/config.toml:3: prices.none needs input, which is missing
        .legation/config.toml:3: prices.none needs output, which is missing
    "#]]
    .assert_eq(&told(&[project(json!({"prices": {"bad": {"output": -1}, "none": {"cacheRead": 1}}}))]));
}

#[test]
fn whole_numbers_may_be_written_with_a_fraction_of_zero() {
    let effective = merge(&[project(json!({"limits": {"maxDepth": 2.0}}))]).unwrap();
    assert_eq!(
        shown(&effective, "limits.maxDepth"),
        "limits.maxDepth = 2 from .legation/config.toml:2"
    );
}

#[test]
fn the_version_follows_the_settings_and_nothing_else() {
    let none = merge(&[]).unwrap().config;
    let same = merge(&[project(json!({"limits": {"maxDepth": 3}, "banana": 1}))]).unwrap().config;
    let other = merge(&[project(json!({"limits": {"maxDepth": 2}}))]).unwrap().config;
    assert_eq!(config_version(&none), config_version(&same));
    assert_ne!(config_version(&none), config_version(&other));
    let version = config_version(&none);
    assert_eq!(version.len(), 12);
    assert!(version.bytes().all(|byte| byte.is_ascii_hexdigit()));
}

/// JSON without blanks, its keys in the order of the alphabet.
fn sorted(value: &Value) -> String {
    let parts = |parts: Vec<String>| parts.join(",");
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let field = |(name, value): (&String, &Value)| format!("{name:?}:{}", sorted(value));
            format!("{{{}}}", parts(fields.into_iter().map(field).collect()))
        }
        Value::Array(items) => format!("[{}]", parts(items.iter().map(sorted).collect())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

#[test]
fn the_version_does_not_depend_on_the_order_of_fields() {
    let prices =
        json!({"prices": {"b": {"output": 2, "input": 1}, "a": {"input": 1, "output": 2}}});
    let config = merge(&[project(prices)]).unwrap().config;
    let text = sorted(&serde_json::to_value(&config).unwrap());
    assert_eq!(config_version(&config), hex(&[&text], 12));
}

#[test]
fn what_a_reader_found_odd_is_passed_on() {
    let mut layer = Layer::empty(Origin::ClaudeJs);
    let reason = "later".to_owned();
    let place = Place { file: Some("claude.config.js".to_owned()), ..Place::of(Origin::ClaudeJs) };
    layer.warnings.push(Warning { place, remark: Remark::NotRead { reason } });
    expect![[r#"
        warning: claude.config.js: not read: later
    "#]]
    .assert_eq(&told(&[layer]));
}

#[test]
fn a_key_that_does_not_exist_is_met_with_the_nearest() {
    for (key, near) in [
        ("limits.maxDpth", Some("limits.maxDepth")),
        ("limit.maxDepth", Some("limits")),
        ("maxdepth", Some("limits.maxDepth")),
        ("hints", None),
        ("prices.m.inputs", Some("prices.m.input")),
        ("limits.maxDepth.x", None),
        ("banana", None),
        ("limits.maxDepth", None),
    ] {
        assert_eq!(near_key(&path(key)).as_deref(), near, "{key}");
    }
}
