//! The check `required`: which fields there are, and of what type.
//!
//! Contents are not judged here; that is what the later checks are for.

use std::fmt;

use serde_json::Number;

use super::claim::{Json, Members};
use super::limits::{MAX_NAME_CHARS, MAX_PATH_STEPS, MAX_TEXT_CHARS};
use super::model::Metadata;
use super::violation::{Check, Violation};
use crate::ids::AgentId;

/// The fields of a return, found and typed.
pub(super) struct Fields<'a> {
    pub(super) status: &'a str,
    pub(super) summary: &'a str,
    pub(super) artifacts: &'a [Json<'a>],
    pub(super) metadata: Metadata,
    pub(super) errors: &'a [Json<'a>],
    pub(super) next_steps: Option<&'a str>,
}

/// Finds the fields of a return.
pub(super) fn read<'a>(members: &'a Members<'a>) -> Result<Fields<'a>, Violation> {
    let top = Record { check: Check::Required, place: Place::Top, fields: members };
    let status = top.text("status")?;
    let summary = top.text("summary")?;
    let artifacts = top.list("artifacts")?;
    let place = Place::Field("metadata");
    let metadata = Record::at(Check::Required, place, top.need("metadata")?)?;
    let metadata = self::metadata(&metadata)?;
    let errors = match top.get("errors") {
        Some(_) => top.list("errors")?,
        None => &[],
    };
    Ok(Fields {
        status,
        summary,
        artifacts,
        metadata,
        errors,
        next_steps: top.optional_text("next_steps", MAX_TEXT_CHARS)?,
    })
}

fn metadata(record: &Record<'_>) -> Result<Metadata, Violation> {
    let session_id = record.text("session_id")?;
    let agent_type = record.text("agent_type")?;
    record.limit("agent_type", agent_type, MAX_NAME_CHARS)?;
    let depth = record.need("delegation_depth")?.number();
    let Some(delegation_depth) = depth.and_then(Number::as_u64) else {
        return Err(record.wrong("delegation_depth", "a whole number from 0"));
    };
    let steps = record.list("delegation_path")?;
    if steps.len() > MAX_PATH_STEPS {
        let problem = format!("has {} steps; at most {MAX_PATH_STEPS} are allowed", steps.len());
        return Err(record.violation("delegation_path", &problem));
    }
    let mut delegation_path = Vec::with_capacity(steps.len());
    for step in steps {
        let Some(step) = step.text().filter(|step| fits(step, MAX_NAME_CHARS)) else {
            let problem = "has a step that is not the name of an agent";
            return Err(record.violation("delegation_path", problem));
        };
        delegation_path.push(AgentId::new(step));
    }
    let duration_seconds = match record.get("duration_seconds") {
        None => None,
        Some(value) => match value.number().and_then(Number::as_f64).filter(|s| *s >= 0.0) {
            Some(seconds) => Some(seconds),
            None => return Err(record.wrong("duration_seconds", "a number from 0")),
        },
    };
    Ok(Metadata {
        session_id: session_id.into(),
        agent_type: agent_type.into(),
        delegation_depth: u32::try_from(delegation_depth).unwrap_or(u32::MAX),
        delegation_path,
        duration_seconds,
    })
}

/// Where in a return an object stands. It is put into words only when something is wrong.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The return itself.
    Top,
    /// A field of the return.
    Field(&'static str),
    /// An entry of a list in the return.
    Entry(&'static str, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top => Ok(()),
            Self::Field(name) => write!(f, "{name}."),
            Self::Entry(list, index) => write!(f, "{list}[{index}]."),
        }
    }
}

/// An object inside a return, with the check that reads it and its place for messages.
pub(super) struct Record<'a> {
    check: Check,
    place: Place,
    fields: &'a Members<'a>,
}

impl<'a> Record<'a> {
    /// The object at this place, if it is one.
    pub(super) fn at(check: Check, place: Place, value: &'a Json<'a>) -> Result<Self, Violation> {
        match value.object() {
            Some(fields) => Ok(Self { check, place, fields }),
            None => {
                let place = place.to_string();
                let place = place.trim_end_matches('.');
                let message = format!("`{place}` must be an object, found {}", value.kind());
                Err(Violation::new(check, message))
            }
        }
    }

    /// A field that is there and is not null: null is how many agents write "none".
    pub(super) fn get(&self, name: &str) -> Option<&'a Json<'a>> {
        self.fields.get(name).filter(|value| !matches!(value, Json::Null))
    }

    fn need(&self, name: &str) -> Result<&'a Json<'a>, Violation> {
        self.get(name).ok_or_else(|| {
            let is_null = self.fields.get(name).is_some();
            self.violation(name, if is_null { "is null" } else { "is missing" })
        })
    }

    /// A field that must be text.
    pub(super) fn text(&self, name: &str) -> Result<&'a str, Violation> {
        self.need(name)?.text().ok_or_else(|| self.wrong(name, "text"))
    }

    /// A field that must be text, if it is there, of so many characters.
    pub(super) fn optional_text(
        &self,
        name: &str,
        max: usize,
    ) -> Result<Option<&'a str>, Violation> {
        if self.get(name).is_none() {
            return Ok(None);
        }
        self.text_within(name, max).map(Some)
    }

    /// A field that must be text of at most so many characters.
    pub(super) fn text_within(&self, name: &str, max: usize) -> Result<&'a str, Violation> {
        let text = self.text(name)?;
        self.limit(name, text, max)?;
        Ok(text)
    }

    /// A field that must be text of 1 to so many characters, and not blank.
    pub(super) fn filled_text(&self, name: &str, max: usize) -> Result<&'a str, Violation> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Err(self.violation(name, "is blank"));
        }
        self.limit(name, text, max)?;
        Ok(text)
    }

    /// A field that must be true or false.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Violation> {
        self.need(name)?.flag().ok_or_else(|| self.wrong(name, "true or false"))
    }

    fn list(&self, name: &str) -> Result<&'a [Json<'a>], Violation> {
        let value = self.need(name)?;
        value.list().ok_or_else(|| self.wrong(name, "a list"))
    }

    fn limit(&self, name: &str, text: &str, max: usize) -> Result<(), Violation> {
        if fits(text, max) {
            return Ok(());
        }
        let problem = format!("has {} characters; at most {max} are allowed", text.chars().count());
        Err(self.violation(name, &problem))
    }

    fn wrong(&self, name: &str, wanted: &str) -> Violation {
        let found = self.fields.get(name).map_or("nothing".into(), Json::kind);
        self.violation(name, &format!("must be {wanted}, found {found}"))
    }

    /// What is wrong with a field.
    pub(super) fn violation(&self, name: &str, problem: &str) -> Violation {
        Violation::new(self.check, format!("`{}{name}` {problem}", self.place))
    }
}

/// Whether a text has at most so many characters; bytes are an upper bound and cheaper.
pub(super) fn fits(text: &str, max: usize) -> bool {
    text.len() <= max || text.chars().nth(max).is_none()
}
