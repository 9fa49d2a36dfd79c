//! Sessions of clients that open one, and whose each is. There are never more than a
//! fixed number: the one that was used the longest ago makes room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

use super::Admitted;

/// Sessions at the same time.
const MAX_SESSIONS: usize = 1_000;
/// How long a session may be without a word. A call may take hours, and a client that
/// asks for no progress hears nothing meanwhile.
const MAX_SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// The sessions.
pub(super) struct Sessions {
    kept: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, Owner>>,
}

struct Owner {
    who: Admitted,
    used: Instant,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut kept = LocalSessionManager::default();
        kept.session_config.keep_alive = Some(MAX_SILENCE);
        Self { kept: Arc::new(kept), owners: Mutex::default() }
    }

    /// What the protocol keeps of them.
    pub(super) fn kept(&self) -> Arc<LocalSessionManager> {
        self.kept.clone()
    }

    /// Whether a session is theirs; one that nobody knows is nobody's, and said to be so
    /// further on.
    pub(super) fn is_of(&self, id: &str, who: &Admitted) -> bool {
        let mut owners = self.owners();
        let Some(owner) = owners.get_mut(id) else { return true };
        owner.used = Instant::now();
        owner.who == *who
    }

    /// A session was opened.
    pub(super) async fn keep(&self, id: String, who: Admitted) {
        if let Some(oldest) = self.make_room() {
            // One that is gone already has made room, too.
            let _ = self.kept.close_session(&oldest.into()).await;
        }
        self.owners().insert(id, Owner { who, used: Instant::now() });
    }

    /// The session that has to go for another one, if there are too many.
    fn make_room(&self) -> Option<String> {
        let mut owners = self.owners();
        if owners.len() < MAX_SESSIONS {
            return None;
        }
        let oldest = owners.iter().min_by_key(|(_, owner)| owner.used);
        let oldest = oldest.map(|(id, _)| id.clone())?;
        owners.remove(&oldest);
        Some(oldest)
    }

    /// A session was ended by its client.
    pub(super) fn forget(&self, id: &str) {
        self.owners().remove(id);
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
