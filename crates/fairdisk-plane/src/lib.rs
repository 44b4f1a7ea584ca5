//! The real shell: it owns time and does the I/O that the core decides on.
//!
//! A [`Shell`] drives a [`Load`] (workload, host and scheduler as one state machine without clock
//! or I/O) on a [`Backend`](backend::Backend): memory, a file, or a modelled disk over either.
//! Under a [`MonotonicClock`] that is a real run; under a [`FakeClock`] the same loop runs in
//! virtual time and leaves the journal the simulated world leaves.
//!
//! This is the only crate that reads a clock.

pub mod backend;
pub mod buffer;
pub mod clock;
pub mod disk;
pub mod failure;
pub mod file;
pub mod load;
pub mod payload;
pub mod shell;

pub use clock::{Clock, FakeClock, MonotonicClock, pause, wall_time};
pub use disk::{Disk, Job, Order};
pub use failure::{FailedRequest, Failure};
pub use file::{FileNeeds, TargetError, TargetFile, parse_target};
pub use load::Load;
pub use payload::{Anything, Pattern, Payload};
pub use shell::{Lateness, Progress, Shell, ShellError, ShellReport};
