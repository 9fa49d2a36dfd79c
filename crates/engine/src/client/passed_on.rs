//! What the caller of a new tree lets its children see.

use std::collections::BTreeMap;
use std::ffi::OsString;

use legation_runners::vendors::is_passed_on;

/// The part of this process's environment that children may see, as far as it is text.
pub fn passed_on() -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| is_passed_on(name)).collect()
}
