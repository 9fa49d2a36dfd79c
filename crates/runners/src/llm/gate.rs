//! What of its tools an agent may use, asked again for each use.
//!
//! Pure. A rule about a part, such as `shell(git *)`, counts for the uses that it
//! matches; what no rule allows is denied.

use legation_core::agent::{Level, Tool, glob};

use crate::envoy::Tools;

/// What joins commands, or hides one in another. A command with any of these is more than
/// its first word says.
const JOINTS: &[char] = &[';', '&', '|', '\n', '\r', '`', '$', '<', '>', '(', ')', '{', '}'];

/// Whether a tool is offered at all: some use of it may be allowed.
pub fn is_offered(tools: &Tools, tool: &str) -> bool {
    let parts = parts(tools, tool).any(|(_, level)| level != Level::Deny);
    base(tools, tool) != Level::Deny || parts
}

/// How freely a tool may be used for this: a path, or a command.
pub fn level(tools: &Tools, tool: &str, used_for: &str) -> Level {
    let base = base(tools, tool);
    let is_shell = tool == "shell";
    let pieces: Vec<&str> = if is_shell {
        used_for.split(JOINTS).map(str::trim).filter(|piece| !piece.is_empty()).collect()
    } else {
        vec![used_for]
    };
    let matches = |part: &str, piece: &str| {
        // `git *` means `git` without anything as well.
        glob::matches(part, piece) || part.strip_suffix(" *").is_some_and(|bare| bare == piece)
    };
    let mut freest = base;
    for (part, level) in parts(tools, tool) {
        let touches = pieces.iter().any(|piece| matches(part, piece));
        let covers = !used_for.contains(JOINTS) || !is_shell;
        let covers = covers && matches(part, used_for.trim());
        match level {
            Level::Deny if touches => return Level::Deny,
            Level::Ask if touches => freest = freest.min(Level::Ask),
            Level::Allow | Level::Ask if covers && base != Level::Allow => {
                freest = freest.max(level);
            }
            Level::Deny | Level::Ask | Level::Allow => {}
        }
    }
    freest
}

/// How freely a tool of a server may be used.
pub fn server_level(tools: &Tools, server: &str, tool: &str) -> Level {
    tools.layers.verdict(&format!("mcp:{server}/{tool}")).level
}

fn base(tools: &Tools, tool: &str) -> Level {
    match tool {
        "read" => tools.read,
        "edit" => tools.edit,
        "shell" => tools.shell,
        "web" => tools.web,
        "delegate" => tools.delegate,
        _ => tools.others.get(tool).copied().unwrap_or(Level::Deny),
    }
}

fn parts<'a>(tools: &'a Tools, tool: &'a str) -> impl Iterator<Item = (&'a str, Level)> {
    tools.others.iter().filter_map(move |(name, level)| {
        let named = Tool::new(name);
        (named.base() == tool).then_some((named.part()?, *level))
    })
}
