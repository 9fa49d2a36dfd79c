//! One request and everything that is said about it.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::lock;
use super::paths::Paths;
use crate::protocol::{Reply, Request};

/// Bytes a reply may have: the answer of a large tree, and nothing endless.
pub const MAX_REPLY_BYTES: usize = 256 * 1024 * 1024;

/// A connection to an engine.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
}

/// Why nothing more is heard.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The engine has gone, or hung up.
    #[error("the engine has gone")]
    Gone,
    /// The connection failed.
    #[error("the connection to the engine failed: {0}")]
    Failed(#[from] io::Error),
    /// What it said makes no sense: it may be of another release.
    #[error("the engine said something that cannot be understood: {0}")]
    Garbled(String),
}

impl Client {
    /// Connects to the engine of a project, if there is one.
    pub async fn connect(paths: &Paths) -> Option<Self> {
        if let Ok(client) = Self::connect_to(&paths.socket).await {
            return Some(client);
        }
        let elsewhere = lock::elsewhere(paths).filter(|socket| *socket != paths.socket)?;
        Self::connect_to(&elsewhere).await.ok()
    }

    /// Connects to the engine that listens here. A socket of somebody else is refused.
    pub async fn connect_to(socket: &Path) -> io::Result<Self> {
        let facts = std::fs::metadata(socket)?;
        if !facts.file_type().is_socket() || facts.uid() != rustix::process::getuid().as_raw() {
            let reason = "is not a socket of this user";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Ok(Self { stream: UnixStream::connect(socket).await? })
    }

    /// Asks, and listens to what is said about it.
    pub async fn request(self, request: &Request) -> Result<Conversation, Lost> {
        let mut line = serde_json::to_vec(request).map_err(io::Error::from)?;
        line.push(b'\n');
        let (reader, mut writer) = self.stream.into_split();
        let heard = writer.write_all(&line).await;
        let reader = BufReader::new(reader);
        let mut talk = Conversation { reader, _writer: writer, line: Vec::new(), said: None };
        if let Err(problem) = heard {
            // Whoever hung up before it heard anything may have said why.
            match talk.next().await {
                Ok(reply) => talk.said = Some(reply),
                Err(_) => return Err(problem.into()),
            }
        }
        Ok(talk)
    }
}

/// What an engine says about a request.
#[derive(Debug)]
pub struct Conversation {
    reader: BufReader<OwnedReadHalf>,
    /// Kept open: who hangs up wants nothing more.
    _writer: OwnedWriteHalf,
    /// The beginning of a line, where waiting for the rest was given up.
    line: Vec<u8>,
    /// What was said before anything was asked.
    said: Option<Reply>,
}

impl Conversation {
    /// The next thing that is said. Waiting may be given up at any moment, and nothing
    /// is lost by it.
    pub async fn next(&mut self) -> Result<Reply, Lost> {
        if let Some(reply) = self.said.take() {
            return Ok(reply);
        }
        let room = (MAX_REPLY_BYTES + 1).saturating_sub(self.line.len());
        let mut rest = (&mut self.reader).take(room as u64);
        rest.read_until(b'\n', &mut self.line).await?;
        let line = std::mem::take(&mut self.line);
        let Some(text) = line.strip_suffix(b"\n") else {
            return Err(match line.len() > MAX_REPLY_BYTES {
                true => Lost::Garbled(format!("a line has more than {MAX_REPLY_BYTES} bytes")),
                false => Lost::Gone,
            });
        };
        serde_json::from_slice(text).map_err(|problem| Lost::Garbled(problem.to_string()))
    }
}
