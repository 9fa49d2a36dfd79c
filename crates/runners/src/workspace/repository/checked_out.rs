//! Where the user has a branch checked out. A branch that moves under a checkout makes its
//! files look like changes that nobody made.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::Error;
use super::super::refs::{Head, Names};
use super::Repository;

impl Repository {
    /// The checkout that is on this branch, if one is.
    pub(super) fn checkout_of(&self, branch: &str) -> Result<Option<PathBuf>, Error> {
        if !self.user.names_in_files {
            let call = self.on_names("for-each-ref").args(["--format=%(worktreepath)", branch]);
            return Ok(Some(call.line()?).filter(|path| !path.is_empty()).map(PathBuf::from));
        }
        let common = &self.user.common_dir;
        let others = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        let mut folders = others.map(|entry| entry.path()).chain([common.clone()]);
        let is_on = |folder: &Path| match Names::of_user(folder, common).head() {
            Head::At { name, .. } => name.as_deref() == Some(branch),
            Head::Unborn { name } => name == branch,
            Head::Unclear => false,
        };
        Ok(folders.find_map(|folder| {
            let files = self.files_of(&folder)?;
            is_on(&folder).then_some(files)
        }))
    }

    /// Where the files of a checkout are; `None` if they are gone.
    fn files_of(&self, folder: &Path) -> Option<PathBuf> {
        if *folder == self.user.common_dir {
            return folder.parent().map(Path::to_owned);
        }
        let link = fs::read_to_string(folder.join("gitdir")).ok()?;
        let link = folder.join(link.trim_end());
        link.exists().then(|| link.parent().map(Path::to_owned))?
    }
}
