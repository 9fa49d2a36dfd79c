//! A server at an address: streamable HTTP. Each message is a request of its own, and the
//! answer a value or a stream of them.

use std::collections::BTreeMap;
use std::time::Duration;

use legation_core::text::shown::{clip, visible};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::wire::{Failed, NO_METHOD};
use crate::llm::Means;
use crate::llm::http::{OFFLINE, read, reason};
use crate::llm::sse::Sse;
use crate::rpc::{self, Incoming};

/// Bytes that an answer may have.
const MAX_ANSWER: usize = 4 << 20;
/// Bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 4 << 10;
/// Characters of it that are told.
const TOLD_CHARS: usize = 300;
/// How long something may take that nobody waits for.
const ASIDE: Duration = Duration::from_secs(5);
/// The header that names the session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that names the version.
const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// A server at an address.
pub(in crate::llm) struct Http {
    client: Client,
    url: String,
    headers: HeaderMap,
    last_id: i64,
}

impl Http {
    /// A line to that address.
    pub(in crate::llm) fn to(
        url: &str,
        headers: &BTreeMap<String, String>,
        (env, means): (&BTreeMap<String, String>, &Means),
    ) -> Result<Self, String> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("`{}` is no address", clip(&visible(url), TOLD_CHARS)));
        }
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let unusable = || format!("the header `{name}` cannot be sent");
            let (Ok(name), Ok(mut value)) =
                (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
            else {
                return Err(unusable());
            };
            value.set_sensitive(true);
            all.insert(name, value);
        }
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if means.is_offline {
            return Err(format!("{} cannot be reached: {OFFLINE}", shown(url)));
        }
        let client = means.clients.to(url, env)?;
        Ok(Self { client, url: url.to_owned(), headers: all, last_id: 0 })
    }

    /// The number of the newest question.
    pub(super) fn last_id(&self) -> i64 {
        self.last_id
    }

    /// Says from now on which version is spoken.
    pub(super) fn agree(&mut self, version: &str) {
        if let Ok(version) = HeaderValue::from_str(version) {
            self.headers.insert(PROTOCOL, version);
        }
    }

    /// Asks something.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, Failed> {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let response = self.send(&message).await.map_err(Failed::Lost)?;
        if let Some(session) = response.headers().get(SESSION).filter(|_| method == "initialize") {
            self.headers.insert(SESSION, session.clone());
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return self.listen(response, id).await;
        }
        let text = read(response, MAX_ANSWER).await;
        if text.len() >= MAX_ANSWER {
            return Err(Failed::Answered("The answer is too large.".to_owned()));
        }
        match rpc::read(&text) {
            Some(Incoming::Reply { id: answered, outcome }) if answered == id => {
                outcome.map_err(|wrong| Failed::Answered(wrong.message))
            }
            Some(_) | None => Err(Failed::Lost("its answer makes no sense".to_owned())),
        }
    }

    /// Listens to a stream until the answer comes; whatever else comes is answered.
    async fn listen(&mut self, mut response: Response, id: i64) -> Result<Box<RawValue>, Failed> {
        let mut sse = Sse::default();
        let mut waiting = Vec::new();
        let mut heard = 0;
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|problem| Failed::Lost(reason(&problem)))?;
            let Some(chunk) = chunk else {
                return Err(Failed::Lost("it hung up before it answered".to_owned()));
            };
            heard += chunk.len();
            sse.push(&chunk, |data| waiting.extend(rpc::read(data)));
            if sse.has_passed_over() || heard > MAX_ANSWER {
                return Err(Failed::Answered("The answer is too large.".to_owned()));
            }
            for incoming in waiting.drain(..) {
                match incoming {
                    Incoming::Reply { id: answered, outcome } if answered == id => {
                        return outcome.map_err(|wrong| Failed::Answered(wrong.message));
                    }
                    Incoming::Request { id, method, .. } => self.answer(&id, &method).await,
                    Incoming::Reply { .. } | Incoming::Notice { .. } | Incoming::TooLong => {}
                }
            }
        }
    }

    async fn answer(&self, id: &Value, method: &str) {
        let error = json!({"code": NO_METHOD, "message": "not offered"});
        let answer = match method {
            "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            _ => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        // Whoever asks and does not listen need not be answered.
        let _ = timeout(ASIDE, self.send(&answer)).await;
    }

    /// Tells something.
    pub(super) async fn tell(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        // A server that does not hear it is noticed when it is asked something.
        let _ = timeout(ASIDE, self.send(&message)).await;
    }

    /// Ends the session, where there is one.
    pub(super) async fn close(self) {
        if self.headers.contains_key(SESSION) {
            let request = self.client.delete(&self.url).headers(self.headers);
            // A session that is not ended ends by itself.
            let _ = timeout(ASIDE, request.send()).await;
        }
    }

    async fn send(&self, message: &Value) -> Result<Response, String> {
        let request = self.client.post(&self.url).headers(self.headers.clone());
        let sent = request.body(message.to_string()).send().await;
        let response = sent.map_err(|problem| {
            format!("{} cannot be reached: {}", shown(&self.url), reason(&problem))
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let words = read(response, MAX_REFUSAL).await;
        let words = String::from_utf8_lossy(&words);
        let words = clip(&visible(words.trim()), TOLD_CHARS).into_owned();
        let why = format!("it answered {}", status.as_u16());
        Err(if words.is_empty() { why } else { format!("{why}: {words}") })
    }
}

/// An address without what may be a secret in it.
fn shown(url: &str) -> &str {
    let bare = url.split(['?', '#']).next().unwrap_or(url);
    if bare.contains('@') { "its address" } else { bare }
}
