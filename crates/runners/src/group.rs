//! The processes of a program that was started in a group of its own. What leaves that
//! group is the keeper's to end.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// A group of processes, ended when nobody needs it any more.
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// The group that a program leads.
    pub(crate) fn led_by(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // One that has ended need not be.
        self.0.map(|group| kill_process_group(group, Signal::KILL));
    }
}
