//! Workloads: each task's stream of I/Os, and how the task submits it.

mod blocks;
mod direction;
mod files;
mod fixed;
mod flush;
mod free_map;
mod limits;
mod order;
mod pace;
mod read_back;
mod script;
mod skew;
mod stream;
#[cfg(test)]
mod stream_tests;
mod task;
mod walk;
mod watch;

pub use blocks::{BlockSize, Blocks};
pub use direction::{Direction, PerOp};
pub use files::{FileTurns, Serving};
pub use fixed::Fixed;
pub(crate) use flush::Durable;
pub use flush::FlushEvery;
pub use limits::{Limits, Seeds};
pub use order::{IoOrder, RandomOrder, Repeat, Zone, ZoneLength};
pub use pace::{Arrivals, Rates};
pub use read_back::ReadBack;
pub use script::{Due, ScriptedIo};
pub use skew::Skew;
pub(crate) use stream::{Awaits, FileIo, Next, Stream};
pub use stream::{Preferred, StreamSpec};
pub use task::{Awaited, Drops, Ends, Flow, TaskSpec, Think};
pub use walk::Strides;
pub use watch::{LatencyTarget, LeastRate, Limit, Steady, Verdict, Watch};
pub(crate) use watch::{Outcome, Watching};
