//! Looking at an attempt's work, and keeping it where the child cannot reach.

use std::fs;
use std::path::{Path, PathBuf};

use legation_core::text::shown::clip;

use super::super::changes::Changes;
use super::super::folders::{Made, gone};
use super::super::git::Call;
use super::super::index::Listing;
use super::super::{Error, Kept, MAX_FILES_SEEN, Note, Place, Seen};
use super::history::History;
use super::works::{inside_name, note_name};
use super::{Ground, Repository, own};

/// Letters of the first line of a commit's message.
const MAX_TITLE_CHARS: usize = 72;

/// Attributes that outdo all others.
const AS_THEY_ARE: &str = "* -text -eol -ident -filter -working-tree-encoding\n";

/// All of a workspace's work as one commit.
#[derive(Debug)]
pub(super) struct Staged {
    /// The commit; the base if there was nothing to commit.
    pub(super) commit: String,
    /// What the child itself has checked out, if that can be used.
    pub(super) head: Option<String>,
    /// An index that matches both the commit and the files.
    pub(super) index: PathBuf,
    /// Files inside submodules, which the commit cannot hold.
    foreign: Vec<Vec<u8>>,
    /// Those that were removed there.
    foreign_removed: Vec<Vec<u8>>,
}

/// An index of the files as they are now.
#[derive(Debug)]
struct Indexed<'a> {
    path: &'a Path,
    /// Whether it differs from the base for sure.
    differs: bool,
}

impl Repository {
    /// What the attempt did.
    pub(super) fn see(&self, place: &Place) -> Result<Seen, Error> {
        let made = self.folders.known(place)?;
        let Some(mut changes) = self.changes(&made)? else { return Ok(Seen::default()) };
        let history = self.history(&made.place)?;
        changes.modified.extend(self.really_changed(&self.ground(&made.place), &changes)?);
        let in_submodules = sorted(changes.foreign.iter().chain(&changes.foreign_removed));
        let own = changes.added.iter().chain(&changes.modified).chain(&changes.removed);
        let mut files = sorted(own.chain(&changes.hidden).chain(&changes.too_long));
        files.extend(in_submodules.iter().cloned());
        files.sort();
        let mut commits = self.commits_beside(&made.place, history.as_ref())?;
        let more_files = changes.incomplete || files.len() > MAX_FILES_SEEN;
        files.truncate(MAX_FILES_SEEN);
        Ok(Seen {
            exists: true,
            files_changed: files,
            in_submodules: in_submodules.into_iter().take(MAX_FILES_SEEN).collect(),
            not_shared: made.not_shared,
            more_files,
            history_usable: history.is_some(),
            commits: {
                commits.splice(..0, history.into_iter().flat_map(|history| history.commits));
                commits
            },
        })
    }

    /// Which of the touched files have other content than before.
    pub(super) fn really_changed(
        &self,
        ground: &Ground,
        changes: &Changes,
    ) -> Result<Vec<Vec<u8>>, Error> {
        // One name a line goes in, so a name with a line break in it cannot be asked about.
        let (odd, plain): (Vec<_>, Vec<_>) =
            changes.unsure.iter().partition(|(path, _)| path.contains(&b'\n'));
        let mut changed: Vec<Vec<u8>> = odd.into_iter().map(|(path, _)| path.clone()).collect();
        if plain.is_empty() {
            return Ok(changed);
        }
        changes.unlock(&ground.root);
        // A link's content is where it points, and git would follow it here.
        let (links, plain): (Vec<_>, Vec<_>) = plain.into_iter().partition(|(path, _)| {
            let path = super::super::walk::below(&ground.root, path);
            fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
        });
        changed.extend(links.into_iter().map(|(path, _)| path.clone()));
        if plain.is_empty() {
            return Ok(changed);
        }
        let input =
            plain.iter().flat_map(|(path, _)| path.iter().copied().chain([b'\n'])).collect();
        let said = self.on_ground("hash-object", ground).arg("--stdin-paths").input(input).run()?;
        let hashes = String::from_utf8_lossy(&said).into_owned();
        for ((path, before), now) in plain.iter().zip(hashes.lines()) {
            if before != now {
                changed.push(path.clone());
            }
        }
        Ok(changed)
    }

    /// Keeps the work under its name in the user's repository.
    pub(super) fn take_custody(&self, place: &Place, note: &Note) -> Result<Option<Kept>, Error> {
        let made = self.folders.known(place)?;
        let place = &made.place;
        let staged = self.stage(&made, note)?;
        self.keep_foreign((place, note), &staged)?;
        let reference = format!("refs/legation/{}/{}", place.tree, place.attempt);
        let has_more = self.keep_beside(place, &staged.commit)?;
        let is_changed = staged.commit != place.base;
        if is_changed || has_more {
            // Where there is nothing to merge, what lies beside it is found by this name.
            let mut orders = format!("update {reference} {}\n", staged.commit);
            let is_ours = is_changed && staged.head.as_ref() != Some(&staged.commit);
            if is_ours {
                orders.push_str(&self.unnoted(place)?);
            } else {
                orders.push_str(&self.noted((place, note), &staged)?);
            }
            self.move_names(&orders)?;
        }
        if !is_changed {
            self.folders.write_custody(&place.attempt, None)?;
            return Ok(None);
        }
        // What brings two sides together is measured by the one that it goes back to.
        let base = made.sides.as_ref().map_or(&place.base, |sides| &sides.ours).clone();
        let kept = Kept { reference, commit: staged.commit, base };
        self.folders.write_custody(&place.attempt, Some(&kept))?;
        Ok(Some(kept))
    }

    /// What gives a name to the note about work in which no commit is ours: where it came
    /// from stands in a commit of its own on top, which is part of no history.
    fn noted(&self, (place, note): (&Place, &Note), staged: &Staged) -> Result<String, Error> {
        let message = message(place, note, staged.head.is_some());
        let tree = self.tree_of(&staged.commit)?;
        let commit = self.commit(&tree, &[&staged.commit], &message)?;
        Ok(format!("update {} {commit}\n", note_name(&place.tree, &place.attempt)))
    }

    /// What takes the name from a note about work that was kept before: the commit of ours
    /// that is the work now has it all.
    fn unnoted(&self, place: &Place) -> Result<String, Error> {
        let name = note_name(&place.tree, &place.attempt);
        let is_there = self.resolve(&name)?.is_some();
        // Somebody may have deleted it meanwhile, and that is no obstacle to git either.
        Ok(if is_there { format!("delete {name}\n") } else { String::new() })
    }

    /// Keeps files that lie where another repository belongs, under a name of their own.
    ///
    /// They cannot be part of the work, whose commit holds a pointer at that place.
    fn keep_foreign(&self, (place, note): (&Place, &Note), staged: &Staged) -> Result<(), Error> {
        let (paths, removed) = (&staged.foreign, sorted(staged.foreign_removed.iter()));
        if paths.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let index = self.folders.own(&place.attempt).join("foreign");
        let call = self.on_place("update-index", place).env("GIT_INDEX_FILE", &index);
        call.args(["--add", "-z", "--stdin"]).input(joined(paths)).run()?;
        let tree = self.write_tree(&index)?;
        let mut lines = vec![format!("Files of {} inside submodules", place.attempt), "".into()];
        if !removed.is_empty() {
            lines.push(format!("Removed:\n{}\n", removed.join("\n")));
        }
        lines.extend(trailers(place, note));
        let message = format!("{}\n", lines.join("\n"));
        let commit = self.commit(&tree, &[&place.base], &message)?;
        let name = inside_name(&place.tree, &place.attempt);
        self.move_names(&format!("update {name} {commit}\n"))
    }

    /// Makes one commit of everything that is not ignored, on top of the child's own.
    pub(super) fn stage(&self, made: &Made, note: &Note) -> Result<Staged, Error> {
        let place = &made.place;
        let folder = self.folders.own(&place.attempt);
        let index = folder.join("staged");
        let Some(mut changes) = self.changes(made)? else {
            let (commit, foreign, foreign_removed) = (place.base.clone(), Vec::new(), Vec::new());
            return Ok(Staged { commit, head: None, index, foreign, foreign_removed });
        };
        if changes.incomplete {
            let message = "a part of it could not be read, so it cannot be kept whole".into();
            return Err(Error::Record { path: place.root.clone(), message });
        }
        let history = self.taken_over(place)?;
        // Git writes a new file where it changes one, so that ours stays as it is.
        gone(&index).map_err(Error::files("removing", &index))?;
        fs::hard_link(folder.join("index"), &index).map_err(Error::files("writing", &index))?;
        let head = history.as_ref().map(|history| history.head.clone());
        let commit = if changes.is_empty() && head.as_ref().is_none_or(|head| *head == place.base) {
            place.base.clone()
        } else {
            self.drop_ignored(place, history.as_ref(), &mut changes)?;
            self.fill_index(place, &index, &changes)?;
            if let Some(history) = &history {
                self.point_as(place, &index, &history.head)?;
            }
            let staged = Indexed { path: &index, differs: differs(&changes) };
            self.commit_index(made, &staged, history.as_ref(), note)?
        };
        let Changes { foreign, foreign_removed, .. } = changes;
        Ok(Staged { commit, head, index, foreign, foreign_removed })
    }

    /// Brings an index up to what the files are now.
    fn fill_index(&self, place: &Place, index: &PathBuf, changes: &Changes) -> Result<(), Error> {
        let call = || self.on_place("update-index", place).env("GIT_INDEX_FILE", index);
        if !changes.hidden.is_empty() {
            // Git does not look behind a link, not even to find that nothing is there, and a
            // pipe is no answer to it.
            let call = call().args(["--force-remove", "-z", "--stdin"]);
            call.input(joined(&changes.hidden)).run()?;
        }
        let unsure = changes.unsure.iter().map(|(path, _)| path.clone());
        let lists = [&changes.removed, &changes.added, &changes.modified];
        let paths: Vec<Vec<u8>> = lists.into_iter().flatten().cloned().chain(unsure).collect();
        if paths.is_empty() {
            return Ok(());
        }
        changes.unlock(&place.root);
        let add = |call: Call<'_>| {
            let call = call.args(["--add", "--remove", "--replace", "-z", "--stdin"]);
            call.input(joined(&paths)).run().map(drop)
        };
        match add(call()) {
            // The child's own attributes may say of files what they are not.
            Err(Error::Git { .. }) => {
                let plain = self.without_attributes(place)?;
                add(call().env("GIT_DIR", plain))
            }
            done => done,
        }
    }

    /// Has an index point to the commits of submodules that the child's own commit points to: what
    /// lies in their places says nothing of that.
    fn point_as(&self, place: &Place, index: &Path, head: &str) -> Result<(), Error> {
        let has_any = || -> Result<bool, Error> {
            let base = Listing::read(index, self.user.hash_bytes)?;
            Ok(!base.links_to_repositories().is_empty())
        };
        if head == place.base || !has_any()? {
            return Ok(());
        }
        let call = self.on_objects("diff-tree").args(["-r", "-z", "--no-renames"]);
        let text = call.args([&place.base, head]).run()?;
        let mut parts = text.split(|byte| *byte == 0);
        let mut lines = Vec::new();
        while let (Some(entry), Some(path)) = (parts.next(), parts.next()) {
            let entry = String::from_utf8_lossy(entry);
            let words: Vec<&str> = entry.split(' ').collect();
            if let [":160000", "160000", _, now, _] = words.as_slice() {
                lines.extend([b"160000 ", now.as_bytes(), b"\t", path, b"\0"].concat());
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let call = self.on_place("update-index", place).env("GIT_INDEX_FILE", index);
        call.args(["-z", "--index-info"]).input(lines).run().map(drop)
    }

    /// A repository of ours by which files are taken as they are, whatever attributes they have.
    fn without_attributes(&self, place: &Place) -> Result<PathBuf, Error> {
        let folder = self.folders.own(&place.attempt).join("plain.git");
        own::write(&folder, &self.user)?;
        own::put(&folder.join("info/attributes"), AS_THEY_ARE.as_bytes())?;
        Ok(folder)
    }

    /// Commits an index on top of what the child has, or of the base.
    fn commit_index(
        &self,
        made: &Made,
        index: &Indexed<'_>,
        history: Option<&History>,
        note: &Note,
    ) -> Result<String, Error> {
        let place = &made.place;
        let message = message(place, note, history.is_some());
        let tree = self.write_tree(index.path)?;
        if let Some(sides) = &made.sides {
            // A merge like any other: no commit with markers becomes part of a history.
            return self.commit(&tree, &[&sides.ours, &sides.theirs], &message);
        }
        if let Some(history) = history
            && !history.descends
        {
            // The child went elsewhere; with the base as a parent its work can still be merged.
            return self.commit(&tree, &[&place.base, &history.head], &message);
        }
        let parent = history.map_or(&place.base, |history| &history.head);
        let differs = index.differs && *parent == place.base;
        if !differs && tree == self.tree_of(parent)? {
            // The child had committed all of it, or changed nothing but times.
            return Ok(parent.clone());
        }
        self.commit(&tree, &[parent], &message)
    }
}

/// Whether these changes make another tree for sure, whatever is in the files.
fn differs(changes: &Changes) -> bool {
    [&changes.added, &changes.removed, &changes.hidden].iter().any(|list| !list.is_empty())
}

/// Paths in order, as text.
fn sorted<'a>(paths: impl Iterator<Item = &'a Vec<u8>>) -> Vec<String> {
    let mut all: Vec<String> = paths.map(|path| String::from_utf8_lossy(path).into()).collect();
    all.sort();
    all
}

/// Paths as git reads them.
fn joined(paths: &[Vec<u8>]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect()
}

/// The message of a commit that keeps work, with where it came from.
fn message(place: &Place, note: &Note, history_usable: bool) -> String {
    let title = one_line(&note.title);
    let title = clip(&title, MAX_TITLE_CHARS).into_owned();
    let title =
        if title.is_empty() { format!("Work on {}", one_line(&place.subtask)) } else { title };
    let mut lines = vec![title, String::new()];
    lines.extend(trailers(place, note));
    if !history_usable {
        lines.push("Legation-History: unusable".to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Where work came from, a line for each thing that is known. What an agent's work cost is
/// told even where nobody knows it.
fn trailers(place: &Place, note: &Note) -> Vec<String> {
    let cost = match note.cost {
        Some(cost) => format!("{} USD", cost.dollars()),
        None if note.agent.is_empty() => String::new(),
        None => "unknown".to_owned(),
    };
    let trailers = [
        ("Agent", note.agent.as_str()),
        ("Session", &note.session),
        ("Delegation", &place.delegation),
        ("Subtask", &place.subtask),
        ("Attempt", &place.attempt),
        ("Cost", &cost),
    ];
    let known = trailers.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| format!("Legation-{name}: {}", one_line(value))).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
