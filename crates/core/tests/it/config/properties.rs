//! What holds for all layers, good and bad.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use legation_core::config::{Config, KEYS, Key, KeyPath, Kind, Layer, Origin, merge, put, schema};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::keys::{good, member, out_of_range, wrong_type};
use crate::matching;

/// Small values for each key, so that thousands of layers stay quick.
static TAKEN: LazyLock<Vec<Vec<Value>>> = LazyLock::new(|| small(good));
static REFUSED: LazyLock<Vec<Vec<Value>>> = LazyLock::new(|| {
    small(|kind| {
        let mut values = out_of_range(kind);
        values.extend(wrong_type(kind));
        values.push(Value::Null);
        values
    })
});

fn small(values: impl Fn(Kind) -> Vec<Value>) -> Vec<Vec<Value>> {
    let is_small = |value: &Value| value.to_string().len() < 200;
    let of_key = |key: &Key| values(key.kind).into_iter().filter(is_small).collect();
    KEYS.iter().map(of_key).collect()
}

/// A layer that sets some keys to values in range.
fn sound() -> impl Strategy<Value = Value> {
    let one = (0..KEYS.len()).prop_flat_map(|index| (Just(index), select(TAKEN[index].as_slice())));
    proptest::collection::vec(one, 0..12).prop_map(|settings| {
        let mut layer = json!({});
        for (index, value) in settings {
            put(&mut layer, &member(&KEYS[index]), value);
            // Half a price would be refused.
            if KEYS[index].is_family() {
                for field in ["input", "output"] {
                    if layer["prices"]["m"].get(field).is_none() {
                        put(&mut layer, &KeyPath::of(["prices", "m", field]), json!(1));
                    }
                }
            }
        }
        layer
    })
}

/// A layer in which anything may be wrong.
fn unsound() -> impl Strategy<Value = Value> {
    let one = (0..KEYS.len()).prop_flat_map(|index| {
        let values = [TAKEN[index].as_slice(), REFUSED[index].as_slice()].concat();
        let key = member(&KEYS[index]);
        let misspelt = KeyPath::of(key.parts().map(|part| format!("{part}x")));
        (select(vec![key.clone(), key, misspelt]), select(values))
    });
    proptest::collection::vec(one, 0..4).prop_map(|settings| {
        let mut layer = json!({});
        for (path, value) in settings {
            put(&mut layer, &path, value);
        }
        layer
    })
}

/// Any JSON at all, some of it below names of ours.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        matching("\\PC{0,8}").prop_map(Value::from),
    ];
    let names = KEYS.iter().flat_map(|key| key.parts()).collect::<Vec<_>>();
    let name = prop_oneof![select(names).prop_map(str::to_owned), matching("\\PC{0,6}")];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn files() -> Vec<Origin> {
    let is_file = |origin: &Origin| !origin.only_tightens() && *origin != Origin::Default;
    Origin::ALL.iter().copied().filter(is_file).collect()
}

fn layers() -> impl Strategy<Value = Vec<Layer>> {
    let layer = (select(files()), sound());
    let layer = layer.prop_map(|(origin, value)| Layer::new(origin, value));
    proptest::collection::vec(layer, 0..6)
}

/// The leaves of a layer as the table sees them.
fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    for key in KEYS {
        if let Some(value) = legation_core::config::get(value, &member(key)) {
            leaves.insert(member(key).to_string(), value.clone());
        }
    }
    leaves
}

static VALIDATOR: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(schema()).unwrap());

fn is_in_range(config: &Config) -> bool {
    let limits = &config.limits;
    (1..=5).contains(&limits.max_depth)
        && (1..=100_000).contains(&limits.max_concurrent_agents)
        && (1..=100_000).contains(&limits.max_concurrent_total)
        && (1..=1_000_000).contains(&limits.max_delegations_per_task)
        && (1..=1_000_000).contains(&limits.max_agents_per_tree)
        && limits.subtask_timeout >= 1
        && limits.delegation_timeout >= 1
        && config.thresholds.delegation_score <= 100
        && (1..=100).contains(&config.thresholds.complexity_trigger)
        && config.thresholds.effort_hours > 0.0
        && config.recovery.max_retries <= 100
        && config.prices.values().all(|price| price.input >= 0.0 && price.output >= 0.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_last_layer_that_sets_a_key_is_the_one_that_is_named(mut layers in layers()) {
        let effective = merge(&layers).unwrap();
        layers.sort_by_key(|layer| layer.origin);
        let mut expected = BTreeMap::new();
        for layer in &layers {
            for (key, value) in leaves(&layer.value) {
                expected.insert(key, (layer.origin, value));
            }
        }
        let defaults = merge(&[]).unwrap();
        for (key, setting) in &effective.settings {
            let (origin, value) = expected.remove(&key.to_string()).unwrap_or_else(|| {
                (Origin::Default, defaults.setting(key).unwrap().value.clone())
            });
            prop_assert_eq!(setting.place.origin, origin, "{}", key);
            let is_same = setting.value == value || setting.value.as_f64() == value.as_f64();
            prop_assert!(is_same, "{} is {} instead of {}", key, setting.value, value);
        }
        prop_assert!(expected.is_empty(), "{:?} are lost", expected);
    }

    #[test]
    fn merging_is_associative(mut layers in layers(), cut in 0..6usize) {
        // Layers come in the order of their precedence, as they do for every caller.
        layers.sort_by_key(|layer| layer.origin);
        let (below, above) = layers.split_at(cut.min(layers.len()));
        let at_once = merge(&layers).unwrap();
        prop_assert_eq!(&merge(below).unwrap().with(above).unwrap(), &at_once);
        let one_by_one = layers.iter().fold(merge(&[]).unwrap(), |effective, layer| {
            effective.with(std::slice::from_ref(layer)).unwrap()
        });
        prop_assert_eq!(one_by_one, at_once);
    }

    #[test]
    fn the_order_of_layers_of_different_origins_does_not_matter(layers in layers()) {
        let mut seen = Vec::new();
        let layers: Vec<_> = layers
            .into_iter()
            .filter(|layer| {
                let is_new = !seen.contains(&layer.origin);
                seen.push(layer.origin);
                is_new
            })
            .collect();
        let turned: Vec<_> = layers.iter().rev().cloned().collect();
        prop_assert_eq!(merge(&layers).unwrap(), merge(&turned).unwrap());
    }

    #[test]
    fn anything_at_all_gives_a_configuration_in_range_or_problems(value in anything(), origin in select(Origin::ALL.to_vec())) {
        match merge(&[Layer::new(origin, value)]) {
            Ok(effective) => prop_assert!(is_in_range(&effective.config)),
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }

    #[test]
    fn the_schema_accepts_exactly_what_loads_in_silence(value in prop_oneof![sound(), unsound(), unsound(), anything()]) {
        let is_silent = merge(&[Layer::new(Origin::Project, value.clone())])
            .is_ok_and(|effective| effective.warnings.is_empty());
        prop_assert_eq!(VALIDATOR.is_valid(&value), is_silent, "{}", value);
    }
}
