//! Parameter sweeps: many points, each a load with some values changed, run with some seeds.
//!
//! A [`Sweep`] says what there is to run. Its cells, one for each point and seed, may be run
//! anywhere, in any order and by several programs: what a cell gave is text that is the same
//! everywhere, and a [`Store`] keeps it under a digest of all that determines it. [`Sweep::rows`]
//! lays the results out as flat [`Row`]s.
#![forbid(unsafe_code)]

pub mod columns;
mod definition;
mod design;
mod record;
mod run;
mod store;

pub use definition::{Definition, SweepError};
pub use design::{Point, Setting};
pub use record::{Figures, Latency, Record, of_run, of_runs};
pub use run::{Done, Row, Shard, Sweep, is_complete};
pub use store::{Folder, Nothing, Store};
