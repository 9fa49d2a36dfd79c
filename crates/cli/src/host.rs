//! The rules and the agents of a project, read from its files and from the user's home.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use legation_core::agent::Severity;
use legation_engine::host::{Home, Host, Trouble};
use legation_runners::agents::{Finding, load};

use crate::config::{layers, merged};
use crate::project::{self, Project};

/// The files of a project and of the user's home.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    project: Project,
    home: Option<PathBuf>,
}

impl Files {
    /// The files of this project, and of the user who runs this process.
    pub(crate) fn of(project: Project) -> Self {
        Self { project, home: project::home() }
    }

    fn warning(&self, finding: &Finding) -> String {
        let file = self.project.shown(&finding.file);
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{file}{line}: {}", finding.message)
    }
}

impl Host for Files {
    fn home(&self, env: &BTreeMap<String, String>) -> Result<Home, Trouble> {
        let env = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let layers = layers(&self.project.dir, self.home.as_deref(), env);
        let effective = merged(&layers).map_err(Trouble::from)?;
        let agents = load(&self.project.dir, self.home.as_deref());
        let roster = agents.roster(&effective.config);
        let mut warnings: Vec<String> =
            effective.warnings.iter().map(ToString::to_string).collect();
        let references = agents.check_references(&roster);
        let serious = |finding: &&Finding| finding.severity != Severity::Note;
        let findings = agents.findings.iter().chain(&references).filter(serious);
        warnings.extend(findings.map(|finding| self.warning(finding)));
        Ok(Home { config: effective.config, agents, roster, warnings })
    }
}
