//! Who shares a provider's limit: when it asks one of them to wait, all of them do.

use super::model::{Definition, Runner};
use crate::ids::AgentId;

impl Runner {
    /// As whom an agent meets its provider's limits; those with the same name share them.
    /// Agents of one vendor's program share its login, models of one provider its key, agents
    /// by protocol their program; what a command asks for, and of whom, only its own agent
    /// knows.
    pub fn limited_as(self, agent: &AgentId, definition: &Definition) -> String {
        let model = definition.model.as_deref().unwrap_or_default();
        let provider = model.split_once('/').map_or("", |(provider, _)| provider);
        match self {
            Self::Command => format!("command {agent}"),
            Self::Acp => format!("acp {}", definition.legation.command.join(" ")),
            Self::ClaudeCode => "claude-code".to_owned(),
            Self::Codex => "codex".to_owned(),
            Self::Gemini => "gemini".to_owned(),
            Self::OpenCode => format!("opencode {provider}"),
            Self::Llm => format!("llm {provider}"),
        }
    }
}
