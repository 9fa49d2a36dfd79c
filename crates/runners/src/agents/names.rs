//! What each vendor calls its tools, and what they are called here.
//!
//! A vendor's name may stand for several of ours: Gemini's `mcp_a_b_c` is a tool of
//! a server `a` or of a server `a_b`, and nothing tells which. Both are meant.

use legation_core::agent::glob;
use legation_core::agent::{CANONICAL, Tool};

use super::Vendor;

/// Bytes a tool's name may have at most.
pub(super) const MAX_TOOL_BYTES: usize = 256;

type Table = [(&'static str, &'static str)];

const CLAUDE: &Table = &[
    ("Agent", "delegate"),
    ("Bash", "shell"),
    ("BashOutput", "shell"),
    ("Edit", "edit"),
    ("Glob", "read"),
    ("Grep", "read"),
    ("KillBash", "shell"),
    ("KillShell", "shell"),
    ("LS", "read"),
    ("LSP", "read"),
    ("Monitor", "shell"),
    ("MultiEdit", "edit"),
    ("NotebookEdit", "edit"),
    ("NotebookRead", "read"),
    ("PowerShell", "shell"),
    ("Read", "read"),
    ("Task", "delegate"),
    ("WebFetch", "web"),
    ("WebSearch", "web"),
    ("Write", "edit"),
];

const OPENCODE: &Table = &[
    ("apply_patch", "edit"),
    ("bash", "shell"),
    ("codesearch", "web"),
    ("edit", "edit"),
    ("glob", "read"),
    ("grep", "read"),
    ("list", "read"),
    ("lsp", "read"),
    ("multiedit", "edit"),
    ("patch", "edit"),
    ("read", "read"),
    ("shell", "shell"),
    ("subagent", "delegate"),
    ("task", "delegate"),
    ("webfetch", "web"),
    ("websearch", "web"),
    ("write", "edit"),
];

const GEMINI: &Table = &[
    ("edit", "edit"),
    ("glob", "read"),
    ("google_web_search", "web"),
    ("grep_search", "read"),
    ("invoke_agent", "delegate"),
    ("list_directory", "read"),
    ("read_file", "read"),
    ("read_many_files", "read"),
    ("replace", "edit"),
    ("run_shell_command", "shell"),
    ("search_file_content", "read"),
    ("web_fetch", "web"),
    ("write_file", "edit"),
];

const CODEX: &Table = &[
    ("apply_patch", "edit"),
    ("exec_command", "shell"),
    ("local_shell", "shell"),
    ("read_file", "read"),
    ("shell", "shell"),
    ("shell_command", "shell"),
    ("spawn_agent", "delegate"),
    ("unified_exec", "shell"),
    ("web_search", "web"),
    ("write_stdin", "shell"),
];

/// Whether a rule opens something or closes it. In doubt it opens less or closes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Open,
    Close,
}

/// Our names for a vendor's name, pattern or part of a tool.
pub(super) fn canonical(vendor: Vendor, name: &str, purpose: Purpose) -> Vec<String> {
    let tool = Tool::new(name);
    let bases = bases(vendor, tool.base());
    let Some(part) = tool.part() else {
        return bases;
    };
    let joined = |base: &String| -> Vec<String> {
        let parts = match base.as_str() {
            // A list of agents is one part for each of them.
            "delegate" => part.split(',').map(|name| name.trim().to_owned()).collect(),
            _ => parts(part, purpose),
        };
        let parts = parts.iter();
        parts.map(|part| format!("{base}({part})")).collect()
    };
    bases.iter().flat_map(joined).collect()
}

fn table(vendor: Vendor) -> &'static Table {
    match vendor {
        Vendor::Legation | Vendor::Claude => CLAUDE,
        Vendor::OpenCode => OPENCODE,
        Vendor::Gemini => GEMINI,
        Vendor::Codex => CODEX,
    }
}

fn bases(vendor: Vendor, name: &str) -> Vec<String> {
    if name == "*" || CANONICAL.contains(&name) || name.starts_with("mcp:") {
        return vec![name.to_owned()];
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        return vec![match rest.split_once("__") {
            Some((server, tool)) => format!("mcp:{server}/{tool}"),
            None if rest == "*" => "mcp:*".to_owned(),
            None => format!("mcp:{rest}/*"),
        }];
    }
    let mut names = Vec::new();
    let lower = name.to_ascii_lowercase();
    for (theirs, ours) in table(vendor) {
        if glob::matches(&lower, &theirs.to_ascii_lowercase())
            && !names.iter().any(|name| name == ours)
        {
            names.push((*ours).to_owned());
        }
    }
    if !names.is_empty() && !glob::is_pattern(name) {
        return names;
    }
    match vendor {
        Vendor::Gemini => match name.strip_prefix("mcp_") {
            Some(rest) => names.extend(of_servers(rest)),
            None => names.push(name.to_owned()),
        },
        Vendor::OpenCode => {
            names.push(name.to_owned());
            names.extend(of_servers(name));
        }
        Vendor::Legation | Vendor::Claude | Vendor::Codex => names.push(name.to_owned()),
    }
    names
}

/// Every way to read `server_tool`, where either may have an underscore of its own.
fn of_servers(name: &str) -> Vec<String> {
    let cuts = name.match_indices('_');
    let mut names: Vec<String> = cuts
        .filter_map(|(cut, _)| {
            let (server, tool) = name.split_at_checked(cut)?;
            let tool = tool.strip_prefix('_')?;
            let named = !server.is_empty() && !tool.is_empty();
            named.then(|| format!("mcp:{server}/{tool}"))
        })
        .collect();
    if names.is_empty() && glob::is_pattern(name) {
        names.push(format!("mcp:{name}"));
    }
    names
}

/// A part of a tool, with vendors' own ways of writing patterns made plain.
fn parts(part: &str, purpose: Purpose) -> Vec<String> {
    let part = match purpose {
        Purpose::Close => part.replace('?', "*"),
        // Taken literally it matches less than was meant, never more.
        Purpose::Open => part.to_owned(),
    };
    // `git:*` and `git *` both mean the bare command too.
    let command = part.strip_suffix(":*").or_else(|| part.strip_suffix(" *"));
    match command.filter(|command| !command.is_empty()) {
        Some(command) => vec![command.to_owned(), format!("{command} *")],
        None => vec![part],
    }
}
