//! The version of a configuration: the same settings, the same version.

use super::model::Config;
use crate::digest;

/// Twelve hexadecimal digits that name this configuration.
pub fn config_version(config: &Config) -> String {
    let mut value = serde_json::to_value(config).unwrap_or_default();
    // Sorted, so that the order of fields in the model does not matter.
    value.sort_all_objects();
    digest::hex(&[&value.to_string()], 12)
}
