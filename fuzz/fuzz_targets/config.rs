//! Any JSON is a configuration within its ranges, or a list of problems.
#![no_main]

use legation_core::config::{Layer, Origin, merge};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(value) = serde_json::from_str(text) else { return };
    match merge(&[Layer::new(Origin::Project, value)]) {
        Ok(effective) => {
            let depth = effective.config.limits.max_depth;
            assert!((1..=5).contains(&depth));
        }
        Err(problems) => assert!(!problems.is_empty()),
    }
});
