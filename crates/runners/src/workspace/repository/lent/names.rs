//! What the user calls commits, so that attempts may call them the same: branches, those of
//! remotes, and tags. Whoever is to look at what differs from `main` has to find it.
//!
//! A workspace's repository gets a copy of them, to do with as the child likes. The user's own
//! never move from here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use super::super::super::Error;
use super::super::super::refs::{Head, Names, is_name};
use super::super::works::{KEPT, RESULTS};
use super::super::{Repository, own};

/// What is lent, and how much of each kind.
const KINDS: [(&str, usize); 3] = [(HEADS, 256), (REMOTES, 256), (TAGS, 1024)];
const HEADS: &str = "refs/heads/";
const REMOTES: &str = "refs/remotes/";
const TAGS: &str = "refs/tags/";
/// Names that are looked at.
const MAX_SEEN: usize = 200_000;
/// Digits of a number in a tag, for numbers to be in order.
const NUMBER_DIGITS: usize = 20;
/// What branches of ours are below in what was fetched from where we have worked.
const OURS_FETCHED: &str = "/legation/";
/// The file in a store that has the names.
const FILE: &str = "names";

/// Names and what they point to.
pub(super) type Named = BTreeMap<String, String>;

impl Repository {
    /// The user's names as they are now.
    pub(super) fn users_names(&self) -> Result<Named, Error> {
        let mut all = self.names_that(is_the_users, &KINDS.map(|(kind, _)| kind))?;
        // Git's locks lie beside the names, and look like some.
        all.retain(|name, _| is_name(name));
        let names = Names::of_user(&self.user.git_dir, &self.user.common_dir);
        let current = match names.head() {
            Head::At { name: Some(name), .. } => name,
            Head::At { .. } | Head::Unborn { .. } | Head::Unclear => String::new(),
        };
        let mut named = Named::new();
        for (kind, most) in KINDS {
            let of_kind = all.iter().filter(|(name, _)| name.starts_with(kind));
            let mut of_kind: Vec<_> = of_kind.collect();
            // Where there are too many, what is nearest to the user comes first.
            match kind {
                TAGS => of_kind.sort_by_cached_key(|(name, _)| Reverse(numbered(name))),
                REMOTES => of_kind.sort_by_key(|(name, _)| !is_followed(name, &all)),
                _ => of_kind.sort_by_key(|(name, _)| **name != current),
            }
            let lent = of_kind.into_iter().take(most);
            named.extend(lent.map(|(name, id)| (name.clone(), id.clone())));
        }
        Ok(named)
    }

    /// Whether nothing that attempts have left has a name, here or where this was cloned from.
    pub(super) fn has_no_names_of_ours(&self) -> Result<bool, Error> {
        let all = self.names_that(|name| name.starts_with("refs/"), &["refs/"])?;
        Ok(!all.keys().any(|name| name.starts_with(KEPT) || is_ours(name)))
    }

    /// The names, below some, that are meant.
    fn names_that(&self, is_meant: fn(&str) -> bool, below: &[&str]) -> Result<Named, Error> {
        if self.user.names_in_files {
            let names = Names::of_user(&self.user.git_dir, &self.user.common_dir);
            return Ok(names.those(MAX_SEEN, is_meant));
        }
        let call = self.on_names("for-each-ref").arg("--format=%(objectname) %(refname)");
        let said = call.arg(format!("--count={MAX_SEEN}")).args(below).run()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let named = said.lines().filter_map(|line| line.split_once(' '));
        let named = named.filter(|(_, name)| is_meant(name));
        Ok(named.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
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

/// Whether a name, or a folder of names, is lent.
fn is_the_users(name: &str) -> bool {
    let inside = |kind: &str| name.starts_with(kind) || kind.strip_suffix('/') == Some(name);
    KINDS.iter().any(|(kind, _)| inside(kind)) && !is_ours(name)
}

/// Whether a branch is of ours, here or in what was fetched from where we have worked.
fn is_ours(name: &str) -> bool {
    let fetched = name.strip_prefix(REMOTES);
    name.starts_with(RESULTS) || fetched.is_some_and(|rest| rest.contains(OURS_FETCHED))
}

/// Whether the user has a branch that is called like this one of a remote.
fn is_followed(name: &str, all: &Named) -> bool {
    let branch = name.strip_prefix(REMOTES).and_then(|rest| rest.split_once('/'));
    branch.is_some_and(|(_, branch)| all.contains_key(&format!("{HEADS}{branch}")))
}

/// A name in which numbers are as long as each other, so that `v1.9` is before `v1.10`.
fn numbered(name: &str) -> String {
    let mut text = String::new();
    let mut digits = String::new();
    for letter in name.chars().chain(['\0']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        if !digits.is_empty() {
            text.push_str(&format!("{:0>NUMBER_DIGITS$}", std::mem::take(&mut digits)));
        }
        text.push(letter);
    }
    text
}
