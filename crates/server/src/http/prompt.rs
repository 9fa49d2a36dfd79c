//! Connections on which nothing is held back. An answer is sent in several small pieces,
//! and without this each would wait until the one before it is acknowledged.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::{TcpListener, TcpStream};

use super::Peer;

/// Listens for such connections.
pub(super) struct Prompt(pub(super) TcpListener);

impl Listener for Prompt {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // One on which it cannot be had is slower, and works.
        let _ = stream.set_nodelay(true);
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Prompt>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Prompt>) -> Self {
        Self { address: *stream.remote_addr(), inside: Arc::default() }
    }
}
