//! Everything above the disks as one state machine: tasks, host, and an engine for each disk.
//!
//! A shell passes in the current time and the requests that disks have completed. The machine
//! has an outbox with the requests to issue, and the time of its next event. It never reads a
//! clock.

mod allocating;
mod backlog;
mod changing;
mod charging;
mod config;
mod disk;
mod ending;
mod faulting;
mod flowing;
mod flushing;
mod group;
mod integrity;
mod io;
mod journaling;
mod measuring;
mod moving;
mod numbers;
mod outbox;
mod paging;
mod phases;
mod plugging;
mod reading;
mod reclaiming;
mod scripted;
mod sleeping;
mod stalls;
mod tally;
mod task;
mod transfer;
mod writing_back;
#[cfg(test)]
mod written_back_tests;

pub use config::{DiskConfig, MachineConfig};
pub use tally::{GroupTally, MemoryUse, OpTally, TaskReport};

use crate::alarms::Alarms;
use crate::events::Events;
use crate::host::memory::{Memory, Taker, Vmstat};
use crate::host::{Cpus, File, PageCache};
use crate::workload::Awaited;
use config::PAGE_BYTES;
use disk::Disks;
use fairdisk_core::{
    Change, Elevator, Engine, Entry, GroupId, Input, Instant, Prng, Refusal, RequestId, Sleeper,
    TaskId, Ticks,
};
use flowing::Flows;
pub use group::GroupSpec;
pub use integrity::IntegrityWrites;
use io::{Io, IoKind};
use journaling::Volume;
use moving::Stay;
use numbers::Numbers;
pub use outbox::Issued;
use outbox::Outbox;
use paging::PageWaiter;
use phases::Phases;
pub use plugging::Unplugs;
pub use reclaiming::MemoryConfig;
use reclaiming::Reclaiming;
pub use stalls::{NapUntil, StallStep};
use std::collections::BTreeMap;
use task::{Step, Task};
use writing_back::WriteBack;

/// An event at a set time.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A task gets to run.
    Run(u32),
    /// The sleep of a task is over, or the task was ended in it.
    SleepOver(u32),
    /// A task that slept for a request slot of a disk has been woken.
    Woken(u32, Sleeper, TaskId),
    /// A woken task tries again to get a slot.
    Retry(u32, Sleeper, TaskId),
    /// The journal task of a volume checks its transaction.
    Commit(u32),
    /// The flusher of a disk checks for old data.
    LookForOld(u32),
    /// kswapd gets to run.
    Kswapd,
    /// The time of a nap is over.
    NapOver(u64),
    /// The ramp of a task is over.
    RampOver(u32),
}

/// A simulated host: its tasks, page cache, file systems and CPUs, and the queues of its disks.
#[derive(Debug)]
pub struct Machine<E> {
    config: MachineConfig,
    disks: Disks<E>,
    /// When each disk's engine wants its next tick.
    ticks: Alarms,
    /// Whether any disk is plugged while it is idle.
    plugs: bool,
    outbox: Outbox,
    cpus: Cpus,
    tasks: Vec<Task>,
    /// Stays in groups of tasks that have moved, in the order in which they began.
    stays: Vec<Stay>,
    files: Vec<File>,
    volumes: Vec<Volume>,
    /// An empty list, reused for tasks that start to wait while others are being woken.
    spare_waiters: Vec<u32>,
    /// The page cache.
    pages: PageCache,
    page_waiters: Vec<PageWaiter>,
    /// What each task has taken of memory, and when it last asked.
    hands: Vec<(Instant, Taker)>,
    /// Who waits for memory; `None` if that is an amount that is always there at once.
    reclaiming: Option<Box<Reclaiming>>,
    write_back: Option<WriteBack>,
    events: Events<Event>,
    /// The first refusal of an elevator, if there was one.
    refused: Option<Refusal>,
    /// Tasks that have not ended and are awaited together with others.
    awaited: usize,
    phases: Phases,
    flows: Flows,
    stopping: bool,
}

impl<E: Elevator> Machine<E> {
    /// A machine with one disk, whose engine uses `elevator`. Tasks start at their set times.
    pub fn new(elevator: E, config: MachineConfig) -> Self {
        Self::of_disks([elevator], config)
    }

    /// A machine with several disks, each of which uses one of the elevators.
    pub fn of_disks(elevators: impl IntoIterator<Item = E>, config: MachineConfig) -> Self {
        assert!(
            config.write_back.is_none()
                || config.disks.iter().all(|disk| disk.engine.ticks != Ticks::EXACT),
            "whoever writes more than is written back would sleep for nanoseconds"
        );
        let numbers = Numbers::of_all(&config);
        let disks = Disks::new(&config, elevators, &numbers);
        let files = config.files.iter();
        let files = files.map(|spec| File::new(*spec, &config.volumes[spec.volume as usize]));
        let pages = config.page_cache();
        let seeds = config.disks.iter().map(|disk| Prng::new(disk.seed));
        let mut machine = Self {
            ticks: Alarms::new(disks.len()),
            plugs: config.disks.iter().any(|disk| disk.engine.plug.is_some()),
            outbox: Outbox::default(),
            cpus: Cpus::new(config.cpu, seeds.map(|prng| prng.fork(0)).collect()),
            tasks: Vec::new(),
            stays: Vec::new(),
            files: files.collect(),
            volumes: Volume::all(&config, &disks),
            spare_waiters: Vec::new(),
            write_back: config.write_back.map(|spec| WriteBack::new(spec, &config, &pages, &disks)),
            pages,
            hands: config.tasks.iter().map(|_| (Instant::ZERO, Taker::new(0))).collect(),
            reclaiming: config.memory.map(|memory| Box::new(Reclaiming::new(memory, &config))),
            page_waiters: Vec::with_capacity(config.tasks.len()),
            events: Events::new(),
            refused: None,
            awaited: config.tasks.iter().filter(|task| task.awaited != Awaited::No).count(),
            phases: Phases::new(&config.tasks),
            flows: Flows::default(),
            stopping: false,
            disks,
            config,
        };
        machine.start(numbers);
        machine
    }

    fn start(&mut self, numbers: Vec<Numbers>) {
        for disk in 0..self.disks.len() as u32 {
            let told = self.config.disks[disk as usize].told();
            let changes: Vec<Change> = told.chain(self.config.told_of_groups()).collect();
            for change in changes {
                self.configure(Instant::ZERO, disk, change);
            }
        }
        let mut streams = BTreeMap::new();
        for (index, (spec, numbers)) in (0..).zip(self.config.tasks.iter().zip(numbers)) {
            for file in spec.files.iter().filter(|_| spec.creates_files) {
                self.files[*file as usize].create();
            }
            let prng = Prng::new(self.config.disks[numbers.home as usize].seed);
            let mut task = Task::new(
                spec,
                &self.config.files,
                &prng.fork(1 + u64::from(numbers.at_home.0)),
                (index, numbers),
                self.config.read_ahead_pages,
            );
            if spec.shares_stream {
                let stream = (spec.job, spec.files.clone());
                task.stream_of = *streams.entry(stream).or_insert(index);
            }
            self.tasks.push(task);
        }
        self.start_ready(Instant::ZERO);
    }

    /// Schedules the tasks that no longer wait for others, none before its start time unless it has
    /// been ended.
    fn start_ready(&mut self, now: Instant) {
        for index in self.phases.start(&self.config.tasks) {
            let start = self.config.tasks[index as usize].start;
            let start = if self.is_ended(index) { now } else { now.max(start) };
            self.events.push(start, Event::SleepOver(index));
        }
    }

    // ---- driven by the shell -------------------------------------------------------------

    /// When the machine next needs a call of [`advance`](Self::advance).
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        match (self.events.next_at(), self.ticks.first()) {
            (Some(event), Some(tick)) => Some(event.min(tick)),
            (event, tick) => event.or(tick),
        }
    }

    /// Processes what is due at `now`, often nothing.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        if self.events.are_due(now) || self.ticks.are_due(now) {
            self.process(now);
        }
    }

    #[inline(never)]
    fn process(&mut self, now: Instant) {
        if self.ticks.are_due(now) {
            self.tick(now);
        }
        while let Some(event) = self.events.pop_due(now) {
            match event {
                Event::Run(task) => self.run(now, task),
                Event::SleepOver(task) => self.sleep_over(now, task),
                Event::Woken(disk, sleeper, task) => self.wake_sleeper(now, disk, sleeper, task),
                Event::Retry(disk, sleeper, task) => self.retry(now, disk, sleeper, task),
                Event::Commit(volume) => self.commit(now, volume),
                Event::LookForOld(disk) => self.look_for_old(now, disk),
                Event::Kswapd => self.run_kswapd(now),
                Event::NapOver(number) => self.nap_over(now, number),
                Event::RampOver(task) => self.tell(task, |report| report.pass_ramp(now)),
            }
            self.settle(now);
        }
    }

    /// Tells the engines whose ticks are due.
    fn tick(&mut self, now: Instant) {
        for disk in 0..self.disks.len() as u32 {
            if self.ticks.is_due(disk, now) {
                self.feed(now, disk, Input::Tick);
                self.settle(now);
            }
        }
    }

    /// Reports a request that a disk has completed. Completions of one instant are reported in the
    /// order of disks.
    pub fn completed(&mut self, now: Instant, disk: u32, id: RequestId, ok: bool) {
        self.feed_here(now, disk, Input::Completed { request: id, ok });
        self.settle(now);
    }

    /// Applies a change to groups, tasks or a disk.
    pub fn configure(&mut self, now: Instant, disk: u32, change: Change) {
        self.feed(now, disk, Input::Configure(change));
        self.settle(now);
    }

    /// The first refusal of an elevator, if there was one.
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
        let all_left = || self.disks.all(|disk| disk.left == 0);
        let ended = || all_left() && is_clean() || stopped();
        self.disks.all(|disk| disk.engine.accounts().in_flight() == 0) && ended()
    }

    // ---- what came of it -----------------------------------------------------------------

    /// The number of disks.
    pub const fn disks(&self) -> u32 {
        self.disks.len() as u32
    }

    /// The engine of a disk, with its accounts and its journal.
    pub fn engine(&self, disk: u32) -> &Engine<E> {
        &self.disks[disk].engine
    }

    /// The engines of all disks.
    pub fn engines(&self) -> impl Iterator<Item = &Engine<E>> {
        self.disks.iter().map(|disk| &disk.engine)
    }

    /// The number of tasks of a disk that are programs; they have the first numbers there.
    pub fn programs(&self, disk: u32) -> usize {
        self.disks[disk].programs.len()
    }

    /// Removes and returns the journal entries of a disk since the last call, if journals keep
    /// them.
    pub fn drain_journal(&mut self, disk: u32) -> impl Iterator<Item = Entry> {
        self.disks[disk].engine.drain_journal()
    }

    /// Bytes in memory that are dirty or being written back.
    #[must_use]
    pub fn dirty_bytes(&self) -> u64 {
        self.write_back.as_ref().map_or(0, |back| back.pages.held() * PAGE_BYTES)
    }

    /// Whether memory that is an amount was too little for what was read through it.
    #[must_use]
    pub const fn memory_was_full(&self) -> bool {
        self.pages.was_full()
    }

    /// What has happened to memory so far, if it is modelled page by page.
    #[must_use]
    pub fn vmstat(&self) -> Option<Vmstat> {
        self.memory().map(|memory| *memory.vmstat())
    }

    /// The memory, if it is modelled page by page.
    #[must_use]
    pub fn memory(&self) -> Option<&Memory> {
        self.pages.frames()
    }

    /// The report of each task.
    pub fn task_reports(&self) -> impl Iterator<Item = &TaskReport> {
        self.tasks.iter().map(|task| &task.report)
    }

    /// The group of each task, and when the task ended, if it has.
    pub fn task_ends(&self) -> impl Iterator<Item = (GroupId, Option<Instant>)> {
        self.tasks.iter().map(|task| (task.group, task.report.finished))
    }

    /// The group of each task, and when the task wanted no more of the disk, if it has come to
    /// that: when it had done its work or its time was over, whether or not I/Os were left to end.
    pub fn task_needs(&self) -> impl Iterator<Item = (GroupId, Option<Instant>)> {
        self.tasks.iter().zip(&self.config.tasks).map(|(task, spec)| {
            let started = task.report.started.zip(spec.stream.limits.runtime);
            let over = started.map(|(started, runtime)| started + runtime);
            let satisfied = task.report.satisfied;
            (task.group, satisfied.map(|at| over.map_or(at, |over| at.min(over))))
        })
    }

    // ---- what completes ------------------------------------------------------------------

    /// Marks an I/O as having all its parts. If all of them have completed already, so has the I/O.
    #[inline]
    fn all_made(&mut self, now: Instant, disk: u32, index: u32) {
        if self.disks[disk].ios.part_done(index, true) {
            self.io_done(now, disk, index);
        }
    }

    fn io_done(&mut self, now: Instant, disk: u32, index: u32) {
        let io = *self.disks[disk].ios.get(index);
        if io.failed {
            self.failed(now, &io);
        }
        if self.reclaiming.is_some() {
            self.end_naps_after(now, &io);
        }
        match io.kind {
            IoKind::Data { task, file } => self.data_done(now, task, file, &io),
            IoKind::Metadata { task } => {
                let burst = self.cpus.spec().metadata_wake;
                self.run_later(now, task, burst);
            }
            IoKind::Pages { .. } => self.pages_read(now, &io),
            IoKind::WriteBehind { task } => self.write_behind_done(now, task, io.bytes),
            IoKind::WriteBack { .. } => self.written_back(now, disk, &io),
            IoKind::Flush { task } => self.flush_done(now, task, &io),
            IoKind::Journal { volume } => self.journal_written(now, volume),
        }
    }

    /// Read-ahead and write-back return no error to a call, so their failures are counted here.
    #[cold]
    fn failed(&mut self, now: Instant, io: &Io) {
        let (IoKind::Pages { task, .. }
        | IoKind::WriteBehind { task }
        | IoKind::WriteBack { owner: task, .. }) = io.kind
        else {
            return;
        };
        if now >= self.tasks[task as usize].report.counted_from {
            self.tell(task, |report| report.per_op.of_mut(io.op).errors += 1);
        }
    }

    /// Tells schedulers that a task has ended, once nothing more of it can arrive: its data is on
    /// the disk and its read-ahead has completed.
    fn forget(&mut self, now: Instant, index: u32) {
        let task = &self.tasks[index as usize];
        if task.step != Step::Exited || task.dirty_bytes > 0 || task.paging.coming > 0 {
            return;
        }
        let numbers = task.numbers.clone();
        for (disk, number) in numbers.all() {
            self.disks[disk].left -= 1;
            self.feed(now, disk, Input::Configure(Change::TaskExited { task: number }));
            self.write_out(now, disk);
        }
    }
}
