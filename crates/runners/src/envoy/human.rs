//! Asking a human, by way of the engine.
//!
//! An envoy asks in its attempt's name, over the same socket and with the same token as
//! everything else that speaks for it. What is said is what the engine's own protocol
//! says; only the little that is needed of it stands here.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::sleep;

/// The version of the protocol.
const VERSION: u16 = 1;
/// Bytes that an answer may have.
const MAX_ANSWER: u64 = 1 << 20;
/// How long is waited for an engine that is gone, again and again.
const PAUSE: Duration = Duration::from_secs(2);

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Yes.
    Yes,
    /// No.
    No,
    /// There is nobody who could be asked.
    Nobody,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Done(Approved),
    #[serde(untagged)]
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct Approved {
    approved: bool,
}

/// Asks in the name of whoever has this environment whether that may be done, and waits for the word as long as it takes. How long it
/// may take is not for us to say: at its deadline the attempt is ended.
pub async fn ask(env: &BTreeMap<String, String>, what: &str) -> Word {
    let (Some(socket), Some(token)) = (env.get("LEGATION_SOCKET"), env.get("LEGATION_TOKEN"))
    else {
        return Word::Nobody;
    };
    let request = json!({"v": VERSION, "token": token, "wish": {"ask": {"what": what}}});
    loop {
        match once(socket, &format!("{request}\n")).await {
            Ok(word) => return word,
            // An engine that died is started again by whoever wants something of it.
            Err(_) => sleep(PAUSE).await,
        }
    }
}

async fn once(socket: &str, request: &str) -> io::Result<Word> {
    let (reader, mut writer) = UnixStream::connect(socket).await?.into_split();
    writer.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(reader.take(MAX_ANSWER)).read_line(&mut line).await?;
    match serde_json::from_str(&line) {
        Ok(Reply::Done(Approved { approved: true })) => Ok(Word::Yes),
        Ok(Reply::Done(Approved { approved: false })) => Ok(Word::No),
        Ok(Reply::Other(_)) => Ok(Word::Nobody),
        Err(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
