//! Putting an entry into the text of a TOML file, and taking it out again. Comments, order
//! and blanks stay as they are.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

/// The section and the name in it.
type At<'a> = (&'a str, &'a str);

/// The text with the entry.
pub(super) fn put(text: &str, at: At<'_>, entry: &Value) -> Result<String, String> {
    let broken = |problem: &toml_edit::TomlError| {
        format!("is not TOML ({})", problem.message().replace('\n', ", "))
    };
    let mut document: DocumentMut = text.parse().map_err(|problem| broken(&problem))?;
    let (section, name) = at;
    let servers = document.get_mut(section).and_then(Item::as_table_like_mut);
    let there = servers.and_then(|servers| servers.get_mut(name));
    let after = if let Some(there) = there {
        *there = Item::Table(table(entry));
        document.to_string()
    } else {
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        format!("{text}{gap}[{section}.{name}]\n{}", table(entry))
    };
    // Whatever the text looks like: if it does not say what it should, it is not written.
    let says = |text: &str| toml::from_str::<Value>(text).ok();
    let expected = says(text).and_then(|said| with(said, at, entry));
    match says(&after) {
        Some(said) if Some(&said) == expected.as_ref() => Ok(after),
        Some(_) | None => Err(format!("has no place for a section `{section}`")),
    }
}

/// The text without the entry.
pub(super) fn take_out(text: &str, (section, name): At<'_>) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut(section)?.as_table_like_mut()?.remove(name)?;
    Some(document.to_string())
}

/// The same settings, and the entry.
pub(super) fn with(mut all: Value, (section, name): At<'_>, entry: &Value) -> Option<Value> {
    let servers = all.as_object_mut()?.entry(section).or_insert_with(|| Map::new().into());
    servers.as_object_mut()?.insert(name.to_owned(), entry.clone());
    Some(all)
}

fn table(entry: &Value) -> Table {
    let members = entry.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), item(value))).collect()
}

fn item(value: &Value) -> Item {
    match value {
        Value::String(text) => toml_edit::value(text.as_str()),
        Value::Number(number) => toml_edit::value(number.as_i64().unwrap_or_default()),
        Value::Bool(flag) => toml_edit::value(*flag),
        Value::Array(items) => {
            toml_edit::value(items.iter().filter_map(Value::as_str).collect::<toml_edit::Array>())
        }
        Value::Null | Value::Object(_) => Item::None,
    }
}
