//! The kernel's own settings for sharing disks.
//!
//! A [`Snapshot`] is what is set on a system: schedulers of block devices, cgroups of both
//! versions, I/O priorities, unit files. [`check`] goes by rules and finds settings that do
//! nothing, or something else than they say; a [`Report`] tells that. Everything is read below a
//! [`Root`], which may be a directory with a copy of the files.
//!
//! A [`Plan`] is a file of settings; [`apply`] carries out its [`Step`]s, all or none, and [`undo`]
//! takes them back. [`verify`] tries a plan out in throw-away groups, and [`lasting`] has it in
//! files that outlast a boot.

mod apply;
mod blocks;
mod cause;
mod findings;
mod groups;
mod ioprio;
mod lasting;
mod mounts;
mod plan;
mod report;
mod root;
mod rules;
mod snapshot;
mod steps;
mod units;
mod verify;

pub use apply::{STATE, apply, preview, undo};
pub use blocks::{Block, Blocks, Kind, in_use};
pub use cause::Cause;
pub use findings::{Finding, Severity};
pub use groups::{CostLine, Group, Knob, Setting, Trees, Version};
pub use ioprio::{Class, Ioprio};
pub use lasting::lasting;
pub use mounts::Mount;
pub use plan::{Bfq, Cost, DeviceIo, DevicePlan, GroupIo, GroupPlan, Plan, Predicted};
pub use report::Report;
pub use root::Root;
pub use rules::check;
pub use snapshot::{Prioritised, Snapshot, Stack};
pub use steps::{Form, Step};
pub use units::Ask;
pub use verify::{Load, Verified, to_table, verify};
