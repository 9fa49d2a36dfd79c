//! Overlays that an engine left behind because it was ended in the middle of something. The
//! next one would take them up; after a test there is none.

use std::path::Path;
use std::process::Command;

/// Takes away whatever is mounted below a folder.
pub(crate) fn take_away(folder: &Path) {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    // The last one may lie in another.
    let targets = mounts.lines().rev().filter_map(|line| line.split(' ').nth(4));
    for target in targets.filter(|target| Path::new(target).starts_with(folder)) {
        drop(Command::new("umount").args(["-l", &target.replace("\\040", " ")]).status());
    }
}
