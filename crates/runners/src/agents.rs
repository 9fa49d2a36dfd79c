//! Agent files of every vendor, read into one kind of definition.
//!
//! Reading never fails as a whole: a bad file is reported with its line and left
//! out, and the others load. A restriction that is not understood makes its file
//! bad; it is never passed over.

mod codex;
mod definition;
mod document;
mod entries;
mod find;
mod frontmatter;
mod known;
mod legation;
mod lenient;
mod names;
mod node;
mod policy;
mod servers;
mod tools;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legation_core::agent::{Definition, Roster, Severity, check_references};
use legation_core::config::Config;
use legation_core::ids::AgentId;
use serde::Serialize;

/// Bytes an agent file may have at most.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Files that are read in one go at most.
pub const MAX_FILES: usize = 10_000;

/// Folders below an agents folder that are entered at most, one inside the other.
pub const MAX_FOLDER_DEPTH: usize = 8;

/// Whose format a file is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vendor {
    /// Our own.
    Legation,
    /// Claude Code.
    Claude,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Gemini CLI.
    Gemini,
    /// Codex.
    Codex,
}

impl Vendor {
    /// Every vendor, the one that wins over the others first.
    pub const ALL: [Self; 5] =
        [Self::Legation, Self::Claude, Self::OpenCode, Self::Gemini, Self::Codex];
}

/// Something to say about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters. A file with an error is left out.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The key it is about.
    pub key: Option<String>,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// An agent and where it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFile {
    /// Its id; the definition has the same.
    pub id: AgentId,
    /// What the file says.
    pub definition: Definition,
    /// The file.
    pub file: PathBuf,
    /// Whose format it is in.
    pub vendor: Vendor,
    references: Vec<Reference>,
}

/// Another agent's name as it is written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reference {
    key: &'static str,
    name: String,
    line: u32,
}

/// What was found in all folders together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// One file for each id: the first that was found.
    pub agents: Vec<AgentFile>,
    /// Everything there is to say about the files, in the order of reading.
    pub findings: Vec<Finding>,
}

impl Loaded {
    /// The agents under a configuration, and what is known of those whose files are bad.
    pub fn roster(&self, config: &Config) -> Roster {
        let bad = self.findings.iter().filter(|finding| finding.severity == Severity::Error);
        let unusable = bad.filter_map(|finding| {
            let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            let why = format!("{}{line}: {}", name(&finding.file)?, finding.message);
            Some((finding.file.file_stem()?.to_str()?.to_owned(), why))
        });
        Roster::new(self.definitions(), config).without(unusable)
    }

    /// The definitions, for a roster.
    pub fn definitions(&self) -> impl Iterator<Item = Definition> {
        self.agents.iter().map(|agent| agent.definition.clone())
    }

    /// The file that defines an agent.
    pub fn get(&self, id: &str) -> Option<&AgentFile> {
        self.agents.iter().find(|agent| agent.id.as_str() == id)
    }

    /// What is wrong with references from agent to agent, with file and line.
    pub fn check_references(&self, roster: &Roster) -> Vec<Finding> {
        let placed = |found: legation_core::agent::Finding| {
            let agent = self.get(found.agent.as_str())?;
            let reference = agent
                .references
                .iter()
                .find(|reference| reference.key == found.key && reference.name == found.reference);
            Some(Finding {
                severity: found.severity,
                file: agent.file.clone(),
                line: reference.map(|reference| reference.line),
                key: Some(found.key.to_owned()),
                message: found.message,
                hint: found.hint,
            })
        };
        check_references(roster).into_iter().filter_map(placed).collect()
    }
}

/// Reads every agent file of a project and of a user's home, the project's first.
pub fn load(project: &Path, home: Option<&Path>) -> Loaded {
    load_at_most(MAX_FILES, project, home)
}

/// The same with another limit on the number of files.
pub fn load_at_most(max_files: usize, project: &Path, home: Option<&Path>) -> Loaded {
    let mut loaded = Loaded::default();
    let walk = find::Walk::new(max_files, &mut loaded.findings);
    let found = walk.find(project, home);
    let mut first: BTreeMap<AgentId, PathBuf> = BTreeMap::new();
    for (vendor, file) in found {
        let agent = match find::bytes(&file) {
            Ok(bytes) => {
                let (agent, findings) = read(vendor, &file, &bytes);
                loaded.findings.extend(findings);
                agent
            }
            Err(finding) => {
                loaded.findings.push(finding);
                None
            }
        };
        let Some(agent) = agent else { continue };
        match first.get(&agent.id) {
            Some(winner) => loaded.findings.push(shadowed(&agent, winner)),
            None => {
                first.insert(agent.id.clone(), agent.file.clone());
                loaded.agents.push(agent);
            }
        }
    }
    loaded
}

/// Reads one file's content. No agent means that it is no agent file, or a bad one; the
/// findings say which.
pub fn read(vendor: Vendor, file: &Path, bytes: &[u8]) -> (Option<AgentFile>, Vec<Finding>) {
    let mut notes = entries::Notes::new(file);
    let agent = std::str::from_utf8(bytes)
        .map_err(|problem| notes.not_text(bytes, &problem))
        .ok()
        .and_then(|text| definition::read(vendor, file, text, &mut notes));
    let findings = notes.into_findings();
    let bad = findings.iter().any(|finding| finding.severity == Severity::Error);
    (agent.filter(|_| !bad), findings)
}

fn shadowed(agent: &AgentFile, winner: &Path) -> Finding {
    Finding {
        severity: Severity::Note,
        file: agent.file.clone(),
        line: None,
        key: None,
        message: format!(
            "`{}` is already defined in {}; this file is not used",
            agent.id,
            winner.display()
        ),
        hint: "give it another id if both are wanted".to_owned(),
    }
}

/// Our name for a tool that a vendor's program says it uses; its own where we have none.
pub fn tool_name(vendor: Vendor, theirs: &str) -> String {
    let ours = names::canonical(vendor, theirs, names::Purpose::Close);
    let known = ours.iter().find(|name| legation_core::agent::CANONICAL.contains(&name.as_str()));
    known.or(ours.last()).cloned().unwrap_or_else(|| theirs.to_owned())
}
