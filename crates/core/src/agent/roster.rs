//! The agents there are, and what the configuration says about them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::delegate::{self, Refusal};
use super::{Definition, GENERAL_PURPOSE, Layer, LegationKey, Permissions, ToolRules, glob};
use crate::config::{self, Config};
use crate::ids::AgentId;

/// Every agent by id, with the switches, grants and global permissions that hold for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster {
    agents: BTreeMap<AgentId, Definition>,
    disabled: Vec<String>,
    grants: Vec<config::Grant>,
    permissions: config::Permissions,
    /// Why an agent that has a file is none.
    unusable: BTreeMap<String, String>,
}

impl Roster {
    /// Takes in definitions: the first of an id counts, one without an id does not.
    pub fn new(definitions: impl IntoIterator<Item = Definition>, config: &Config) -> Self {
        let mut agents = BTreeMap::new();
        for definition in definitions {
            if let Some(id) = definition.id.clone() {
                agents.entry(id).or_insert(definition);
            }
        }
        Self {
            agents,
            disabled: config.agents.disabled.clone(),
            grants: config.agents.grants.clone(),
            permissions: config.permissions.clone(),
            unusable: BTreeMap::new(),
        }
    }

    /// Keeps in mind that there is a file for an agent, and why it cannot be used.
    #[must_use]
    pub fn without(mut self, unusable: impl IntoIterator<Item = (String, String)>) -> Self {
        let lacking = unusable.into_iter().filter(|(id, _)| !self.agents.contains_key(id.as_str()));
        self.unusable = lacking.collect();
        self
    }

    /// Why an agent that has a file is none.
    pub(super) fn unusable(&self, id: &str) -> Option<&str> {
        self.unusable.get(id).map(String::as_str)
    }

    /// The definition of an agent that has one; `general-purpose` may have none.
    pub fn get(&self, id: &str) -> Option<&Definition> {
        self.agents.get(id)
    }

    /// The same with the roster's own copy of the id.
    pub(super) fn entry(&self, id: &str) -> Option<(&AgentId, &Definition)> {
        self.agents.get_key_value(id)
    }

    /// Every agent that has a definition, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&AgentId, &Definition)> {
        self.agents.iter()
    }

    /// Every name that can be delegated to, `general-purpose` included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let built_in = Some(GENERAL_PURPOSE).filter(|id| !self.agents.contains_key(*id));
        self.agents.keys().map(AgentId::as_str).chain(built_in)
    }

    /// Whether there is such an agent, enabled or not.
    pub fn contains(&self, id: &str) -> bool {
        id == GENERAL_PURPOSE || self.agents.contains_key(id)
    }

    /// Whether neither the configuration nor its own file switches the agent off.
    pub fn is_enabled(&self, id: &str) -> bool {
        let switched_off = self.disabled_by(id).is_some();
        !switched_off && !self.get(id).is_some_and(|definition| definition.disabled)
    }

    /// The entry of `agents.disabled` that means the agent.
    pub(super) fn disabled_by(&self, id: &str) -> Option<&str> {
        let mut rules = self.disabled.iter().map(String::as_str);
        rules.find(|rule| glob::matches(rule, id))
    }

    /// The entries of `agents.disabled`.
    pub(super) fn disabled(&self) -> &[String] {
        &self.disabled
    }

    /// The grants that the configuration names.
    pub(super) fn grants(&self) -> &[config::Grant] {
        &self.grants
    }

    /// Whether the agent may appear below itself.
    pub fn is_recursive(&self, id: &str) -> bool {
        let subagents = self.get(id).and_then(|agent| agent.subagents.as_ref());
        subagents.is_some_and(|subagents| subagents.recursive)
    }

    /// The definition that runs when `parent` delegates to `id`; no parent means a root.
    ///
    /// `general-purpose` without a file of its own is its parent again, with a clean
    /// context and nobody to delegate to.
    pub fn resolve(
        &self,
        parent: Option<&AgentId>,
        id: &AgentId,
    ) -> Result<Cow<'_, Definition>, Refusal> {
        if let Some(definition) = self.get(id.as_str()) {
            return Ok(Cow::Borrowed(definition));
        }
        if id.as_str() != GENERAL_PURPOSE {
            return Err(delegate::not_found(self, id.as_str()));
        }
        let parent = match parent.filter(|parent| parent.as_str() != GENERAL_PURPOSE) {
            Some(parent) => Some(self.resolve(None, parent)?),
            None => None,
        };
        Ok(Cow::Owned(general_purpose(parent.as_deref())))
    }

    /// What an agent may use at the end of a path: the agents from the first below the
    /// root down to the agent itself, the root's own name left out.
    pub fn permissions(
        &self,
        path: &[AgentId],
        call: Option<&ToolRules>,
    ) -> Result<Permissions, Refusal> {
        let mut permissions = Permissions::new(&self.permissions);
        let mut parent: Option<(&AgentId, Cow<'_, Definition>)> = None;
        for (place, id) in path.iter().enumerate() {
            let definition = match (self.get(id.as_str()), &parent) {
                (Some(definition), _) => Cow::Borrowed(definition),
                (None, Some((_, parent))) if id.as_str() == GENERAL_PURPOSE => {
                    Cow::Owned(general_purpose(Some(parent)))
                }
                (None, Some(_) | None) => self.resolve(None, id)?,
            };
            if let Some((parent, _)) = &parent {
                for grant in self.grants_for(parent, id) {
                    permissions = permissions.lifted_by(grant);
                }
            }
            let layer = if place + 1 == path.len() {
                Layer::agent(id.clone(), &definition)
            } else {
                Layer::ancestor(id.clone(), &definition)
            };
            permissions = permissions.and(layer);
            parent = Some((id, definition));
        }
        Ok(match call {
            Some(rules) => permissions.and(Layer::call(rules)),
            None => permissions,
        })
    }

    fn grants_for(
        &self,
        parent: &AgentId,
        child: &AgentId,
    ) -> impl Iterator<Item = &config::Grant> {
        let meant = move |grant: &&config::Grant| {
            grant.parent == parent.as_str() && grant.child == child.as_str()
        };
        self.grants.iter().filter(meant)
    }
}

/// The agent that always exists, as its parent makes it.
fn general_purpose(parent: Option<&Definition>) -> Definition {
    let built_in = Definition {
        id: Some(AgentId::new(GENERAL_PURPOSE)),
        name: "General purpose".to_owned(),
        description: "The caller again, with a context of its own.".to_owned(),
        ..Definition::default()
    };
    let Some(parent) = parent else {
        return built_in;
    };
    Definition {
        prompt: parent.prompt.clone(),
        tools: parent.tools.clone(),
        model: parent.model.clone(),
        temperature: parent.temperature,
        max_turns: parent.max_turns,
        mcp_servers: parent.mcp_servers.clone(),
        // How the parent's own work is judged says nothing about this work.
        legation: LegationKey {
            runner: parent.legation.runner,
            command: parent.legation.command.clone(),
            env: parent.legation.env.clone(),
            ..LegationKey::default()
        },
        ..built_in
    }
}
