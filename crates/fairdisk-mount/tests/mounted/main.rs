//! The mounted tree as programs see it. Every test mounts a tree of its own, served by a child
//! process, with a gate that is open or one that shuffles.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod at_once;
mod by_name;
mod closed;
mod common;
mod crash;
mod data;
mod escape;
mod fio;
mod fsx;
mod hoarder;
mod metadata;
mod names;
mod operation;
mod space;
mod stale;
mod users;
mod volume;
mod write_errors;
mod xattrs;

/// Not a test: serves a mount if this process was started for that.
#[test]
fn daemon() {
    common::serve();
}
