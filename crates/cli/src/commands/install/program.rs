//! The programs that can be given our tools.

use super::place::Scope;

/// A vendor's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Program {
    /// Anthropic's.
    ClaudeCode,
    /// OpenAI's.
    Codex,
    /// The open one.
    Opencode,
    /// Google's.
    Gemini,
}

impl Program {
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
        }
    }

    /// As its vendor writes it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "OpenCode",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// What its user has to know or do.
    pub(super) fn notes(self, scope: Scope) -> &'static [&'static str] {
        match (self, scope) {
            (Self::ClaudeCode, Scope::Project) => {
                &["Claude Code asks once in each project whether it may start the server."]
            }
            (Self::Codex, Scope::Project) => &[
                "Codex reads the settings of a project only once you trust it there.",
                "Its commands are skills: $delegate, $direct and $delegation.",
            ],
            (Self::Codex, Scope::User) => {
                &["Its commands are skills: $delegate, $direct and $delegation."]
            }
            (Self::ClaudeCode, Scope::User) | (Self::Opencode | Self::Gemini, _) => &[],
        }
    }
}
