//! Finding the return in what an agent printed.
//!
//! The output is read once, from left to right, for JSON lists and objects that
//! stand on their own: bare, between fences or in the middle of prose. Objects
//! inside a list or inside another object are parts of it, never returns. The
//! return is the last such object that has a `status`; where none has one, the
//! last object, so that the checks can say what it lacks.
//!
//! Where something began like JSON and breaks off, reading goes on at the byte
//! that broke it, or right behind the opening bracket if no more than one word
//! followed. That word ends at the next quotation mark, so that no byte is looked
//! at more than a few times, however hostile the text. Only the one object that
//! was chosen is parsed into a value.

mod scan;

use std::ops::Range;

use memchr::{memchr_iter, memchr2, memrchr};
use serde::Deserialize;
use serde_json::Value;

use self::scan::{Broken, Scan};
use super::limits::MAX_RETURN_BYTES;
use super::violation::{Check, Violation};

/// The return as it was written, and as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Extracted<'a> {
    /// The exact text of the object.
    pub raw: &'a str,
    /// The object.
    pub value: Value,
}

/// Why there is no return in an output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// Nothing in it looks like a JSON object.
    #[error("there is no JSON object in the output")]
    NoObject,
    /// There is JSON, but only lists.
    #[error("the output has a JSON list where an object is needed")]
    OnlyLists,
    /// Something began like an object and cannot be read.
    #[error("line {line}, column {column}: {problem}")]
    Malformed {
        /// The line of the output, from 1.
        line: usize,
        /// The byte of that line, from 1.
        column: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The object is longer than a return may be.
    #[error("the return has {bytes} bytes; at most {MAX_RETURN_BYTES} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
}

impl From<Absent> for Violation {
    fn from(absent: Absent) -> Self {
        let advice = "end the output with one JSON object and nothing after it";
        match absent {
            Absent::NoObject | Absent::OnlyLists | Absent::Malformed { .. } => {
                Self::new(Check::Json, "Return is not valid JSON")
                    .hint(format!("{absent}; {advice}"))
            }
            Absent::TooLarge { .. } => Self::new(Check::Json, absent.to_string())
                .hint("put long results into files and list them in `artifacts`"),
        }
    }
}

/// Finds the return in an agent's output.
pub fn extract(output: &str) -> Result<Extracted<'_>, Absent> {
    find(output).map(|(raw, value)| Extracted { raw, value })
}

/// Finds the return and reads it as something of the form of an object.
pub(super) fn find<'a, T: Deserialize<'a>>(output: &'a str) -> Result<(&'a str, T), Absent> {
    // An agent that did as it was told printed the object and nothing else.
    let raw = output.trim();
    if raw.starts_with('{')
        && raw.len() <= MAX_RETURN_BYTES
        && let Ok(read) = serde_json::from_str(raw)
    {
        return Ok((raw, read));
    }
    let found = survey(output.as_bytes());
    let range = match found {
        Survey { with_status: Some(range), .. } => range,
        Survey { broken: Some(Broken { at, problem }), .. } => {
            return Err(locate(output, at, problem.to_owned()));
        }
        Survey { object: Some(range), .. } => range,
        Survey { list: true, .. } => return Err(Absent::OnlyLists),
        Survey { list: false, .. } => return Err(Absent::NoObject),
    };
    let start = range.start;
    let raw = output.get(range).unwrap_or_default();
    if raw.len() > MAX_RETURN_BYTES {
        return Err(Absent::TooLarge { bytes: raw.len() });
    }
    match serde_json::from_str(raw) {
        Ok(read) => Ok((raw, read)),
        Err(error) => {
            let above = raw.split_inclusive('\n').take(error.line().saturating_sub(1));
            let offset = above.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
            let words = error.to_string();
            let problem = words.split(" at line ").next().unwrap_or(&words);
            Err(locate(output, start + offset, problem.to_owned()))
        }
    }
}

/// What stands in an output.
#[derive(Default)]
struct Survey {
    with_status: Option<Range<usize>>,
    object: Option<Range<usize>>,
    list: bool,
    /// The last attempt at an object, if no whole one came after it.
    broken: Option<Broken>,
}

fn survey(bytes: &[u8]) -> Survey {
    let mut found = Survey::default();
    let mut scan = Scan::new(bytes);
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(|rest| memchr2(b'{', b'[', rest)) {
        let start = at + step;
        let is_object = bytes.get(start) == Some(&b'{');
        match scan.walk(start) {
            Ok(()) => {
                at = scan.at;
                if !is_object {
                    found.list = true;
                    continue;
                }
                found.broken = None;
                if scan.has_status {
                    found.with_status = Some(start..at);
                } else {
                    found.object = Some(start..at);
                }
            }
            Err(broken) => {
                at = if scan.is_under_way { broken.at } else { start + 1 };
                if is_object && scan.has_key {
                    found.broken = Some(broken);
                }
            }
        }
    }
    found
}

/// Turns an offset into a line and a column.
fn locate(output: &str, at: usize, problem: String) -> Absent {
    let before = output.as_bytes().get(..at).unwrap_or(output.as_bytes());
    Absent::Malformed {
        line: memchr_iter(b'\n', before).count() + 1,
        column: before.len() - memrchr(b'\n', before).map_or(0, |line_break| line_break + 1) + 1,
        problem,
    }
}
