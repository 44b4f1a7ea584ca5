//! Workloads: each task's stream of I/Os, and how the task submits it.

mod blocks;
mod direction;
mod fixed;
mod flush;
mod free_map;
mod order;
mod pace;
mod script;
mod skew;
mod stream;
#[cfg(test)]
mod stream_tests;
mod task;
mod walk;

pub use blocks::{BlockSize, Blocks};
pub use direction::{Direction, PerOp};
pub use fixed::Fixed;
pub(crate) use flush::Durable;
pub use flush::FlushEvery;
pub use order::{IoOrder, RandomOrder, Repeat, Zone, ZoneLength};
pub use pace::{Arrivals, Rates};
pub use script::{Due, ScriptedIo};
pub use skew::Skew;
pub(crate) use stream::{FileIo, Next, Stream};
pub use stream::{Limits, Seeds, StreamSpec};
pub use task::{Awaited, Drops, TaskSpec, Think};
