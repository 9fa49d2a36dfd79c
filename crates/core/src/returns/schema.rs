//! An agent's JSON Schema for `data`, compiled once and asked often.
//!
//! A schema never causes anything to be fetched: references to other documents
//! are refused. Patterns run in linear time, and the answer to a mismatch is kept
//! cheap even where a schema refers to itself and the data is made to exploit it.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::limits::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_PARTS};

/// Bytes that one compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;
/// Characters of a mismatch that are told.
const MESSAGE_CHARS: usize = 300;
/// Levels of data up to which a schema that refers to itself is asked for details.
const DETAIL_DEPTH: usize = 4;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    /// More bytes than a schema may have.
    #[error("the schema has {bytes} bytes; at most {MAX_SCHEMA_BYTES} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// Nested too deeply, references followed.
    #[error("the schema is nested more than {MAX_SCHEMA_DEPTH} levels deep")]
    TooDeep,
    /// Its references multiply.
    #[error("the schema has more than {MAX_SCHEMA_PARTS} parts once its references are followed")]
    TooManyParts,
    /// Not a JSON Schema, or one that refers to another document.
    #[error("{at}: {problem}")]
    Invalid {
        /// Where in the schema, as a JSON pointer.
        at: String,
        /// What is wrong there.
        problem: String,
    },
}

/// A schema, ready to be asked.
pub struct CompiledSchema {
    validator: Validator,
    /// Whether the schema may refer to itself.
    recursive: bool,
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledSchema").finish_non_exhaustive()
    }
}

impl CompiledSchema {
    /// Compiles a schema.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        // Everything after this line recurses over the schema.
        if !within(schema, MAX_SCHEMA_DEPTH) {
            return Err(BadSchema::TooDeep);
        }
        let mut survey = Survey { root: schema, parts: 0, recursive: false, open: Vec::new() };
        survey.visit(schema, 0)?;
        let bytes = schema.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Err(BadSchema::TooLarge { bytes });
        }
        let patterns =
            PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        let validator =
            jsonschema::options().offline().with_pattern_options(patterns).build(schema).map_err(
                |error| BadSchema::Invalid {
                    at: format!("#{}", error.instance_path()),
                    problem: short(&error.to_string()),
                },
            )?;
        Ok(Self { validator, recursive: survey.recursive })
    }

    /// What is wrong with the data, if anything: the first mismatch and its place.
    pub fn mismatch(&self, data: &Value) -> Option<String> {
        // The yes or no is remembered for each part of the data, so it stays cheap.
        if self.validator.is_valid(data) {
            return None;
        }
        // The why is not: with a schema that refers to itself it may take time
        // exponential in the depth of the data.
        if self.recursive && !within(data, DETAIL_DEPTH) {
            return Some("`data` does not match the agent's schema".to_owned());
        }
        let error = self.validator.validate(data).err()?;
        Some(format!("`data{}`: {}", error.instance_path(), short(&error.to_string())))
    }
}

/// A walk over a schema as if each reference were replaced by what it names.
struct Survey<'a> {
    root: &'a Value,
    parts: usize,
    recursive: bool,
    /// References that are being followed.
    open: Vec<&'a str>,
}

impl<'a> Survey<'a> {
    fn visit(&mut self, value: &'a Value, level: usize) -> Result<(), BadSchema> {
        if level > MAX_SCHEMA_DEPTH {
            return Err(BadSchema::TooDeep);
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
            Value::Array(items) => {
                self.count()?;
                items.iter().try_for_each(|item| self.visit(item, level + 1))
            }
            Value::Object(members) => {
                self.count()?;
                for (name, member) in members {
                    match (name.as_str(), member.as_str()) {
                        ("$ref", Some(reference)) => self.follow(reference, level)?,
                        ("$dynamicRef" | "$recursiveRef", Some(_)) => self.recursive = true,
                        // What is defined counts where it is used.
                        ("$defs" | "definitions", _) => {}
                        _ => self.visit(member, level + 1)?,
                    }
                }
                Ok(())
            }
        }
    }

    fn follow(&mut self, reference: &'a str, level: usize) -> Result<(), BadSchema> {
        let pointer = reference.strip_prefix('#').filter(|p| p.is_empty() || p.starts_with('/'));
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        match target {
            // An anchor or an id: where it leads is not known here, so the worst is assumed.
            None => self.recursive = true,
            Some(_) if self.open.contains(&reference) => self.recursive = true,
            Some(target) => {
                self.open.push(reference);
                self.visit(target, level + 1)?;
                self.open.pop();
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), BadSchema> {
        self.parts += 1;
        if self.parts > MAX_SCHEMA_PARTS { Err(BadSchema::TooManyParts) } else { Ok(()) }
    }
}

/// Whether a value is nested at most so many levels deep.
fn within(value: &Value, levels: usize) -> bool {
    let below = |item: &Value| levels > 0 && within(item, levels - 1);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => items.iter().all(below),
        Value::Object(members) => members.values().all(below),
    }
}

fn short(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MESSAGE_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}
