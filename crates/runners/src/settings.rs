//! Settings in JSON, laid over one another.

use serde_json::{Map, Value};

/// Lays the second over the first, key by key.
pub(crate) fn lay_over(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key).or_insert_with(|| Value::Object(Map::new())), value);
            }
        }
        (below, above) => *below = above,
    }
}
