//! The engine, as programs reach it through us: `legation mcp` and `legation serve`.

use legation_core::Code;
use legation_engine::client::Conversation;
use legation_engine::protocol::{Refused, Wish};
use legation_server::{Caller, Office};
use serde_json::Value;

use crate::commands::submit::{Attempt, hand_in};
use crate::error::CommandError;
use crate::reach::{Reach, answered};

/// The engine of the project that this process was started in.
pub(crate) struct Door(pub(crate) Reach);

impl Door {
    /// What the engine knows of the attempt that bears a token.
    pub(crate) async fn who(&self, token: &str) -> Result<Value, CommandError> {
        answered(self.0.ask_as(token, None, Wish::Who).await?).await
    }

    async fn attempt(&self, caller: &Caller) -> Result<Attempt, CommandError> {
        let Some(token) = &caller.token else { return Attempt::current() };
        let known = self.who(token).await?;
        Attempt::known(token, &known, &self.0.paths).ok_or_else(|| {
            CommandError::failed(Code::Conflict, "the attempt has no workspace yet")
                .hint("try again in a moment")
        })
    }
}

impl Office for Door {
    async fn ask(&self, caller: &Caller, wish: Wish) -> Result<Conversation, Box<Refused>> {
        let client = caller.client.clone();
        let asked = match &caller.token {
            Some(token) => self.0.ask_as(token, client, wish).await,
            None => self.0.ask_for(client, wish).await,
        };
        asked.map_err(refused)
    }

    async fn submit(&self, caller: &Caller, returned: &Value) -> Result<Value, Box<Refused>> {
        let attempt = self.attempt(caller).await.map_err(refused)?;
        hand_in(&attempt, returned, None).map_err(refused)
    }
}

fn refused(error: CommandError) -> Box<Refused> {
    Box::new(error.into())
}
