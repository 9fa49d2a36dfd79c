//! Keys that somebody knows. Those of a vendor mean nothing here, but are no reason to warn.

use super::Vendor;

/// Keys that are read in files of every vendor.
const READ: &[&str] = &[
    "id",
    "name",
    "description",
    "model",
    "temperature",
    "maxTurns",
    "tools",
    "disallowedTools",
    "permission",
    "subagents",
    "mcpServers",
    "mcp_servers",
    "color",
    "accentColor",
    "icon",
    "version",
    "legation",
];

const CLAUDE: &[&str] = &[
    "permissionMode",
    "skills",
    "hooks",
    "memory",
    "background",
    "effort",
    "isolation",
    "initialPrompt",
    "criticalSystemReminder_EXPERIMENTAL",
];

const OPENCODE: &[&str] = &[
    "permissions",
    "steps",
    "disable",
    "mode",
    "top_p",
    "topP",
    "prompt",
    "system",
    "hidden",
    "variant",
    "options",
    "native",
    "reasoningEffort",
    "reasoningSummary",
    "textVerbosity",
    "thinking",
    "enabled",
];

const GEMINI: &[&str] = &[
    "max_turns",
    "timeout_mins",
    "kind",
    "display_name",
    "displayName",
    "agent_card_url",
    "agent_card_json",
    "auth",
    "hooks",
    "experimental",
];

const CODEX: &[&str] = &[
    "sandbox_mode",
    "sandbox_workspace_write",
    "approval_policy",
    "default_permissions",
    "web_search",
    "developer_instructions",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "model_provider",
    "model_providers",
    "model_context_window",
    "model_auto_compact_token_limit",
    "model_instructions_file",
    "model_supports_reasoning_summaries",
    "nickname_candidates",
    "skills",
    "features",
    "personality",
    "service_tier",
    "profile",
    "shell_environment_policy",
    "approvals_reviewer",
    "tool_output_token_limit",
    "hide_agent_reasoning",
    "show_raw_agent_reasoning",
    "project_doc_max_bytes",
    "notify",
    "instructions",
    "base_instructions",
    "review_model",
    "plan_mode_reasoning_effort",
    "permissions",
    "agents",
    "apps",
    "hooks",
    "memories",
];

/// Every key that means something in a vendor's files, here or to the vendor.
pub(super) fn keys(vendor: Vendor) -> impl Iterator<Item = &'static str> {
    let lists: &[&[&str]] = match vendor {
        // Our own files may be copies of anybody's.
        Vendor::Legation => &[READ, CLAUDE, OPENCODE, GEMINI],
        Vendor::Claude => &[READ, CLAUDE],
        Vendor::OpenCode => &[READ, OPENCODE],
        Vendor::Gemini => &[READ, GEMINI],
        Vendor::Codex => &[READ, CODEX],
    };
    lists.iter().copied().flatten().copied()
}

/// Whether a key that is not read here is the vendor's own.
pub(super) fn is_known(vendor: Vendor, key: &str) -> bool {
    keys(vendor).any(|known| known == key)
}
