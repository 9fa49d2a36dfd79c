//! Standard input and output as messages come and go over them. The library underneath is
//! silent about a line that is not JSON, or too long; here it is answered as the protocol says.
//! And the end of the input is the end of the client, which is told to whoever waits for it.

use std::io;
use std::sync::Arc;

use legation_engine::protocol::MAX_REQUEST_BYTES;
use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Stdin,
    Stdout, duplex, stdin, stdout,
};
use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::Instant;

/// Bytes of messages that have been looked at and not yet been taken.
const BUFFER_BYTES: usize = 64 * 1024;

/// The messages of the one client.
pub(super) struct Stdio {
    messages: AsyncRwTransport<RoleServer, DuplexStream, Stdout>,
    /// Hears of each line that is no message.
    garbled: mpsc::Receiver<()>,
    gone: watch::Sender<Option<Instant>>,
    /// Whoever has it writes; no line begins within another.
    turn: Arc<Mutex<()>>,
}

impl Stdio {
    /// Listens from now on; `gone` is told when the client hangs up.
    pub(super) fn new(gone: watch::Sender<Option<Instant>>) -> Self {
        let (sound, taken) = duplex(BUFFER_BYTES);
        let (tell, garbled) = mpsc::channel(1);
        tokio::spawn(sift(stdin(), sound, tell));
        let messages = AsyncRwTransport::new_server(taken, stdout());
        Self { messages, garbled, gone, turn: Arc::default() }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (turn, sent) = (self.turn.clone(), self.messages.send(message));
        async move {
            let _turn = turn.lock().await;
            sent.await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                Some(()) = self.garbled.recv() => {
                    // Not awaited here: this future is dropped whenever something else happens.
                    tokio::spawn(complain(self.turn.clone()));
                }
                message = self.messages.receive() => {
                    if message.is_none() {
                        self.gone.send_replace(Some(Instant::now()));
                    }
                    return message;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close().await
    }
}

/// Says that something was no message. The library would leave out the id, which is to be null.
async fn complain(turn: Arc<Mutex<()>>) -> io::Result<()> {
    let error = ErrorData::parse_error("This is not JSON, or too long.", None);
    let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": null, "error": error}));
    let _turn = turn.lock().await;
    let mut out = stdout();
    out.write_all(line.as_bytes()).await?;
    out.flush().await
}

/// Passes on each line that is JSON, and tells of each other one.
async fn sift(input: Stdin, mut sound: DuplexStream, garbled: mpsc::Sender<()>) -> io::Result<()> {
    let mut input = BufReader::new(input);
    // Whether what comes next belongs to a line that was too long.
    let mut is_rest = false;
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut input).take(MAX_REQUEST_BYTES as u64);
        if limited.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let is_cut = limited.limit() == 0 && !line.ends_with(b"\n");
        let is_json = || serde_json::from_slice::<Value>(&line).is_ok();
        if !is_rest && !line.trim_ascii().is_empty() {
            if !is_cut && is_json() {
                sound.write_all(line.trim_ascii()).await?;
                sound.write_all(b"\n").await?;
            } else if garbled.send(()).await.is_err() {
                return Ok(());
            }
        }
        is_rest = is_cut;
    }
}
