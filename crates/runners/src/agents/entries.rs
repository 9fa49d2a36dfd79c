//! Typed values out of nodes. Whatever does not fit is noted with its line.

use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use legation_core::agent::Severity;

use super::Finding;
use super::node::{Entry, Node, Shape};

/// What there is to say about one file so far.
pub(super) struct Notes {
    file: PathBuf,
    findings: Vec<Finding>,
}

/// Where in a file something is: a line, and a key with its parents.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) line: u32,
    pub(super) key: &'a str,
}

impl Notes {
    pub(super) fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), findings: Vec::new() }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// The file is bad.
    pub(super) fn error(&mut self, at: At<'_>, message: impl Into<String>, hint: &str) {
        self.push(Severity::Error, Some(at), message.into(), hint);
    }

    /// Something is probably not what was meant.
    pub(super) fn warning(&mut self, at: At<'_>, message: impl Into<String>, hint: &str) {
        self.push(Severity::Warning, Some(at), message.into(), hint);
    }

    /// Something that is good to know.
    pub(super) fn note(&mut self, at: At<'_>, message: impl Into<String>, hint: &str) {
        self.push(Severity::Note, Some(at), message.into(), hint);
    }

    /// Something about the file as a whole.
    pub(super) fn whole(&mut self, severity: Severity, message: &str, hint: &str) {
        self.push(severity, None, message.to_owned(), hint);
    }

    /// The file is no text.
    pub(super) fn not_text(&mut self, bytes: &[u8], problem: &Utf8Error) {
        let before = bytes.get(..problem.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let at = At { line: u32::try_from(line).unwrap_or(u32::MAX), key: "" };
        self.error(at, "the file is not valid UTF-8", "save it as UTF-8 text");
    }

    fn push(&mut self, severity: Severity, at: Option<At<'_>>, message: String, hint: &str) {
        self.findings.push(Finding {
            severity,
            file: self.file.clone(),
            line: at.map(|at| at.line),
            key: at.map(|at| at.key.to_owned()).filter(|key| !key.is_empty()),
            message,
            hint: hint.to_owned(),
        });
    }

    fn unfit(&mut self, at: At<'_>, node: &Node, wanted: &str) {
        let message = format!("`{}` must be {wanted}, and is {}", at.key, node.kind());
        self.error(at, message, "correct the value, or take the key out");
    }

    /// A text; a number or a truth value is taken as it is written. Nothing is no text.
    pub(super) fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        let text = node.scalar();
        if text.is_none() && node.shape != Shape::Null {
            self.unfit(At { line: node.line, key }, node, "text");
        }
        text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, key: &str, node: &Node) -> Option<bool> {
        match node.shape {
            Shape::Bool(value) => Some(value),
            Shape::Null => None,
            Shape::Number(..) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.unfit(At { line: node.line, key }, node, "true or false");
                None
            }
        }
    }

    /// A number within a range, both ends included.
    pub(super) fn number(&mut self, key: &str, node: &Node, range: (f64, f64)) -> Option<f64> {
        let number = match &node.shape {
            Shape::Number(number, _) => number.as_f64(),
            Shape::Null => return None,
            Shape::Bool(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
                self.unfit(At { line: node.line, key }, node, "a number");
                return None;
            }
        };
        let (least, most) = range;
        let fits = number.filter(|number| (least..=most).contains(number));
        if fits.is_none() {
            let message = format!("`{key}` must be from {least} to {most}");
            self.error(At { line: node.line, key }, message, "correct the value");
        }
        fits
    }

    /// A whole number within a range, both ends included.
    pub(super) fn count(&mut self, key: &str, node: &Node, range: (u32, u32)) -> Option<u32> {
        let limits = (f64::from(range.0), f64::from(range.1));
        let number = self.number(key, node, limits)?;
        if number.fract() != 0.0 {
            let message = format!("`{key}` must be a whole number");
            self.error(At { line: node.line, key }, message, "correct the value");
            return None;
        }
        Some(number as u32)
    }

    /// Texts with their lines: a list, or a single text. Nothing is an empty list.
    pub(super) fn texts(&mut self, key: &str, node: &Node) -> Vec<(String, u32)> {
        let items = match &node.shape {
            Shape::Null => return Vec::new(),
            Shape::List(items) => items.as_slice(),
            Shape::Bool(_) | Shape::Number(..) | Shape::Text(_) | Shape::Map(_) => {
                std::slice::from_ref(node)
            }
        };
        let mut texts = Vec::new();
        for item in items {
            match item.scalar() {
                Some(text) => texts.push((text, item.line)),
                None => self.unfit(At { line: item.line, key }, item, "text or a list of texts"),
            }
        }
        texts
    }

    /// The entries of a map. Nothing is an empty map.
    pub(super) fn map<'a>(&mut self, key: &str, node: &'a Node) -> &'a [Entry] {
        match &node.shape {
            Shape::Map(entries) => entries,
            Shape::Null => &[],
            Shape::Bool(_) | Shape::Number(..) | Shape::Text(_) | Shape::List(_) => {
                self.unfit(At { line: node.line, key }, node, "a map");
                &[]
            }
        }
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &str,
        node: &Node,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(key, node)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("`{key}` cannot be `{}`", shortened(&text));
            let hint = format!("use one of: {}", names.join(", "));
            self.error(At { line: node.line, key }, message, &hint);
        }
        found.map(|(_, value)| *value)
    }

    /// A key that nobody knows, and the one that was probably meant.
    pub(super) fn unknown_key(&mut self, at: At<'_>, known: &[&str]) {
        let last = at.key.rsplit('.').next().unwrap_or_default();
        let hint = match legation_core::text::nearest::nearest(last, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "take it out, or put it where it belongs".to_owned(),
        };
        let message = format!("unknown key `{}`", shortened(at.key));
        self.warning(at, message, &hint);
    }
}

/// A user's own text, cut to what fits into a message.
pub(super) fn shortened(text: &str) -> String {
    const SHOWN_CHARS: usize = 60;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
        None => text.to_owned(),
    }
}
