//! Loads the configuration: finds the files, reads them into layers, merges.
//!
//! What a setting may be is not decided here; this only knows where settings
//! are kept and in which formats.

pub(crate) mod edit;
mod json_file;
mod lines;
mod toml_file;

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use legation_core::config::{
    Effective, Layer, Origin, Place, Problem, Remark, Warning, environment, merge,
};
use serde_json::{Value, json};

pub(crate) use self::edit::Edit;
use crate::config::lines::Lines;
use crate::error::CommandError;

/// The project's own settings.
pub(crate) const PROJECT_FILE: &str = ".legation/config.toml";
/// No sensible configuration is larger.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The layers that files and environment make, weakest first.
pub(crate) fn layers(
    project: &Path,
    home: Option<&Path>,
    env: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<Layer> {
    let env: Vec<_> = env.collect();
    let mut layers = Vec::new();
    if let Some(path) = user_file(home, &env) {
        let name = tilde(&path, home);
        layers.extend(read(&path, Origin::User, &name, toml_file::layer));
    }
    let path = project.join(".claude/config.json");
    let name = ".claude/config.json";
    layers.extend(read(&path, Origin::ClaudeJson, name, json_file::layer));
    layers.extend(unread_script(project));
    let path = project.join(PROJECT_FILE);
    layers.extend(read(&path, Origin::Project, PROJECT_FILE, toml_file::layer));
    layers.push(environment(env));
    layers
}

/// Merges layers; all problems together are one usage error.
pub(crate) fn merged(layers: &[Layer]) -> Result<Effective, CommandError> {
    merge(layers).map_err(|problems| refused(&problems))
}

/// A warning for programs.
pub(crate) fn warning_json(warning: &Warning) -> Value {
    let place = &warning.place;
    json!({
        "origin": place.origin, "file": place.file, "line": place.line,
        "message": warning.to_string(),
    })
}

fn refused(problems: &[Problem]) -> CommandError {
    let message = match problems {
        [problem] => format!("bad configuration: {problem}"),
        _ => {
            let mut message = format!("bad configuration, {} problems:", problems.len());
            for problem in problems {
                message.push_str(&format!("\n  {problem}"));
            }
            message
        }
    };
    let details: Vec<_> = problems.iter().map(problem_json).collect();
    CommandError::usage(message)
        .hint("correct it, then try `legation config check`")
        .details(json!({"problems": details}))
}

fn problem_json(problem: &Problem) -> Value {
    let place = &problem.place;
    json!({
        "origin": place.origin, "file": place.file, "line": place.line, "column": place.column,
        "key": problem.key, "value": problem.fault.value(), "takes": problem.fault.takes(),
        "message": problem.to_string(),
    })
}

/// The user's own file. The rules for base folders say that a relative one is to be ignored.
fn user_file(home: Option<&Path>, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let base = env.iter().find(|(name, _)| name == "XDG_CONFIG_HOME");
    let base = base.map(|(_, path)| PathBuf::from(path));
    let base = base.filter(|path| path.is_absolute());
    let base = base.or_else(|| home.map(|home| home.join(".config")))?;
    Some(base.join("legation/config.toml"))
}

/// A path as the user would write it.
fn tilde(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Scripts are not evaluated; that one is there is said rather than passed over.
fn unread_script(project: &Path) -> Option<Layer> {
    let file = "claude.config.js";
    if !project.join(file).is_file() {
        return None;
    }
    let mut layer = Layer::empty(Origin::ClaudeJs);
    let reason = "scripts are not evaluated yet; its settings belong in .legation/config.toml";
    layer.warnings.push(Warning {
        place: Place { file: Some(file.to_owned()), ..Place::of(Origin::ClaudeJs) },
        remark: Remark::NotRead { reason: reason.to_owned() },
    });
    Some(layer)
}

/// Turns the text of a file, called so by the user, into a layer.
type Format = fn(&str, Origin, &str) -> Layer;

/// Reads a file into a layer; none if there is no such file.
fn read(path: &Path, origin: Origin, name: &str, format: Format) -> Option<Layer> {
    let unreadable = |at, reason: String| Some(Layer::unreadable(origin, name, at, reason));
    let bytes = match bytes(path) {
        Ok(bytes) => bytes?,
        Err(reason) => return unreadable(None, reason),
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Some(format(text.trim_start_matches('\u{feff}'), origin, name)),
        Err(problem) => {
            let valid = bytes.get(..problem.valid_up_to()).unwrap_or_default();
            let valid = String::from_utf8_lossy(valid);
            let at = Lines::new(&valid).at(valid.len());
            unreadable(Some(at), "the text is not valid UTF-8".to_owned())
        }
    }
}

/// What is in a file, or why it cannot be known; none if there is no such file.
fn bytes(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let failed = |problem: std::io::Error| format!("cannot be read: {problem}");
    let is_absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    match path.metadata() {
        Ok(facts) if !facts.is_file() => return Err("is not a file".to_owned()),
        Ok(_) => {}
        Err(problem) if is_absent(problem.kind()) => return Ok(None),
        Err(problem) => return Err(failed(problem)),
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to know; the size beforehand may be a lie.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("is larger than {MAX_FILE_BYTES} bytes"));
    }
    Ok(Some(bytes))
}
