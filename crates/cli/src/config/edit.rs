//! Changing one setting of the project's own file. Everything else in it, comments and
//! order included, stays as it is; a change that would not hold is not written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use legation_core::Code;
use legation_core::config::{KeyPath, Origin, short_form};
use serde_json::Value;
use toml_edit::{Array, Decor, DocumentMut, Item, Table, TableLike};

use super::{PROJECT_FILE, bytes, merged, toml_file};
use crate::error::CommandError;
use crate::project::Project;

/// The project's own file, about to be changed.
pub(crate) struct Edit {
    path: PathBuf,
    before: String,
    document: DocumentMut,
}

impl Edit {
    /// Reads the file; one that is not there is empty.
    pub(crate) fn open(project: &Project) -> Result<Self, CommandError> {
        let path = project.dir.join(PROJECT_FILE);
        // A link is followed, so that it is still one afterwards.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let bytes = bytes(&path).map_err(|reason| unusable(&reason))?.unwrap_or_default();
        let before = String::from_utf8(bytes).map_err(|_| unusable("is not UTF-8"))?;
        let document = before.parse::<DocumentMut>().map_err(|problem| {
            let reason = problem.message().replace('\n', ", ");
            unusable(&format!("cannot be read: {reason}"))
                .hint("correct it by hand; `legation config check` says where")
        })?;
        Ok(Self { path, before, document })
    }

    /// Gives a key a value.
    pub(crate) fn set(&mut self, key: &KeyPath, value: &Value) -> Result<(), CommandError> {
        let parts: Vec<&str> = key.parts().collect();
        let Some((last, sections)) = parts.split_last() else { return Ok(()) };
        self.write_out(key);
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for section in sections {
            let item = table.entry(section).or_insert_with(|| {
                let mut made = Table::new();
                made.set_implicit(true);
                Item::Table(made)
            });
            table = item.as_table_like_mut().ok_or_else(|| {
                unusable(&format!("has a value at {section}, where a section should be"))
            })?;
        }
        let new = item(value);
        match (table.get_mut(last), new) {
            // What is written beside the old value is about the key, and stays.
            (Some(Item::Value(old)), Item::Value(mut new)) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            (_, new) => drop(table.insert(last, new)),
        }
        Ok(())
    }

    /// Takes a key out; whether it was there.
    pub(crate) fn unset(&mut self, key: &KeyPath) -> bool {
        let parts: Vec<&str> = key.parts().collect();
        let Some((last, sections)) = parts.split_last() else { return false };
        self.write_out(key);
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for section in sections {
            let Some(below) = table.get_mut(section).and_then(Item::as_table_like_mut) else {
                return false;
            };
            table = below;
        }
        if !table.contains_key(last) {
            return false;
        }
        hand_on_comment(table, last);
        table.remove(last).is_some()
    }

    /// Makes a section of a word that stands in the place of the one that a key belongs in:
    /// `sandbox = "auto"` becomes what it is short for.
    fn write_out(&mut self, key: &KeyPath) {
        let Some(section) = key.parent() else { return };
        let Some(short) = short_form(&section).and_then(|key| key.parts().next_back()) else {
            return;
        };
        let (table, name) = (self.document.as_table_mut(), section.to_string());
        if !table.get(&name).is_some_and(Item::is_str) {
            return;
        }
        let Some((key, word)) = table.remove_entry(&name) else { return };
        let mut made = Table::new();
        let above = key.leaf_decor().prefix().and_then(|above| above.as_str());
        made.decor_mut().set_prefix(above.unwrap_or_default());
        made.insert(short, word);
        table.insert(&name, Item::Table(made));
    }

    /// Writes the file if it holds; whether anything changed.
    pub(crate) fn save(self) -> Result<bool, CommandError> {
        let text = self.document.to_string();
        merged(&[toml_file::layer(&text, Origin::Project, PROJECT_FILE)]).map_err(|error| {
            error.hint("nothing was written; what only holds together goes in by hand")
        })?;
        if text == self.before {
            return Ok(false);
        }
        write(&self.path, &text).map_err(|problem| {
            let message = format!("cannot write {PROJECT_FILE}: {problem}");
            CommandError::failed(Code::UnknownError, message).hint("nothing was changed")
        })?;
        Ok(true)
    }
}

/// Gives what is written above a key to the one below it: it may be about the whole file.
fn hand_on_comment(table: &mut dyn TableLike, key: &str) {
    let above = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
    let Some(above) = above.filter(|above| above.contains('#')).map(str::to_owned) else { return };
    let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    let next = names.iter().skip_while(|name| *name != key).nth(1);
    let Some(next) = next else { return };
    let add = |decor: &mut Decor| {
        let own = decor.prefix().and_then(|own| own.as_str()).unwrap_or_default();
        decor.set_prefix(format!("{above}{own}"));
    };
    match table.get_mut(next) {
        Some(Item::Table(section)) => add(section.decor_mut()),
        Some(_) | None => drop(table.key_mut(next).map(|mut key| add(key.leaf_decor_mut()))),
    }
}

/// The file at once or not at all.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("toml.{}", std::process::id()));
    let mut file = fs::File::create_new(&beside)?;
    if let Ok(facts) = fs::metadata(path) {
        file.set_permissions(facts.permissions())?;
    }
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| {
        // What is half-written helps nobody; that it stays is no further harm.
        let _ = fs::remove_file(&beside);
    })
}

/// The same value in TOML; there is none for `null`.
fn item(value: &Value) -> Item {
    match value {
        Value::Bool(flag) => toml_edit::value(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml_edit::value(whole),
            None => toml_edit::value(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => toml_edit::value(text.as_str()),
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            toml_edit::value(texts.collect::<Array>())
        }
        Value::Null | Value::Object(_) => Item::None,
    }
}

fn unusable(reason: &str) -> CommandError {
    CommandError::usage(format!("{PROJECT_FILE} {reason}")).hint("nothing was changed")
}
