//! What is open when a program begins: its input and output, and what is meant for it.
//!
//! A descriptor leads past every mount and past Landlock to what it was opened for, and from a
//! folder to all around it. Whoever has started us may have left one open, such as a shell that
//! holds a lock. Nothing is closed here for ourselves.

use close_fds::set_fds_cloexec_threadsafe;

/// The first number behind standard input, output and error.
const FIRST: i32 = 3;

/// Sees to it that no program that is started from now on has what is open now.
pub(super) fn keep_to_ourselves() {
    set_fds_cloexec_threadsafe(FIRST, &[]);
}
