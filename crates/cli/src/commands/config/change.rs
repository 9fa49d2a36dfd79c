//! `legation config set` and `legation config unset`.

use legation_core::config::{Key, KeyPath, Kind, Node, Origin, Place, plain, short_form};
use serde_json::{Value, json};

use super::known;
use crate::config::{Edit, PROJECT_FILE, merged};
use crate::error::CommandError;
use crate::output::Output;
use crate::project::Project;
use crate::reach::Reach;

pub(super) fn set(key: &str, text: &str, output: &mut Output) -> Result<(), CommandError> {
    let (path, key) = settable(key)?;
    let value = value(&path, key, text)?;
    let project = changeable()?;
    let mut edit = Edit::open(&project)?;
    edit.set(&path, &value)?;
    let changed = edit.save()?;
    tell(&project, &path, changed, output)
}

pub(super) fn unset(key: &str, output: &mut Output) -> Result<(), CommandError> {
    let (path, _) = settable(key)?;
    let project = changeable()?;
    let mut edit = Edit::open(&project)?;
    let changed = edit.unset(&path) && edit.save()?;
    tell(&project, &path, changed, output)
}

/// The project, if whoever asks may change its settings: an attempt may not, or the bounds
/// it stands under would be its own.
pub(in crate::commands) fn changeable() -> Result<Project, CommandError> {
    let denied = "an attempt cannot change the user's settings";
    let reach = Reach::from_outside(denied, "say in your return what you would need")?;
    Ok(reach.project)
}

fn settable(key: &str) -> Result<(KeyPath, &'static Key), CommandError> {
    match known(key)? {
        (path, Node::Key(key)) => Ok((path, key)),
        (path, Node::Section | Node::Unknown) => {
            match short_form(&path) {
                Some(key) => Ok((key.key_path(), key)),
                None => Err(CommandError::usage(format!(
                    "{path} is a section and has no value of its own"
                ))
                .hint(format!("name a key in it, such as those of `legation config get {path}`"))),
            }
        }
    }
}

/// What was typed, as the key takes it.
pub(in crate::commands) fn value(
    path: &KeyPath,
    key: &Key,
    text: &str,
) -> Result<Value, CommandError> {
    let text = text.trim();
    let typed = match key.kind {
        Kind::Flag | Kind::Whole { .. } | Kind::Number { .. } => serde_json::from_str(text).ok(),
        Kind::Word(_) | Kind::Text => Some(Value::from(text)),
        Kind::List => Some(list(text)),
        Kind::Grants => {
            return Err(CommandError::usage(format!("{path} is more than a line can say"))
                .hint(format!("write it into {PROJECT_FILE}; docs/configuration.md shows how")));
        }
    };
    let typed = typed.unwrap_or_else(|| Value::from(text));
    key.kind.check(&typed).map_err(|_| {
        CommandError::usage(format!("{path} = {} cannot be: it takes {}", plain(&typed), key.kind))
            .hint(format!("`legation config get {path}` shows what is in force"))
            .details(json!({"key": path, "value": typed, "takes": key.kind.to_string()}))
    })
}

/// A list as JSON has it, or words with commas between them.
fn list(text: &str) -> Value {
    let listed: Option<Vec<String>> = serde_json::from_str(text).ok();
    let words = || text.split(',').map(str::trim).filter(|word| !word.is_empty());
    listed.map_or_else(|| Value::from_iter(words()), Value::from)
}

/// Says what is in force now, which another layer may decide.
fn tell(
    project: &Project,
    path: &KeyPath,
    changed: bool,
    output: &mut Output,
) -> Result<(), CommandError> {
    let effective = merged(&project.layers())?;
    let setting = effective.setting(path);
    let value = setting.map(|setting| setting.value.clone());
    let is_default = setting.is_some_and(|setting| setting.place.origin == Origin::Default);
    let stronger = setting.map(|it| &it.place).filter(|place| place.origin > Origin::Project);
    if let Some(place) = stronger {
        output.note(&format!("warning: {} is stronger than {PROJECT_FILE}", where_from(place)));
    }
    let answer = json!({"key": path, "value": value, "file": PROJECT_FILE, "changed": changed});
    output.answer(&answer, || {
        let value = value.as_ref().map_or_else(|| "not set".to_owned(), plain);
        let origin = if is_default { ", the default" } else { "" };
        let note = if changed { "" } else { " (as before)" };
        format!("{path} = {value}{origin}{note}")
    });
    Ok(())
}

fn where_from(place: &Place) -> String {
    let name = place.name.clone().or_else(|| place.file.clone());
    name.unwrap_or_else(|| "another layer".to_owned())
}
