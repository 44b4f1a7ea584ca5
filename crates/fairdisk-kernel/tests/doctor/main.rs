//! The doctor: known traps as trees of files, and faults planted on this machine.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod live;
mod plans;
mod stacks;
mod traps;
mod tree;
