//! Who sends a request: the token that it bears, request by request. That a session was
//! opened by somebody says nothing about who uses it.

use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use legation_core::Code;

use super::refusal::{denied, refused};
use super::sessions::Sessions;
use super::{Gate, Peer};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";
/// Bytes of a token that anybody could have been given.
const MAX_BYTES: usize = 512;

/// The gate, and the sessions of those that it has let in.
pub(super) struct Bearers<G> {
    pub(super) gate: G,
    pub(super) sessions: Arc<Sessions>,
}

/// Lets in who bears a token, and tells what comes after who it is.
pub(super) async fn check<G: Gate>(
    State(bearers): State<Arc<Bearers<G>>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let who = match bearers.gate.admit(token(request.headers()), &peer).await {
        Ok(who) => who,
        Err(why) => return denied(why),
    };
    let session = named(request.headers());
    let is_theirs = session.as_deref().is_none_or(|id| bearers.sessions.is_of(id, &who));
    if !is_theirs {
        // The same words as for a session that never was.
        let words = ("There is no such session.", "Open one with `initialize`.");
        return refused(StatusCode::NOT_FOUND, Code::Conflict, words);
    }
    let ends = request.method() == Method::DELETE;
    request.extensions_mut().insert(who.clone());
    let response = next.run(request).await;
    match (session, named(response.headers())) {
        (Some(id), _) if ends && response.status().is_success() => bearers.sessions.forget(&id),
        (None, Some(opened)) => bearers.sessions.keep(opened, who).await,
        (Some(_) | None, _) => {}
    }
    response
}

/// The token that a request bears.
fn token(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (sent.next(), sent.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    (is_bearer && !token.is_empty() && token.len() <= MAX_BYTES).then_some(token)
}

fn named(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}
