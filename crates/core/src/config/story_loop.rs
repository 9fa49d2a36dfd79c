//! The bounds of the story loop, which are narrower than those of everything else.
//!
//! The loop runs unattended from a file of stories, so that delegation is off
//! there until somebody turns it on, and its depth has a maximum of its own.

use super::layer::Origin;
use super::merge::Effective;
use super::model::Limits;
use super::path::KeyPath;
use super::problem::{Fault, Problem};
use super::{Kind, Place};

/// How deep the loop goes where nobody says so.
pub const DEFAULT_DEPTH: u32 = 2;
/// How deep the loop may go at most.
pub const MAX_DEPTH: u32 = 3;
/// Milliseconds a child of a story gets where nobody says so.
pub const CHILD_TIMEOUT_MS: u64 = 1_800_000;
/// Milliseconds all children of a story get together where nobody says so.
pub const PARENT_TIMEOUT_MS: u64 = 7_200_000;

/// What the command line says about delegation in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Nothing: the configuration decides.
    AsConfigured,
    /// `--enable-delegation`.
    On,
}

/// What holds in the story loop.
#[derive(Clone, Debug, PartialEq)]
pub struct StoryLoop {
    /// Whether stories may be delegated at all.
    pub is_enabled: bool,
    /// The bounds.
    pub limits: Limits,
}

/// Derives the loop's bounds. What somebody has set counts; built-in defaults do not.
pub fn story_loop(effective: &Effective, switch: Switch) -> Result<StoryLoop, Box<Problem>> {
    let is_set = |key: &str| effective.is_set(&KeyPath::of(key.split('.')));
    let mut limits = effective.config.limits.clone();
    if !is_set("limits.maxDepth") {
        limits.max_depth = DEFAULT_DEPTH;
    }
    if !is_set("limits.subtaskTimeout") {
        limits.subtask_timeout = CHILD_TIMEOUT_MS;
    }
    if !is_set("limits.delegationTimeout") {
        limits.delegation_timeout = PARENT_TIMEOUT_MS;
    }
    if limits.max_depth > MAX_DEPTH {
        return Err(Box::new(too_deep(effective, limits.max_depth)));
    }
    let is_enabled = match switch {
        Switch::On => true,
        Switch::AsConfigured => effective.config.enabled && is_set("enabled"),
    };
    Ok(StoryLoop { is_enabled, limits })
}

fn too_deep(effective: &Effective, depth: u32) -> Problem {
    let key = KeyPath::of(["limits", "maxDepth"]);
    let place = effective.setting(&key).map(|setting| setting.place.clone());
    let (min, max) = (1, u64::from(MAX_DEPTH));
    let takes = format!("{} in the story loop", Kind::Whole { min, max });
    Problem {
        place: place.unwrap_or_else(|| Place::of(Origin::Default)),
        key,
        fault: Fault::OutOfRange { value: depth.to_string(), takes },
    }
}
