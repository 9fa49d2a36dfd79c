//! An engine for as long as we serve: what a crash of it left is taken up at once, however
//! long ago it was begun.

use std::time::Duration;

use legation_engine::protocol::Wish;

use crate::error::CommandError;
use crate::reach::Reach;

/// How long after the end of an engine another is started.
const AGAIN: Duration = Duration::from_secs(1);

/// Keeps an engine running. It is told once why there is none; then it is tried in silence.
pub(super) async fn attend(reach: &Reach, mut tell: impl FnMut(&CommandError)) {
    let mut is_told = false;
    loop {
        match reach.ask(Wish::Attend).await {
            Ok(mut talk) => {
                is_told = false;
                while talk.next().await.is_ok() {}
            }
            Err(problem) if !is_told => {
                tell(&problem);
                is_told = true;
            }
            Err(_) => {}
        }
        tokio::time::sleep(AGAIN).await;
    }
}
