//! Blame on regressions with known, planted causes.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod engine;
mod parted;
mod planted;
mod rows;
