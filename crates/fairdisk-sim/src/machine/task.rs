//! Tasks: closed loops that submit, wait, think a little, and submit again.

use super::io::{Io, IoKind};
use super::tally::TaskReport;
use super::{Event, Machine};
use crate::host::{Mapped, ReadAhead, Touch};
use crate::workload::{FileIo, Next, Stream, TaskSpec};
use fairdisk_core::{
    Bio, Elevator, Flags, GroupId, Instant, IoPrio, Lba, Op, Prng, Request, SECTOR_BYTES, Sectors,
    Span, TaskId,
};

const PAGE_BYTES: u64 = 4096;
const PAGE_SECTORS: Sectors = Sectors((PAGE_BYTES / SECTOR_BYTES) as u32);

/// What a task does when it runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Asks its stream for the next I/O.
    Fetch,
    /// Sets the file's times before a write.
    TouchBefore,
    /// Maps and submits what is left of an I/O.
    Submit(Pending),
    /// Sets the file's times after a read.
    TouchAfter(u32),
    /// Copies from the page cache: next page, first page not wanted.
    Copy(u64, u64),
    /// Waits: as many I/Os are in flight as it keeps.
    Full,
    /// Waits for its last I/Os.
    Draining,
    /// Is no more.
    Exited,
}

/// What is left to submit of an I/O, in bytes of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    io: u32,
    at: u64,
    end: u64,
    sync: bool,
}

/// A read-ahead window on its way: pages and their I/O.
#[derive(Clone, Copy, Debug)]
struct Coming {
    start: u64,
    end: u64,
    io: u32,
}

#[derive(Debug)]
pub(super) struct Task {
    group: GroupId,
    ioprio: IoPrio,
    depth: u32,
    buffered: bool,
    stream: Stream,
    pub(super) phase: Phase,
    current: FileIo,
    io_started: Instant,
    outstanding: u32,
    dirty_bytes: u64,
    read_ahead: ReadAhead,
    coming: Vec<Coming>,
    /// The page the reader has come to.
    read_position: u64,
    /// It waits for a page to come.
    waits_for_page: bool,
    pub(super) cpu: u32,
    pub(super) report: TaskReport,
}

impl Task {
    pub(super) fn new(spec: &TaskSpec, prng: Prng, index: u32, read_ahead_pages: u64) -> Self {
        Self {
            group: spec.group,
            ioprio: spec.ioprio,
            depth: spec.depth.max(1),
            buffered: spec.buffered,
            stream: Stream::new(spec, prng),
            phase: Phase::Fetch,
            current: FileIo { file: 0, op: Op::Read, offset: 0, bytes: 0 },
            io_started: Instant::ZERO,
            outstanding: 0,
            dirty_bytes: 0,
            read_ahead: ReadAhead::new(read_ahead_pages),
            coming: Vec::new(),
            read_position: 0,
            waits_for_page: false,
            cpu: index,
            report: TaskReport { started: spec.start, ..TaskReport::default() },
        }
    }

    fn count(&mut self, op: Op, bytes: u64) {
        self.report.ios += 1;
        self.report.reads += u64::from(op == Op::Read);
        self.report.bytes += bytes;
    }
}

impl<E: Elevator> Machine<E> {
    /// The task goes on until it must wait.
    pub(super) fn run(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) {
        loop {
            let goes_on = match self.tasks[index as usize].phase {
                Phase::Fetch => self.fetch(now, index, issue),
                Phase::TouchBefore => self.touch_before(now, index),
                Phase::Submit(pending) => self.submit_pending(now, index, pending, issue),
                Phase::TouchAfter(file) => self.touch_after(now, index, file),
                Phase::Copy(page, end) => self.copy(now, index, page, end),
                Phase::Full | Phase::Draining | Phase::Exited => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    fn task(&mut self, index: u32) -> &mut Task {
        &mut self.tasks[index as usize]
    }

    fn fetch(&mut self, now: Instant, index: u32, issue: &mut Vec<Request>) -> bool {
        let stopping = self.stopping;
        let task = self.task(index);
        let next = if stopping { Next::Exit } else { task.stream.next(now) };
        let Next::Io(io) = next else {
            task.phase = Phase::Draining;
            if task.outstanding == 0 && task.dirty_bytes == 0 {
                self.exit(now, index, issue);
            }
            return false;
        };
        task.current = io;
        task.io_started = now;
        task.phase = match (io.op, task.buffered) {
            (Op::Read, true) => {
                Phase::Copy(io.offset / PAGE_BYTES, (io.offset + io.bytes).div_ceil(PAGE_BYTES))
            }
            (Op::Read, false) => return self.begin(index),
            _ => Phase::TouchBefore,
        };
        true
    }

    // ---- direct I/O and buffered writes --------------------------------------------------

    /// Begins to submit the current I/O.
    fn begin(&mut self, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { op, offset, bytes, .. } = task.current;
        let buffered = task.buffered;
        let kind = if buffered {
            task.dirty_bytes += bytes;
            task.count(op, bytes);
            let group = task.group.0 as usize;
            self.groups[group].count(op, bytes, Span::ZERO, false);
            IoKind::WriteBehind { task: index }
        } else {
            task.outstanding += 1;
            IoKind::Data { task: index }
        };
        let mut io = Io::new(kind, task.io_started, op);
        io.bytes = bytes;
        let io = self.ios.insert(io);
        let pending = Pending { io, at: offset, end: offset + bytes, sync: !buffered };
        self.task(index).phase = Phase::Submit(pending);
        true
    }

    /// Maps and submits piece by piece; stops where a metadata block must be read first.
    fn submit_pending(
        &mut self,
        now: Instant,
        index: u32,
        mut pending: Pending,
        issue: &mut Vec<Request>,
    ) -> bool {
        let file = self.tasks[index as usize].current.file as usize;
        while pending.at < pending.end {
            match self.files[file].map(pending.at) {
                Mapped::NeedsBlock(lba) => {
                    self.task(index).phase = Phase::Submit(pending);
                    self.read_metadata(now, index, lba, issue);
                    return false;
                }
                Mapped::At(lba, contiguous) => {
                    let bytes = contiguous.min(pending.end - pending.at).min(self.bio_bytes_max());
                    let sectors = Sectors(bytes.div_ceil(SECTOR_BYTES) as u32);
                    let op = self.ios.get_mut(pending.io).op;
                    let bio = self.bio(index, pending.io, op, lba, sectors, pending.sync);
                    self.submit(now, &bio, issue);
                    pending.at += bytes;
                }
            }
        }
        self.submitted(now, index);
        self.part_done(now, pending.io, issue);
        false
    }

    fn bio_bytes_max(&self) -> u64 {
        match self.config.engine.merge_sectors_max {
            0 => 1024 * SECTOR_BYTES,
            sectors => u64::from(sectors) * SECTOR_BYTES,
        }
    }

    fn bio(
        &mut self,
        index: u32,
        io: u32,
        op: Op,
        start: Lba,
        sectors: Sectors,
        sync: bool,
    ) -> Bio {
        let task = &self.tasks[index as usize];
        let flusher = !sync && self.config.async_of_submitter;
        let own = TaskId(index);
        Bio {
            id: self.ios.add_part(io),
            task: if flusher { self.flusher() } else { own },
            group: if flusher { GroupId::ROOT } else { task.group },
            op,
            start,
            sectors,
            sync,
            flags: Flags::NONE,
            ioprio: task.ioprio,
        }
    }

    fn read_metadata(&mut self, now: Instant, index: u32, lba: Lba, issue: &mut Vec<Request>) {
        let io = self.ios.insert(Io::new(IoKind::Metadata { task: index }, now, Op::Read));
        let mut bio = self.bio(index, io, Op::Read, lba, PAGE_SECTORS, true);
        if self.config.meta_hint {
            bio.flags = Flags::META;
        }
        self.submit(now, &bio, issue);
        self.part_done(now, io, issue);
    }

    /// All of the current I/O is on its way; what the task does meanwhile.
    fn submitted(&mut self, now: Instant, index: u32) {
        let limit = self.config.write_behind_bytes;
        let copy = self.cpus.spec().page_copy.as_ns();
        let task = self.task(index);
        if task.buffered && task.current.op == Op::Read {
            // A read-ahead window; the reader goes on copying.
            let FileIo { offset, bytes, .. } = task.current;
            let page = task.read_position.max(offset / PAGE_BYTES);
            task.phase = Phase::Copy(page, (offset + bytes).div_ceil(PAGE_BYTES));
            self.events.push(now, Event::Run(index));
        } else if task.buffered {
            if task.dirty_bytes > limit {
                task.phase = Phase::Full;
                return;
            }
            let burst = Span::from_ns(copy * task.current.bytes.div_ceil(PAGE_BYTES));
            task.phase = Phase::Fetch;
            self.run_later(now, index, burst);
        } else if task.outstanding >= task.depth {
            task.phase = Phase::Full;
        } else {
            task.phase = Phase::Fetch;
            self.turn_around(now, index);
        }
    }

    pub(super) fn data_done(&mut self, now: Instant, index: u32, io: &Io) {
        let task = &mut self.tasks[index as usize];
        task.outstanding -= 1;
        task.count(io.op, io.bytes);
        let group = task.group.0 as usize;
        self.groups[group].count(io.op, io.bytes, now - io.started, io.failed);
        let task = &mut self.tasks[index as usize];
        match task.phase {
            Phase::Full if io.op == Op::Read => {
                task.phase = Phase::TouchAfter(task.current.file);
                self.events.push(now, Event::Run(index));
            }
            Phase::Full => {
                task.phase = Phase::Fetch;
                self.turn_around(now, index);
            }
            Phase::Draining if task.outstanding == 0 => {
                task.phase = Phase::Fetch;
                self.events.push(now, Event::Run(index));
            }
            _ => {}
        }
    }

    pub(super) fn write_behind_done(&mut self, now: Instant, index: u32, bytes: u64) {
        let limit = self.config.write_behind_bytes;
        let task = self.task(index);
        task.dirty_bytes -= bytes;
        let ready = match task.phase {
            Phase::Full => task.dirty_bytes <= limit,
            Phase::Draining => task.dirty_bytes == 0,
            _ => false,
        };
        if ready {
            task.phase = Phase::Fetch;
            self.turn_around(now, index);
        }
    }

    // ---- times of files ------------------------------------------------------------------

    fn touch(&mut self, now: Instant, index: u32, file: u32) -> Touch {
        let file = &mut self.files[file as usize];
        let volume = file.spec.volume;
        let Some(journal) = &mut self.journals[volume as usize] else { return Touch::Done };
        let idle = !journal.is_running();
        let touch = journal.touch(now, file.spec.inode, &mut file.touched_second);
        if idle && journal.is_running() {
            self.events.push(now, Event::Commit(volume));
        }
        if touch == Touch::Sleep {
            self.log_waiters[volume as usize].push(index);
        }
        touch
    }

    fn touch_before(&mut self, now: Instant, index: u32) -> bool {
        let file = self.task(index).current.file;
        self.touch(now, index, file) == Touch::Done && self.begin(index)
    }

    fn touch_after(&mut self, now: Instant, index: u32, file: u32) -> bool {
        if self.touch(now, index, file) == Touch::Done {
            self.task(index).phase = Phase::Fetch;
            self.turn_around(now, index);
        }
        false
    }

    /// The log write the task slept for has ended. A task keeps the CPU from its wake-up to its
    /// next submission, so those woken first submit first.
    pub(super) fn after_log(&mut self, now: Instant, index: u32) {
        match self.task(index).phase {
            Phase::TouchAfter(file) => {
                self.touch_after(now, index, file);
            }
            _ => self.wake(now, index),
        }
    }

    // ---- buffered reads ------------------------------------------------------------------

    fn copy(&mut self, now: Instant, index: u32, page: u64, end: u64) -> bool {
        let file_pages = {
            let file = self.tasks[index as usize].current.file as usize;
            self.files[file].spec.bytes.div_ceil(PAGE_BYTES)
        };
        let task = &mut self.tasks[index as usize];
        if page >= end {
            return self.copied(now, index);
        }
        let ahead = &mut task.read_ahead;
        if page == ahead.mark() || page >= ahead.end() {
            let window = ahead.next(page, end - page, file_pages);
            task.read_position = page;
            if window.pages > 0 {
                self.fetch_window(now, index, window.start, window.pages);
                return true;
            }
        }
        let task = &mut self.tasks[index as usize];
        if task.coming.iter().any(|coming| (coming.start..coming.end).contains(&page)) {
            task.phase = Phase::Copy(page, end);
            task.waits_for_page = true;
            return false;
        }
        let mark = Some(task.read_ahead.mark()).filter(|mark| *mark > page);
        let coming = task.coming.iter().map(|coming| coming.start).filter(|start| *start > page);
        let stop = coming.chain(mark).min().unwrap_or(end).min(end);
        task.phase = Phase::Copy(stop, end);
        let burst = Span::from_ns(self.cpus.spec().page_copy.as_ns() * (stop - page));
        self.run_later(now, index, burst);
        false
    }

    fn fetch_window(&mut self, now: Instant, index: u32, start: u64, pages: u64) {
        let file = self.task(index).current.file;
        let file_bytes = self.files[file as usize].spec.bytes;
        let mut io = Io::new(IoKind::Window { task: index }, now, Op::Read);
        io.bytes = pages * PAGE_BYTES;
        let io = self.ios.insert(io);
        let task = self.task(index);
        task.coming.push(Coming { start, end: start + pages, io });
        let at = start * PAGE_BYTES;
        let end = ((start + pages) * PAGE_BYTES).min(file_bytes);
        task.phase = Phase::Submit(Pending { io, at, end, sync: true });
    }

    pub(super) fn window_done(&mut self, now: Instant, index: u32, io: u32) {
        let task = self.task(index);
        task.coming.retain(|coming| coming.io != io);
        if std::mem::take(&mut task.waits_for_page) {
            self.wake(now, index);
        }
    }

    /// The current buffered read has all its pages.
    fn copied(&mut self, now: Instant, index: u32) -> bool {
        let task = &mut self.tasks[index as usize];
        let FileIo { op, bytes, file, .. } = task.current;
        let latency = now - task.io_started;
        task.count(op, bytes);
        let group = task.group.0 as usize;
        self.groups[group].count(op, bytes, latency, false);
        self.task(index).phase = Phase::TouchAfter(file);
        true
    }

    // ---- the CPU -------------------------------------------------------------------------

    fn turn_around(&mut self, now: Instant, index: u32) {
        let at = self.cpus.turnaround(now, &mut self.tasks[index as usize].cpu);
        self.events.push(at, Event::Run(index));
    }

    fn run_later(&mut self, now: Instant, index: u32, burst: Span) {
        let at = self.cpus.run(now, &mut self.tasks[index as usize].cpu, burst);
        self.events.push(at, Event::Run(index));
    }

    /// Something the task waited for inside a system call has come.
    pub(super) fn wake(&mut self, now: Instant, index: u32) {
        let burst = self.cpus.spec().slot_wake;
        self.run_later(now, index, burst);
    }
}
