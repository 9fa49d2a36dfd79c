//! Moving names in the user's repository. Each order is a transaction of its own: all of
//! it or nothing.

use super::super::Error;
use super::super::git::Trust;
use super::Repository;

/// What the process says once a transaction is done.
const DONE: &[u8] = b"commit: ok\n";

impl Repository {
    /// Carries out orders (`update NAME NEW [OLD]`, `create NAME NEW`), one a line.
    pub(super) fn move_names(&self, orders: &str) -> Result<(), Error> {
        let folder = &self.user.common_dir;
        let start = || {
            let call = self.git.call("update-ref", Trust::Repository).env("GIT_DIR", folder);
            call.within(folder).args(["--no-deref", "--stdin"]).start()
        };
        let orders = format!("start\n{orders}prepare\ncommit\n");
        let talk = || {
            self.mover.with(("update-ref", start), |session| session.ask(orders.as_bytes(), DONE))
        };
        self.patiently(talk).map(drop)
    }
}
