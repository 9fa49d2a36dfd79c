//! Submodules: checked out from what the user's repository has of them already.
//!
//! Nothing is fetched, and one that is not there stays empty. Each has a repository of its
//! own inside the workspace, which borrows the user's objects, and one of ours beside it,
//! with which its files are compared. What is changed inside one cannot be part of the
//! work, whose commit holds a pointer at that place: it is kept beside it and told.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::changes::{Changes, compare, is_below, settle};
use super::super::folders::{Made, Moment, gone};
use super::super::index::{self, Index};
use super::super::{Error, Place};
use super::{Ground, Repository, own};

/// Submodules that a workspace has at most; the others stay empty.
const MAX_SUBMODULES: usize = 256;
/// Bytes of the list of submodules that are read.
const MAX_LIST_BYTES: u64 = 1 << 20;
/// The list of submodules.
const LIST: &str = ".gitmodules";
/// Where a repository keeps those of its submodules.
const MODULES: &str = "modules";

/// A submodule that is checked out in a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Submodule {
    /// Where it lies, from the top of the workspace.
    pub(super) path: String,
    /// The user's repository of it.
    from: PathBuf,
    /// When its files were all there.
    settled: Moment,
}

/// A checkout that may have submodules: the workspace itself, or one of them.
struct Level {
    /// From the top of the workspace; empty for the workspace itself.
    path: String,
    root: PathBuf,
    index: PathBuf,
    /// Where the user's repositories of its submodules may be.
    modules: Vec<PathBuf>,
    /// The user's own checkout of it, where there is one.
    checkout: Option<PathBuf>,
}

impl Level {
    /// The user's repository of a submodule.
    fn find(&self, name: &str, path: &str) -> Option<PathBuf> {
        let is_plain =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let named = self.modules.iter().map(|modules| modules.join(name)).filter(|_| is_plain);
        // One that was made by hand has its repository inside.
        let inside = self.checkout.iter().map(|checkout| checkout.join(path).join(".git"));
        named.chain(inside).find(|folder| folder.join("objects").is_dir())
    }

    fn below(&self, path: &str) -> String {
        if self.path.is_empty() { path.to_owned() } else { format!("{}/{path}", self.path) }
    }
}

impl Repository {
    /// Checks out every submodule of a workspace that the user has, nested ones included.
    pub(super) fn fill_submodules(&self, place: &Place) -> Result<Vec<Submodule>, Error> {
        let mut filled: Vec<Submodule> = Vec::new();
        let mut levels = vec![Level {
            path: String::new(),
            root: place.root.clone(),
            index: self.folders.own(&place.attempt).join("index"),
            modules: self.modules(),
            checkout: self.user.top.clone(),
        }];
        while let Some(level) = levels.pop() {
            let names = listed(&level.root);
            if names.is_empty() {
                continue;
            }
            for (path, commit) in links(&level.index, self.user.hash_bytes)? {
                let Some(from) = names.get(&path).and_then(|name| level.find(name, &path)) else {
                    continue;
                };
                if filled.len() >= MAX_SUBMODULES {
                    return Ok(filled);
                }
                let inner = level.below(&path);
                let ground = self.submodule(place, filled.len(), (&inner, &from));
                let Some(settled) = self.fill(&ground, &from, &commit)? else { continue };
                levels.push(Level {
                    path: inner.clone(),
                    root: ground.root,
                    index: ground.index,
                    modules: vec![from.join(MODULES)],
                    checkout: level.checkout.as_ref().map(|checkout| checkout.join(&path)),
                });
                filled.push(Submodule { path: inner, from, settled });
            }
        }
        Ok(filled)
    }

    /// What the repositories of submodules go on reading.
    pub(super) fn lent_to_submodules(&self) -> Vec<PathBuf> {
        let mut lent = self.modules();
        if let Some(top) = &self.user.top {
            let inside = listed(top).into_keys().map(|path| top.join(path).join(".git/objects"));
            lent.extend(inside.filter(|objects| objects.is_dir()));
        }
        lent
    }

    /// Where the user's repositories of submodules are: a linked worktree has its own.
    fn modules(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.user.git_dir.join(MODULES), self.user.common_dir.join(MODULES)];
        folders.dedup();
        folders
    }

    fn submodule(&self, place: &Place, number: usize, (path, from): (&str, &Path)) -> Ground {
        let own = self.folders.own(&place.attempt).join("submodules").join(number.to_string());
        Ground {
            root: place.root.join(path),
            index: own.join("index"),
            git_dir: own,
            objects: from.join("objects"),
        }
    }

    /// Checks one out; `None` if the user does not have that commit of it.
    fn fill(&self, ground: &Ground, from: &Path, commit: &str) -> Result<Option<Moment>, Error> {
        let user = self.user.of_submodule(from);
        let theirs = ground.root.join(".git");
        own::write(&ground.git_dir, &user)?;
        own::write_detached(&theirs, &user, commit)?;
        match self.on_ground("read-tree", ground).args(["--reset", "-u", commit]).run() {
            Ok(_) => {}
            Err(Error::Git { .. }) => {
                gone(&ground.git_dir).map_err(Error::files("removing", &ground.git_dir))?;
                gone(&ground.root).map_err(Error::files("removing", &ground.root))?;
                let made = fs::create_dir_all(&ground.root);
                return made.map(|()| None).map_err(Error::files("making", &ground.root));
            }
            Err(error) => return Err(error),
        }
        let theirs = theirs.join("index");
        index::copy(&ground.index, &theirs)?;
        let newest = index::times(&ground.index, self.user.hash_bytes)?.newest;
        settle(&theirs, &ground.git_dir.join("clock"), newest).map(Some)
    }

    /// What was changed inside submodules, in place of everything that lies there.
    pub(super) fn with_submodules(
        &self,
        made: &Made,
        mut changes: Changes,
    ) -> Result<Changes, Error> {
        let all = &made.submodules;
        let is_inside = |path: &Vec<u8>| all.iter().any(|one| is_below(path, one.path.as_bytes()));
        changes.foreign.retain(|path| !is_inside(path));
        for (number, submodule) in all.iter().enumerate() {
            let ground = self.submodule(&made.place, number, (&submodule.path, &submodule.from));
            // One that is gone as a whole is seen from outside; one inside it by itself.
            let look = |skip: &[PathBuf]| {
                let index = Index::read(&ground.index, self.user.hash_bytes)?;
                compare(&ground.root, index, (submodule.settled, skip))
            };
            let Some(mut inner) = self.looked_at(&ground, look)? else { continue };
            inner.modified.extend(self.really_changed(&ground, &inner)?);
            self.drop_ignored_in(&ground, &mut inner)?;
            let named = |path: &Vec<u8>| [submodule.path.as_bytes(), b"/", path].concat();
            changes.incomplete |= inner.incomplete;
            changes.too_long.extend(inner.too_long.iter().map(named));
            changes.foreign.extend(inner.added.iter().chain(&inner.modified).map(named));
            changes.foreign_removed.extend(inner.removed.iter().chain(&inner.hidden).map(named));
        }
        Ok(changes)
    }
}

/// The places of submodules in an index, and the commits that belong there.
fn links(index: &Path, hash_bytes: usize) -> Result<Vec<(String, String)>, Error> {
    let entries = Index::read(index, hash_bytes)?.entries.into_iter();
    let links = entries.filter(|(_, entry)| entry.is_link_to_repository() && !entry.left_out);
    // A name that is no text stands in no list.
    let named =
        links.filter_map(|(path, entry)| Some((String::from_utf8(path).ok()?, entry.object)));
    let mut links: Vec<(String, String)> = named.collect();
    links.sort();
    Ok(links)
}

/// The names of a checkout's submodules, by their places.
fn listed(root: &Path) -> HashMap<String, String> {
    let list = root.join(LIST);
    let is_list = |about: fs::Metadata| about.is_file() && about.len() <= MAX_LIST_BYTES;
    if !fs::symlink_metadata(&list).is_ok_and(is_list) {
        return HashMap::new();
    }
    let text = fs::read_to_string(list).unwrap_or_default();
    let mut names = HashMap::new();
    let mut name: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            let quoted =
                line.strip_prefix("[submodule \"").and_then(|rest| rest.strip_suffix("\"]"));
            name = quoted.map(unquoted);
        } else if let (Some(name), Some((key, value))) = (&name, line.split_once('='))
            && key.trim() == "path"
        {
            let value = value.trim();
            let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            names.insert(unquoted(inner.unwrap_or(value)), name.clone());
        }
    }
    names
}

/// Text as it is meant, where git has put backslashes before some letters.
fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    plain
}
