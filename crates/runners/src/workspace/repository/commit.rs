//! Making commits: their text is ours, and one git process writes them all.

use std::fs;
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use super::super::{Error, refs};
use super::{MAX_REMEMBERED, Repository};

impl Repository {
    /// A commit of a tree, made by whoever the user is.
    pub(super) fn commit(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String, Error> {
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        let who = self.signature()?;
        let message = message.replace('\0', "");
        let text = format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}");
        // A process that was ended from outside is no reason to fail: the same text is the
        // same commit, however often it is written.
        let written = self.write_commit(&text).or_else(|_| self.write_commit(&text))?;
        self.remember_tree(&written, tree);
        Ok(written)
    }

    /// The files of a commit.
    pub(super) fn tree_of(&self, commit: &str) -> Result<String, Error> {
        let known = self.trees.lock().unwrap_or_else(PoisonError::into_inner).get(commit).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let call = self.on_objects("rev-parse");
        let tree = call.args(["--verify", &format!("{commit}^{{tree}}")]).line()?;
        if refs::is_id(commit) {
            self.remember_tree(commit, &tree);
        }
        Ok(tree)
    }

    fn remember_tree(&self, commit: &str, tree: &str) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= MAX_REMEMBERED {
            trees.clear();
        }
        trees.insert(commit.to_owned(), tree.to_owned());
    }

    fn write_commit(&self, text: &str) -> Result<String, Error> {
        let start = || {
            let call = self.on_objects("hash-object");
            call.args(["-t", "commit", "-w", "--no-filters", "--stdin-paths"]).start()
        };
        let said = self.scribe.with(("hash-object", start), |session| {
            // One file for all of them, since they are written one after another.
            let path = self.hub.join(&self.draft);
            fs::write(&path, text).map_err(Error::files("writing", &path))?;
            session.ask(format!("{}\n", self.draft).as_bytes(), b"\n")
        })?;
        Ok(String::from_utf8_lossy(&said).trim_end().to_owned())
    }

    /// Who commits, and when, as a commit says it.
    fn signature(&self) -> Result<String, Error> {
        let mut known = self.signature.lock().unwrap_or_else(PoisonError::into_inner);
        let (who, zone) = match known.as_ref() {
            Some(known) => known,
            None => known.insert(self.ask_signature()?),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let seconds = now.unwrap_or(Duration::ZERO).as_secs();
        Ok(format!("{who} {seconds} {zone}"))
    }

    /// The user's name as git writes it, and the time zone here.
    fn ask_signature(&self) -> Result<(String, String), Error> {
        let said = self.user.signed(self.on_objects("var")).arg("GIT_COMMITTER_IDENT").line()?;
        let mut parts = said.rsplitn(3, ' ');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(zone), Some(_), Some(who)) => Ok((who.to_owned(), zone.to_owned())),
            _ => {
                let message = format!("it answered {said:?}, which names nobody");
                Err(Error::Git { command: "var".into(), message })
            }
        }
    }
}
