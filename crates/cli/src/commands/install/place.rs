//! Where each program keeps its settings and its commands.

use std::path::{Path, PathBuf};

use super::program::Program;
use super::words::{self, COMMANDS, Command};
use crate::error::CommandError;
use crate::project;
use crate::reach::Reach;

/// For whom something is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Whoever works in this project.
    Project,
    /// This user, everywhere.
    User,
}

impl Scope {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// Everything that is installed, and where.
pub(crate) struct Place {
    pub(super) program: Program,
    pub(super) scope: Scope,
    pub(super) settings: PathBuf,
    /// Files of commands and what is in them.
    pub(super) commands: Vec<(PathBuf, String)>,
    /// Where it is written down what was done.
    pub(super) record: PathBuf,
    /// Our own program.
    pub(super) binary: PathBuf,
}

impl Place {
    pub(super) fn of(program: Program, scope: Scope, reach: &Reach) -> Result<Self, CommandError> {
        let folder = Folder::of(program, scope, &reach.project.dir)?;
        let binary = std::env::current_exe().map_err(|problem| {
            CommandError::usage(format!("cannot find my own program: {problem}"))
                .hint("start it by its whole path")
        })?;
        let state = match scope {
            Scope::Project => reach.paths.state.as_path(),
            Scope::User => reach.paths.state.parent().unwrap_or(&reach.paths.state),
        };
        let commands = COMMANDS
            .iter()
            .map(|command| (folder.command(program, command), words::file(program, command)));
        Ok(Self {
            program,
            scope,
            commands: commands.collect(),
            record: state.join(format!("installed-{}.json", program.name())),
            settings: folder.settings,
            binary,
        })
    }
}

/// The folders of a program.
struct Folder {
    settings: PathBuf,
    commands: PathBuf,
}

impl Folder {
    fn of(program: Program, scope: Scope, project: &Path) -> Result<Self, CommandError> {
        let user = || Self::users(program);
        match (scope, program) {
            (Scope::User, _) => user(),
            (Scope::Project, Program::ClaudeCode) => Ok(Self {
                settings: project.join(".mcp.json"),
                commands: project.join(".claude/commands"),
            }),
            (Scope::Project, Program::Codex) => Ok(Self {
                settings: project.join(".codex/config.toml"),
                commands: project.join(".agents/skills"),
            }),
            (Scope::Project, Program::Opencode) => Ok(Self {
                settings: either(project, "opencode"),
                commands: project.join(".opencode/command"),
            }),
            (Scope::Project, Program::Gemini) => Ok(Self {
                settings: project.join(".gemini/settings.json"),
                commands: project.join(".gemini/commands"),
            }),
        }
    }

    fn users(program: Program) -> Result<Self, CommandError> {
        let told = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let told = |name: &str| told(name).filter(|path| path.is_absolute());
        let home = project::home().ok_or_else(|| {
            CommandError::usage("HOME is not set, and nobody knows where your settings are")
                .hint("set it, or leave out --user")
        })?;
        Ok(match program {
            Program::ClaudeCode => {
                let own = told("CLAUDE_CONFIG_DIR");
                let settings = own.clone().unwrap_or_else(|| home.clone()).join(".claude.json");
                let commands = own.unwrap_or_else(|| home.join(".claude")).join("commands");
                Self { settings, commands }
            }
            Program::Codex => {
                let own = told("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
                Self { settings: own.join("config.toml"), commands: own.join("skills") }
            }
            Program::Opencode => {
                let all = told("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
                let own = all.join("opencode");
                Self { settings: either(&own, "opencode"), commands: own.join("command") }
            }
            Program::Gemini => {
                let own = home.join(".gemini");
                Self { settings: own.join("settings.json"), commands: own.join("commands") }
            }
        })
    }

    fn command(&self, program: Program, command: &Command) -> PathBuf {
        let name = command.name;
        match program {
            Program::ClaudeCode | Program::Opencode => self.commands.join(format!("{name}.md")),
            Program::Codex => self.commands.join(name).join("SKILL.md"),
            Program::Gemini => self.commands.join(format!("{name}.toml")),
        }
    }
}

/// The file that is there: plain JSON, or JSON with comments.
fn either(folder: &Path, stem: &str) -> PathBuf {
    let (plain, commented) =
        (folder.join(format!("{stem}.json")), folder.join(format!("{stem}.jsonc")));
    if !plain.exists() && commented.exists() { commented } else { plain }
}
