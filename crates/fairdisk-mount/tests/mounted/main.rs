//! The mounted tree as programs see it. Every test mounts one of its own, served by a child
//! process, with a gate that lets everything through at once or one that shuffles.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod by_name;
mod closed;
mod common;
mod crash;
mod data;
mod escape;
mod fio;
mod fsx;
mod metadata;
mod names;
mod operation;
mod users;
mod volume;
mod write_errors;
mod xattrs;

/// Serves a mount if this process was started for that: a test in name only.
#[test]
fn daemon() {
    common::serve();
}
