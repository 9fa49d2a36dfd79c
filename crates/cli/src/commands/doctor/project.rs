//! The project: its configuration, its agents, its engine and its journal.

use std::fs;
use std::path::Path;

use legation_core::agent::Severity;
use legation_core::config::Config;
use legation_engine::client::{Paths, engine_pid};
use legation_runners::agents::load;
use rustix::fs::{Access, access};
use serde::Serialize;

use crate::config::merged;
use crate::error::CommandError;
use crate::project;
use crate::reach::{Reach, block_on, unreadable};

/// What was found.
pub(super) struct Looked {
    pub(super) directory: String,
    pub(super) git: bool,
    pub(super) paths: Paths,
    /// The configuration in force; the defaults where it cannot be read.
    pub(super) config: Config,
    pub(super) warnings: Vec<String>,
    pub(super) agents: Findings,
    pub(super) engine: Option<u32>,
    pub(super) journal: Journal,
    pub(super) problems: Vec<String>,
}

/// Agent files, and what is wrong with them.
#[derive(Serialize)]
pub(super) struct Findings {
    pub(super) loaded: usize,
    pub(super) errors: usize,
    pub(super) warnings: usize,
}

/// The state of the journal.
#[derive(Serialize)]
pub(super) struct Journal {
    pub(super) file: String,
    /// Its size; absent where there is none yet.
    pub(super) bytes: Option<u64>,
    /// Whether it is whole; absent where there is none yet.
    pub(super) sound: Option<bool>,
}

/// Why nothing could be written in a folder that is there or would be made.
fn closed(folder: &Path) -> Option<String> {
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let problem = access(there, Access::WRITE_OK | Access::EXEC_OK).err()?;
    let there = there.display();
    Some(format!("nothing can be delegated here: {there} cannot be written to: {problem}"))
}

/// Looks at the project of the working folder.
pub(super) fn look() -> Result<Looked, CommandError> {
    let reach = Reach::current()?;
    let mut problems = Vec::new();
    let (config, warnings) = match merged(&reach.project.layers()) {
        Ok(effective) => {
            let warnings = effective.warnings.iter().map(ToString::to_string).collect();
            (effective.config, warnings)
        }
        Err(error) => {
            problems.push(error.message().to_owned());
            (Config::default(), Vec::new())
        }
    };
    let agents = findings(&reach, &config);
    if agents.errors > 0 {
        problems.push("agent files have errors; `legation agents check` shows them".to_owned());
    }
    problems.extend(closed(&reach.paths.logs));
    problems.extend(closed(&reach.paths.workspaces()));
    let journal = journal(&reach, &mut problems);
    let mut folders = reach.project.dir.ancestors();
    Ok(Looked {
        directory: reach.project.dir.display().to_string(),
        git: folders.any(|folder| folder.join(".git").exists()),
        paths: reach.paths.clone(),
        config,
        warnings,
        agents,
        engine: engine_pid(&reach.paths),
        journal,
        problems,
    })
}

fn findings(reach: &Reach, config: &Config) -> Findings {
    let loaded = load(&reach.project.dir, project::home().as_deref());
    let roster = loaded.roster(config);
    let references = loaded.check_references(&roster);
    let of = |severity| {
        let all = loaded.findings.iter().chain(&references);
        all.filter(|finding| finding.severity == severity).count()
    };
    Findings {
        loaded: loaded.agents.len(),
        errors: of(Severity::Error),
        warnings: of(Severity::Warning),
    }
}

fn journal(reach: &Reach, problems: &mut Vec<String>) -> Journal {
    let file = &reach.paths.journal;
    let checked = reach.reader().and_then(|reader| match reader {
        Some(reader) => block_on(async {
            reader.check().await.map_err(|error| unreadable(&error))?;
            Ok(Some(true))
        }),
        None => Ok(None),
    });
    let sound = checked.unwrap_or_else(|error| {
        problems.push(format!("the journal: {}", error.message()));
        Some(false)
    });
    let bytes = fs::metadata(file).ok().map(|facts| facts.len());
    Journal { file: reach.project.shown(file), bytes, sound }
}
