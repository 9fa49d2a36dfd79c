//! How workspaces are made here, and why not in another way.

use legation_core::config::{Config, Mechanism};
use legation_engine::client::Paths;
use legation_engine::named;
use legation_runners::workspace::{Beyond, Spaces, Wanted, Way};
use serde::Serialize;

/// What is wrong where somebody was killed over the user's files.
const HALF_APPLIED: &str = "an apply or rollback was interrupted, or goes on right now: some of \
    your files may be changed and others not; the next `legation apply`, `legation rollback` or \
    start takes that back, or says what keeps it from doing so";

/// How workspaces are made.
#[derive(Serialize)]
pub(super) struct Workspaces {
    pub(super) mechanism: &'static str,
    pub(super) because: String,
    pub(super) others: Vec<Other>,
    /// Why the way that was asked for cannot be had.
    pub(super) obstacle: Option<String>,
}

/// A way that is not taken.
#[derive(Serialize)]
pub(super) struct Other {
    pub(super) mechanism: &'static str,
    pub(super) why: String,
}

impl Workspaces {
    /// Finds out; what keeps workspaces from being made is a problem.
    pub(super) fn look(paths: &Paths, config: &Config, problems: &mut Vec<String>) -> Option<Self> {
        if Spaces::is_half_applied(&paths.state) {
            problems.push(HALF_APPLIED.to_owned());
        }
        for record in Spaces::unreadable(&paths.state) {
            problems.push(format!(
                "{} cannot be read, so nobody knows what its workspace was: look for work in the \
                 folders of that name in `workspaces` and `layers` beside `repos`, then delete \
                 the folder of the record; the next start clears the rest away",
                record.display(),
            ));
        }
        let wanted = match config.workspace.mechanism {
            Mechanism::Auto => Wanted::Auto,
            Mechanism::Overlay => Wanted::Overlay,
            Mechanism::Pool => Wanted::Pool,
            Mechanism::Worktree => Wanted::Worktree,
            Mechanism::Copy => Wanted::Copy,
        };
        let dir = config.workspace.dir.as_deref().map(|dir| named(&paths.project, dir));
        if let Some(Err(problem)) = dir.as_deref().map(Spaces::check_dir) {
            problems.push(format!("no workspace can be made: {problem}"));
            return None;
        }
        let dir = dir.as_ref().unwrap_or(&paths.state);
        let beyond = std::env::current_exe().map_or_else(|_| Beyond::default(), Beyond::Try);
        let choice = match Spaces::survey(&paths.project, dir, (wanted, &beyond)) {
            Ok(choice) => choice,
            Err(problem) => {
                problems.push(format!("no workspace can be made: {problem}"));
                return None;
            }
        };
        let mechanism = choice.way.name();
        if let Some(why) = &choice.obstacle {
            problems.push(format!(
                "`workspace.mechanism` is `{mechanism}`, so no workspace can be made: {why}"
            ));
        }
        if !config.workspace.share.is_empty()
            && let Some(why) = Spaces::share_obstacle(&choice, dir)
        {
            problems.push(format!(
                "`workspace.share` has no effect here, workspaces are made as {mechanism}: {why}"
            ));
        }
        let other = |(way, why): (Way, String)| Other { mechanism: way.name(), why };
        Some(Self {
            mechanism,
            because: choice.because,
            others: choice.others.into_iter().map(other).collect(),
            obstacle: choice.obstacle,
        })
    }
}
