//! The two ways to a server: the standard streams of a program, and an address.

use std::time::Duration;

use legation_core::text::shown::{clip, visible};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::http::Http;
use crate::rpc::{Incoming, Peer};

/// How long a program may take to end.
const END_IN: Duration = Duration::from_secs(1);
/// "Method not found" in JSON-RPC.
pub(super) const NO_METHOD: i64 = -32601;
/// Characters of a server's own words about a failure that are told.
const TOLD_CHARS: usize = 300;

/// A way to a server.
pub(in crate::llm) enum Wire {
    /// A program that we have started.
    Program(Box<Peer>),
    /// An address.
    Address(Box<Http>),
}

/// Why there is no result.
#[derive(Debug)]
pub(in crate::llm) enum Failed {
    /// The server says so itself, or took too long; it may be asked again.
    Answered(String),
    /// The server cannot be reached, or makes no sense.
    Lost(String),
}

impl Wire {
    /// Asks for something of a certain form.
    pub(super) async fn request<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<T, Failed> {
        let result = match self {
            Self::Program(peer) => ask(peer, method, params).await?,
            Self::Address(http) => http.ask(method, params).await?,
        };
        serde_json::from_str(result.get()).map_err(|problem| {
            Failed::Lost(format!("its answer to `{method}` makes no sense: {problem}"))
        })
    }

    /// The version that both sides speak.
    pub(super) fn agree(&mut self, version: &str) {
        match self {
            Self::Program(_) => {}
            Self::Address(http) => http.agree(version),
        }
    }

    /// Tells something.
    pub(super) async fn tell(&mut self, method: &str, params: &Value) {
        match self {
            Self::Program(peer) => peer.tell(method, params),
            Self::Address(http) => http.tell(method, params).await,
        }
    }

    /// What was asked last need not be answered any more.
    pub(super) async fn call_off(&mut self) {
        let last = match self {
            Self::Program(peer) => peer.last_id(),
            Self::Address(http) => http.last_id(),
        };
        self.tell("notifications/cancelled", &json!({"requestId": last})).await;
    }

    /// Nothing more will be asked.
    pub(super) async fn close(self) {
        match self {
            Self::Program(peer) => drop(peer.bury(END_IN).await),
            Self::Address(http) => http.close().await,
        }
    }
}

async fn ask(peer: &mut Peer, method: &str, params: &Value) -> Result<Box<RawValue>, Failed> {
    let asked = peer.ask(method, params);
    while let Some(incoming) = peer.next().await {
        match incoming {
            Incoming::Reply { id, outcome } if id == asked => {
                return outcome.map_err(|wrong| Failed::Answered(wrong.message));
            }
            Incoming::Request { id, method, .. } if method == "ping" => {
                peer.answer(&id, &json!({}));
            }
            Incoming::Request { id, .. } => peer.refuse(&id, NO_METHOD, "not offered"),
            Incoming::TooLong => {
                return Err(Failed::Answered("The answer is too large.".to_owned()));
            }
            Incoming::Reply { .. } | Incoming::Notice { .. } => {}
        }
    }
    let (why, words) = match peer.gone().await {
        Ok(last_words) => ("it has ended", last_words),
        Err(not_started) => ("it cannot be started", not_started),
    };
    let words = clip(&visible(words.trim()), TOLD_CHARS).into_owned();
    Err(Failed::Lost(if words.is_empty() { why.to_owned() } else { format!("{why}: {words}") }))
}
