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

/// How freely a tool may be used for this: a command, or a path as it really is, written
/// from the workspace and empty for the workspace itself.
pub fn level(tools: &Tools, tool: &str, used_for: &str) -> Level {
    let base = base(tools, tool);
    let (mut opened, mut cap) = (base, Level::Allow);
    for (part, level) in parts(tools, tool) {
        let (touches, covers) = match tool {
            "shell" => in_command(part, used_for),
            "read" | "edit" => on_path(part, used_for),
            _ => {
                let is_it = glob::matches(part, used_for.trim());
                (is_it, is_it)
            }
        };
        if touches {
            cap = cap.min(level);
        }
        if covers && base != Level::Allow {
            opened = opened.max(level);
        }
    }
    opened.min(cap)
}

/// How freely all of a folder may be used at once, where nobody asks again for each file
/// in it: no more freely than any part of it that a rule names.
pub fn level_of_all(tools: &Tools, tool: &str, folder: &str) -> Level {
    let all = if folder.is_empty() { "*".to_owned() } else { format!("{folder}/*") };
    let inside = |part: &str| {
        let mut patterns = closing(part).into_iter();
        patterns.any(|it| glob::overlap(&it, &all) || glob::overlap(&it, &format!("/{all}")))
    };
    let named = parts(tools, tool).filter(|(part, _)| inside(part)).map(|(_, level)| level);
    named.fold(level(tools, tool, folder), Level::min)
}

/// Whether there are rules about parts of a tool.
pub fn has_parts(tools: &Tools, tool: &str) -> bool {
    parts(tools, tool).next().is_some()
}

/// Whether a rule touches a command anywhere, and whether it covers all of it.
fn in_command(part: &str, command: &str) -> (bool, bool) {
    // `git *` means `git` without anything as well.
    let bare = part.strip_suffix(" *");
    let matches = |piece: &str| glob::matches(part, piece) || bare == Some(piece);
    let mut pieces = command.split(JOINTS).map(str::trim).filter(|piece| !piece.is_empty());
    (pieces.any(matches), !command.contains(JOINTS) && matches(command.trim()))
}

/// Whether a rule touches a path, or a folder that it lies in, and whether it covers it.
/// In doubt it touches more and covers less.
fn on_path(part: &str, path: &str) -> (bool, bool) {
    let covers = glob::matches(part.trim_start_matches("./"), path);
    let folders = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
    let mut steps = folders.chain([path]);
    let patterns = closing(part);
    let touches = steps.any(|step| {
        let rooted = format!("/{step}");
        patterns.iter().any(|it| glob::matches(it, step) || glob::matches(it, &rooted))
    });
    (touches || covers, covers)
}

/// The ways in which a rule about files is written by vendors, for what it closes: `./a`,
/// `a/` and `a/**/b`, which means `a/b` as well.
fn closing(part: &str) -> [String; 2] {
    let plain = part.trim_start_matches("./").trim_end_matches('/');
    let plain = if matches!(plain, "" | ".") { "*" } else { plain };
    [plain.to_owned(), plain.replace("/**/", "/")]
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
