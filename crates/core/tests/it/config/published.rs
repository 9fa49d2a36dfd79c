//! What is published about the configuration agrees with the table and is fresh.

use expect_test::expect_file;
use legation_core::config::{KEYS, Kind, about, reference, schema};
use serde_json::Value;

#[test]
fn the_reference_is_fresh() {
    expect_file!["../../../../../docs/configuration.md"].assert_eq(&reference());
}

#[test]
fn the_published_schema_is_fresh() {
    let text = serde_json::to_string_pretty(schema()).unwrap() + "\n";
    expect_file!["../../../../../docs/config.schema.json"].assert_eq(&text);
}

#[test]
fn every_key_is_described_and_every_word_is_in_the_schema() {
    for key in KEYS {
        let text = about(&key.key_path());
        assert!(text.ends_with('.') && text.len() > 8, "{}: {text:?}", key.path);
        assert!(!text.contains('\n') && !text.contains('|'), "{}: {text:?}", key.path);
        if let Kind::Word(words) = key.kind {
            let mut part = schema();
            for name in key.parts() {
                part = &part["properties"][name];
            }
            let choices = part["oneOf"].as_array().unwrap().iter();
            let known: Vec<_> = choices.map(|choice| choice["const"].as_str().unwrap()).collect();
            assert_eq!(known, words, "{}", key.path);
        }
    }
}

#[test]
fn the_schema_is_closed_and_refuses_nothing_that_the_model_has() {
    let mut open = vec![schema()];
    while let Some(part) = open.pop() {
        assert_ne!(*part, Value::Bool(false));
        let Some(fields) = part["properties"].as_object() else {
            continue;
        };
        assert_eq!(part["additionalProperties"], Value::Bool(false));
        open.extend(fields.values());
    }
}
