//! Work that is kept of a plain folder: listed, shown, written out again, forgotten.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::custody::{weight, written};
use super::super::{Error, KeptWork, names, record};
use super::Plain;
use super::layer::{Contents, Layer, layer_folder};

impl Plain {
    /// Every work that is kept.
    pub(super) fn kept_works(&self) -> Result<Vec<KeptWork>, Error> {
        let mut works = Vec::new();
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
                commit: format!("kept:{attempt}"),
                beside: Vec::new(),
                attempt,
                provenance: None,
                since: written(&layer),
                bytes: Some(weight(&entry.path())),
                in_branch: false,
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

    /// Forgets kept work, unless something else was built on it.
    pub(super) fn let_go(&self, work: &KeptWork) -> Result<(), Error> {
        let mut needed = HashSet::new();
        for other in self.kept_works()? {
            let base = Layer::open(&self.folders.state, &other.commit)?.built_on("");
            needed.extend(base.split('+').map(str::to_owned));
        }
        if needed.contains(&work.commit) {
            return Err(Error::Refused {
                reason: format!("other work was built on that of {}", work.attempt),
                files: Vec::new(),
                hint: "clear that one away first".into(),
            });
        }
        self.folders.discard(&layer_folder(&self.folders.state, &work.commit)?)
    }
}
