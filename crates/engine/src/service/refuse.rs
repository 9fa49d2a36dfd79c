//! Refusals and failures in the form that goes over the socket.

use legation_core::Code;
use legation_core::tree::Rejection;
use serde_json::json;

use crate::engine::Error;
use crate::host::Trouble;
use crate::protocol::Refused;
use crate::talks::Full;

/// What the engine could not do.
pub(super) fn unreachable(error: &Error) -> Refused {
    match error {
        Error::Rejected(rejection) => rejected(rejection),
        Error::NotFound(id) => rejected(&Rejection::not_found("delegation", id.as_str())),
        Error::Journal(_) | Error::Unreadable { .. } | Error::Gone(_) => Refused {
            code: Code::UnknownError.to_string(),
            message: capital(&error.to_string()),
            hint: "Nothing that was acknowledged is lost; `legation status` shows how it stands."
                .to_owned(),
            ..Refused::default()
        },
    }
}

/// What the rules say no to.
pub(super) fn rejected(rejection: &Rejection) -> Refused {
    match rejection {
        Rejection::Refused(refusal) => Refused::from(&**refusal),
        Rejection::Same(id) => Refused {
            code: Code::Conflict.to_string(),
            message: format!("The same call is `{id}` already."),
            ..Refused::default()
        },
        Rejection::Stale => Refused {
            code: Code::Conflict.to_string(),
            message: "It has moved on in the meantime.".to_owned(),
            hint: "Look at it again with `legation status`.".to_owned(),
            ..Refused::default()
        },
    }
}

/// Rules that cannot be read.
pub(super) fn trouble(trouble: &Trouble) -> Refused {
    Refused {
        code: trouble.code.to_string(),
        message: trouble.message.clone(),
        hint: trouble.hint.clone(),
        details: trouble.details.clone(),
        ..Refused::default()
    }
}

/// More conversations than there may be.
pub(super) fn full(why: Full) -> Refused {
    Refused {
        code: Code::Conflict.to_string(),
        message: why.to_string(),
        hint: "Try again once some of them have ended.".to_owned(),
        details: match why {
            Full::Attempt(most) | Full::Attempts(most) | Full::Engine(most) => {
                json!({ "conversations": most })
            }
        },
        ..Refused::default()
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
