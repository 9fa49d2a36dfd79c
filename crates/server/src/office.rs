//! The way to the engine, as whoever starts the server knows it.

use std::future::Future;

use legation_engine::client::Conversation;
use legation_engine::protocol::{Refused, Wish};
use serde_json::Value;

/// Reaches the engine of a project in somebody's name.
pub trait Office: Send + Sync + 'static {
    /// Asks for something; `client` is what the program at the other end calls itself.
    /// An engine is started if need be.
    fn ask(
        &self,
        wish: Wish,
        client: Option<String>,
    ) -> impl Future<Output = Result<Conversation, Box<Refused>>> + Send;

    /// Hands in the return of the attempt in whose name this runs.
    fn submit(&self, returned: &Value) -> Result<Value, Box<Refused>>;
}
