//! Who is let in: the owner by their token, and attempts that run by theirs.

use std::sync::Arc;

use legation_server::http::{Admitted, Denied, Gate, Peer, Token};

use super::peer;
use crate::office::Door;

/// The tokens that are known.
pub(super) struct Tokens {
    pub(super) owner: Token,
    pub(super) door: Arc<Door>,
    /// The port that is listened on.
    pub(super) port: u16,
}

impl Gate for Tokens {
    async fn admit(&self, token: Option<&str>, from: &Peer) -> Result<Admitted, Denied> {
        let token = token.ok_or(Denied::Unknown)?;
        if self.owner.is(token) {
            // An agent may find its user's token in its user's settings.
            let inside = from.is_inside(|address| peer::is_inside(address, self.port));
            return if inside { Err(Denied::Inside) } else { Ok(Admitted::Owner) };
        }
        // The tree, the attempt and the seal.
        if token.split('.').count() != 3 {
            return Err(Denied::Unknown);
        }
        if self.door.0.connect_if_there().await.is_none() {
            return Err(Denied::Unsure);
        }
        match self.door.who(token).await {
            Ok(_) => Ok(Admitted::Attempt(token.to_owned())),
            Err(_) => Err(Denied::Unknown),
        }
    }
}
