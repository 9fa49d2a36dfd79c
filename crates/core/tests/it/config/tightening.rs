//! Limits that a task, an agent or a call asks for, and those of the story loop.

use expect_test::expect;
use legation_core::config::story_loop::{StoryLoop, Switch, story_loop};
use legation_core::config::{
    Config, Effective, KEYS, Layer, Limits, Mode, Origin, Pattern, Tightening, environment, merge,
    starting_depth,
};
use legation_core::money::Usd;
use legation_core::task::TaskConfig;
use proptest::prelude::*;
use serde_json::json;

use super::{lines, project, shown, told};

#[test]
fn a_task_tightens_limits_and_overrides_the_rest() {
    let task = TaskConfig {
        mode: Some(Mode::Auto),
        max_depth: Some(2),
        token_budget: Some(20_000),
        rollback_on_failure: Some(true),
        pattern: Some(Pattern::Sequential),
        quality_threshold: Some(80),
        ..TaskConfig::default()
    };
    let effective = merge(&[Layer::of_task(&task)]).unwrap();
    expect![[r#"
        mode = "auto" from delegationConfig.mode
        limits.maxDepth = 2 from delegationConfig.maxDepth
        limits.maxTotalTokens = 20000 from delegationConfig.tokenBudget
        recovery.rollbackOnFailure = true from delegationConfig.rollbackOnFailure
    "#]]
    .assert_eq(&lines(
        ["mode", "limits.maxDepth", "limits.maxTotalTokens", "recovery.rollbackOnFailure"]
            .map(|key| shown(&effective, key)),
    ));
    assert!(effective.warnings.is_empty());
}

#[test]
fn a_looser_limit_of_a_task_or_a_call_is_ignored_and_said_so() {
    let file = project(json!({"limits": {"maxDepth": 2, "maxTotalTokens": 10_000}}));
    let task = Layer::of_task(&TaskConfig {
        max_depth: Some(4),
        token_budget: Some(5_000),
        ..TaskConfig::default()
    });
    let call = Layer::new(
        Origin::Call,
        json!({"limits": {
            "maxTotalTokens": 6_000, "maxCostUsd": 50.5, "unmetered": "time", "maxConcurrentAgents": 5,
        }}),
    );
    let effective = merge(&[call, task, file]).unwrap();
    expect![[r#"
        delegationConfig.maxDepth: limits.maxDepth = 4 was asked for, but limits may only be tightened: 2 holds
        call: limits.maxTotalTokens = 6000 was asked for, but limits may only be tightened: 5000 holds
        call: limits.maxCostUsd = 50.5 was asked for, but limits may only be tightened: 20.0 holds
        call: limits.unmetered = "time" was asked for, but limits may only be tightened: "refuse" holds
    "#]]
    .assert_eq(&lines(effective.warnings.iter().map(ToString::to_string)));
    expect![[r#"
        limits.maxDepth = 2 from .legation/config.toml:2
        limits.maxTotalTokens = 5000 from delegationConfig.tokenBudget
        limits.maxConcurrentAgents = 5 from call
    "#]]
    .assert_eq(&lines(
        ["limits.maxDepth", "limits.maxTotalTokens", "limits.maxConcurrentAgents"]
            .map(|key| shown(&effective, key)),
    ));
    assert_eq!(effective.config.limits.max_cost_usd, Usd::from_dollars(20.0).unwrap());
}

#[test]
fn a_session_may_loosen_because_it_is_configuration() {
    let file = project(json!({"limits": {"maxDepth": 2}}));
    let session = Layer::new(Origin::Session, json!({"limits": {"maxDepth": 4}}));
    assert_eq!(merge(&[file, session]).unwrap().config.limits.max_depth, 4);
}

#[test]
fn figures_of_a_task_that_make_no_sense_are_refused() {
    let task =
        TaskConfig { max_depth: Some(0), quality_threshold: Some(101), ..TaskConfig::default() };
    expect![[r#"
        delegationConfig.qualityThreshold: qualityThreshold = 101 is out of range: it takes a whole number from 0 to 100
        delegationConfig.maxDepth: limits.maxDepth = 0 is out of range: it takes a whole number from 1 to 5
    "#]]
    .assert_eq(&told(&[Layer::of_task(&task)]));
}

#[test]
fn every_limit_can_be_tightened() {
    let tightest = json!({"limits": {
        "maxDepth": 1, "maxConcurrentAgents": 1, "maxConcurrentTotal": 1,
        "maxDelegationsPerTask": 1, "maxAgentsPerTree": 1, "tokenBudgetPerChild": 1,
        "maxTotalTokens": 1, "maxCostUsd": 1.0, "maxContextPerAgent": 1, "subtaskTimeout": 1,
        "delegationTimeout": 1, "unmetered": "refuse",
    }});
    let keys = KEYS.iter().filter(|key| key.path.starts_with("limits.")).count();
    assert_eq!(tightest["limits"].as_object().unwrap().len(), keys);
    let asked: Tightening = serde_json::from_value(tightest["limits"].clone()).unwrap();
    let (limits, notes) = Limits::default().tightened_by(&asked);
    assert_eq!(notes, []);
    assert_eq!(serde_json::to_value(limits).unwrap(), tightest["limits"]);
}

#[test]
fn the_limits_of_a_task_are_its_depth_and_its_budget() {
    let task = TaskConfig { max_depth: Some(1), token_budget: Some(9), ..TaskConfig::default() };
    let (limits, notes) = Limits::default().tightened_by(&Tightening::from(&task));
    assert_eq!((limits.max_depth, limits.max_total_tokens, notes.len()), (1, 9, 0));
}

#[test]
fn a_depth_from_outside_only_takes_levels_away() {
    let limits = Limits::default();
    for (text, left) in [
        (None, 3),
        (Some(""), 3),
        (Some("0"), 3),
        (Some(" 2 "), 1),
        (Some("3"), 0),
        (Some("99999999999999999999"), 0),
    ] {
        assert_eq!(limits.depth_left(starting_depth(text).unwrap()), left, "{text:?}");
    }
    for text in ["-1", "+1", "two", "1.5", "0x1", "٣"] {
        let problem = starting_depth(Some(text)).unwrap_err().to_string();
        assert!(problem.starts_with("DELEGATION_DEPTH = ") && problem.contains(text), "{problem}");
    }
}

fn in_loop(layers: &[Layer], switch: Switch) -> String {
    match story_loop(&merge(layers).unwrap(), switch) {
        Ok(StoryLoop { is_enabled, limits }) => format!(
            "{} depth {} child {} s parent {} s",
            if is_enabled { "on" } else { "off" },
            limits.max_depth,
            limits.subtask_timeout / 1000,
            limits.delegation_timeout / 1000
        ),
        Err(problem) => problem.to_string(),
    }
}

#[test]
fn the_story_loop_is_off_and_two_deep_until_somebody_says_otherwise() {
    let set = |value| vec![project(value)];
    let variable = |name: &str, value: &str| vec![environment([(name, value)])];
    let cases = [
        (vec![], Switch::AsConfigured),
        (vec![], Switch::On),
        (set(json!({"enabled": true})), Switch::AsConfigured),
        (set(json!({"enabled": false})), Switch::AsConfigured),
        (set(json!({"enabled": false})), Switch::On),
        (variable("ENABLE_DELEGATION", "true"), Switch::AsConfigured),
        (variable("MAX_DELEGATION_DEPTH", "1"), Switch::On),
        (variable("MAX_DELEGATION_DEPTH", "3"), Switch::On),
        (variable("MAX_DELEGATION_DEPTH", "4"), Switch::On),
        (set(json!({"limits": {"maxDepth": 5}})), Switch::AsConfigured),
        (
            set(json!({"limits": {"subtaskTimeout": 60_000, "delegationTimeout": 90_000}})),
            Switch::On,
        ),
    ];
    expect![[r#"
        off depth 2 child 1800 s parent 7200 s
        on depth 2 child 1800 s parent 7200 s
        on depth 2 child 1800 s parent 7200 s
        off depth 2 child 1800 s parent 7200 s
        on depth 2 child 1800 s parent 7200 s
        on depth 2 child 1800 s parent 7200 s
        on depth 1 child 1800 s parent 7200 s
        on depth 3 child 1800 s parent 7200 s
        MAX_DELEGATION_DEPTH: limits.maxDepth = 4 is out of range: it takes a whole number from 1 to 3 in the story loop
        .legation/config.toml:2: limits.maxDepth = 5 is out of range: it takes a whole number from 1 to 3 in the story loop
        on depth 2 child 60 s parent 90 s
    "#]]
    .assert_eq(&lines(cases.iter().map(|(layers, switch)| in_loop(layers, *switch))));
}

#[test]
fn a_depth_that_nobody_set_is_still_checked_in_the_loop() {
    let mut effective = Effective::default();
    effective.config.limits.max_depth = 5;
    let narrowed = story_loop(&effective, Switch::On).unwrap();
    assert_eq!(narrowed.limits.max_depth, 2);
    effective.settings.clear();
    assert_eq!(story_loop(&effective, Switch::On).unwrap().limits.max_depth, 2);
}

fn limits() -> impl Strategy<Value = serde_json::Value> {
    (1..=5u32, 1..=9u32, 0..=9u64, 0..=9u64).prop_map(|(depth, width, tokens, dollars)| {
        json!({"limits": {
            "maxDepth": depth, "maxConcurrentAgents": width, "maxTotalTokens": tokens,
            "maxCostUsd": dollars,
        }})
    })
}

proptest! {
    #[test]
    fn no_task_and_no_call_ever_loosens(file in limits(), task in limits(), call in limits()) {
        let before = merge(&[project(file.clone())]).unwrap().config.limits;
        let layers = [project(file), Layer::new(Origin::Task, task), Layer::new(Origin::Call, call)];
        let after = merge(&layers).unwrap().config.limits;
        prop_assert!(after.max_depth <= before.max_depth);
        prop_assert!(after.max_concurrent_agents <= before.max_concurrent_agents);
        prop_assert!(after.max_total_tokens <= before.max_total_tokens);
        prop_assert!(after.max_cost_usd <= before.max_cost_usd);
        // What was not asked about stays.
        prop_assert_eq!(after.max_context_per_agent, Config::default().limits.max_context_per_agent);
    }

    #[test]
    fn tightening_twice_is_tightening_once(first in limits(), second in limits()) {
        let asked = |value: &serde_json::Value| serde_json::from_value::<Tightening>(value["limits"].clone()).unwrap();
        let (once, _) = Limits::default().tightened_by(&asked(&first));
        let (again, notes) = once.tightened_by(&asked(&first));
        prop_assert_eq!(&again, &once);
        prop_assert_eq!(notes.len(), asked_above(&once, &first));
        let (one, _) = once.tightened_by(&asked(&second));
        let (other, _) = Limits::default().tightened_by(&asked(&second)).0.tightened_by(&asked(&first));
        prop_assert_eq!(one, other);
    }
}

/// How many of the figures are above what holds.
fn asked_above(limits: &Limits, asked: &serde_json::Value) -> usize {
    let asked = &asked["limits"];
    [
        asked["maxDepth"].as_u64().unwrap() > u64::from(limits.max_depth),
        asked["maxConcurrentAgents"].as_u64().unwrap() > u64::from(limits.max_concurrent_agents),
        asked["maxTotalTokens"].as_u64().unwrap() > limits.max_total_tokens,
    ]
    .into_iter()
    .filter(|is_above| *is_above)
    .count()
}
