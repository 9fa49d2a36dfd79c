//! The line to a provider: one request, its stream, and what to make of a refusal.
//!
//! Nothing is followed elsewhere, and a provider on this machine is never asked through
//! a proxy. Waiting is done here only while it is short; longer, it is the engine's, which
//! knows who else waits for the same account.

use std::collections::BTreeMap;
use std::time::Duration;

use legation_core::returns::Tokens;
use legation_core::text::shown::{clip, visible};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;

use super::message::{Reply, Trouble};
use super::provider::{Dialect, Provider};
use super::stream::Stream;
use super::watch::{Watch, heed};
use super::{Means, http};
use crate::command::Usage;
use crate::envoy::{Ear, Event, Fault, FaultKind};

/// How long is waited here at most before it is tried again.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// How long is waited first where the provider does not say.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// How often one request is made at most.
const TRIES: u32 = 3;
/// Bytes of a refusal that are read.
const MAX_REFUSAL: usize = 64 << 10;
/// Characters of a refusal that are told.
const TOLD_CHARS: usize = 300;
/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failed {
    /// All shall stop.
    Stopped,
    /// More was said than the model can take in.
    TooMuch(String),
    /// It is over.
    Broken(Fault),
}

/// The line to one provider.
pub(super) struct Line {
    client: Client,
    provider: Provider,
    headers: HeaderMap,
    is_offline: bool,
}

/// What one try came to.
enum Tried {
    Answered(Reply),
    Again { fault: Fault, wait: Option<Duration> },
}

impl Line {
    pub(super) fn to(
        provider: Provider,
        env: &BTreeMap<String, String>,
        means: &Means,
    ) -> Result<Self, Fault> {
        let unusable = |why: String| Fault::new(FaultKind::NotStarted, why);
        let client = means.clients.to(&provider.url, env).map_err(|problem| {
            unusable(format!("There is no line to {}: {problem}", provider.url))
        })?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, key)) = &provider.key {
            let mut key = HeaderValue::from_str(key).map_err(|_| {
                Fault::new(FaultKind::Login, "The provider's key has characters that no key has.")
            })?;
            key.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), key);
        }
        if provider.dialect == Dialect::Anthropic {
            let name = HeaderName::from_static("anthropic-version");
            headers.insert(name, HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        Ok(Self { client, provider, headers, is_offline: means.is_offline })
    }

    pub(super) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// Asks, and listens to the answer; what it uses is told at once.
    pub(super) async fn ask(&self, body: String, ear: &mut Ear) -> Result<Reply, Failed> {
        let mut wait = FIRST_WAIT;
        for left in (0..TRIES).rev() {
            let (fault, asked) = match self.once(body.clone(), ear).await? {
                Tried::Answered(reply) => return Ok(reply),
                Tried::Again { fault, wait } => (fault, wait),
            };
            let pause = asked.unwrap_or(wait);
            if left == 0 || pause > MAX_WAIT {
                return Err(Failed::Broken(fault));
            }
            heed(tokio::time::sleep(pause), ear, Watch::Waiting).await.ok_or(Failed::Stopped)?;
            wait = wait.saturating_mul(3);
        }
        Err(Failed::Stopped)
    }

    async fn once(&self, body: String, ear: &mut Ear) -> Result<Tried, Failed> {
        if self.is_offline {
            let why = format!("{} cannot be reached: {}", self.provider.url, http::OFFLINE);
            return Err(Failed::Broken(Fault::new(FaultKind::Provider, why)));
        }
        let request = self.client.post(&self.provider.url).headers(self.headers.clone());
        let sent = heed(request.body(body).send(), ear, Watch::Thinking).await;
        let response = match sent.ok_or(Failed::Stopped)? {
            Ok(response) => response,
            Err(problem) => {
                let why =
                    format!("{} cannot be reached: {}", self.provider.url, http::reason(&problem));
                let fault = Fault::new(FaultKind::Provider, why);
                return Ok(Tried::Again { fault, wait: None });
            }
        };
        if !response.status().is_success() {
            return self.refused(response, ear).await;
        }
        self.listen(response, ear).await
    }

    async fn listen(&self, mut response: Response, ear: &mut Ear) -> Result<Tried, Failed> {
        let mut stream = Stream::new(self.provider.dialect);
        let mut told = Told::default();
        let ended = loop {
            let Some(chunk) = heed(response.chunk(), ear, Watch::Talking).await else {
                // What was begun is all that there will be.
                let begun = stream.finish().text;
                if !begun.is_empty() {
                    ear.hear(Event::Text(begun));
                }
                return Err(Failed::Stopped);
            };
            let chunk = match chunk {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break Ok(()),
                Err(problem) => {
                    break Err(Trouble { kind: "cut".to_owned(), message: http::reason(&problem) });
                }
            };
            ear.hear(Event::Alive);
            let heard = stream.push(&chunk);
            told.tell(stream.reply(), &self.provider, ear);
            if heard.is_err() || stream.reply().stop.is_some() {
                break heard;
            }
        };
        let reply = stream.finish();
        told.tell(&reply, &self.provider, ear);
        if reply.stop.is_some() {
            return Ok(Tried::Answered(reply));
        }
        match ended {
            Err(trouble) => self.troubled(trouble),
            Ok(()) => {
                self.troubled(Trouble { kind: "cut".to_owned(), message: "it hung up".to_owned() })
            }
        }
    }

    /// What to make of an answer that broke off.
    fn troubled(&self, trouble: Trouble) -> Result<Tried, Failed> {
        let Trouble { kind, message } = trouble;
        let words = clip(&visible(&message), TOLD_CHARS).into_owned();
        let fault = |fault: FaultKind, what: &str| {
            Fault::new(fault, format!("{} {what}: {words}", self.provider.full_name))
        };
        Ok(match kind.as_str() {
            "cut" => {
                Tried::Again { fault: fault(FaultKind::Cut, "broke off its answer"), wait: None }
            }
            "too_large" => return Err(Failed::Broken(fault(FaultKind::Provider, "would not end"))),
            "overloaded_error" | "rate_limit_error" | "rate_limit_exceeded" | "429" | "529" => {
                Tried::Again { fault: fault(FaultKind::RateLimit, "asks to wait"), wait: None }
            }
            _ => Tried::Again { fault: fault(FaultKind::Provider, "failed"), wait: None },
        })
    }

    /// What to make of a refusal.
    async fn refused(&self, response: Response, ear: &mut Ear) -> Result<Tried, Failed> {
        let status = response.status();
        let asked = retry_after(response.headers());
        let text = heed(http::read(response, MAX_REFUSAL), ear, Watch::Talking)
            .await
            .ok_or(Failed::Stopped)?;
        let words = clip(&visible(&message_of(&text)), TOLD_CHARS).into_owned();
        let why = format!("{} answered {}: {words}", self.provider.full_name, status.as_u16());
        let fault = |kind: FaultKind| Fault { retry_after: asked, ..Fault::new(kind, why.clone()) };
        let wait = asked.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match status.as_u16() {
            429 if is_used_up(&text) => Err(Failed::Broken(fault(FaultKind::Provider))),
            429 | 529 => Ok(Tried::Again { fault: fault(FaultKind::RateLimit), wait }),
            401 | 403 => Err(Failed::Broken(fault(FaultKind::Login))),
            400 | 413 if is_too_much(status, &text) => Err(Failed::TooMuch(why)),
            408 | 409 | 500..=599 => Ok(Tried::Again { fault: fault(FaultKind::Provider), wait }),
            _ => Err(Failed::Broken(fault(FaultKind::Provider))),
        }
    }
}

/// What was told of one answer.
#[derive(Default)]
struct Told {
    tokens: Tokens,
    has_cost: bool,
}

impl Told {
    /// Tells what came on top. Nothing is told of a provider that says nothing.
    fn tell(&mut self, reply: &Reply, provider: &Provider, ear: &mut Ear) {
        let (now, before) = (&reply.tokens, &self.tokens);
        let more = now.minus(before);
        let cost = reply.cost.filter(|_| !self.has_cost);
        if more == Tokens::default() && cost.is_none() {
            return;
        }
        self.tokens = now.at_least(before);
        self.has_cost |= cost.is_some();
        let model = Some(provider.full_name.clone());
        ear.hear(Event::Used { usage: Usage { tokens: more, cost }, model });
        ear.hear(Event::Context(now.counted().saturating_add(now.cache_read)));
    }
}

#[derive(Deserialize)]
struct Refusal {
    error: Said,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Words(String),
    Whole { message: String },
}

fn message_of(text: &[u8]) -> String {
    match serde_json::from_slice::<Refusal>(text) {
        Ok(Refusal { error: Said::Words(message) | Said::Whole { message } }) => message,
        Err(_) => String::from_utf8_lossy(text).trim().to_owned(),
    }
}

/// Whether the model cannot take in so much.
fn is_too_much(status: StatusCode, text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let words = [
        "context_length",
        "context length",
        "context window",
        "prompt is too long",
        "too many tokens",
    ];
    status == StatusCode::PAYLOAD_TOO_LARGE || words.iter().any(|word| text.contains(word))
}

/// Whether there is no money left, which no waiting mends.
fn is_used_up(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("insufficient_quota")
}

/// Seconds after which the provider may be asked again.
fn retry_after(headers: &HeaderMap) -> Option<f64> {
    let figure = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = figure("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| figure("retry-after"));
    seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}
