//! A disk whose scheduler is shared by all threads that submit to it.
//!
//! The scheduler is behind a single lock, and there is no scheduler thread to hand requests to.
//! Whoever submits or completes a request asks the scheduler what comes next and takes care of it:
//! a submitter performs its own job if it is issued at once, and everything else goes to a pool of
//! threads. A timer thread serves the timers of the scheduler and of a modelled disk.
//!
//! With `io_uring`, one more thread has the kernel do the transfers of a busy disk, so that no
//! thread waits for a single transfer or is woken for each.

mod depth;
mod few;
mod flushes;
mod inbox;
mod job;
mod meter;
mod pool;
mod portion;
mod ring;
mod start;
mod state;
mod timer;
mod unheard;

pub use depth::FAR_SPAN;
pub use flushes::{FlushTimes, Flushes};
pub use job::{Job, Transfer, Way};
pub use start::{Served, StartError};

use crate::clock::{Clock, MonotonicClock};
use fairdisk_core::{
    AttachError, ByKind, Change, Entry, Flags, GroupAccount, GroupId, GroupLoad, Instant, IoPrio,
    Lba, Op, OpKind, Refusal, Sectors, Span, TaskId, Why,
};
use fairdisk_sched::Scheduler;
use fairdisk_sim::device::DeviceModel;
use inbox::Inbox;
use pool::Work;
use state::{Issued, Jobs, Outcome, State, Todo};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use timer::Appointment;
use unheard::{AllNews, News, Unheard, Which};

/// The number of unfinished jobs below which a submitter performs its own job. Waking another
/// thread for it would take longer.
const FEW: usize = 4;

/// The message of a panic on a poisoned lock. A scheduler that a panic has left half changed is not
/// asked again, so that whoever comes next panics, too.
const WHOLE: &str = "the state is whole: nobody has panicked with it";

/// A request for the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The task that makes the request.
    pub task: TaskId,
    /// The group to charge.
    pub group: GroupId,
    /// The current I/O priority of the task.
    pub ioprio: IoPrio,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The length; zero only for a flush.
    pub sectors: Sectors,
    /// Whether somebody waits for the request.
    pub sync: bool,
    /// Flags of the operation.
    pub flags: Flags,
    /// How long whoever asked has waited already, as for the data that is to be flushed.
    pub waited: Span,
}

/// The tasks and groups that have unfinished requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Tasks with requests in their own name.
    pub tasks: BTreeSet<TaskId>,
    /// Groups with requests, of their tasks or left by tasks that have ended.
    pub groups: BTreeSet<GroupId>,
}

/// The unfinished requests of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// The numbers of requests queued and at the device.
    pub load: GroupLoad,
    /// The age of the group's oldest unfinished request.
    pub oldest: Span,
    /// The age of the group's oldest request of each kind that is not at the device yet.
    pub waits: ByKind<Span>,
    /// Why what is queued is not at the device: what keeps the group back, or else why the
    /// scheduler gives the device nothing more. `None` if others go first, or the device has as
    /// many requests as it gets at once.
    pub why: Option<Why>,
}

/// A request that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The task.
    pub task: TaskId,
    /// The group that is charged.
    pub group: GroupId,
    /// The kind of operation.
    pub kind: OpKind,
    /// The time since the request was made.
    pub age: Span,
    /// Whether it is at the device, and not with the scheduler.
    pub at_device: bool,
}

/// The most requests at once that a disk gets unless told otherwise, if it takes several.
pub const DEEP: u32 = 32;

/// The most requests at once that a disk may be told to get.
pub const DEPTH_MAX: u32 = 1024;

/// How requests are served, and how many at once.
pub enum Device {
    /// By performing the jobs, as many at once as configured.
    Fixed,
    /// By performing the jobs, as many at once as measurements show to be best.
    Measured {
        /// The most requests at once.
        most: u32,
        /// Whether the disk may be rotational, so that it gets one request at a time until
        /// measurements show otherwise.
        may_turn: bool,
    },
    /// By performing the jobs at the pace of this device model, as many at once as its queue depth.
    Modelled(Box<DeviceModel>),
}

/// Whether the thread that submits a job may perform it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// The thread may block for the duration of the I/O.
    MayPerform,
    /// The thread must return without waiting for I/O.
    MustGoOn,
}

/// A scheduled disk. Dropping it waits for everything that was submitted. If one of its threads has
/// panicked, that is for ever, so a process that serves programs with it ends at a panic.
pub struct Disk {
    shared: Arc<Shared>,
    timer: Option<JoinHandle<()>>,
    ring: Option<JoinHandle<()>>,
    served: Served,
}

struct Shared {
    clock: MonotonicClock,
    guarded: Mutex<Guarded>,
    /// Tells the timer that it is needed earlier, or is to end.
    sooner: Condvar,
    jobs: pool::Queue,
    /// The work for the thread of the ring, if there is one.
    inbox: Option<Inbox>,
    /// The number of jobs submitted and not finished.
    unfinished: AtomicUsize,
    /// Events that the scheduler must be told before anything else.
    unheard: Unheard,
    /// Whether jobs may be answered as soon as they are performed, before the scheduler is told: no
    /// request is queued, and there is no device model to wait for.
    answers_first: AtomicBool,
}

struct Guarded {
    state: State,
    /// The time of the last event that the scheduler has been told.
    latest: Instant,
    /// An empty vector for the next events, kept for its allocation.
    news: AllNews,
    appointment: Appointment,
    closing: bool,
}

impl Disk {
    /// Submits a request to the scheduler; `job` is performed once the scheduler issues it.
    pub fn submit(&self, order: &Order, job: Box<dyn Job>, thread: Thread) {
        let before = self.shared.unfinished.fetch_add(1, Ordering::Relaxed);
        if let Some(inbox) = &self.shared.inbox
            && job.is_transfer()
            && (before >= FEW || thread == Thread::MustGoOn)
        {
            return inbox.order(order, job);
        }
        let may_begin = thread == Thread::MayPerform && order.sync && order.op != Op::Flush;
        let now = || self.shared.clock.now();
        if may_begin && self.shared.unheard.use_pass(now, order) {
            return self.shared.perform(Which::Unasked, Jobs::of((job, Ok(()))));
        }
        let mut guarded = self.shared.lock();
        if may_begin && guarded.state.lets_through(order) {
            self.shared.unheard.give_pass(now, order);
            drop(guarded);
            return self.shared.perform(Which::Unasked, Jobs::of((job, Ok(()))));
        }
        let mut todo = self.shared.change(&mut guarded, |state, now| state.submit(now, order, job));
        drop(guarded);
        let own = match thread {
            Thread::MayPerform => todo.issued.take_only(),
            Thread::MustGoOn => None,
        };
        self.shared.see_to(todo);
        if let Some(own) = own {
            self.shared.perform(Which::Issued(own.request), own.jobs);
        }
    }

    /// Has waiting jobs served as synchronous ones for which somebody [has come to
    /// wait](Job::is_awaited). Visits every waiting job, so it is meant for occasional use.
    pub fn hurry(&self) {
        let todo = self.shared.with(State::hurry);
        self.shared.see_to(todo);
    }

    /// Tells the scheduler of a change of groups or tasks. Finishes no job on this thread, which
    /// may hold a lock that the job wants, in order to report changes in sequence.
    ///
    /// # Errors
    /// The scheduler refuses, and nothing has changed.
    pub fn configure(&self, change: Change) -> Result<(), Refusal> {
        let mut result = Ok(());
        let todo = self.shared.with(|state, now| result = state.configure(now, change));
        self.shared.leave_to_pool(todo);
        result
    }

    /// Switches to another scheduler, which takes over the queued requests; requests at the device
    /// complete normally.
    ///
    /// # Errors
    /// The new scheduler cannot take over, and the current one stays.
    pub fn switch(&self, scheduler: Scheduler) -> Result<(), AttachError> {
        let mut result = Ok(());
        let todo = self.shared.with(|state, now| result = state.switch(now, scheduler));
        self.shared.see_to(todo);
        result
    }

    /// What a group got so far, not counting requests that still wait. Querying many groups one by
    /// one holds the lock only briefly each time.
    #[must_use]
    pub fn account(&self, group: GroupId) -> Option<GroupAccount> {
        self.shared.lock().state.account(group)
    }

    /// Begins a period of the longest waits [lately](fairdisk_core::OpAccount::lately), which are
    /// forgotten after the next one.
    pub fn begin_period(&self) {
        self.shared.lock().state.begin_period();
    }

    /// How long the flushes of a group took, with what they had waited before they were submitted.
    #[must_use]
    pub fn flushes(&self, group: GroupId) -> Flushes {
        self.shared.lock().state.flushes(group)
    }

    /// How long the disk has worked on writes of a group after it had acknowledged them, as far as
    /// the scheduler has found that out. A scheduler that takes over begins at nothing.
    #[must_use]
    pub fn deferred(&self, group: GroupId) -> Span {
        self.shared.lock().state.deferred(group)
    }

    /// The groups that have unfinished requests, and how these are doing.
    #[must_use]
    pub fn presence(&self) -> BTreeMap<GroupId, Presence> {
        self.shared.lock().state.presence_at(self.shared.clock.now())
    }

    /// The number of requests that the device gets at once.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.shared.lock().state.depth()
    }

    /// The oldest request of each task that has waited for one for longer than `least`.
    #[must_use]
    pub fn blocked(&self, least: Span) -> Vec<Blocked> {
        self.shared.lock().state.blocked_at(self.shared.clock.now(), least)
    }

    /// The number of jobs submitted and not finished.
    #[must_use]
    pub fn jobs_left(&self) -> usize {
        self.shared.unfinished.load(Ordering::Acquire)
    }

    /// How often a request that the scheduler had promised to issue at once went to the disk, and
    /// the scheduler then would have held it back. This should never happen.
    #[must_use]
    pub fn kept_back(&self) -> u64 {
        self.shared.lock().state.kept_back()
    }

    /// The tasks and groups that have unfinished requests. Visits every request, so it is meant for
    /// occasional use.
    #[must_use]
    pub fn unfinished(&self) -> Unfinished {
        self.shared.lock().state.unfinished()
    }

    /// Whether the scheduler knows enough of the disk to tell which floors can be kept.
    #[must_use]
    pub fn examines_floors(&self) -> bool {
        self.shared.lock().state.examines_floors()
    }

    /// Keeps up to `most` events from now on, or none, for whoever drains them. Nobody else is to.
    pub fn keep_journal(&self, most: usize) {
        self.shared.lock().state.keep_journal(most);
    }

    /// Exchanges the kept events for an empty list, which takes no time, and returns how many
    /// requests are missing since that was last set, as there were too many.
    pub fn swap_journal(&self, empty: &mut Vec<Entry>) -> u64 {
        self.shared.lock().state.swap_journal(empty)
    }

    /// What performs the jobs of a busy disk.
    #[must_use]
    pub const fn served(&self) -> &Served {
        &self.served
    }

    /// The time since the disk was started.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        {
            let mut guarded = self.shared.lock();
            guarded.closing = true;
            self.shared.sooner.notify_all();
        }
        // The timer stays until every job is finished; only then can the other threads end.
        if let Some(timer) = self.timer.take() {
            join(timer);
        }
        if let Some(inbox) = &self.shared.inbox {
            inbox.close();
        }
        if let Some(ring) = self.ring.take() {
            join(ring);
        }
        self.shared.jobs.end();
    }
}

/// Joins a thread of the disk, unless it is the calling one, which is the case if a job's `finish`
/// drops the disk.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // The panic of a thread has already been reported.
        let _ = thread.join();
    }
}

impl Shared {
    /// Locks the state and first tells it what it has not heard. What follows from that is taken
    /// care of by the thread that answered, which locks the state afterwards.
    fn lock(&self) -> MutexGuard<'_, Guarded> {
        let mut guarded = self.guarded.lock().expect(WHOLE);
        let Guarded { state, latest, news, .. } = &mut *guarded;
        self.unheard.take(news);
        for (at, news) in news.drain(..) {
            *latest = at.max(*latest);
            match news {
                News::Begun(order) => {
                    state.begun(*latest, &order);
                    debug_assert_eq!(state.kept_back(), 0, "let through, and kept back: {order:?}");
                }
                News::Answered(which, outcome) => state.answered(*latest, which, outcome),
            }
        }
        state.take_up_measured(*latest);
        guarded
    }

    /// Changes the state at the current time. Returns what to do once the lock is released.
    fn with(&self, change: impl FnOnce(&mut State, Instant)) -> Todo {
        self.change(&mut self.lock(), change)
    }

    fn change(&self, guarded: &mut Guarded, change: impl FnOnce(&mut State, Instant)) -> Todo {
        // Read under the lock, so that the scheduler's time never goes back.
        let now = self.clock.now();
        guarded.latest = now;
        change(&mut guarded.state, now);
        self.settle(guarded)
    }

    /// Sets the timer. Returns what to do once the lock is released.
    fn settle(&self, guarded: &mut Guarded) -> Todo {
        let answers_first = guarded.state.answers_at_once() && guarded.state.waiting() == 0;
        self.answers_first.store(answers_first, Ordering::Relaxed);
        let wanted = guarded.state.next_event();
        if guarded.appointment.bring_forward(wanted) || guarded.closing {
            self.sooner.notify_all();
        }
        let todo = std::mem::take(&mut guarded.state.todo);
        self.unfinished.fetch_sub(todo.finished.len(), Ordering::Relaxed);
        todo
    }

    /// Performs the jobs of a request, and then what follows from that.
    fn perform(&self, which: Which, mut jobs: Jobs) {
        for (job, result) in jobs.iter_mut() {
            *result = job.perform();
        }
        let todo = if !self.answers_first.load(Ordering::Relaxed) {
            self.with(|state, now| state.performed(now, which, jobs))
        } else if self.answer(which, jobs) {
            self.settle(&mut self.lock())
        } else {
            return;
        };
        self.see_to(todo);
    }

    /// Answers whoever waits for the jobs. Returns whether the scheduler must be told now.
    fn answer(&self, which: Which, jobs: Jobs) -> bool {
        let outcome = Outcome::of(&jobs);
        let tell = self.unheard.answered(|| self.clock.now(), which, outcome);
        // Before the answers, so that whoever finds no unfinished jobs finds all of them counted,
        // too.
        self.unfinished.fetch_sub(jobs.len(), Ordering::Release);
        jobs.each(|(job, result)| job.finish(result));
        // Another thread may have told the scheduler meanwhile.
        tell && self.unheard.is_due()
    }

    fn see_to(&self, todo: Todo) {
        todo.issued.each(|issued| self.start(issued));
        todo.finished.each(|(job, result)| job.finish(result));
    }

    /// Has an issued request performed by another thread.
    fn start(&self, issued: Issued) {
        match &self.inbox {
            Some(inbox) if issued.is_transfer() => inbox.issued(issued),
            _ => self.perform_elsewhere(issued),
        }
    }

    fn perform_elsewhere(&self, issued: Issued) {
        self.jobs.push(Work::Perform(issued));
    }

    fn leave_to_pool(&self, todo: Todo) {
        todo.issued.each(|issued| self.start(issued));
        todo.finished.each(|finished| self.jobs.push(Work::Finish(finished)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Preference;
    use fairdisk_core::EngineConfig;
    use fairdisk_sched::SchedulerSpec;
    use std::io;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
    use std::time::Duration;

    /// Longer than anything in these tests takes.
    const LONG: Duration = Duration::from_secs(20);

    struct Step {
        performing: Sender<()>,
        go_on: Receiver<()>,
        answer: Sender<()>,
    }

    impl Job for Step {
        fn perform(&mut self) -> io::Result<()> {
            self.performing.send(()).expect("the test listens");
            self.go_on.recv().expect("the test says when");
            Ok(())
        }

        fn finish(self: Box<Self>, _: io::Result<()>) {
            self.answer.send(()).expect("the test listens");
        }
    }

    /// What a test observes of a step.
    struct Seen {
        performing: Receiver<()>,
        go_on: Sender<()>,
        answered: Receiver<()>,
    }

    fn step() -> (Box<Step>, Seen) {
        let (performing, is_performing) = channel();
        let (go, go_on) = channel();
        let (answer, answered) = channel();
        let seen = Seen { performing: is_performing, go_on: go, answered };
        (Box::new(Step { performing, go_on, answer }), seen)
    }

    /// One request at a time.
    fn disk(scheduler: &str) -> Disk {
        let scheduler = SchedulerSpec::named(scheduler).expect("it is known").build();
        let config = EngineConfig::default();
        let disk = Disk::start(scheduler, config, Device::Fixed, 2, Preference::Threads);
        disk.expect("threads")
    }

    /// A read by the given task.
    pub(super) fn order(task: u32) -> Order {
        Order {
            task: TaskId(task),
            group: GroupId::ROOT,
            ioprio: IoPrio::UNSET,
            op: Op::Read,
            start: Lba(1000),
            sectors: Sectors(8),
            sync: true,
            flags: Flags::NONE,
            waited: Span::ZERO,
        }
    }

    fn ios(disk: &Disk) -> u64 {
        disk.account(GroupId::ROOT).map_or(0, |account| account.ios())
    }

    /// A task has a read performed, and the scheduler is told its outcome.
    fn read(disk: &Disk, task: u32) {
        let (job, seen) = step();
        seen.go_on.send(()).expect("it will listen");
        disk.submit(&order(task), job, Thread::MayPerform);
        assert_eq!(seen.answered.try_recv(), Ok(()));
    }

    #[test]
    fn who_asked_does_not_wait_for_the_scheduler_if_nobody_else_does() {
        let disk = disk("noop");
        let (job, seen) = step();
        disk.submit(&order(1), job, Thread::MustGoOn);
        seen.performing.recv().expect("it is issued at once");
        let busy = disk.shared.lock();
        seen.go_on.send(()).expect("it waits");
        assert_eq!(seen.answered.recv_timeout(LONG), Ok(()));
        drop(busy);
        assert_eq!(ios(&disk), 1);
    }

    #[test]
    fn who_is_let_through_is_performed_and_answered_before_the_scheduler_is_asked() {
        for scheduler in ["noop", "fair"] {
            let disk = disk(scheduler);
            read(&disk, 1);
            read(&disk, 1);
            std::thread::scope(|scope| {
                let (job, seen) = step();
                let busy = disk.shared.guarded.lock().expect("nobody panicked");
                scope.spawn(|| disk.submit(&order(1), job, Thread::MayPerform));
                assert_eq!(seen.performing.recv_timeout(LONG), Ok(()), "{scheduler}");
                seen.go_on.send(()).expect("it waits");
                assert_eq!(seen.answered.recv_timeout(LONG), Ok(()), "{scheduler}");
                drop(busy);
            });
            assert_eq!(ios(&disk), 3);
        }
    }

    /// The scheduler learns of a request that bypassed it before it decides anything else.
    #[test]
    fn nothing_goes_to_the_disk_beside_what_was_let_through() {
        let disk = disk("fair");
        read(&disk, 1);
        std::thread::scope(|scope| {
            let (job, first) = step();
            scope.spawn(|| disk.submit(&order(1), job, Thread::MayPerform));
            first.performing.recv().expect("it is let through");
            let (job, second) = step();
            disk.submit(&order(1), job, Thread::MustGoOn);
            let loads = disk.presence()[&GroupId::ROOT].load;
            assert_eq!((loads.in_flight, loads.queued), (1, 1));
            let early = second.performing.recv_timeout(Duration::ZERO);
            assert_eq!(early, Err(RecvTimeoutError::Timeout));
            first.go_on.send(()).expect("it waits");
            second.performing.recv().expect("the disk is free");
            second.go_on.send(()).expect("it waits");
            assert_eq!((first.answered.recv(), second.answered.recv()), (Ok(()), Ok(())));
        });
        while disk.jobs_left() > 0 {}
        assert_eq!(ios(&disk), 3);
    }

    /// A thread that answers, and finds the scheduler told already, does not revoke the pass.
    #[test]
    fn who_comes_before_the_scheduler_was_told_keeps_the_pass() {
        struct Twice<'a>(&'a Disk, Option<Box<Step>>);
        impl Job for Twice<'_> {
            fn perform(&mut self) -> io::Result<()> {
                Ok(())
            }

            fn finish(self: Box<Self>, _: io::Result<()>) {
                let Self(disk, job) = *self;
                job.into_iter().for_each(|job| disk.submit(&order(1), job, Thread::MayPerform));
            }
        }
        let disk: &'static Disk = Box::leak(Box::new(disk("fair")));
        let (job, seen) = step();
        seen.go_on.send(()).expect("it will listen");
        disk.submit(&order(1), Box::new(Twice(disk, Some(job))), Thread::MayPerform);
        assert_eq!(seen.answered.try_recv(), Ok(()));
        assert!(disk.shared.unheard.use_pass(|| disk.now(), &order(1)));
    }

    /// The pass holds for no other task, and not after any other event.
    #[test]
    fn a_pass_is_for_one_at_a_time_and_until_anything_else_happens() {
        let disk = disk("fair");
        read(&disk, 1);
        read(&disk, 1);
        let news = &disk.shared.unheard;
        let may = |task: u32| news.use_pass(|| disk.now(), &order(task));
        assert!(!may(2), "of another");
        assert!(may(1));
        assert!(!may(1), "the disk takes one");
        let none = Outcome::of(&Jobs::default());
        let tell = || news.answered(|| disk.now(), Which::Unasked, none);
        assert!(!tell(), "there will be more");
        assert!(may(1));
        assert_eq!(ios(&disk), 3, "whoever looks sees what is done");
        assert_eq!(disk.presence()[&GroupId::ROOT].load.in_flight, 1);
        assert!(tell(), "the scheduler knows of its beginning");
        assert!(!may(1), "somebody has looked");
        read(&disk, 1);
        let told = (2..).find(|_| {
            assert!(may(1));
            tell()
        });
        assert_eq!(told, Some(16), "no more than that lies there");
        assert_eq!(ios(&disk), 4 + 16);
    }
}
