//! Work that is kept of a plain folder: listed, shown, written out again, forgotten.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::custody::{weight, written};
use super::super::folders::gone;
use super::super::{Error, KeptWork, Names, names, record};
use super::Plain;
use super::layer::{Contents, Layer, layer_folder};

impl Plain {
    /// Every work that is kept.
    pub(super) fn kept_works(&self) -> Result<Vec<KeptWork>, Error> {
        let mut works = Vec::new();
        let had = self.had_works()?;
        for entry in fs::read_dir(self.folders.state.join("kept")).into_iter().flatten().flatten() {
            let attempt = entry.file_name().to_string_lossy().into_owned();
            let layer = entry.path().join("layer.json");
            // One that is being written has another ending.
            if names::checked("attempt", &attempt).is_err() || attempt.ends_with(".new") {
                continue;
            }
            if record::read::<Contents>(&layer)?.is_none() {
                continue;
            }
            works.push(KeptWork {
                in_submodules: None,
                tree: String::new(),
                reference: format!("kept/{attempt}"),
                in_branch: had.contains(&format!("kept:{attempt}")),
                commit: format!("kept:{attempt}"),
                beside: Vec::new(),
                attempt,
                provenance: None,
                since: written(&layer),
                bytes: Some(weight(&entry.path())),
                exempt: false,
            });
        }
        Ok(works)
    }

    /// The files that kept work changed.
    pub(super) fn files_of_work(&self, work: &KeptWork) -> Result<Vec<String>, Error> {
        let layer = Layer::open(&self.folders.state, &work.commit)?;
        let contents = layer.contents.unwrap_or_default();
        let all = contents.changed.iter().chain(&contents.deleted);
        let mut files: Vec<String> =
            all.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        files.sort();
        Ok(files)
    }

    /// Writes kept work, over what it was built on, into a folder.
    pub(super) fn write_out(&self, work: &KeptWork, to: &Path) -> Result<(), Error> {
        let layer = Layer::open(&self.folders.state, &work.commit)?;
        let base = layer.built_on("");
        self.stack(&format!("{base}+{}", work.commit))?.pour(to)
    }

    /// Work whose delegation was applied as a whole, or is in the workspace of whoever delegated.
    fn had_works(&self) -> Result<HashSet<String>, Error> {
        let mut had = HashSet::new();
        for delegation in self.folders.delegations() {
            if self.is_had(&delegation)? {
                had.extend(self.tip(&delegation)?.merged);
            }
        }
        Ok(had)
    }

    /// Whether nothing of a delegation's result is only here.
    fn is_had(&self, delegation: &str) -> Result<bool, Error> {
        let tip = self.tip(delegation)?;
        let result = format!("result:{delegation}:{}", tip.number);
        let brought = self.folders.brought(delegation)?;
        let is_applied =
            brought.is_some_and(|brought| !brought.taken_back && brought.tip == result);
        Ok(tip.number == 0 || tip.brought == tip.number || is_applied)
    }

    /// The layers that kept work of this kind was built on, and every copy that stands.
    fn needed(&self, of: impl Fn(&KeptWork) -> bool) -> Result<HashSet<String>, Error> {
        let mut needed = HashSet::new();
        for other in self.kept_works()?.into_iter().filter(|work| of(work)) {
            let base = Layer::open(&self.folders.state, &other.commit)?.built_on("");
            needed.extend(base.split('+').map(str::to_owned));
        }
        for attempt in self.folders.list()? {
            let made = self.folders.made(&attempt)?;
            let base = made.map(|made| made.place.base).unwrap_or_default();
            needed.extend(base.split('+').map(str::to_owned));
        }
        Ok(needed)
    }

    /// The copies that delegations started from and the layers of their results.
    pub(super) fn held_layers(&self) -> Result<Vec<Names>, Error> {
        let mut held = Vec::new();
        let needed = self.needed(|work| !work.in_branch)?;
        for delegation in self.folders.delegations() {
            let begun = self.folders.begun(&delegation)?;
            let folders = self.layers_of(&delegation)?.into_iter().filter(|path| path.is_dir());
            let folders: Vec<PathBuf> = folders.collect();
            let name = |path: &PathBuf| (path.to_string_lossy().into_owned(), String::new());
            let names: Vec<(String, String)> = folders.iter().map(name).collect();
            let bytes = folders.iter().map(|path| weight(path)).fold(0, u64::saturating_add);
            if !names.is_empty() {
                let since = written(&self.folders.begun_path(&delegation));
                let in_branch =
                    self.is_had(&delegation)? && !self.is_built_on(&delegation, &needed);
                let tree = begun.tree;
                held.push(Names { tree, delegation, names, since, bytes: Some(bytes), in_branch });
            }
        }
        Ok(held)
    }

    fn layers_of(&self, delegation: &str) -> Result<[PathBuf; 2], Error> {
        let base = layer_folder(&self.folders.state, &format!("base:{delegation}"))?;
        let results = layer_folder(&self.folders.state, &format!("result:{delegation}"))?;
        Ok([base, results])
    }

    /// Forgets what a delegation started from and what came of it, unless somebody's work was
    /// built on that: then whoever clears that away can come again.
    pub(super) fn let_layers_go(&self, names: &Names) -> Result<(), Error> {
        let delegation = &names.delegation;
        if self.is_built_on(delegation, &self.needed(|_| true)?) {
            return Ok(());
        }
        for folder in self.layers_of(delegation)? {
            self.folders.discard(&folder)?;
        }
        let tip = self.tip_path(delegation);
        gone(&tip).map_err(Error::files("removing", &tip))
    }

    fn is_built_on(&self, delegation: &str, needed: &HashSet<String>) -> bool {
        let (base, results) = (format!("base:{delegation}"), format!("result:{delegation}:"));
        needed.iter().any(|layer| *layer == base || layer.starts_with(&results))
    }

    /// Forgets kept work, unless something else was built on it.
    pub(super) fn let_go(&self, work: &KeptWork) -> Result<(), Error> {
        if self.needed(|_| true)?.contains(&work.commit) {
            return Err(Error::Refused {
                reason: format!("other work was built on that of {}", work.attempt),
                files: Vec::new(),
                hint: "clear that one away first".into(),
            });
        }
        self.folders.discard(&layer_folder(&self.folders.state, &work.commit)?)
    }
}
