//! Which names this machine goes by. A page of another site that has its own name point
//! here still sends that name, and is turned away.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use legation_core::Code;

use super::refusal::refused;

/// The names that a request may use for this machine.
#[derive(Clone, Debug, Default)]
pub struct Names {
    others: Vec<String>,
}

impl Names {
    /// Those of the machine itself: `localhost`, and every address that never leaves it.
    #[must_use]
    pub fn loopback() -> Self {
        Self::default()
    }

    /// These as well.
    #[must_use]
    pub fn and(mut self, others: impl IntoIterator<Item = String>) -> Self {
        self.others.extend(others.into_iter().map(|name| plain(&name)));
        self
    }

    fn has(&self, host: &str) -> bool {
        let host = plain(host);
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        is_loopback || host == "localhost" || self.others.contains(&host)
    }

    /// Whether the request was meant for this machine.
    fn host(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        // Two of them are one too many to know which is meant.
        let mut sent = headers.get_all(HOST).iter();
        match (sent.next(), sent.next()) {
            (Some(host), None) => host.to_str().is_ok_and(|host| {
                host.parse::<Authority>().is_ok_and(|authority| self.has(authority.host()))
            }),
            (Some(_), Some(_)) => false,
            (None, _) => uri.host().is_some_and(|host| self.has(host)),
        }
    }

    /// Whether it comes from no page, or from one of this machine.
    fn origin(&self, headers: &HeaderMap) -> bool {
        headers.get_all(ORIGIN).iter().all(|origin| {
            let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
            origin.is_some_and(|origin| {
                let is_web = origin.scheme_str().is_some_and(|it| ["http", "https"].contains(&it));
                is_web && origin.host().is_some_and(|host| self.has(host))
            })
        })
    }
}

/// A name as it is compared: small letters, no brackets, no dot at the end.
fn plain(name: &str) -> String {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Turns away what was meant for another machine or comes from another site.
pub(super) async fn check(
    State(names): State<Arc<Names>>,
    request: Request,
    next: Next,
) -> Response {
    let words = if !names.host(request.headers(), request.uri()) {
        ("The request names another host.", "Use 127.0.0.1 or localhost as its host.")
    } else if !names.origin(request.headers()) {
        ("The request comes from the page of another site.", "Call from a program, not a page.")
    } else {
        return next.run(request).await;
    };
    refused(StatusCode::FORBIDDEN, Code::PermissionDenied, words)
}
