//! The user's repository: where it is, and what of its settings ours must share.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::git::{Call, Git, Trust};
use super::super::{Error, refs};

/// Settings that decide how files look on disk and which are ignored.
const SHARED: &[&str] = &[
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
];

/// Attributes that are the user's alone.
const ATTRIBUTES: &str = "info/attributes";
/// What else stands beside its names, and is no name.
const COPIED: &[&str] = &["info/exclude", ATTRIBUTES, "shallow"];
/// Which files this checkout has; each has its own.
const SPARSE: &str = "info/sparse-checkout";

/// Who makes commits when the user has no name.
const NOBODY: (&str, &str) = ("Legation", "legation@localhost");

/// The user's repository.
#[derive(Debug)]
pub(super) struct User {
    /// Of this checkout, with its HEAD and index.
    pub(super) git_dir: PathBuf,
    /// Of the whole repository, with its names.
    pub(super) common_dir: PathBuf,
    pub(super) objects: PathBuf,
    /// The top of the checkout; a bare repository has none.
    pub(super) top: Option<PathBuf>,
    /// Where the project lies below the top.
    pub(super) prefix: PathBuf,
    /// The length of an object's name in bytes.
    pub(super) hash_bytes: usize,
    /// Whether names are plain files, which can be read without a process.
    pub(super) names_in_files: bool,
    pub(super) settings: Vec<(String, String)>,
    pub(super) name: String,
    pub(super) email: String,
}

impl User {
    /// Looks for the repository that the project is in.
    pub(super) fn find(git: &Git, project: &Path) -> Result<Option<Self>, Error> {
        let project = fs::canonicalize(project).map_err(Error::files("opening", project))?;
        // Git's answers are lines of text.
        let odd = match project.to_str() {
            Some(path) => path.contains('\n').then_some("there is a line break in the path"),
            None => Some("the name of a folder is not in UTF-8 in the path"),
        };
        if let Some(odd) = odd {
            return Err(Error::Refused {
                reason: format!("{odd} {}", project.display()),
                files: Vec::new(),
                hint: "rename the folder".into(),
            });
        }
        let ask =
            ["--path-format=absolute", "--git-dir", "--git-common-dir", "--git-path", "objects"];
        let call = git.call("rev-parse", Trust::User).within(&project).args(ask);
        let said = call.args(["--show-object-format", "--is-inside-work-tree"]).ask();
        let said = match said {
            Ok(said) => said,
            // Without git on this machine the folder is as good as plain, unless it is in a
            // repository: nobody else knows what that ignores.
            Err(Error::Files { source, .. }) => {
                let is_repository = |folder: &Path| folder.join(".git").exists();
                return match project.ancestors().any(is_repository) {
                    true => Err(Error::NoGit { source }),
                    false => Ok(None),
                };
            }
            Err(error) => return Err(error),
        };
        if said.code != 0 {
            let text = String::from_utf8_lossy(&said.err).into_owned();
            let none = text.contains("not a git repository");
            return if none {
                Ok(None)
            } else {
                Err(super::super::git::complaint("rev-parse", &said))
            };
        }
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let [git_dir, common_dir, objects, format, inside] = lines.as_slice() else {
            let message = format!("it answered {text:?}, which names no repository");
            return Err(Error::Git { command: "rev-parse".into(), message });
        };
        let (top, prefix) =
            if *inside == "true" { checkout(git, &project)? } else { Default::default() };
        let common_dir = PathBuf::from(common_dir);
        let mut user = Self {
            git_dir: git_dir.into(),
            names_in_files: are_names_in_files(&common_dir),
            common_dir,
            objects: objects.into(),
            top,
            prefix,
            hash_bytes: if *format == "sha256" { 32 } else { 20 },
            settings: Vec::new(),
            name: NOBODY.0.into(),
            email: NOBODY.1.into(),
        };
        user.read_settings(git, &project)?;
        Ok(Some(user))
    }

    fn read_settings(&mut self, git: &Git, project: &Path) -> Result<(), Error> {
        let wanted = "^(user\\.(name|email)|core\\.(autocrlf|eol|excludesfile|ignorecase|precomposeunicode|sparsecheckout|sparsecheckoutcone|symlinks))$";
        let call = git.call("config", Trust::User).within(project);
        // None of them is set: that is an answer too.
        let said = call.args(["-z", "--get-regexp", wanted]).ask()?;
        let text = String::from_utf8_lossy(&said.out).into_owned();
        let (mut name, mut email) = ("", "");
        for (key, value) in text.split('\0').filter_map(|pair| pair.split_once('\n')) {
            match key {
                "user.name" => name = value,
                "user.email" => email = value,
                key if SHARED.contains(&key) => {
                    self.settings.retain(|(known, _)| known != key);
                    self.settings.push((key.to_owned(), value.to_owned()));
                }
                _ => {}
            }
        }
        if !name.is_empty() && !email.is_empty() {
            name.clone_into(&mut self.name);
            email.clone_into(&mut self.email);
        }
        Ok(())
    }

    /// The same for the repository of a submodule, which shares how files look on disk.
    pub(super) fn of_submodule(&self, folder: &Path) -> Self {
        let is_shared = |(key, _): &&(String, String)| !key.starts_with("core.sparse");
        Self {
            git_dir: folder.to_owned(),
            common_dir: folder.to_owned(),
            objects: folder.join("objects"),
            top: None,
            prefix: PathBuf::new(),
            hash_bytes: self.hash_bytes,
            names_in_files: self.names_in_files,
            settings: self.settings.iter().filter(is_shared).cloned().collect(),
            name: self.name.clone(),
            email: self.email.clone(),
        }
    }

    /// Files of the user's repository that ours need a copy of, and what is in those that
    /// say anything.
    pub(super) fn local(&self) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let says = |bytes: &Vec<u8>| {
            // Git puts a file of nothing but comments into every repository.
            let mut lines = bytes.split(|byte| *byte == b'\n');
            lines.any(|line| !matches!(line.first(), None | Some(b'#')))
        };
        let read = |folder: &Path, name| (name, fs::read(folder.join(name)).ok());
        let shared = COPIED.iter().map(|name| read(&self.common_dir, *name));
        let shared = shared.map(|(name, bytes)| (name, bytes.filter(says)));
        shared.chain([read(&self.git_dir, SPARSE)]).collect()
    }

    /// Everything that decides how the files of a commit look on disk, as one text.
    pub(super) fn view(&self) -> String {
        let mut view = String::new();
        for (key, value) in &self.settings {
            view.push_str(&format!("{key}={value}\n"));
        }
        for path in [self.common_dir.join(ATTRIBUTES), self.git_dir.join(SPARSE)] {
            view.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap_or_default()));
            view.push('\0');
        }
        view
    }

    /// The folders in which a git of the user's is at work on this repository.
    pub(super) fn places(&self) -> Vec<&Path> {
        self.top.iter().chain([&self.git_dir, &self.common_dir]).map(PathBuf::as_path).collect()
    }

    /// The same command, with the user as author and committer.
    pub(super) fn signed<'a>(&self, call: Call<'a>) -> Call<'a> {
        let call = call.env("GIT_AUTHOR_NAME", &self.name).env("GIT_AUTHOR_EMAIL", &self.email);
        call.env("GIT_COMMITTER_NAME", &self.name).env("GIT_COMMITTER_EMAIL", &self.email)
    }
}

/// Whether git keeps names as files, in the repository itself, and not too many. Where links lead
/// to those of another, git is asked.
fn are_names_in_files(common_dir: &Path) -> bool {
    let packed = common_dir.join("packed-refs");
    !common_dir.join("reftable").exists() && !packed.is_symlink() && !refs::is_too_long(&packed)
}

/// The top of the checkout, and where the project lies below it.
fn checkout(git: &Git, project: &Path) -> Result<(Option<PathBuf>, PathBuf), Error> {
    let call = git.call("rev-parse", Trust::User).within(project);
    let top = PathBuf::from(call.args(["--path-format=absolute", "--show-toplevel"]).line()?);
    let top = fs::canonicalize(&top).map_err(Error::files("opening", &top))?;
    let prefix = project.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
    Ok((Some(top), prefix))
}
