//! What a task is: its place in the groups, how it submits, and what it does.

use super::stream::StreamSpec;
use crate::host::Advice;
use fairdisk_core::{GroupId, Instant, IoPrio, Span};

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// Its group.
    pub group: GroupId,
    /// Its I/O priority.
    pub ioprio: IoPrio,
    /// The files it uses, by index in the machine; it takes turns between them.
    pub files: Vec<u32>,
    /// I/Os it keeps in flight; 1 is a synchronous task.
    pub depth: u32,
    /// I/Os it submits in one system call.
    pub batch: u32,
    /// It submits again once no more than this many are in flight.
    pub refill_at: u32,
    /// Whether it goes through the page cache.
    pub buffered: bool,
    /// What it says about its files (`posix_fadvise`), as far as it goes through the page cache:
    /// from front to back doubles the read-ahead, at random turns it off.
    pub file_advice: Advice,
    /// Whether it maps its files, and what it says about its mappings (`madvise`); then it goes
    /// through the page cache.
    pub mapped: Option<Advice>,
    /// Whether what memory has of a file stays when it begins with it, for the first time or
    /// anew; else that is dropped first, as fio does.
    pub keeps_cache: bool,
    /// Whether it creates its files: nothing on the disk says yet where their blocks are.
    pub creates_files: bool,
    /// Whether a write returns only when it is durable.
    pub write_through: bool,
    /// Whether its I/Os end at once, without a disk.
    pub nowhere: bool,
    /// When it pauses.
    pub think: Option<Think>,
    /// It starts when every task of the phases before has ended.
    pub phase: u32,
    /// The job it is a clone of.
    pub job: u32,
    /// It starts when every task of this job has ended.
    pub wait_for: Option<u32>,
    /// It does not start before then.
    pub start: Instant,
    /// What it does in this time after its start does not count in reports.
    pub ramp: Span,
    /// Whether its end is waited for.
    pub awaited: Awaited,
    /// Flushes before it ends.
    pub end_flushes: u32,
    /// What it does.
    pub stream: StreamSpec,
    /// Whether it takes its I/Os from the stream of the first task of its job on its files, as
    /// threads do that read on from one place in an open file.
    pub shares_stream: bool,
}

/// Whether a task's end is waited for. Who goes on when nobody is waited for any more is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Awaited {
    /// With all others that are.
    #[default]
    WithOthers,
    /// Nobody is waited for any more once it has ended.
    Alone,
    /// No.
    No,
}

/// A pause after every so many I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// How long, from when the task has nothing in flight.
    pub pause: Span,
    /// After so many finished I/Os.
    pub every: u32,
}

impl Default for TaskSpec {
    /// A synchronous task without a group that reads no file directly, one I/O after the other.
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
            keeps_cache: false,
            creates_files: false,
            write_through: false,
            nowhere: false,
            think: None,
            phase: 0,
            job: 0,
            wait_for: None,
            start: Instant::ZERO,
            ramp: Span::ZERO,
            awaited: Awaited::WithOthers,
            end_flushes: 0,
            stream: StreamSpec::default(),
            shares_stream: false,
        }
    }
}
