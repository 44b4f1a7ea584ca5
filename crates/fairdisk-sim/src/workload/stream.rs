//! A task's I/Os one after the other, from its own seeded generator.

use fairdisk_core::{GroupId, Instant, IoPrio, Op, Prng, Span};

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// Its group.
    pub group: GroupId,
    /// Its I/O priority.
    pub ioprio: IoPrio,
    /// The files it uses, by index in the machine.
    pub files: Vec<u32>,
    /// I/Os it keeps in flight; 1 is a synchronous task.
    pub depth: u32,
    /// Whether it goes through the page cache.
    pub buffered: bool,
    /// When it starts.
    pub start: Instant,
    /// What it does.
    pub stream: StreamSpec,
}

/// What a task asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Reads, writes, or both.
    pub direction: Direction,
    /// Where the next I/O lies.
    pub order: IoOrder,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// First byte used of each file.
    pub offset: u64,
    /// Bytes used of each file from there.
    pub bytes: u64,
    /// When it is done.
    pub limits: Limits,
}

/// Reads, writes, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Both, with this percentage of reads.
    Mixed(u8),
}

/// Where the next I/O lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoOrder {
    /// Right behind the last one.
    Sequential,
    /// Anywhere, each block as likely as another.
    Random,
}

/// When a task is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so many bytes.
    pub bytes: Option<u64>,
    /// So long after its start.
    pub runtime: Option<Span>,
}

/// One I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIo {
    pub(crate) file: u32,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Io(FileIo),
    Exit,
}

/// The stream of one task.
#[derive(Debug)]
pub(crate) struct Stream {
    spec: StreamSpec,
    files: Vec<u32>,
    started: Instant,
    prng: Prng,
    done_bytes: u64,
    position: u64,
}

impl Stream {
    pub(crate) fn new(task: &TaskSpec, prng: Prng) -> Self {
        Self {
            spec: task.stream.clone(),
            files: task.files.clone(),
            started: task.start,
            prng,
            done_bytes: 0,
            position: 0,
        }
    }

    pub(crate) fn next(&mut self, now: Instant) -> Next {
        let Limits { bytes, runtime } = self.spec.limits;
        let over = bytes.is_some_and(|bytes| self.done_bytes >= bytes)
            || runtime.is_some_and(|runtime| now >= self.started + runtime);
        if over {
            return Next::Exit;
        }
        let bytes = self.spec.block_bytes;
        let blocks = (self.spec.bytes / bytes).max(1);
        let (file, block) = match self.spec.order {
            IoOrder::Random => {
                let file = self.files[self.prng.below(self.files.len() as u64) as usize];
                (file, self.prng.below(blocks))
            }
            IoOrder::Sequential => {
                let at = self.position;
                self.position = (self.position + 1) % (blocks * self.files.len() as u64);
                (self.files[(at / blocks) as usize], at % blocks)
            }
        };
        let op = match self.spec.direction {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
            Direction::Mixed(read_percent) => {
                let read = self.prng.chance(u64::from(read_percent), 100);
                if read { Op::Read } else { Op::Write }
            }
        };
        self.done_bytes += bytes;
        Next::Io(FileIo { file, op, offset: self.spec.offset + block * bytes, bytes })
    }
}
