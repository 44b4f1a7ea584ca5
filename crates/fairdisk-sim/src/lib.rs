//! The simulator: devices, host and workloads, and the `World` that drives them.
//!
//! [`Machine`] is everything above its disks as one state machine without a clock: tasks, file
//! system, page cache, CPUs and engines. [`World`] gives it simulated disks and virtual time;
//! the plane's shell gives it a real backend and a real clock.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as fairdisk_sim;

mod alarms;
pub mod device;
mod events;
pub mod host;
pub mod machine;
pub mod workload;
pub mod world;

pub use machine::{
    DiskConfig, GroupSpec, IntegrityWrites, Issued, Machine, MachineConfig, MemoryConfig,
    TaskReport, Unplugs,
};
pub use world::World;
