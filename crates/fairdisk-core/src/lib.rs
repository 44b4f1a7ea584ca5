//! The core of Fairdisk: the types, the scheduler interface and the engine that every other crate
//! builds on.
//!
//! A *shell* (the simulated `World` or the real `Shell`) owns time. It feeds [`Input`]s to an
//! [`Engine`] and carries out the [`Effects`] it gets back. The engine does what all schedulers
//! have in common: request slots, merging, the dispatch list, queue depth, accounting. An
//! [`Elevator`] only decides which request comes next, and gives the reason.
//!
//! Nothing here reads a clock, does I/O, uses floating point or iterates over a hash table, so the
//! same inputs give the same journal on every machine.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::float_arithmetic)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod account;
pub mod audit;
mod by_kind;
mod contradiction;
pub mod cost;
pub mod dense;
pub mod diskstats;
pub mod elevator;
pub mod engine;
pub mod histogram;
pub mod journal;
pub mod list;
pub mod prng;
pub mod qos;
mod qos_key;
mod refusal;
pub mod request;
#[cfg(test)]
mod samples;
mod segments;
pub mod share;
pub mod time;
pub mod tree;
mod why;

pub use account::{Accounts, GroupAccount, GroupLoad, OpAccount};
pub use audit::Auditor;
pub use by_kind::{ByKind, OpKind};
pub use contradiction::Contradiction;
pub use cost::{Cost, CostModel, Times};
pub use diskstats::{DiskStats, OpStats};
pub use elevator::{
    Admission, AttachError, Attaching, Change, Completion, Decision, Description, Driving,
    Elevator, Handover, Hearing, Leftovers, MayQueue, Merge, Merging, Promising, Reporting,
    Submitter, Turns,
};
pub use engine::{
    Apart, Effect, Effects, Engine, EngineConfig, Input, PlugConfig, PlugFlash, PoolConfig,
    PoolLayout, Sleeper,
};
pub use histogram::Histogram;
pub use journal::{Entry, Journal, Record};
pub use prng::Prng;
pub use qos::{Counts, IO_BYTES_MAX, LIMITS, Limit, Qos, Rates, counted_ios};
pub use qos_key::{Notation, QosKey, parse_number};
pub use refusal::Refusal;
pub use request::{
    Bio, BioId, Flags, GroupId, IoClass, IoPrio, Lba, Op, Request, RequestId, SECTOR_BYTES,
    Sectors, TaskId,
};
pub use segments::{SegmentLimits, Segments};
pub use share::{Share, Weight, WeightMap};
pub use time::{Instant, Span, Ticks};
pub use why::Why;
