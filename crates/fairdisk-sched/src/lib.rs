//! The I/O schedulers, one module each, with their typed settings and a registry of them by name.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::float_arithmetic)]

extern crate alloc;

mod at_device;
pub mod bfq;
pub mod cfq;
pub mod deadline;
pub mod dm_ioband;
pub mod fair;
mod family;
pub mod group_cfq;
mod groups;
pub mod honours;
pub mod iocost;
pub mod iolatency;
pub mod kyber;
pub mod mclock;
pub mod mq_deadline;
pub mod noop;
pub mod registry;
pub mod revised;
#[cfg(test)]
mod samples;
pub mod shares;
mod slab;
mod switches;
pub mod token_bucket;
pub mod two_layer;

pub use family::Family;
pub use honours::{Honours, Nesting};
pub use registry::{Scheduler, SchedulerSpec};
pub use switches::Switch;
