//! The specification of a task: its group, how it submits, and its stream of I/Os.

use super::stream::StreamSpec;
use super::watch::Watch;
use crate::host::Advice;
use fairdisk_core::{GroupId, Instant, IoPrio, Span};

/// The specification of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// The task's group.
    pub group: GroupId,
    /// The task's I/O priority.
    pub ioprio: IoPrio,
    /// Indices in the machine of the files it uses in turn.
    pub files: Vec<u32>,
    /// I/Os it keeps in flight; 1 makes a synchronous task.
    pub depth: u32,
    /// I/Os it submits per system call.
    pub batch: u32,
    /// The number of I/Os in flight at or below which it submits again.
    pub refill_at: u32,
    /// Whether it uses the page cache.
    pub buffered: bool,
    /// Advice about its files (`posix_fadvise`), which affects I/O through the page cache:
    /// sequential doubles the read-ahead, random disables it.
    pub file_advice: Advice,
    /// Whether it maps its files, and its advice about the mappings (`madvise`). Mapped files
    /// always use the page cache.
    pub mapped: Option<Advice>,
    /// What of a file it drops from memory first when it starts on the file, for the first time or
    /// again.
    pub drops: Drops,
    /// Whether it creates its files, so that no metadata needs to be read to find their blocks.
    pub creates_files: bool,
    /// Whether a write returns only when it is durable.
    pub write_through: bool,
    /// Whether its I/Os complete at once, without a disk.
    pub nowhere: bool,
    /// When it pauses.
    pub think: Option<Think>,
    /// The task starts when every task of earlier phases has ended.
    pub phase: u32,
    /// The job of which the task is a clone.
    pub job: u32,
    /// The task starts when every task of this job has ended.
    pub wait_for: Option<u32>,
    /// The set of tasks that all stop when one that ends it has done its work.
    pub ends_with: Option<u32>,
    /// What it ends when it has done its work.
    pub ends: Ends,
    /// What it does about what it measures of itself.
    pub watch: Watch,
    /// The flow of which it has a part.
    pub flow: Option<Flow>,
    /// The task does not start before this time.
    pub start: Instant,
    /// Time after the start during which its I/Os are not counted in reports.
    pub ramp: Span,
    /// Whether and how the run waits for its end.
    pub awaited: Awaited,
    /// Number of flushes before it ends, which are part of its time.
    pub end_flushes: u32,
    /// Number of flushes after its time.
    pub late_flushes: u32,
    /// Whether it does the rest of its work after its time, without pauses, if another of its set
    /// stops it.
    pub completes: bool,
    /// The I/Os it asks for.
    pub stream: StreamSpec,
    /// Whether it gets its I/Os from the stream of the first task of its job on the same files,
    /// like threads that share the position in an open file.
    pub shares_stream: bool,
}

/// What of a file a task drops from memory when it starts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drops {
    /// Nothing.
    Nothing,
    /// Its data, as fio does (`posix_fadvise`).
    Data,
    /// Its data, and the metadata that says where that is, as if its file system was mounted anew.
    Everything,
}

/// What a task ends when it has done its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// Nothing, or its set.
    #[default]
    Set,
    /// All that run.
    Running,
    /// All, also what has not begun.
    All,
}

/// A part of what tasks of a flow do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The number of the flow.
    pub id: u32,
    /// The weight of the task.
    pub weight: u32,
    /// How long it waits when it is ahead of its part.
    pub pause: Span,
}

/// Whether the run waits for a task's end. Tasks still running when none is awaited any more are
/// stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Awaited {
    /// Awaited, together with all others that are.
    #[default]
    WithOthers,
    /// Awaited alone: the run waits for no other task once this one has ended.
    Alone,
    /// Not awaited.
    No,
}

/// A pause after a number of I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// The length of the pause, counted from when the task has nothing in flight.
    pub pause: Span,
    /// The number of completed I/Os between pauses.
    pub every: u32,
}

impl Default for TaskSpec {
    /// A synchronous task in the root group that reads directly, one I/O after another, from no
    /// file.
    fn default() -> Self {
        Self {
            group: GroupId::ROOT,
            ioprio: IoPrio::UNSET,
            files: Vec::new(),
            depth: 1,
            batch: 1,
            refill_at: u32::MAX,
            buffered: false,
            file_advice: Advice::Normal,
            mapped: None,
            drops: Drops::Data,
            creates_files: false,
            write_through: false,
            nowhere: false,
            think: None,
            phase: 0,
            job: 0,
            wait_for: None,
            ends_with: None,
            ends: Ends::Set,
            watch: Watch::default(),
            flow: None,
            start: Instant::ZERO,
            ramp: Span::ZERO,
            awaited: Awaited::WithOthers,
            end_flushes: 0,
            late_flushes: 0,
            completes: false,
            stream: StreamSpec::default(),
            shares_stream: false,
        }
    }
}
