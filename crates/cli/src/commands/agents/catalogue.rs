//! The agents of a project, with everything there is to say about their files.

use legation_core::agent::{Refusal, Roster, Severity};
use legation_runners::agents::{Finding, Loaded, load};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::output::Output;
use crate::project::{self, Project};
use crate::show::page;

/// Agents, and who may use them.
pub(super) struct Catalogue {
    pub(super) project: Project,
    pub(super) loaded: Loaded,
    pub(super) roster: Roster,
    /// What is wrong with names of other agents.
    pub(super) references: Vec<Finding>,
}

impl Catalogue {
    /// Reads all agent files of the current project and of the user's home.
    pub(super) fn load(output: &mut Output) -> Result<Self, CommandError> {
        let project = Project::current()?;
        let config = project.config(output)?.config;
        let loaded = load(&project.dir, project::home().as_deref());
        let roster = Roster::new(loaded.definitions(), &config);
        let references = loaded.check_references(&roster);
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
        page::wrapped(&first, "  ") + &page::wrapped(&format!("  hint: {}", finding.hint), "    ")
    }

    /// Where an agent comes from.
    pub(super) fn source(&self, id: &str) -> String {
        let agent = self.loaded.get(id);
        agent.map_or_else(|| "built in".to_owned(), |agent| self.project.shown(&agent.file))
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

/// A refusal of the core as an error at the door.
pub(super) fn refused(refusal: Refusal) -> CommandError {
    CommandError::failed(refusal.code, refusal.message).hint(refusal.hint)
}
