//! An attempt that needs a human's word.

use std::sync::Arc;

use legation_core::Code;
use legation_core::text::shown::{clip, visible};
use legation_core::tree::{Command, Rejection};
use serde_json::json;

use super::Service;
use super::caller::Who;
use super::refuse::unreachable;
use crate::engine::Error;
use crate::host::Host;
use crate::protocol::{Refused, Reply};

/// Characters of what is asked that people are shown.
const MAX_WHAT_CHARS: usize = 300;

impl<H: Host> Service<H> {
    /// Queues the question and waits for the word. How long that may take is the rules'
    /// to say: at the attempt's deadline it is ended, and this with it.
    pub(super) async fn ask(self: &Arc<Self>, who: &Who, what: String) -> Result<Reply, Refused> {
        let Who::Attempt { tree, attempt, .. } = who else {
            return Err(refused("Only an attempt has something to ask of a human."));
        };
        // Listened for before it is asked, so that no word is missed.
        let word = self.real.asks(attempt);
        let word = word.ok_or_else(|| refused("The attempt waits for a human's word already."))?;
        let what = clip(&visible(&what), MAX_WHAT_CHARS).into_owned();
        let asked = Command::Ask { attempt: attempt.clone(), what };
        match self.engine.command(tree, asked).await {
            // It was asked before, and the engine has died since: the word is still to come.
            Ok(()) | Err(Error::Rejected(Rejection::Stale)) => {}
            Err(error) => return Err(unreachable(&error)),
        }
        let approved = word.await.map_err(|_| refused("The attempt has ended."))?;
        Ok(Reply::Done(json!({ "approved": approved })))
    }
}

fn refused(message: &str) -> Refused {
    Refused {
        code: Code::Conflict.to_string(),
        message: message.to_owned(),
        hint: "See `legation status` for what waits for a human.".to_owned(),
        ..Refused::default()
    }
}
