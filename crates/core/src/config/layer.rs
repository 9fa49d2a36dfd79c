//! A layer: settings from one source, with what is known about where each stands.
//!
//! Nothing is checked here; a layer may hold any value at all.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::path::{KeyPath, put};
use super::problem::{Fault, Problem, Warning};
use crate::task::TaskConfig;

/// Where settings come from. The order is the precedence: later wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Built in.
    Default,
    /// The user's own file.
    User,
    /// `.claude/config.json`.
    ClaudeJson,
    /// `claude.config.js`.
    ClaudeJs,
    /// `.legation/config.toml`.
    Project,
    /// Environment variables.
    Environment,
    /// `/delegation config` and the settings endpoint.
    Session,
    /// The `delegationConfig` of a task.
    Task,
    /// The options of one call.
    Call,
}

impl Origin {
    /// Every origin, weakest first.
    pub const ALL: &[Self] = &[
        Self::Default,
        Self::User,
        Self::ClaudeJson,
        Self::ClaudeJs,
        Self::Project,
        Self::Environment,
        Self::Session,
        Self::Task,
        Self::Call,
    ];

    /// The origin in a word, as it stands in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::ClaudeJson => "claude-json",
            Self::ClaudeJs => "claude-js",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Session => "session",
            Self::Task => "task",
            Self::Call => "call",
        }
    }

    /// Whether limits from here may only be tighter than those below.
    pub const fn only_tightens(self) -> bool {
        match self {
            Self::Task | Self::Call => true,
            Self::Default
            | Self::User
            | Self::ClaudeJson
            | Self::ClaudeJs
            | Self::Project
            | Self::Environment
            | Self::Session => false,
        }
    }
}

/// Where exactly a setting was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The layer.
    pub origin: Origin,
    /// The file, as the user would name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The variable or field, where it is not called like the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Place {
    /// A place of which only the layer is known.
    pub fn of(origin: Origin) -> Self {
        Self { origin, file: None, line: None, column: None, name: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, &self.name) {
            (Some(file), _) => f.write_str(file)?,
            (None, Some(name)) => f.write_str(name)?,
            (None, None) => f.write_str(self.origin.as_str())?,
        }
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// What a source knows about the place of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stands in this line.
    Line(u32),
    /// It is called this there.
    Name(String),
}

/// Settings from one source.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Where they come from.
    pub origin: Origin,
    /// The file, as the user would name it.
    pub file: Option<String>,
    /// The settings: an object with the sections of the configuration.
    pub value: Value,
    /// Where each key stands; one that is missing stands where the key above it does.
    pub marks: BTreeMap<KeyPath, Mark>,
    /// What was wrong while reading the source.
    pub problems: Vec<Problem>,
    /// What was odd while reading the source.
    pub warnings: Vec<Warning>,
}

impl Layer {
    /// A layer of which nothing but the settings is known.
    pub fn new(origin: Origin, value: Value) -> Self {
        Self {
            origin,
            file: None,
            value,
            marks: BTreeMap::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// An empty layer, to be filled setting by setting.
    pub fn empty(origin: Origin) -> Self {
        Self::new(origin, Value::Object(serde_json::Map::new()))
    }

    /// Says which file the settings stand in, and where in it.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>, marks: BTreeMap<KeyPath, Mark>) -> Self {
        self.file = Some(file.into());
        self.marks = marks;
        self
    }

    /// A file that could not be read; `at` is the line and the column, where they are known.
    pub fn unreadable(
        origin: Origin,
        file: impl Into<String>,
        at: Option<(u32, u32)>,
        reason: impl Into<String>,
    ) -> Self {
        let mut layer = Self::empty(origin).in_file(file, BTreeMap::new());
        layer.problems.push(Problem {
            place: Place {
                line: at.map(|(line, _)| line),
                column: at.map(|(_, column)| column),
                ..layer.place(&KeyPath::default())
            },
            key: KeyPath::default(),
            fault: Fault::Unreadable { reason: reason.into() },
        });
        layer
    }

    /// Adds one setting under the name it has at its source.
    pub fn set(&mut self, path: &KeyPath, value: Value, name: impl Into<String>) {
        put(&mut self.value, path, value);
        self.marks.insert(path.clone(), Mark::Name(name.into()));
    }

    /// The settings of a task, as a layer; its figures for limits become those of its tree.
    pub fn of_task(task: &TaskConfig) -> Self {
        let mut layer = Self::empty(Origin::Task);
        let fields = [
            ("mode", "mode", json(task.mode)),
            ("maxDepth", "limits.maxDepth", json(task.max_depth)),
            ("tokenBudget", "limits.maxTotalTokens", json(task.token_budget)),
            ("rollbackOnFailure", "recovery.rollbackOnFailure", json(task.rollback_on_failure)),
        ];
        for (field, key, value) in fields {
            if let Some(value) = value {
                let path = KeyPath::of(key.split('.'));
                layer.set(&path, value, format!("delegationConfig.{field}"));
            }
        }
        if let Some(threshold) = task.quality_threshold.filter(|threshold| *threshold > 100) {
            let name = "delegationConfig.qualityThreshold".to_owned();
            layer.problems.push(Problem {
                place: Place { name: Some(name), ..Place::of(Origin::Task) },
                key: KeyPath::of(["qualityThreshold"]),
                fault: Fault::OutOfRange {
                    value: threshold.to_string(),
                    takes: "a whole number from 0 to 100".to_owned(),
                },
            });
        }
        layer
    }

    /// Where a key of this layer stands.
    pub fn place(&self, path: &KeyPath) -> Place {
        let mut place = Place { file: self.file.clone(), ..Place::of(self.origin) };
        let mut path = Some(path.clone());
        while let Some(key) = path {
            match self.marks.get(&key) {
                Some(Mark::Line(line)) => place.line = Some(*line),
                Some(Mark::Name(name)) => place.name = Some(name.clone()),
                None => {
                    path = key.parent();
                    continue;
                }
            }
            break;
        }
        place
    }
}

fn json<T: Serialize>(value: Option<T>) -> Option<Value> {
    value.and_then(|value| serde_json::to_value(value).ok())
}
