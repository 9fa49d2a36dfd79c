//! MCP servers of the user's own configuration. A child gets none of them: what they can do
//! was not permitted to it, and Codex merges ours with theirs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The one that is ours, whoever has put it there.
const OURS: &str = "legation";
/// Bytes of a configuration that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The servers that Codex would start if nobody told it otherwise.
pub(super) fn of_user() -> io::Result<Vec<String>> {
    let Some(file) = home().map(|home| home.join("config.toml")) else { return Ok(Vec::new()) };
    match fs::metadata(&file) {
        Ok(facts) if facts.len() > MAX_BYTES => {
            Err(io::Error::other(format!("{} is too large to be read", file.display())))
        }
        Ok(_) => named_in(&fs::read_to_string(&file)?),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(problem) => Err(problem),
    }
}

/// Codex's own folder.
pub(super) fn home() -> Option<PathBuf> {
    let own = std::env::var_os("CODEX_HOME").filter(|folder| !folder.is_empty());
    let at_home = || Some(Path::new(&std::env::var_os("HOME")?).join(".codex"));
    own.map(PathBuf::from).or_else(at_home)
}

/// The servers that a configuration names, ours excepted. One that cannot be switched off
/// from outside is an error: it must not run.
pub fn named_in(configuration: &str) -> io::Result<Vec<String>> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let table = configuration
        .parse::<Table>()
        .map_err(|problem| invalid(format!("the configuration of Codex: {}", problem.message())))?;
    let servers = table.get("mcp_servers").and_then(Value::as_table);
    let names = servers.into_iter().flat_map(Table::keys).filter(|name| *name != OURS);
    let mut all = Vec::new();
    for name in names {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if name.is_empty() || !name.bytes().all(is_plain) {
            let why = format!(
                "the MCP server {name:?} of Codex's configuration cannot be switched off for a child; rename it"
            );
            return Err(invalid(why));
        }
        all.push(name.clone());
    }
    Ok(all)
}
