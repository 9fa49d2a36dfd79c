//! Agents that the configuration names, checked before anything runs.
//!
//! A name that nobody has switches nothing off and grants nothing, which is seldom meant.

use super::references::written_out;
use super::{Roster, glob};
use crate::text::nearest::nearest;

/// A name in the configuration that no agent has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stranger {
    /// The key it stands under.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// Finds the names that no agent has. A pattern names nobody in particular.
pub fn check_configured(roster: &Roster) -> Vec<Stranger> {
    let disabled =
        written_out(roster.disabled()).map(|name| ("agents.disabled", name, String::new()));
    let granted = roster.grants().iter().flat_map(|grant| {
        let of = format!(" of the grant `{}`", grant.name);
        let ends = [("parent", &grant.parent), ("child", &grant.child)];
        ends.map(|(end, name)| ("agents.grants", name.as_str(), format!(" as the {end}{of}")))
    });
    let named = disabled.chain(granted.filter(|(_, name, _)| !glob::is_pattern(name)));
    let unknown = named.filter(|(_, name, _)| !roster.contains(name));
    unknown
        .map(|(key, name, place)| Stranger {
            key,
            message: format!("`{key}` names `{name}`{place}, and there is no such agent"),
            hint: match nearest(name, roster.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "correct the name, or take it out".to_owned(),
            },
        })
        .collect()
}
