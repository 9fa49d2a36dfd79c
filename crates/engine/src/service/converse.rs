//! One conversation over the socket: a request, what happens, the outcome.

use std::sync::Arc;
use std::time::Duration;

use legation_core::Code;
use legation_core::tree::bounds::Remaining;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedWriteHalf;

use super::Service;
use super::arrivals::{Arrival, Origin};
use super::caller::Who;
use super::delegate::Said;
use super::refuse::full;
use crate::host::Host;
use crate::news::News;
use crate::protocol::{MAX_REQUEST_BYTES, Refused, Reply, Request, VERSION, Wish};
use crate::talks::Talk;

/// How long a caller may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

/// The caller's end of a conversation. Once it is gone, nothing more is said.
pub(super) struct Listener {
    writer: OwnedWriteHalf,
    pub(super) is_gone: bool,
}

impl Listener {
    /// Says something.
    pub(super) async fn say(&mut self, reply: &Reply) {
        let Ok(mut line) = serde_json::to_vec(reply) else { return };
        line.push(b'\n');
        self.is_gone |= self.writer.write_all(&line).await.is_err();
    }

    /// Tells something that happened.
    pub(super) async fn tell(&mut self, news: &News) {
        self.say(&Reply::News(Box::new(news.clone()))).await;
    }
}

impl<H: Host> Service<H> {
    /// Hears a request and answers it.
    pub(super) async fn converse(self: &Arc<Self>, arrival: Arrival) {
        let Arrival { stream, origin, mut talk } = arrival;
        let (reader, writer) = stream.into_split();
        let mut listener = Listener { writer, is_gone: false };
        let mut reader = BufReader::new(reader.take(MAX_REQUEST_BYTES as u64));
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, reader.read_line(&mut line)).await;
        if !matches!(read, Ok(Ok(_))) || line.is_empty() {
            return;
        }
        let outcome = match serde_json::from_str::<Request>(&line) {
            // An attempt has nothing to keep the engine for.
            Ok(Request { v: VERSION, wish: Wish::Attend, .. })
                if matches!(origin, Origin::Outside) =>
            {
                // Nothing is expected but the end.
                let _ = reader.read_line(&mut line).await;
                return;
            }
            Ok(request) if request.v == VERSION => {
                let delegates = matches!(request.wish, Wish::Delegate(_));
                let outcome = self.fulfil(request, (&origin, &mut talk), &mut listener).await;
                outcome.map_err(|refused| if delegates { bounded(refused) } else { refused })
            }
            Ok(request) => Err(other_version(request.v)),
            Err(problem) => Err(unreadable(&problem)),
        };
        let last = outcome.unwrap_or_else(Reply::Refused);
        listener.say(&last).await;
    }

    async fn fulfil(
        self: &Arc<Self>,
        request: Request,
        (origin, talk): (&Origin, &mut Talk),
        listener: &mut Listener,
    ) -> Result<Reply, Refused> {
        if matches!(request.wish, Wish::Ping) {
            return Ok(Reply::Done(json!({"pid": std::process::id()})));
        }
        let who = self.identify(&request, origin).await?;
        if let Who::Attempt { attempt, .. } = &who {
            talk.is_of(attempt).map_err(full)?;
        }
        match request.wish {
            Wish::Delegate(call) => {
                let said = Said { env: request.env, passed_on: request.passed_on };
                self.delegate(&who, (*call, said), listener).await
            }
            Wish::Wait { delegation } => self.wait(&who, &delegation, listener).await,
            Wish::Look { delegation, sight } => {
                self.look(&who, &delegation, sight).await.map(Reply::Done)
            }
            Wish::List => self.list(&who).await,
            Wish::Agents => self.agents(&who, request.env).await,
            Wish::Explain { parent, child } => {
                self.explain(&who, (parent, child), request.env).await
            }
            Wish::Steer(steer) => {
                let said = Said { env: request.env, passed_on: request.passed_on };
                self.steer(&who, (steer, said), listener).await
            }
            Wish::Submitted => {
                if let Who::Attempt { attempt, .. } = &who {
                    self.real.submitted(attempt);
                }
                Ok(Reply::Done(json!({})))
            }
            Wish::Who => self.tell_who(&who).await,
            Wish::Remaining => self.tell_remaining(&who, request.env).await,
            Wish::Ask { what } => self.ask(&who, what).await,
            Wish::Attend => Err(only_outside()),
            Wish::Ping => Ok(Reply::Done(json!({}))),
        }
    }
}

/// A refused call says what may still be asked for: nothing, by whoever is nobody, or where
/// the bounds themselves cannot be known.
fn bounded(mut refused: Refused) -> Refused {
    let nothing = || serde_json::to_value(Remaining::NOTHING).unwrap_or_default();
    refused.remaining.get_or_insert_with(nothing);
    refused
}

fn only_outside() -> Refused {
    Refused {
        code: Code::PermissionDenied.to_string(),
        message: "Only somebody outside keeps the engine running on purpose.".to_owned(),
        hint: "The engine stays for as long as an attempt runs.".to_owned(),
        ..Refused::default()
    }
}

fn other_version(v: u16) -> Refused {
    Refused {
        code: Code::Conflict.to_string(),
        message: format!("The engine speaks version {VERSION}, this program version {v}."),
        hint: "End the engine (its pid is in `legation status --json`) and try again.".to_owned(),
        ..Refused::default()
    }
}

fn unreadable(problem: &serde_json::Error) -> Refused {
    Refused {
        code: Code::ValidationFailed.to_string(),
        message: format!("The request cannot be read: {problem}."),
        hint: format!("A request is one line of JSON of at most {MAX_REQUEST_BYTES} bytes."),
        ..Refused::default()
    }
}
