//! The way to the engine, as whoever starts the server knows it.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use legation_engine::client::Conversation;
use legation_engine::protocol::{Refused, Wish};
use serde_json::Value;

/// In whose name something is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// What the program at the other end calls itself.
    pub client: Option<String>,
    /// The token of the attempt that it is; none where it is whoever runs the server.
    pub token: Option<String>,
}

/// Reaches the engine of a project in somebody's name.
pub trait Office: Send + Sync + 'static {
    /// Asks for something. An engine is started if need be.
    fn ask(
        &self,
        caller: &Caller,
        wish: Wish,
    ) -> impl Future<Output = Result<Conversation, Box<Refused>>> + Send;

    /// Hands in the return of the attempt that calls.
    fn submit(
        &self,
        caller: &Caller,
        returned: &Value,
    ) -> impl Future<Output = Result<Value, Box<Refused>>> + Send;
}

/// Whether the server is about to go. What it cuts off then was not taken back by its
/// caller, and the work goes on.
#[derive(Clone, Debug, Default)]
pub struct Closing(Arc<AtomicBool>);

impl Closing {
    /// From now on.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it has begun.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
