//! What a program is told that is not let in, in the form that every surface has.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use legation_core::Code;
use serde_json::json;

use super::Denied;

/// A refusal with its status.
pub(super) fn refused(status: StatusCode, code: Code, (message, hint): (&str, &str)) -> Response {
    let body = json!({"error": {
        "code": code, "message": message, "hint": hint, "details": null,
    }});
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], format!("{body}\n")).into_response()
}

/// Somebody who is not let in.
pub(super) fn denied(why: Denied) -> Response {
    let (status, words, header) = match why {
        Denied::Unknown => (
            StatusCode::UNAUTHORIZED,
            (
                "This needs a token, and none that is known was sent.",
                "Send `Authorization: Bearer TOKEN`; `legation serve --print-token` shows yours.",
            ),
            Some((WWW_AUTHENTICATE, "Bearer realm=\"legation\"")),
        ),
        Denied::Inside => (
            StatusCode::FORBIDDEN,
            (
                "A call from inside an attempt needs the attempt's token.",
                "Send what is in LEGATION_TOKEN; an attempt is never a new root.",
            ),
            None,
        ),
        Denied::Unsure => (
            StatusCode::SERVICE_UNAVAILABLE,
            ("The engine that knows this token is not running.", "Try again in a moment."),
            Some((RETRY_AFTER, "1")),
        ),
    };
    let mut response = refused(status, Code::PermissionDenied, words);
    if let Some((name, value)) = header {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A path at which there is nothing.
pub(super) async fn no_such_place() -> Response {
    let words = ("There is nothing at this path.", "The tools are at `/mcp`.");
    refused(StatusCode::NOT_FOUND, Code::FileNotFound, words)
}
