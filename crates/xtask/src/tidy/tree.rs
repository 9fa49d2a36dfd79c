//! The files of the repository, in memory.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::lexer::{self, Token};

/// What is not part of the repository.
const SKIPPED: &[&str] = &[".git", "target", "node_modules"];

/// The text files of the repository, by path from its root with `/` between names.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
    tokens: BTreeMap<String, Result<Vec<Token>, usize>>,
}

impl Tree {
    /// A tree of these files.
    pub fn new<P: Into<String>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add(path.into(), text.into());
        }
        tree
    }

    /// The tree below a folder. Files that are not text are known by name only.
    pub fn load(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.load_folder(root, "")?;
        Ok(tree)
    }

    fn load_folder(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries = std::fs::read_dir(folder);
        let entries = entries.with_context(|| format!("failed to list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let kind = entry.file_type()?;
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                self.load_folder(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path());
                let bytes = bytes.with_context(|| format!("failed to read {path}"))?;
                self.add(path, String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, text: String) {
        if is_rust(&path) {
            self.tokens.insert(path.clone(), lexer::tokens(&text));
        }
        self.files.insert(path, text);
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// All files in order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is a file or a folder of this name.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.keys().any(|file| file.starts_with(&below))
    }

    /// Every Rust file with its tokens; one that cannot be read has none.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &[Token])> {
        self.tokens.iter().map(|(path, tokens)| {
            let tokens = tokens.as_ref().map_or(&[][..], Vec::as_slice);
            (path.as_str(), tokens)
        })
    }

    /// Rust files that cannot be read, and the line where that shows.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, usize)> {
        let tokens = self.tokens.iter();
        tokens.filter_map(|(path, tokens)| Some((path.as_str(), *tokens.as_ref().err()?)))
    }
}

/// Whether a file is Rust.
pub fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Whether a file is Rust that is not a test: sources, benchmarks, fuzz targets.
pub fn is_source(path: &str) -> bool {
    is_rust(path) && !path.contains("/tests/")
}

/// The name of a file without folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a file without folders and without what follows the first dot.
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.split('.').next().unwrap_or(name)
}
