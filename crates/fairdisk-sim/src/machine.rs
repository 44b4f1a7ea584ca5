//! Everything above the device as one state machine: tasks, host and engine.
//!
//! A shell passes in the current time and the requests the device has completed. The machine
//! has an outbox with the requests to issue, and the time of its next event. It never reads a
//! clock.

mod backlog;
mod config;
mod faulting;
mod flushing;
mod group;
mod integrity;
mod io;
mod journaling;
mod outbox;
mod paging;
mod phases;
mod plugging;
mod reading;
mod tally;
mod task;
mod transfer;
mod writing_back;
#[cfg(test)]
mod written_back_tests;

pub use config::MachineConfig;
pub use tally::{GroupTally, OpTally, TaskReport};

use crate::events::Events;
use crate::host::{Cpus, File, Journal, PageCache};
use crate::workload::Awaited;
use backlog::Backlog;
use fairdisk_core::{
    Change, Elevator, Engine, Entry, GroupId, Input, Instant, Journal as Log, Prng, Refusal,
    RequestId, Sleeper, Span, TaskId, Ticks,
};
pub use group::GroupSpec;
pub use integrity::IntegrityWrites;
use io::{IoKind, Ios};
pub use outbox::Issued;
use outbox::Outbox;
use paging::PageWaiter;
use phases::Phases;
pub use plugging::Unplugs;
use std::collections::BTreeMap;
use task::{PAGE_BYTES, Step, Task};
use writing_back::WriteBack;

/// An event at a set time.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A task gets to run.
    Run(u32),
    /// A task that slept for a request slot has been woken.
    Woken(Sleeper, TaskId),
    /// A woken task tries again to get a slot.
    Retry(Sleeper, TaskId),
    /// The journal task of a volume checks its transaction.
    Commit(u32),
    /// The flusher checks for old data.
    LookForOld,
}

/// A simulated host: its tasks, page cache, file systems, CPUs and request queue.
#[derive(Debug)]
pub struct Machine<E> {
    engine: Engine<E>,
    cpus: Cpus,
    config: MachineConfig,
    tasks: Vec<Task>,
    files: Vec<File>,
    /// The journal of each volume, if it has one.
    journals: Vec<Option<Journal>>,
    /// For each volume, the tasks that sleep until its log write has ended.
    log_waiters: Vec<Vec<u32>>,
    /// For each volume, the tasks that wait for a commit to end.
    commit_waiters: Vec<Vec<u32>>,
    /// An empty list, reused for tasks that start to wait while others are being woken.
    spare_waiters: Vec<u32>,
    ios: Ios,
    /// The page cache.
    pages: PageCache,
    page_waiters: Vec<PageWaiter>,
    write_back: Option<WriteBack>,
    /// Indexed by task number: the programs, then the journal tasks, then one flusher per group.
    backlogs: Vec<Backlog>,
    events: Events<Event>,
    tick_at: Option<Instant>,
    outbox: Outbox,
    /// The first refusal of the elevator, if there was one.
    refused: Option<Refusal>,
    /// Total turns of each group before counting started.
    charged_before: Vec<Span>,
    /// Tasks that have not ended, or whose read-ahead or write-back is still under way.
    left: usize,
    /// Tasks that have not ended and are awaited together with others.
    awaited: usize,
    phases: Phases,
    stopping: bool,
}

impl<E: Elevator> Machine<E> {
    /// A machine whose engine uses `elevator` and whose tasks start at their set times.
    pub fn new(elevator: E, config: MachineConfig) -> Self {
        assert!(
            config.write_back.is_none() || config.engine.ticks != Ticks::EXACT,
            "whoever writes more than is written back would sleep for nanoseconds"
        );
        let prng = Prng::new(config.seed);
        let log = if config.keep_journal { Log::keeping() } else { Log::hashing() };
        let files = config.files.iter();
        let files = files.map(|spec| File::new(*spec, &config.volumes[spec.volume as usize]));
        let pages = config.page_cache();
        let write_back = config.write_back.map(|spec| WriteBack::new(spec, &config, &pages));
        let group_count = config.groups.len().max(1);
        let of_host = config.volumes.len() + group_count;
        let ticks = config.engine.ticks;
        let journals = config.volumes.iter();
        let journals = journals.map(|volume| volume.journal.map(|spec| Journal::new(spec, ticks)));
        let mut machine = Self {
            engine: Engine::new(elevator, config.engine, log),
            cpus: Cpus::new(config.cpu, prng.fork(0)),
            tasks: Vec::new(),
            files: files.collect(),
            journals: journals.collect(),
            log_waiters: vec![Vec::new(); config.volumes.len()],
            commit_waiters: vec![Vec::new(); config.volumes.len()],
            spare_waiters: Vec::new(),
            ios: Ios::new(),
            pages,
            write_back,
            page_waiters: Vec::with_capacity(config.tasks.len()),
            backlogs: vec![Backlog::default(); config.tasks.len() + of_host],
            events: Events::new(),
            tick_at: None,
            outbox: Outbox::default(),
            refused: None,
            charged_before: vec![Span::ZERO; group_count],
            left: config.tasks.len(),
            awaited: config.tasks.iter().filter(|task| task.awaited != Awaited::No).count(),
            phases: Phases::new(&config.tasks),
            stopping: false,
            config,
        };
        machine.start(&prng);
        machine
    }

    fn start(&mut self, prng: &Prng) {
        if !self.config.rotational {
            let change = Change::Rotational { rotational: false };
            self.configure(Instant::ZERO, change);
        }
        let depth = Change::Depth { depth: self.config.engine.depth };
        let depth = self.config.serves_together.then_some(depth);
        let costs = self.config.costs.map(Change::Costs);
        let flushable = self.config.flushable.then_some(Change::Flushable { flushable: true });
        let groups = (0u32..).map(GroupId).zip(&self.config.groups);
        let added =
            groups.clone().map(|(group, spec)| Change::GroupAdded { group, share: spec.share });
        let more = groups.flat_map(|(group, spec)| spec.more(group));
        let changes: Vec<Change> =
            depth.into_iter().chain(costs).chain(flushable).chain(added).chain(more).collect();
        for change in changes {
            self.configure(Instant::ZERO, change);
        }
        let mut streams = BTreeMap::new();
        for (index, spec) in self.config.tasks.iter().enumerate() {
            for file in spec.files.iter().filter(|_| spec.creates_files) {
                self.files[*file as usize].create();
            }
            let mut task = Task::new(
                spec,
                &self.config.files,
                &prng.fork(1 + index as u64),
                index as u32,
                self.config.read_ahead_pages,
            );
            if spec.shares_stream {
                let stream = (spec.job, spec.files.clone());
                task.stream_of = *streams.entry(stream).or_insert(index as u32);
            }
            self.tasks.push(task);
        }
        self.start_ready(Instant::ZERO);
    }

    /// Schedules the tasks that no longer wait for others, none before its start time.
    fn start_ready(&mut self, now: Instant) {
        for index in self.phases.start(&self.config.tasks) {
            let start = self.config.tasks[index as usize].start;
            self.events.push(now.max(start), Event::Run(index));
        }
    }

    // ---- driven by the shell -------------------------------------------------------------

    /// When the machine next needs a call of [`advance`](Self::advance).
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        match (self.events.next_at(), self.tick_at) {
            (Some(event), Some(tick)) => Some(event.min(tick)),
            (event, tick) => event.or(tick),
        }
    }

    /// Processes what is due at `now`.
    pub fn advance(&mut self, now: Instant) {
        if self.tick_at.is_some_and(|tick| now >= tick) {
            self.feed(now, Input::Tick);
            self.settle(now);
        }
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Run(task) => self.run(now, task),
                Event::Woken(sleeper, task) => self.wake_sleeper(now, sleeper, task),
                Event::Retry(sleeper, task) => self.retry(now, sleeper, task),
                Event::Commit(volume) => self.commit(now, volume),
                Event::LookForOld => self.look_for_old(now),
            }
            self.settle(now);
        }
    }

    /// Reports a request that the device has completed.
    pub fn completed(&mut self, now: Instant, id: RequestId, ok: bool) {
        self.feed(now, Input::Completed { request: id, ok });
        self.settle(now);
    }

    /// Applies a change to groups, tasks or the device.
    pub fn configure(&mut self, now: Instant, change: Change) {
        self.feed(now, Input::Configure(change));
        self.settle(now);
    }

    /// The first refusal of the elevator, if there was one.
    pub const fn refused(&self) -> Option<&Refusal> {
        self.refused.as_ref()
    }

    /// Stops the workload: tasks start nothing new, and I/O in flight completes.
    pub const fn stop(&mut self) {
        self.stopping = true;
    }

    /// Whether the workload is done: nothing is in flight, and either every task has ended and no
    /// data is left to write back, or the machine was stopped, which leaves dirty data in memory.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let is_clean = || self.write_back.as_ref().is_none_or(WriteBack::is_clean);
        let stopped = || self.stopping && self.tasks.iter().all(Task::is_asleep);
        let ended = || self.left == 0 && is_clean() || stopped();
        self.engine.accounts().in_flight() == 0 && ended()
    }

    // ---- what came of it -----------------------------------------------------------------

    /// The engine, with its accounts and its journal.
    pub const fn engine(&self) -> &Engine<E> {
        &self.engine
    }

    /// Removes and returns the journal entries since the last call, if the journal keeps them.
    pub fn drain_journal(&mut self) -> impl Iterator<Item = Entry> {
        self.engine.drain_journal()
    }

    /// Bytes in memory that are dirty or being written back.
    #[must_use]
    pub fn dirty_bytes(&self) -> u64 {
        self.write_back.as_ref().map_or(0, |back| back.pages.held() * PAGE_BYTES)
    }

    /// The report of each task.
    pub fn task_reports(&self) -> impl Iterator<Item = &TaskReport> {
        self.tasks.iter().map(|task| &task.report)
    }

    /// The group of each task, and when the task ended, if it has.
    pub fn task_ends(&self) -> impl Iterator<Item = (GroupId, Option<Instant>)> {
        self.tasks.iter().map(|task| (task.group, task.report.finished))
    }

    // ---- what completes ------------------------------------------------------------------

    /// Marks an I/O as having all its parts. If all of them have completed already, so has the I/O.
    #[inline]
    fn all_made(&mut self, now: Instant, index: u32) {
        if self.ios.part_done(index, true) {
            self.io_done(now, index);
        }
    }

    fn io_done(&mut self, now: Instant, index: u32) {
        if self.ios.get(index).failed {
            self.failed(now, index);
        }
        let io = self.ios.get(index);
        match io.kind {
            IoKind::Data { task, file } => self.data_done(now, task, file, index),
            IoKind::Metadata { task } => self.wake(now, task),
            IoKind::Pages { .. } => {
                let io = *io;
                self.pages_read(now, &io);
            }
            IoKind::WriteBehind { task } => {
                let bytes = io.bytes;
                self.write_behind_done(now, task, bytes);
            }
            IoKind::WriteBack { .. } => {
                let io = *io;
                self.written_back(now, &io);
            }
            IoKind::Flush { task } => self.flush_done(now, task, index),
            IoKind::Journal { volume } => self.journal_written(now, volume),
        }
    }

    /// Read-ahead and write-back return no error to a call, so their failures are counted here.
    #[cold]
    fn failed(&mut self, now: Instant, index: u32) {
        let io = self.ios.get(index);
        let (IoKind::Pages { task, .. }
        | IoKind::WriteBehind { task }
        | IoKind::WriteBack { owner: task, .. }) = io.kind
        else {
            return;
        };
        let task = &mut self.tasks[task as usize];
        if now >= task.report.counted_from {
            task.report.per_op.of_mut(io.op).errors += 1;
        }
    }

    /// The task that writes back buffered data of the first group. Flushers follow the journal
    /// tasks.
    const fn flusher(&self) -> TaskId {
        TaskId((self.tasks.len() + self.journals.len()) as u32)
    }

    fn exit(&mut self, now: Instant, index: u32) {
        let task = &mut self.tasks[index as usize];
        task.step = Step::Exited;
        task.report.finished = Some(now);
        task.report.cut_off = self.stopping;
        self.unmap_files(index);
        self.forget(now, index);
        self.stopping |= self.count_end(self.config.tasks[index as usize].awaited);
        if self.phases.ended(&self.config.tasks[index as usize]) {
            self.start_ready(now);
        }
    }

    /// Counts the end of a task awaited like this. Returns whether the remaining tasks must stop.
    fn count_end(&mut self, awaited: Awaited) -> bool {
        self.awaited -= usize::from(awaited != Awaited::No);
        match awaited {
            Awaited::Alone => true,
            Awaited::WithOthers => {
                self.awaited == 0 && self.config.tasks.iter().any(|it| it.awaited == Awaited::No)
            }
            Awaited::No => false,
        }
    }

    /// Tells schedulers that a task has ended, once nothing more of it can arrive: its data is on
    /// the disk and its read-ahead has completed.
    fn forget(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        if task.step != Step::Exited || task.dirty_bytes > 0 || task.paging.coming > 0 {
            return;
        }
        self.left -= 1;
        self.feed(now, Input::Configure(Change::TaskExited { task: TaskId(index) }));
        self.write_out(now);
    }
}
