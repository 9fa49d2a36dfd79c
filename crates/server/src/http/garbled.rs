//! What came as JSON and is none, or no message. The library underneath takes it for
//! another kind of content; a client of the protocol expects an error of the protocol.

use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

/// The kind of content that messages are.
const JSON: &str = "application/json";
/// The protocol's number for what cannot be read.
const PARSE_ERROR: i32 = -32_700;

/// Answers what cannot be read as the protocol says.
pub(super) async fn answered(request: Request, next: Next) -> Response {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = kind.is_some_and(|kind| kind.starts_with(JSON));
    let response = next.run(request).await;
    if !is_json || response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let message = "This is not JSON, or not a message of the protocol.";
    let error = json!({"code": PARSE_ERROR, "message": message});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
    let kind = [(CONTENT_TYPE, HeaderValue::from_static(JSON))];
    (StatusCode::BAD_REQUEST, kind, body.to_string()).into_response()
}
