//! Who calls. Looked up by token and by process, never believed.

use legation_core::Code;
use legation_core::config::{BadDepth, starting_depth};
use legation_core::ids::{AgentId, AttemptId, DelegationId};
use legation_core::tree::event::Caller;
use legation_core::tree::rejection::Refusal;
use serde_json::json;

use super::Service;
use super::arrivals::Origin;
use super::refuse::unreachable;
use crate::host::Host;
use crate::protocol::{Refused, Reply, Request};

/// The variable by which a root may say that it stands deeper.
const DEPTH: &str = "DELEGATION_DEPTH";

/// What a root is called that says nothing about itself.
const USER: &str = "user";
/// Characters of a client's name that are kept.
const MAX_NAME_CHARS: usize = 40;

/// Who calls.
#[derive(Clone, Debug)]
pub(super) enum Who {
    /// A person or a program outside.
    Root {
        /// How deep it says it stands; that may only tighten.
        depth: u32,
        /// What it calls itself: the start of a path.
        name: AgentId,
    },
    /// An attempt.
    Attempt {
        /// Its tree.
        tree: DelegationId,
        /// Which.
        attempt: AttemptId,
        /// The agents from the first below the root to itself.
        path: Vec<AgentId>,
    },
}

impl Who {
    /// Who calls, as the rules know it.
    pub(super) fn caller(&self) -> Caller {
        match self {
            Self::Root { depth, name } => Caller::Root { name: name.clone(), depth: *depth },
            Self::Attempt { attempt, .. } => Caller::Attempt(attempt.clone()),
        }
    }

    /// A name for the record.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Root { name, .. } => name.as_str(),
            Self::Attempt { path, .. } => path.last().map_or("agent", AgentId::as_str),
        }
    }
}

impl<H: Host> Service<H> {
    /// Finds out who calls.
    pub(super) async fn identify(
        &self,
        request: &Request,
        origin: &Origin,
    ) -> Result<Who, Refused> {
        if let Some(token) = request.token.as_deref().filter(|token| !token.is_empty()) {
            return self.by_token(token, origin).await;
        }
        match origin {
            Origin::Outside => {}
            Origin::Attempt(_) | Origin::Many(_) | Origin::Inside => {
                return Err((&no_token()).into());
            }
            Origin::Unknown => return Err((&unknown()).into()),
        }
        let depth = starting_depth(request.env.get(DEPTH).map(String::as_str));
        let depth = depth.map_err(|problem| Refused::from(&bad_depth(&problem)))?;
        let name = request.client.as_deref().map_or_else(|| AgentId::new(USER), client_name);
        Ok(Who::Root { depth, name })
    }

    /// Who the caller is, for somebody who speaks in its name.
    pub(super) async fn tell_who(&self, who: &Who) -> Result<Reply, Refused> {
        let Who::Attempt { tree, attempt, .. } = who else {
            return Ok(Reply::Done(json!({"name": who.name()})));
        };
        let (root, wanted) = (tree.clone(), attempt.clone());
        let known = self.engine.look(tree, move |state| {
            let attempt = &state.attempts[state.find_attempt(&wanted)?];
            Some(json!({
                "name": attempt.agent, "tree": root, "attemptId": attempt.id,
                "sessionId": attempt.session, "depth": attempt.depth,
                "workspace": attempt.workspace,
            }))
        });
        let known = known.await.map_err(|error| unreachable(&error))?;
        known.map(Reply::Done).ok_or_else(|| Refused::from(&bad_token()))
    }

    async fn by_token(&self, token: &str, origin: &Origin) -> Result<Who, Refused> {
        let bad = || Refused::from(&bad_token());
        let (tree, attempt) = self.real.open_token(token).ok_or_else(bad)?;
        let is_anothers = match origin {
            Origin::Attempt(owner) => *owner != attempt,
            Origin::Many(owners) => !owners.contains(&attempt),
            Origin::Inside | Origin::Outside | Origin::Unknown => false,
        };
        if is_anothers {
            return Err(bad());
        }
        let wanted = attempt.clone();
        let path = self.engine.look(&tree, move |state| {
            let attempt = &state.attempts[state.find_attempt(&wanted)?];
            (!attempt.ended()).then(|| attempt.path.iter().skip(1).cloned().collect())
        });
        let path: Option<Vec<AgentId>> = path.await.map_err(|error| unreachable(&error))?;
        path.map(|path| Who::Attempt { tree, attempt, path }).ok_or_else(bad)
    }
}

/// A client's name as it stands in a path: small letters, digits and single hyphens.
fn client_name(told: &str) -> AgentId {
    let mut name = String::new();
    for letter in told.chars().take(MAX_NAME_CHARS) {
        match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => name.push(letter),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('-');
    AgentId::new(if name.is_empty() { USER } else { name })
}

/// Guessing what was meant could loosen a bound.
fn bad_depth(problem: &BadDepth) -> Refusal {
    let hint = "Give it the number of levels above you, or unset it.";
    Refusal::new(Code::ValidationFailed, format!("{problem}."), hint)
}

fn no_token() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "A call from inside an attempt needs the attempt's token.",
        "Leave LEGATION_TOKEN in the environment; an attempt is never a new root.",
    )
}

fn unknown() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "Where this call comes from cannot be told: the process that connected may have ended.",
        "Call from the process that connects, and stay for the answer; then try again.",
    )
}

fn bad_token() -> Refusal {
    Refusal::new(
        Code::PermissionDenied,
        "This token is not valid, or its attempt has ended.",
        "A token is good for the attempt it was given to, as long as that runs.",
    )
}
