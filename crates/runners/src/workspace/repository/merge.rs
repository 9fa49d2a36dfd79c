//! The result of a delegation: merging into it, showing it, taking it back.

use std::collections::{HashMap, HashSet};
use std::sync::{MutexGuard, PoisonError};

use super::super::folders::Begun;
use super::super::{Error, Kept, Merge};
use super::begin::base_name;
use super::{MAX_ROUNDS, Repository};

/// How a merge would go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trial {
    Fits { tree: String },
    Conflict { files: Vec<String> },
}

impl Repository {
    /// Merges kept work into the delegation's result.
    pub(super) fn merge_into_result(&self, delegation: &str, kept: &Kept) -> Result<Merge, Error> {
        let begun = self.folders.begun(delegation)?;
        let mut merged = self.results();
        let mut last = None;
        for _ in 0..MAX_ROUNDS {
            let tip = self.tip(delegation)?;
            let known = merged.get(delegation).is_some_and(|known| known.contains(&kept.commit));
            if known || self.already(tip.as_deref(), kept, merged.contains_key(delegation))? {
                return Ok(Merge::Nothing);
            }
            let from = tip.as_ref().unwrap_or(&begun.base);
            let commit = if *from == kept.base {
                kept.commit.clone()
            } else {
                match self.trial(from, &kept.commit)? {
                    Trial::Fits { tree } => {
                        let message = format!("Merge {}\n", kept.reference);
                        self.commit(&tree, &[from, &kept.commit], &message)?
                    }
                    Trial::Conflict { files } => return Ok(Merge::Conflict { files }),
                }
            };
            match self.move_names(&advance(&begun, tip.as_deref(), &commit)) {
                Ok(()) => {
                    merged.entry(delegation.to_owned()).or_default().insert(kept.commit.clone());
                    return Ok(Merge::Clean { commit });
                }
                // Somebody else moved it, or it cannot be moved: the next round tells.
                Err(error @ Error::Git { .. }) => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        let unmoved = || Error::Unknown { what: "result", id: delegation.to_owned() };
        Err(last.unwrap_or_else(unmoved))
    }

    /// Whether the result has this work, as after a crash between merging and saying so.
    fn already(&self, tip: Option<&str>, kept: &Kept, ours: bool) -> Result<bool, Error> {
        match tip {
            Some(tip) if tip == kept.commit => Ok(true),
            Some(tip) if !ours => self.is_ancestor(&kept.commit, tip),
            Some(_) | None => Ok(false),
        }
    }

    fn results(&self) -> MutexGuard<'_, HashMap<String, HashSet<String>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the delegation's result stands.
    pub(super) fn tip(&self, delegation: &str) -> Result<Option<String>, Error> {
        self.resolve(&result_name(delegation))
    }

    /// Merges two commits without touching any file.
    pub(super) fn trial(&self, ours: &str, theirs: &str) -> Result<Trial, Error> {
        let call = self.on_objects("merge-tree");
        let call = call.args(["--write-tree", "--no-messages", "--name-only", "-z"]);
        let said = call.args(["--allow-unrelated-histories", ours, theirs]).ask()?;
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let mut parts = text.split('\0').filter(|part| !part.is_empty());
        match (said.code, parts.next()) {
            (0, Some(tree)) => Ok(Trial::Fits { tree: tree.to_owned() }),
            (1, Some(_)) => Ok(Trial::Conflict { files: parts.map(str::to_owned).collect() }),
            _ => Err(super::super::git::complaint("merge-tree", &said)),
        }
    }

    /// Takes the result back to the base; what it was stays under a name.
    pub(super) fn roll_back(&self, delegation: &str) -> Result<Option<String>, Error> {
        let begun = self.folders.begun(delegation)?;
        let mut merged = self.results();
        let Some(tip) = self.tip(delegation)?.filter(|tip| *tip != begun.base) else {
            return Ok(None);
        };
        let mut name = format!("refs/legation/{}/rolled-back/{delegation}", begun.tree);
        if self.resolve(&name)?.is_some_and(|before| before != tip) {
            // Rolled back before, with other work: that one stays too.
            name = format!("{name}-{tip}");
        }
        let result = result_name(delegation);
        self.move_names(&format!("update {name} {tip}\nupdate {result} {} {tip}\n", begun.base))?;
        merged.remove(delegation);
        Ok(Some(tip))
    }

    /// The difference that a delegation, or one kept work of it, makes.
    pub(super) fn difference(
        &self,
        delegation: &str,
        kept: Option<&Kept>,
    ) -> Result<String, Error> {
        let begun = self.folders.begun(delegation)?;
        let (base, tip) = match kept {
            Some(kept) => (kept.base.clone(), Some(kept.commit.clone())),
            None => (begun.base, self.tip(delegation)?),
        };
        let Some(tip) = tip else { return Ok(String::new()) };
        let call = self.on_objects("diff").args(["--no-color", "--no-ext-diff", "--no-textconv"]);
        let out = call.args([&base, &tip]).run()?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

/// The branch that holds a delegation's result.
pub(super) fn result_name(delegation: &str) -> String {
    format!("refs/heads/legation/{delegation}/result")
}

/// What moves the result; the first time it also pins the base.
fn advance(begun: &Begun, tip: Option<&str>, commit: &str) -> String {
    let result = result_name(&begun.delegation);
    match tip {
        Some(tip) => format!("update {result} {commit} {tip}\n"),
        None => {
            let base = base_name(&begun.tree, &begun.delegation);
            format!("create {result} {commit}\nupdate {base} {}\n", begun.base)
        }
    }
}
