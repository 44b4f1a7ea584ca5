//! Blame on regressions whose causes are known because they were planted.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod engine;
mod parted;
mod planted;
mod rows;
