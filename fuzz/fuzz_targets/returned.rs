//! Any output has a return or none, and a return that passes holds to the limits.
#![no_main]

use legation_core::ids::SessionId;
use legation_core::returns::{Expectation, Fact, check_text, neutralise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|output: &str| {
    let session_id = SessionId::from("sess_1735460684_a1b2c3");
    let expect = Expectation { session_id: &session_id, schema: None };
    if let Ok(passed) = check_text(output, &expect, &|_: &str| Fact::Present) {
        assert!((1..=500).contains(&passed.summary.chars().count()));
        assert!(passed.artifacts.iter().all(|artifact| !artifact.path.starts_with('/')));
    }
    let harmless = neutralise(output);
    assert_eq!(neutralise(&harmless), harmless);
});
