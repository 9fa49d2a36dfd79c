//! The environment of a child: what it is allowed to see of its caller's, what its
//! agent says, and where it stands. Nothing else, so that keys and tokens that happen to
//! be around stay where they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legation_core::ids::SessionId;

use crate::vendors::Vendor;

/// Names that a child gets from the environment of whoever called; those that end in `*` stand for
/// all that begin so.
pub const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LC_*",
    "TERM",
    "TZ",
    "USER",
    "SHELL",
    "TMPDIR",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];

/// The folder below the attempt's own for temporary files.
pub const TEMPORARY: &str = "tmp";

/// The folder below the attempt's own in which a return is handed in.
pub const HAND_IN: &str = "hand-in";

/// The file in that folder.
pub const RETURN_FILE: &str = "return.json";

/// The file above that folder with the agent's schema for `data`, where it has one. A child
/// may read it, so that what it hands in is checked at once.
pub const SCHEMA_FILE: &str = "schema.json";

/// Where a child finds the folder.
pub const ATTEMPT_DIR: &str = "LEGATION_ATTEMPT_DIR";

/// Where an attempt stands and works.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The attempt's folder.
    pub dir: &'a Path,
    /// Its workspace.
    pub workspace: &'a Path,
    /// The engine's socket.
    pub socket: &'a Path,
    /// The token it is known by.
    pub token: &'a str,
    /// How deep in the tree it is.
    pub depth: u32,
}

impl Place<'_> {
    /// The attempt's own folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.dir.join(TEMPORARY)
    }

    /// Where it drops its return: all of the attempt's folder that it may write to,
    /// beside the temporary files.
    pub fn hand_in(&self) -> PathBuf {
        self.dir.join(HAND_IN)
    }
}

/// The whole environment of a child, in order of names. What the agent says wins over
/// the caller's, and where the child stands over both: nobody can put another token there.
pub fn environment(
    caller: impl IntoIterator<Item = (String, String)>,
    agent: &[(String, String)],
    session: &SessionId,
    (place, vendor): (&Place<'_>, Option<&Vendor>),
) -> Vec<(String, String)> {
    let is_seen = |name: &str| is_for_all(name) || vendor.is_some_and(|vendor| vendor.wants(name));
    let mut all: BTreeMap<String, String> =
        caller.into_iter().filter(|(name, _)| is_seen(name)).collect();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    all.insert("TMPDIR".to_owned(), text(&place.temporary()));
    all.extend(agent.iter().filter(|(name, value)| is_possible(name, value)).cloned());
    let known = [
        ("LEGATION_SESSION_ID", session.to_string()),
        ("LEGATION_TOKEN", place.token.to_owned()),
        ("LEGATION_SOCKET", text(place.socket)),
        (ATTEMPT_DIR, text(&place.hand_in())),
        ("LEGATION_WORKSPACE", text(place.workspace)),
        ("DELEGATION_DEPTH", place.depth.to_string()),
    ];
    all.extend(known.map(|(name, value)| (name.to_owned(), value)));
    // A child that could pass for a keeper would not be found when its own is gone.
    all.remove("LEGATION_KEEPER");
    all.into_iter().collect()
}

/// Whether any child may see this variable of whoever called.
pub fn is_for_all(name: &str) -> bool {
    ALLOWED.iter().any(|allowed| match allowed.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *allowed,
    })
}

/// Whether the system could pass such a variable on at all.
fn is_possible(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}
