//! A task as somebody wrote it down, read key by key, so that what is wrong can be named.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::sound::takes;
use super::{NamedSubtask, Task, TaskConfig, Unsound};
use crate::text::shown;

/// Characters of a value that are enough to find it.
const SHOWN_CHARS: usize = 60;

impl Task {
    /// The task in a JSON object, checked. The first value that cannot be meant is the answer.
    pub fn read(fields: &Map<String, Value>) -> Result<Self, Unsound> {
        match fields.get("delegationConfig") {
            None | Some(Value::Null) => {}
            Some(own) => {
                let own = object("delegationConfig", own)?;
                each::<TaskConfig>("delegationConfig.", own)?;
            }
        }
        let parts = fields.get("subtasks").and_then(Value::as_array);
        for (index, part) in parts.into_iter().flatten().enumerate() {
            let place = format!("subtasks[{index}]");
            object(&place, part)?;
            read::<NamedSubtask>(&place, part)?;
        }
        each::<Self>("", fields)?;
        let task = read::<Self>("task", &Value::Object(fields.clone()))?;
        task.check()?;
        Ok(task)
    }
}

/// Reads each value as if it were the only one, so that the key at fault is known.
fn each<T: DeserializeOwned>(within: &str, fields: &Map<String, Value>) -> Result<(), Unsound> {
    for (key, value) in fields {
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        serde_json::from_value::<T>(alone)
            .map_err(|problem| unsound(&format!("{within}{key}"), value, &problem))?;
    }
    Ok(())
}

fn read<T: DeserializeOwned>(field: &str, value: &Value) -> Result<T, Unsound> {
    serde_json::from_value(value.clone()).map_err(|problem| unsound(field, value, &problem))
}

/// A list in the place of an object would be taken for its values in order.
fn object<'a>(field: &str, value: &'a Value) -> Result<&'a Map<String, Value>, Unsound> {
    value.as_object().ok_or_else(|| Unsound {
        field: field.to_owned(),
        problem: is(value),
        hint: "it takes an object, such as {\"title\": \"…\"}".to_owned(),
    })
}

fn unsound(field: &str, value: &Value, problem: &serde_json::Error) -> Unsound {
    let said = problem.to_string();
    let hint = takes(field).unwrap_or_else(|| match said.split_once("expected ") {
        Some((_, "u32" | "u64")) => "it takes a whole number from 0".to_owned(),
        Some((_, expected)) => format!("it takes {expected}"),
        // What serde says of a key that is not there names it.
        None => said.clone(),
    });
    Unsound { field: field.to_owned(), problem: is(value), hint }
}

fn is(value: &Value) -> String {
    format!("is {}", shown::visible(&shown::clip(&value.to_string(), SHOWN_CHARS)))
}
