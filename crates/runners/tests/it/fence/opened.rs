//! What is open already when a program begins.

use std::fs::File;

use rustix::io::{FdFlags, fcntl_setfd};

use super::stage::Stage;

/// Says what a shell has open beside its input and output.
const OPEN: &str = "for at in /proc/$$/fd/*; do case ${at##*/} in [012]) ;; \
                    *) [ -L $at ] && echo ${at##*/} && readlink $at;; esac; done";

#[test]
fn nothing_that_is_open_outside_is_open_inside() {
    let stage = Stage::new();
    // As somebody leaves it open who has started us: a shell that holds a lock, for one.
    let left = File::open("/").unwrap();
    fcntl_setfd(&left, FdFlags::empty()).unwrap();
    assert_eq!(stage.run(OPEN), "");
}
