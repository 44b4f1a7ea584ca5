//! fio job files, read as fio reads them, with nothing silently ignored.
//!
//! Parsing has three stages, each with its own types. [`JobFile::parse`] splits the text into
//! sections and settings, following includes and expanding variables. [`JobFile::resolve`] looks up
//! every setting in the table of [`keys`] and checks the settings in combination. The result is a
//! list of [`Job`]s, a type that cannot represent invalid states.
//!
//! What fio knows and Fairdisk does not honour is an error ([`Class::Unsupported`]), unless it
//! cannot change a result; then it is a [`Note`]. Where fio accepts a text and silently reads
//! something else (`runtime=1sec` is one microsecond to fio 3.33), the value is refused and the
//! message shows how fio reads it: an ambiguous file is worth stopping for.
//!
//! ```
//! use fairdisk_lab::jobfile::{Context, JobFile};
//!
//! let text = "[reader]\nrw=randread\nbs=4k\nsize=1g\n";
//! let resolved = JobFile::parse("reader.fio", text, &Context::closed())
//!     .and_then(|file| file.resolve())?;
//! assert_eq!(resolved.jobs[0].name, "reader");
//! # Ok::<(), fairdisk_lab::jobfile::Problems>(())
//! ```

mod blocks;
mod check;
mod command_line;
mod draft;
mod error;
mod expression;
mod finish;
mod flow;
mod group;
mod job;
pub mod keys;
mod limits;
mod note;
mod pattern;
mod per_op;
mod priority;
mod read_back;
mod render;
mod resolve;
mod serving;
mod setting;
mod source;
mod span;
mod submission;
mod value;
mod variables;
mod watch;
mod whole;
mod zoned;

pub use blocks::{BlockSize, BlockSizes, WeightedBlock};
pub use command_line::{is_fio_command, is_fio_option};
pub use error::{Class, Error, ErrorKind, Place, Problems};
pub use flow::Flow;
pub use group::{GroupSetting, GroupShare};
pub use job::{Arrivals, Caching, Ends, Flush, Job, Pace, Schedule, Seed, Think, WriteSync};
pub use limits::Limits;
pub use note::{Note, Notes};
pub use pattern::{Distribution, Mix, Order, Pattern, RandomOrder, Repeat, Zone};
pub use per_op::PerOp;
pub use priority::{IoPrio, Preferred, Priority};
pub use read_back::ReadBack;
pub use resolve::{Asked, JobRow, Resolved};
pub use serving::Serving;
pub use source::{JobFile, Section, Setting};
pub use span::{DelayNs, Extent, FileBytes, FileSystem, Files, Target};
pub(crate) use submission::is_sync;
pub use submission::{Dropped, Hint, Queue, Submission, SubmissionClass};
pub use variables::{Context, Machine};
pub use watch::{Criterion, LatencyTarget, LeastRate, Steady, Watch};
pub use zoned::Strides;
