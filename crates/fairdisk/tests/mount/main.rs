//! `fairdisk mount` with real programs: real cgroups, real `ionice`, real `dd` and `fio`. These
//! tests need root, `/dev/fuse` and a cgroup hierarchy; without them each prints that it is
//! skipped.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not seen as tests")]

mod backlog;
mod buffered;
mod calibrated;
mod completions;
mod control;

mod disks;
mod durable;
mod ending;
mod fsync;
mod host;
mod idle;
mod joined;
mod killed;
mod log;
mod loop_disk;
mod memory;
mod metrics;
mod package;
mod panicked;
mod posted;
mod prediction;
mod printed;
mod process;
mod real_disk;
mod recorded;
mod rules;
#[path = "../schema/mod.rs"]
mod schema;
mod scripts;
mod settings;
mod shares;
mod storm;
mod stress;
mod system;
mod tunables;
mod user;
mod waits;
mod walks;
