//! The real shell: reads the clock and does the I/O that the core decides on.
//!
//! A [`Shell`] drives a [`Load`], which is workload, host and scheduler in one state machine
//! without clock or I/O, on a [`Backend`](backend::Backend): memory, a file, or a modelled disk
//! over either. Under a [`MonotonicClock`] that is a real run. Under a [`FakeClock`] the same loop
//! runs in virtual time and leaves the same journal as the simulated world.
//!
//! A [`Disk`] schedules the requests of many threads, as a mount needs it.
//!
//! No other crate reads a clock.

pub mod backend;
pub mod buffer;
pub mod clock;
pub mod disk;
pub mod failure;
pub mod file;
pub mod load;
pub mod payload;
pub mod shell;

pub use clock::{Clock, FakeClock, MonotonicClock, kernel_time, pause, wall_time};
pub use disk::{Disk, Job, Order};
pub use failure::{FailedRequest, Failure};
pub use file::{FileNeeds, TargetError, TargetFile, parse_target};
pub use load::Load;
pub use payload::{Anything, Pattern, Payload};
pub use shell::{Lateness, Progress, Shell, ShellError, ShellReport, Traffic};
