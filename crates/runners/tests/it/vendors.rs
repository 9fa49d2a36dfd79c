//! What is known of runners before anything is started.

use std::collections::BTreeMap;

use legation_core::agent::Runner;
use legation_runners::vendors::{Vendor, is_passed_on};

fn has_login(runner: Runner, variable: &str) -> bool {
    let env = BTreeMap::from([
        (variable.to_owned(), "x".to_owned()),
        ("HOME".to_owned(), "/nowhere".to_owned()),
    ]);
    Vendor::of(runner).unwrap().has_login(&env)
}

#[test]
fn a_key_lets_somebody_in_and_an_address_does_not() {
    for runner in [Runner::OpenCode, Runner::Llm] {
        for key in ["ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY"] {
            assert!(has_login(runner, key), "{runner:?} {key}");
        }
        for address in ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST", "PATH"] {
            assert!(!has_login(runner, address), "{runner:?} {address}");
        }
    }
}

#[test]
fn both_are_passed_on_to_whoever_can_use_them() {
    for (name, runners) in [
        ("ANTHROPIC_BASE_URL", &[Runner::ClaudeCode, Runner::OpenCode, Runner::Llm][..]),
        ("XAI_API_KEY", &[Runner::OpenCode, Runner::Llm]),
        ("LLM_MAX_TOKENS", &[Runner::Llm]),
        ("MCP_GITHUB_TOKEN", &[Runner::Llm]),
        ("XDG_DATA_HOME", &[Runner::OpenCode]),
        ("AWS_SECRET_ACCESS_KEY", &[]),
    ] {
        let wants = |runner: &Runner| Vendor::of(*runner).is_some_and(|vendor| vendor.wants(name));
        let wanting: Vec<Runner> = Runner::ALL.into_iter().filter(wants).collect();
        assert_eq!(wanting, runners, "{name}");
        assert_eq!(is_passed_on(name), !runners.is_empty(), "{name}");
    }
}
