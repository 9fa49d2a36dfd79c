//! `legation config`.

mod change;

use std::process::ExitCode;

use legation_core::config::{
    KeyPath, Node, Origin, Setting, at, config_version, near_key, plain, schema,
};
use serde_json::{Map, Value, json};

pub(super) use self::change::{changeable, value};
use crate::config::{merged, warning_json};
use crate::error::CommandError;
use crate::output::Output;
use crate::page::{clipped, count, width};
use crate::project::Project;

/// What to do when a key is not known.
const ALL_KEYS: &str = "`legation config list` shows all keys";

/// Shows, checks and changes the configuration.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show every setting.
    List {
        /// Show where each setting was made.
        #[arg(long)]
        origin: bool,
    },
    /// Show one setting or one section.
    Get {
        /// The key, such as limits.maxDepth, or a section, such as limits.
        key: String,
    },
    /// Change a setting in .legation/config.toml; the rest of the file stays as it is.
    Set {
        /// The key, such as limits.maxDepth.
        key: String,
        /// What it shall be; of a list, words with commas between them.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take a setting out of .legation/config.toml.
    Unset {
        /// The key, such as limits.maxDepth.
        key: String,
    },
    /// Say what is wrong with the configuration.
    Check,
    /// Print the JSON Schema of the configuration.
    Schema,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<ExitCode, CommandError> {
    match args.action {
        Action::List { origin } => list(origin, output)?,
        Action::Get { key } => get(&key, output)?,
        Action::Set { key, value } => change::set(&key, &value, output)?,
        Action::Unset { key } => change::unset(&key, output)?,
        Action::Check => check(output)?,
        Action::Schema => {
            let text = || serde_json::to_string_pretty(schema()).unwrap_or_default();
            output.answer(schema(), text);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(with_origin: bool, output: &mut Output) -> Result<(), CommandError> {
    let project = Project::current()?;
    // In JSON the warnings are a part of the answer.
    let effective = match output.wants_json() {
        true => merged(&project.layers())?,
        false => project.config(output)?,
    };
    let settings = effective.within(&KeyPath::default());
    let answer = json!({
        "configVersion": config_version(&effective.config),
        "settings": settings.iter().map(|(key, it)| setting_json(key, it)).collect::<Vec<_>>(),
        "warnings": effective.warnings.iter().map(warning_json).collect::<Vec<_>>(),
    });
    output.answer(&answer, || table(&settings, with_origin));
    Ok(())
}

/// A key or a section that there is.
fn known(key: &str) -> Result<(KeyPath, Node), CommandError> {
    let path = KeyPath::parse(key).map_err(|problem| {
        CommandError::usage(format!("{key:?} is not a key: {problem}")).hint(ALL_KEYS)
    })?;
    let node = at(&path);
    if node == Node::Unknown {
        let near = near_key(&path).map(|near| format!("did you mean {near}?"));
        let hint = near.unwrap_or_else(|| ALL_KEYS.to_owned());
        return Err(CommandError::usage(format!("there is no key {path}")).hint(hint));
    }
    Ok((path, node))
}

fn get(key: &str, output: &mut Output) -> Result<(), CommandError> {
    let (path, _) = known(key)?;
    let effective = Project::current()?.config(output)?;
    if let Some(setting) = effective.setting(&path) {
        output.answer(&setting_json(&path, setting), || plain(&setting.value));
        return Ok(());
    }
    let settings = effective.within(&path);
    let fields: Map<_, _> =
        settings.iter().map(|(key, it)| (key.to_string(), setting_json(key, it))).collect();
    let answer = json!({"key": path, "settings": fields});
    output.answer(&answer, || table(&settings, false));
    Ok(())
}

fn check(output: &mut Output) -> Result<(), CommandError> {
    let layers = Project::current()?.layers();
    let effective = merged(&layers)?;
    let files: Vec<_> = layers.iter().filter_map(|layer| layer.file.as_deref()).collect();
    let version = config_version(&effective.config);
    let answer = json!({
        "valid": true, "configVersion": version, "files": files,
        "warnings": effective.warnings.iter().map(warning_json).collect::<Vec<_>>(),
    });
    output.answer(&answer, || {
        let mut text = String::new();
        for warning in &effective.warnings {
            text.push_str(&format!("warning: {warning}\n"));
        }
        let read = match files.as_slice() {
            [] => "no file".to_owned(),
            files => files.join(", "),
        };
        let sound = match effective.warnings.len() {
            0 => "is sound".to_owned(),
            warnings => format!("can be used, with {}", count(warnings, "warning")),
        };
        text + &format!("The configuration {sound} (version {version}).\nRead: {read}.")
    });
    Ok(())
}

fn setting_json(key: &KeyPath, setting: &Setting) -> Value {
    let place = &setting.place;
    json!({
        "key": key, "value": setting.value, "origin": place.origin,
        "file": place.file, "line": place.line, "name": place.name,
    })
}

/// Settings in columns, no wider than a terminal.
fn table(settings: &[(&KeyPath, &Setting)], with_origin: bool) -> String {
    let keys: Vec<_> = settings.iter().map(|(key, _)| key.to_string()).collect();
    let key_width = keys.iter().map(|key| key.chars().count()).max();
    let key_width = key_width.unwrap_or_default().min(width() / 2);
    let mut text = String::new();
    for (key, (_, setting)) in keys.iter().zip(settings) {
        let room = width().saturating_sub(key_width.max(key.chars().count()) + 2);
        let value = clipped(&plain(&setting.value), room);
        let mut row = format!("{key:key_width$}  {value}");
        if with_origin {
            row = with_place(row, setting, key_width + 2);
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Adds where a setting was made: in a column of its own, or below where that is too narrow.
fn with_place(row: String, setting: &Setting, value_column: usize) -> String {
    let place = setting.place.to_string();
    let column = value_column + 12;
    let is_fitting = row.chars().count() < column && column + place.chars().count() <= width();
    if is_fitting {
        format!("{row:column$}{place}")
    } else if setting.place.origin == Origin::Default {
        row
    } else {
        let indent = value_column.min(width().saturating_sub(place.chars().count() + 5));
        format!("{row}\n{:indent$}from {place}", "")
    }
}
