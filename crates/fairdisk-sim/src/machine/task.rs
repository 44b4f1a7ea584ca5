//! Tasks: closed loops that submit, wait, think for a while and submit again.

use super::ending::Ending;
use super::flushing::CleanWalk;
use super::io::Pending;
use super::numbers::Numbers;
use super::paging::Paging;
use super::sleeping::{Pause, Sleep};
use super::tally::TaskReport;
use super::{Event, Machine};
use crate::host::{FileSpec, Mapping, ReadAhead, Throttle, Touch};
use crate::workload::{Awaits, Drops, Durable, FileIo, Next, Stream, TaskSpec, Think, Watching};
use fairdisk_core::{Elevator, GroupId, Instant, IoPrio, Op, Prng, Span};

/// What a task does when it next runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Start.
    Begin,
    /// Get the next I/O from the stream.
    Fetch,
    /// Set the file's times before a write.
    TouchBefore,
    /// Map and submit the rest of an I/O.
    Submit(Pending),
    /// Set the file's times after a read; then its call returns.
    TouchAfter(Call),
    /// Copy from the page cache, reading absent pages.
    Copy,
    /// Dirty the pages of a write, from this byte of the file on, reading the metadata that maps
    /// them.
    DirtyPages(u64),
    /// Write back dirty pages, or wait, while there are too many.
    Balance,
    /// Wait for a request slot to write back more.
    AwaitSlots,
    /// Wait until the group has less dirty.
    AwaitRoom,
    /// Write back dirty data in the range of a direct I/O.
    Clean,
    /// Wait until that data is written back.
    Cleaning,
    /// Return from a write whose data is in the page cache.
    Written,
    /// Touch the pages of a mapped file.
    Fault,
    /// Have such a page read, and wait for it.
    AwaitPage,
    /// Take memory, for the step that comes after.
    Allocate,
    /// Wait, with as many I/Os in flight as the task keeps.
    Full,
    /// Wait for a trim.
    Trimming,
    /// Wait for I/Os in flight before a pause.
    Settling,
    /// Wait for buffered data to reach the disk before a flush.
    Syncing,
    /// Wait for a journal commit before a flush.
    Committing,
    /// Wait for a flush of so many disks; whether one of them has failed.
    Flushing { disks: u32, failed: bool },
    /// Wait for a point in time.
    Waiting(Sleep),
    /// Wait for the last I/Os.
    Draining,
    /// Nothing; the task has ended.
    Exited,
}

/// A system call, or the equivalent access through a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) file: u32,
    pub(super) op: Op,
    pub(super) bytes: u64,
    pub(super) started: Instant,
    pub(super) failed: bool,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) group: GroupId,
    pub(super) ioprio: IoPrio,
    pub(super) depth: u32,
    pub(super) batch: u32,
    pub(super) refill_at: u32,
    buffered: bool,
    pub(super) write_through: bool,
    nowhere: bool,
    pub(super) think: Option<Think>,
    pub(super) ramp: Span,
    pub(super) watching: Option<Box<Watching>>,
    pub(super) ending: Ending,
    pub(super) stream: Stream,
    /// The task from whose stream it gets I/Os: itself, unless it shares a stream.
    pub(super) stream_of: u32,
    pub(super) step: Step,
    pub(super) current: FileIo,
    pub(super) io_started: Instant,
    pub(super) outstanding: u32,
    /// I/Os prepared since the task last paid for a system call.
    pub(super) batched: u32,
    /// Completed I/Os that the task has not taken up: it checks only when it has as many as it
    /// keeps, or before it sleeps.
    pub(super) untaken: u32,
    /// I/Os taken up since the last pause became due.
    pub(super) taken: u32,
    pub(super) pause: Pause,
    /// Bytes of buffered data that the task has submitted and that are on their way to the disk.
    pub(super) dirty_bytes: u64,
    /// Set while the task is throttled for the pages it has dirtied.
    pub(super) throttle: Option<Throttle>,
    pub(super) clean_walk: CleanWalk,
    /// What the present flush makes durable.
    pub(super) durable: Durable,
    /// What of the task's files is dropped from memory when it starts on them.
    pub(super) drops: Drops,
    pub(super) paging: Paging,
    pub(super) cpu: u32,
    pub(super) numbers: Numbers,
    pub(super) report: TaskReport,
}

impl Task {
    pub(super) fn new(
        spec: &TaskSpec,
        files: &[FileSpec],
        prng: &Prng,
        (index, numbers): (u32, Numbers),
        read_ahead_pages: u64,
    ) -> Self {
        let stream = Stream::new(spec, files, prng);
        let mapping = |advice| {
            let mapping = Mapping::new(advice, spec.file_advice, read_ahead_pages);
            vec![mapping; stream.files()]
        };
        let paging = Paging {
            readers: vec![ReadAhead::new(spec.file_advice, read_ahead_pages); stream.files()],
            mappings: spec.mapped.map(mapping).unwrap_or_default(),
            ..Paging::default()
        };
        Self {
            group: spec.group,
            ioprio: spec.ioprio,
            depth: spec.depth.max(1),
            batch: spec.batch.max(1),
            refill_at: spec.refill_at,
            buffered: spec.buffered || spec.mapped.is_some(),
            write_through: spec.write_through,
            nowhere: spec.nowhere,
            think: spec.think,
            ramp: spec.ramp,
            watching: Watching::new(&spec.watch),
            ending: Ending::new(spec),
            step: Step::Begin,
            current: FileIo::NONE,
            io_started: Instant::ZERO,
            outstanding: 0,
            batched: 0,
            untaken: 0,
            taken: 0,
            pause: Pause::None,
            dirty_bytes: 0,
            durable: Durable::All,
            throttle: None,
            clean_walk: CleanWalk::default(),
            stream,
            stream_of: index,
            drops: spec.drops,
            paging,
            cpu: index,
            numbers,
            report: TaskReport::default(),
        }
    }

    /// The call of the current I/O.
    pub(super) const fn call(&self) -> Call {
        let FileIo { file, op, bytes, .. } = self.current;
        Call { file, op, bytes, started: self.io_started, failed: false }
    }

    /// Whether the task uses the page cache, even if it then waits for the disk.
    pub(super) const fn is_buffered(&self) -> bool {
        self.buffered
    }

    /// Whether the current I/O ends in the page cache.
    pub(super) const fn is_cached(&self) -> bool {
        self.buffered
            && match self.current.op {
                Op::Read => true,
                Op::Write => !self.write_through,
                Op::Flush | Op::Discard | Op::WriteZeroes => false,
            }
    }

    /// Whether the current I/O goes through a mapping.
    pub(super) const fn is_mapped(&self) -> bool {
        self.paging.is_mapped() && matches!(self.current.op, Op::Read | Op::Write)
    }

    /// Whether the task must wait for I/Os: it has as many as it keeps, and those that have
    /// completed do not bring it down to the number at which it submits again.
    pub(super) fn is_full(&self) -> bool {
        self.untaken < self.surplus()
    }

    /// I/Os to take up before the task starts another: none while it has fewer than it keeps, then
    /// one, or as many as bring it down to the number at which it submits again.
    fn surplus(&self) -> u32 {
        let kept = self.outstanding + self.untaken;
        if kept < self.depth { 0 } else { kept.saturating_sub(self.refill_at).max(1) }
    }
}

impl<E: Elevator> Machine<E> {
    /// Takes up completed I/Os of a task, of which its stream, which others may share, is told.
    pub(super) fn take_up(&mut self, index: u32, ios: u32) {
        let task = self.task(index);
        task.untaken -= ios;
        task.taken += ios;
        let stream_of = task.stream_of;
        if ios > 0 {
            self.task(stream_of).stream.took_up();
        }
    }

    /// Runs the task until it must wait.
    pub(super) fn run(&mut self, now: Instant, index: u32) {
        if self.reclaiming.is_some() {
            self.note_taker(now, index);
        }
        loop {
            let goes_on = match self.tasks[index as usize].step {
                Step::Begin => self.begin(now, index),
                Step::Fetch => self.fetch(now, index),
                Step::TouchBefore => self.touch_before(now, index),
                Step::Submit(pending) => self.submit_pending(now, index, pending),
                Step::TouchAfter(call) => self.touch_after(now, index, call),
                Step::DirtyPages(at) => self.dirty_pages(now, index, at),
                Step::Clean => self.clean(now, index),
                Step::Cleaning => self.await_clean(now, index),
                Step::Balance => self.balance(now, index),
                Step::Written => self.written(now, index),
                Step::Copy => self.copy(now, index),
                Step::Fault => self.fault(now, index),
                Step::AwaitPage => self.await_page(now, index),
                Step::Allocate => self.allocate(now, index),
                Step::Waiting(_) => self.go_on(index),
                Step::Syncing => self.walk_on(now, index),
                Step::Committing => {
                    self.flush(now, index);
                    false
                }
                Step::Full
                | Step::AwaitSlots
                | Step::AwaitRoom
                | Step::Trimming
                | Step::Settling
                | Step::Flushing { .. }
                | Step::Draining
                | Step::Exited => false,
            };
            if !goes_on {
                return self.went_to_sleep(now, index);
            }
        }
    }

    pub(super) fn task(&mut self, index: u32) -> &mut Task {
        &mut self.tasks[index as usize]
    }

    fn begin(&mut self, now: Instant, index: u32) -> bool {
        if self.is_ended(index) {
            return self.never_begin(now, index);
        }
        self.enter_flow(index);
        let task = self.task(index);
        task.stream.begin(now);
        task.begin_measures(now);
        let over = now + task.ramp;
        self.tell(index, |report| {
            report.started = Some(now);
            report.counted_from = now;
            report.in_ramp = over > now;
        });
        if over > now {
            self.events.push(over, Event::RampOver(index));
        }
        self.map_files(index);
        self.go_on(index)
    }

    fn fetch(&mut self, now: Instant, index: u32) -> bool {
        if self.must_stop(index) {
            return self.drain(now, index);
        }
        let task = self.task(index);
        let taken = task.surplus().min(task.untaken);
        self.take_up(index, taken);
        let task = self.task(index);
        if let Some(pause) = task.pause() {
            return self.think(now, index, pause);
        }
        let stream_of = task.stream_of;
        if task.waits_for_script() {
            task.step = Step::Full;
            return false;
        }
        if let Some(until) = self.held_by_flow(now, index) {
            return self.wait(index, Sleep { looks_from: until, until });
        }
        let next = self.task(stream_of).stream.next(now);
        self.task(index).heed_script();
        match next {
            Next::Io(io) => self.start_io(now, index, io),
            Next::Flush(durable) => self.sync(now, index, durable),
            Next::Await(awaits) => self.await_ios(index, awaits),
            Next::Wait(until) => self.wait(index, Sleep { looks_from: now, until }),
            Next::Exit => self.drain(now, index),
        }
    }

    /// Takes up what has completed, or waits for it.
    fn await_ios(&mut self, index: u32, awaits: Awaits) -> bool {
        let task = self.task(index);
        let (ready, taken, step) = match awaits {
            Awaits::One => (task.untaken > 0, task.untaken.min(1), Step::Full),
            Awaits::All => (false, task.untaken, Step::Settling),
        };
        if task.outstanding > 0 && !ready {
            task.step = step;
            return false;
        }
        let stream_of = task.stream_of;
        self.take_up(index, taken);
        self.task(stream_of).stream.go_on(awaits);
        true
    }

    fn start_io(&mut self, now: Instant, index: u32, io: FileIo) -> bool {
        self.count_in_flow(index);
        let task = self.task(index);
        task.pause = Pause::None;
        task.current = io;
        task.io_started = now;
        if task.nowhere {
            let call = task.call();
            self.returned(now, index, call, now);
            self.turn_around(now, index);
            return false;
        }
        if io.begins && task.drops != Drops::Nothing {
            self.drop_file(now, index, io.file);
        }
        let task = self.task(index);
        if task.is_mapped() {
            task.step = Step::Fault;
            self.begin_pages(index);
            return true;
        }
        match (io.op, task.is_cached()) {
            (Op::Read, true) => {
                task.step = Step::Copy;
                self.begin_pages(index);
            }
            (Op::Read, false) => return self.begin_transfer(index),
            _ => task.step = Step::TouchBefore,
        }
        true
    }

    /// Counts a completed I/O as the task sees it when it gets the CPU again, at `back`.
    pub(super) fn returned(&mut self, now: Instant, index: u32, call: Call, back: Instant) {
        let Call { op, bytes, started, failed, .. } = call;
        let latency = back - started;
        let task = &mut self.tasks[index as usize];
        task.untaken += 1;
        task.stream.note_done(now);
        task.heed_measures(now, call, latency);
        if task.report.counts(now) {
            self.tell(index, |report| report.count(op, bytes, latency, failed));
        }
    }

    // ---- times of files ------------------------------------------------------------------

    #[inline]
    fn touch(&mut self, now: Instant, index: u32, file_at: u32, size: u64) -> Touch {
        let file = &self.files[file_at as usize];
        let volume = &mut self.volumes[file.spec.volume as usize];
        let Some(journal) = &mut volume.journal else { return Touch::Done };
        if size <= file.size && journal.second(now) == file.touched_second {
            return Touch::Done;
        }
        self.change_inode(now, index, file_at, size)
    }

    #[inline(never)]
    fn change_inode(&mut self, now: Instant, index: u32, file: u32, size: u64) -> Touch {
        let file = &mut self.files[file as usize];
        let volume = &mut self.volumes[file.spec.volume as usize];
        let Some(journal) = &mut volume.journal else { return Touch::Done };
        let idle = !journal.is_running();
        let grows = size > file.size;
        let touch = journal.touch(now, file.spec.inode, &mut file.touched_second, grows);
        if touch == Touch::Done {
            file.size = file.size.max(size);
        }
        if idle && journal.is_running() {
            self.events.push(now, Event::Commit(file.spec.volume));
        }
        if touch == Touch::Sleep {
            self.tasks[index as usize].paging.slept = true;
            volume.log_waiters.push(index);
        }
        touch
    }

    fn touch_before(&mut self, now: Instant, index: u32) -> bool {
        let FileIo { file, op, offset, bytes, .. } = self.task(index).current;
        let size = if op == Op::Write { offset + bytes } else { 0 };
        self.touch(now, index, file, size) == Touch::Done && self.begin_transfer(index)
    }

    fn touch_after(&mut self, now: Instant, index: u32, call: Call) -> bool {
        if self.touch(now, index, call.file, 0) != Touch::Done {
            return false;
        }
        if self.task(index).is_cached() {
            return self.pages_used(now, index);
        }
        self.come_back(now, index, call);
        false
    }

    /// Continues after the log write that the task slept for. A task keeps the CPU from its wake-up
    /// to its next submission, so tasks that are woken first submit first.
    pub(super) fn after_log(&mut self, now: Instant, index: u32) {
        match self.task(index).step {
            Step::TouchAfter(call) => {
                self.touch_after(now, index, call);
            }
            _ => self.wake(now, index),
        }
    }

    // ---- the CPU -------------------------------------------------------------------------

    /// Schedules a woken task to ask for its next I/O. Returns when it gets a CPU.
    #[inline]
    pub(super) fn turn_around(&mut self, now: Instant, index: u32) -> Instant {
        let task = &mut self.tasks[index as usize];
        let (back, at) = self.cpus.turnaround(now, &mut task.cpu, task.numbers.home);
        task.report.cpu += at - back;
        self.events.push(at, Event::Run(index));
        back
    }

    /// Returns from the call that the task waited for, and lets the task continue.
    #[inline]
    pub(super) fn come_back(&mut self, now: Instant, index: u32, call: Call) {
        self.task(index).step = Step::Fetch;
        let back = self.turn_around(now, index);
        self.returned(now, index, call, back);
    }

    #[inline]
    pub(super) fn run_later(&mut self, now: Instant, index: u32, burst: Span) {
        let task = &mut self.tasks[index as usize];
        let at = self.cpus.run(now, &mut task.cpu, burst);
        task.report.cpu += burst;
        self.events.push(at, Event::Run(index));
    }

    /// Wakes a task that waited inside a system call.
    pub(super) fn wake(&mut self, now: Instant, index: u32) {
        let burst = self.cpus.spec().slot_wake;
        self.run_later(now, index, burst);
    }
}
