//! Where agent files lie, and their bytes.
//!
//! Links are followed, but no folder is entered twice, and everything that could
//! go on for ever has a limit.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use legation_core::agent::Severity;

use super::{Finding, MAX_FILE_BYTES, MAX_FOLDER_DEPTH, Vendor};

impl Vendor {
    /// Folders below a project in which the vendor keeps agents.
    const fn project_folders(self) -> &'static [&'static str] {
        match self {
            Self::Legation => &[".legation/agents"],
            Self::Claude => &[".claude/agents"],
            Self::OpenCode => &[".opencode/agents", ".opencode/agent"],
            Self::Gemini => &[".gemini/agents"],
            Self::Codex => &[".codex/agents"],
        }
    }

    /// The same below a user's home.
    const fn home_folders(self) -> &'static [&'static str] {
        match self {
            Self::OpenCode => &[
                ".config/opencode/agents",
                ".config/opencode/agent",
                ".opencode/agents",
                ".opencode/agent",
            ],
            Self::Legation | Self::Claude | Self::Gemini | Self::Codex => self.project_folders(),
        }
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Codex => "toml",
            Self::Legation | Self::Claude | Self::OpenCode | Self::Gemini => "md",
        }
    }
}

/// A walk through folders.
pub(super) struct Walk<'a> {
    entered: BTreeSet<PathBuf>,
    files: Vec<(Vendor, PathBuf)>,
    max_files: usize,
    full: bool,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(max_files: usize, findings: &'a mut Vec<Finding>) -> Self {
        Self { entered: BTreeSet::new(), files: Vec::new(), max_files, full: false, findings }
    }

    /// Every agent file, those that win first.
    pub(super) fn find(mut self, project: &Path, home: Option<&Path>) -> Vec<(Vendor, PathBuf)> {
        for vendor in Vendor::ALL {
            for folder in vendor.project_folders() {
                self.folder(vendor, project.join(folder));
            }
        }
        for (vendor, home) in Vendor::ALL.into_iter().zip(home.into_iter().cycle()) {
            for folder in vendor.home_folders() {
                self.folder(vendor, home.join(folder));
            }
        }
        self.files
    }

    /// Takes in a folder and those below it, each folder's files before its folders.
    fn folder(&mut self, vendor: Vendor, top: PathBuf) {
        let mut open = vec![(top, 0)];
        while let Some((folder, depth)) = open.pop() {
            // A folder that is missing is the usual case; one seen before is a link.
            let Ok(real) = folder.canonicalize() else {
                continue;
            };
            if !self.entered.insert(real) {
                continue;
            }
            let (files, mut folders) = match entries(&folder) {
                Ok(found) => found,
                Err(problem) => {
                    let message = format!("the folder cannot be read: {problem}");
                    self.findings.push(broken(&folder, message, "check its permissions"));
                    continue;
                }
            };
            for file in files {
                self.file(vendor, file);
            }
            if depth < MAX_FOLDER_DEPTH {
                folders.reverse();
                open.extend(folders.into_iter().map(|folder| (folder, depth + 1)));
            }
        }
    }

    fn file(&mut self, vendor: Vendor, file: PathBuf) {
        let extension = file.extension().and_then(|extension| extension.to_str());
        let wanted = extension.is_some_and(|it| it.eq_ignore_ascii_case(vendor.extension()));
        if !wanted || self.full {
            return;
        }
        if self.files.len() == self.max_files {
            self.full = true;
            let message = format!(
                "more than {} agent files; this one and the rest are not read",
                self.max_files
            );
            self.findings.push(broken(&file, message, "move some of them away"));
            return;
        }
        self.files.push((vendor, file));
    }
}

/// Files and folders in a folder, both sorted by name. Hidden ones are nobody's agents.
fn entries(folder: &Path) -> std::io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        match std::fs::metadata(&path) {
            Ok(kind) if kind.is_dir() => folders.push(path),
            // What is neither is looked at, so that a dead link is told about.
            Ok(_) | Err(_) => files.push(path),
        }
    }
    files.sort();
    folders.sort();
    Ok((files, folders))
}

/// The bytes of a file that is one, is not too large and can be read.
pub(super) fn bytes(file: &Path) -> Result<Vec<u8>, Finding> {
    let unreadable = |problem: std::io::Error| {
        broken(
            file,
            format!("the file cannot be read: {problem}"),
            "check that it exists and its permissions",
        )
    };
    // Opening a pipe would wait for a writer.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(broken(
            file,
            "not a regular file".to_owned(),
            "move it out of the agents folder",
        ));
    }
    let mut bytes = Vec::new();
    let limit = MAX_FILE_BYTES as u64 + 1;
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    opened.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(broken(file, "the file is larger than 1 MiB".to_owned(), "shorten it"));
    }
    Ok(bytes)
}

fn broken(file: &Path, message: String, hint: &str) -> Finding {
    Finding {
        severity: Severity::Error,
        file: file.to_owned(),
        line: None,
        key: None,
        message,
        hint: hint.to_owned(),
    }
}
