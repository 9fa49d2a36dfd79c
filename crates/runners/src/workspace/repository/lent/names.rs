//! What the user calls commits, so that attempts may call them the same: branches, those of
//! remotes, and tags. Whoever is to look at what differs from `main` has to find it.
//!
//! A workspace's repository gets a copy of them, to do with as the child likes. The user's own
//! never move from here.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use super::super::super::Error;
use super::super::super::refs::{Names, is_name};
use super::super::{Repository, own};

/// What is lent, and how much of each kind.
const KINDS: [(&str, usize); 3] = [(HEADS, 256), (REMOTES, 256), (TAGS, 1024)];
const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";
const TAGS: &str = "refs/tags/";
/// Names that are looked at.
const MAX_SEEN: usize = 20_000;
/// What branches of ours are below, here and in what was fetched from where we have worked.
const OURS: &str = "legation";
/// The file in a store that has the names.
const FILE: &str = "names";

/// Names and what they point to.
pub(super) type Named = BTreeMap<String, String>;

impl Repository {
    /// The user's names as they are now.
    pub(super) fn users_names(&self) -> Result<Named, Error> {
        let mut all = if self.user.names_in_files {
            let names = Names { own: &self.user.git_dir, shared: &self.user.common_dir };
            names.those(MAX_SEEN, is_the_users)
        } else {
            let call = self.on_names("for-each-ref").arg("--format=%(objectname) %(refname)");
            let said = call.args(KINDS.map(|(kind, _)| kind)).run()?;
            let said = String::from_utf8_lossy(&said).into_owned();
            let named = said.lines().filter_map(|line| line.split_once(' '));
            named.map(|(id, name)| (name.to_owned(), id.to_owned())).collect()
        };
        // Git's locks lie beside the names, and look like some.
        all.retain(|name, _| is_the_users(name) && is_name(name));
        let mut named = Named::new();
        for (kind, most) in KINDS {
            let mut of_kind: Vec<_> =
                all.iter().filter(|(name, _)| name.starts_with(kind)).collect();
            // What a branch of the user's goes by comes before what others have.
            of_kind.sort_by_key(|(name, _)| !is_followed(name, &all));
            let lent = of_kind.into_iter().take(most);
            named.extend(lent.map(|(name, id)| (name.clone(), id.clone())));
        }
        Ok(named)
    }

    /// Writes into a store which names go with the commits that it has.
    pub(super) fn write_names(
        store: &Path,
        (named, has): (&Named, &[String]),
    ) -> Result<(), Error> {
        let has: HashSet<&String> = has.iter().collect();
        let lent = named.iter().filter(|(_, id)| has.contains(id));
        let text: String = lent.map(|(name, id)| format!("{id} {name}\n")).collect();
        own::put(&store.join(FILE), text.as_bytes())
    }

    /// The names that workspaces get, as git packs names: a line each, in their order.
    pub(in super::super) fn lent_names(&self) -> String {
        // Whoever has none of them has to go by commits, and that is all.
        fs::read_to_string(self.lent().join(FILE)).unwrap_or_default()
    }
}

/// Whether a name, or a folder of names, is lent and not ours.
fn is_the_users(name: &str) -> bool {
    let mut parts = name.split('/').skip(1);
    match (parts.next(), parts.next(), parts.next()) {
        (Some("heads"), branch, _) | (Some("remotes"), _, branch) => branch != Some(OURS),
        (Some("tags"), ..) => true,
        (Some(_) | None, ..) => false,
    }
}

/// Whether the user has a branch that is called like this one of a remote.
fn is_followed(name: &str, all: &Named) -> bool {
    let branch = name.strip_prefix(REMOTES).and_then(|rest| rest.split_once('/'));
    branch.is_some_and(|(_, branch)| all.contains_key(&format!("{HEADS}{branch}")))
}
