//! The agents of a project, with everything there is to say about their files.

use legation_core::agent::{Roster, Severity, Stranger, check_configured};
use legation_core::config::{Effective, KeyPath};
use legation_runners::agents::{Finding, Loaded, load};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::output::Output;
use crate::page::hanging;
use crate::project::{self, Project};

/// Agents, and who may use them.
pub(super) struct Catalogue {
    pub(super) project: Project,
    pub(super) loaded: Loaded,
    pub(super) roster: Roster,
    /// What is wrong with names of agents, in agent files and in the configuration.
    pub(super) references: Vec<Finding>,
}

impl Catalogue {
    /// Reads all agent files of the current project and of the user's home.
    pub(super) fn load(output: &mut Output) -> Result<Self, CommandError> {
        let project = Project::current()?;
        let effective = project.config(output)?;
        let loaded = load(&project.dir, project::home().as_deref());
        let roster = loaded.roster(&effective.config);
        let mut references = loaded.check_references(&roster);
        let strangers = check_configured(&roster).into_iter();
        references.extend(strangers.map(|stranger| placed(stranger, &effective)));
        Ok(Self { project, loaded, roster, references })
    }

    /// Everything to say, that about files first, for people and programs.
    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.loaded.findings.iter().chain(&self.references)
    }

    /// Findings as JSON.
    pub(super) fn json<'a>(&self, findings: impl Iterator<Item = &'a Finding>) -> Vec<Value> {
        let object = |finding: &Finding| {
            json!({
                "severity": finding.severity, "file": self.project.shown(&finding.file), "line": finding.line,
                "key": finding.key, "message": finding.message, "hint": finding.hint,
            })
        };
        findings.map(object).collect()
    }

    /// A finding in lines of text.
    pub(super) fn text(&self, finding: &Finding, severity: Severity) -> String {
        let file = self.project.shown(&finding.file);
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let first = format!("{}: {file}{line}: {}", severity.as_str(), finding.message);
        hanging("", &first, 2) + &hanging("  ", &format!("suggestion: {}", finding.hint), 4)
    }

    /// Where an agent comes from.
    pub(super) fn source(&self, id: &str) -> String {
        let agent = self.loaded.get(id);
        agent.map_or_else(|| "built in".to_owned(), |agent| self.project.shown(&agent.file))
    }
}

/// A name that nobody has, with the place of the key it stands under.
fn placed(stranger: Stranger, effective: &Effective) -> Finding {
    let key = KeyPath::parse(stranger.key).ok();
    let place = key.as_ref().and_then(|key| effective.setting(key)).map(|it| &it.place);
    // Without a file, the variable or the layer says where it comes from.
    let file = place.and_then(|place| place.file.clone().or_else(|| place.name.clone()));
    Finding {
        severity: Severity::Warning,
        file: file.unwrap_or_else(|| "configuration".to_owned()).into(),
        line: place.and_then(|place| place.line),
        key: Some(stranger.key.to_owned()),
        message: stranger.message,
        hint: stranger.hint,
    }
}

/// How many there are of each severity, in JSON and in words.
#[derive(Default, Serialize)]
pub(super) struct Counts {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
}

impl Counts {
    pub(super) fn of<'a>(findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }
}
