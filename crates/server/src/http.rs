//! The same tools over HTTP: `/mcp` for who has a token, `/healthz` for everybody.
//!
//! Before anything is looked at, a request has to name this machine as its host, must
//! not come from the page of another site, and must carry a token that the gate knows.

mod bearer;
mod garbled;
mod names;
mod prompt;
mod refusal;
mod sessions;
mod token;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use legation_engine::protocol::MAX_REQUEST_BYTES;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;

pub use self::names::Names;
use self::prompt::Prompt;
use self::sessions::Sessions;
pub use self::token::Token;
use crate::office::Closing;

/// Where the tools are.
pub const PATH: &str = "/mcp";
/// How often an open stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long what is being answered may take when the server has to go.
const GRACE: Duration = Duration::from_secs(3);

/// Who may come in.
pub trait Gate: Send + Sync + 'static {
    /// Looks at the token that a request carries, and at where it comes from.
    fn admit(
        &self,
        token: Option<&str>,
        peer: &Peer,
    ) -> impl Future<Output = Result<Admitted, Denied>> + Send;
}

/// Who has come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// Whoever runs the server.
    Owner,
    /// An attempt, by its token.
    Attempt(String),
}

/// Why somebody has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// There is no token, or nobody knows it.
    Unknown,
    /// It is the owner's, and an attempt has it.
    Inside,
    /// Nobody can be asked about it at the moment.
    Unsure,
}

/// The program at the other end of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where it is.
    pub address: SocketAddr,
    /// Whether it belongs to an attempt, once somebody has found out.
    inside: Arc<OnceLock<bool>>,
}

impl Peer {
    /// Whether it belongs to an attempt, as `look` says; asked once for a connection.
    pub fn is_inside(&self, look: impl FnOnce(SocketAddr) -> bool) -> bool {
        *self.inside.get_or_init(|| look(self.address))
    }
}

/// What is served, to whom, and under which names.
pub struct House<G, H> {
    /// Who may come in.
    pub gate: G,
    /// What this machine may be called.
    pub names: Names,
    /// Answers one client.
    pub handler: H,
    /// Told when the server is about to go.
    pub closing: Closing,
}

/// Serves until `stop`, then lets go of everybody within moments.
pub async fn serve<G: Gate, H: ServerHandler + Clone>(
    listener: TcpListener,
    house: House<G, H>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let House { gate, names, handler, closing } = house;
    let config = StreamableHttpServerConfig::default()
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        // Names and origins are checked below, for every path.
        .disable_allowed_hosts();
    let streams = config.cancellation_token.clone();
    let sessions = Arc::new(Sessions::new());
    let make = move || Ok(handler.clone());
    let tools = StreamableHttpService::new(make, sessions.kept(), config);
    let bearers = Arc::new(bearer::Bearers { gate, sessions });
    let app = Router::new()
        .route_service(PATH, tools)
        .route_layer(from_fn(garbled::answered))
        .route_layer(from_fn_with_state(bearers, bearer::check::<G>))
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(refusal::no_such_place)
        .layer(from_fn_with_state(Arc::new(names), names::check));
    let (tell, told) = oneshot::channel();
    let stopped = async move {
        stop.await;
        closing.begin();
        streams.cancel();
        let _ = tell.send(());
    };
    let app = app.into_make_service_with_connect_info::<Peer>();
    let served = axum::serve(Prompt(listener), app).with_graceful_shutdown(stopped);
    let too_long = async {
        match told.await {
            Ok(()) => sleep(GRACE).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        served = served => served,
        () = too_long => Ok(()),
    }
}
