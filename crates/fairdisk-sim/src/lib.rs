//! The simulator: devices, host and workloads, and the `World` that drives them.
//!
//! [`Machine`] is everything above the device as one state machine without a clock: tasks, file
//! system, page cache, CPUs and the engine. [`World`] gives it a simulated device and virtual time;
//! the plane's shell gives it a real backend and a real clock.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as fairdisk_sim;

pub mod device;
mod events;
pub mod host;
pub mod machine;
pub mod workload;
pub mod world;

pub use machine::{
    GroupSpec, IntegrityWrites, Issued, Machine, MachineConfig, TaskReport, Unplugs,
};
pub use world::World;
