//! What is there of Gemini CLI's own settings: those of whoever looks after the machine,
//! over which ours are laid, and those of the user, which are left as they are.
//!
//! Only reads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Where the machine's settings are, if no variable says otherwise.
const MACHINE: &str = "/etc/gemini-cli/settings.json";
/// The variable that says otherwise.
pub(super) const MACHINE_VARIABLE: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";

/// What ours are laid over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// The settings of the machine, which win over all others.
    pub machine: Map<String, Value>,
    /// Whether there is a key, and nobody has said that something else be used.
    pub has_only_key: bool,
    /// The folder of the user's own rules.
    pub rules: Option<PathBuf>,
}

impl Around {
    /// Looks where that environment says. Settings of the machine that cannot be read are
    /// an error: what they forbid would be lost.
    pub fn look(variable: &dyn Fn(&str) -> Option<String>) -> io::Result<Self> {
        let machine = variable(MACHINE_VARIABLE).unwrap_or_else(|| MACHINE.to_owned());
        let machine = match fs::read_to_string(&machine) {
            Ok(text) => serde_json::from_str(&text).map_err(|problem| {
                let why = format!("the settings in {machine} cannot be read: {problem}");
                io::Error::new(io::ErrorKind::InvalidData, why)
            })?,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Map::new(),
            Err(problem) => return Err(problem),
        };
        let home = variable("GEMINI_CLI_HOME").or_else(|| variable("HOME"));
        let folder = home.map(|home| Path::new(&home).join(".gemini"));
        let has_key = variable("GEMINI_API_KEY").is_some_and(|key| !key.is_empty());
        let is_chosen = folder.as_deref().is_some_and(has_chosen_login);
        let rules = folder.map(|folder| folder.join("policies")).filter(|folder| folder.is_dir());
        Ok(Self { machine, has_only_key: has_key && !is_chosen, rules })
    }
}

/// Whether the user has said how to log in.
fn has_chosen_login(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("settings.json")).unwrap_or_default();
    // The program allows remarks in that file, which are no JSON. What cannot be read may
    // well say it.
    match serde_json::from_str::<Value>(&text) {
        Ok(settings) => settings.pointer("/security/auth/selectedType").is_some(),
        Err(_) => !text.trim().is_empty(),
    }
}
