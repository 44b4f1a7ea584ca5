//! A disk shared by whoever submits to it, from any thread.
//!
//! The scheduler sits behind one lock; there is no scheduler thread to hand things to. Whoever
//! submits or finishes something asks the scheduler what comes next and sees to it: the submitter
//! performs its own job where it stands if it is issued at once, everything else goes to a pool of
//! threads. A timer thread keeps the scheduler's appointments and those of a modelled disk.
//!
//! Where there is an `io_uring`, one more thread has the kernel do the transfers of a busy disk:
//! nobody waits for a single one of them, and no thread is woken for each.

mod depth;
mod few;
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

pub use job::{Job, Transfer, Way};
pub use start::{Served, StartError};

use crate::clock::{Clock, MonotonicClock};
use fairdisk_core::{
    AttachError, Change, Flags, GroupAccount, GroupId, GroupLoad, Instant, IoPrio, Lba, Op,
    Refusal, Sectors, Span, TaskId,
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

/// While fewer jobs than this are waiting or at work, whoever submits one performs it: to have
/// another thread woken for it would take longer.
const FEW: usize = 4;

/// A scheduler that a panic has left half changed is asked nothing more: whoever comes panics, too.
const WHOLE: &str = "the state is whole: nobody has panicked with it";

/// Who wants what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Who asks.
    pub task: TaskId,
    /// The group it is charged to.
    pub group: GroupId,
    /// The task's priority at this moment.
    pub ioprio: IoPrio,
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Length; zero only for a flush.
    pub sectors: Sectors,
    /// Whether somebody waits for it.
    pub sync: bool,
    /// Hints.
    pub flags: Flags,
}

/// Those who have something on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// In their own name.
    pub tasks: BTreeSet<TaskId>,
    /// By their tasks, or what those have left.
    pub groups: BTreeSet<GroupId>,
}

/// What a group has asked for and not got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// Requests queued and at the device.
    pub load: GroupLoad,
    /// How long the oldest of it has been asked for.
    pub oldest: Span,
    /// How long the oldest of what is not at the device has been.
    pub waits: Span,
}

/// What serves the requests, and how many at once.
pub enum Device {
    /// Whatever the jobs reach, the configured number at once.
    Fixed,
    /// Whatever the jobs reach: as many at once as the disk is seen to serve best.
    Measured {
        /// No more than these.
        most: u32,
        /// It is given one at a time until it is seen that it does not turn.
        may_turn: bool,
    },
    /// As the jobs, held to the pace of this disk, and as many at once as it takes.
    Modelled(Box<DeviceModel>),
}

/// Whether the thread that submits may perform the job itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// It may block for as long as the I/O takes.
    MayPerform,
    /// It is needed elsewhere.
    MustGoOn,
}

/// A scheduled disk. Dropping it waits for everything submitted: for ever if a thread of it has
/// panicked, so that who serves programs with it ends the process at a panic.
pub struct Disk {
    shared: Arc<Shared>,
    timer: Option<JoinHandle<()>>,
    ring: Option<JoinHandle<()>>,
    served: Served,
}

struct Shared {
    clock: MonotonicClock,
    guarded: Mutex<Guarded>,
    /// The timer has an earlier appointment, or is to end.
    sooner: Condvar,
    jobs: pool::Queue,
    /// For the thread of the ring, if there is one.
    inbox: Option<Inbox>,
    /// Jobs submitted and not finished.
    unfinished: AtomicUsize,
    /// What the scheduler is told before anything else.
    unheard: Unheard,
    /// Whoever asked is told as soon as its jobs are performed: nobody waits for the scheduler to
    /// decide, and no model has a say.
    answers_first: AtomicBool,
}

struct Guarded {
    state: State,
    /// The time at which something happened last that the scheduler has heard of.
    latest: Instant,
    /// Empty, for what it hears next.
    news: AllNews,
    appointment: Appointment,
    closing: bool,
}

impl Disk {
    /// Lets the scheduler have `order`; `job` is performed when it says so.
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

    /// Groups or tasks changed. Finishes no job in this thread, which may hold a lock that the job
    /// wants: changes are told in the order in which they happened.
    ///
    /// # Errors
    /// The scheduler will not do it, and nothing has changed.
    pub fn configure(&self, change: Change) -> Result<(), Refusal> {
        let mut result = Ok(());
        let todo = self.shared.with(|state, now| result = state.configure(now, change));
        self.shared.leave_to_pool(todo);
        result
    }

    /// Another scheduler takes over what is queued; what is at the device finishes as it is.
    ///
    /// # Errors
    /// It cannot work with what it finds; the one in charge stays.
    pub fn switch(&self, scheduler: Scheduler) -> Result<(), AttachError> {
        let mut result = Ok(());
        let todo = self.shared.with(|state, now| result = state.switch(now, scheduler));
        self.shared.see_to(todo);
        result
    }

    /// What a group got so far, without those who still wait: whoever asks for many groups one by
    /// one keeps nobody who wants the disk waiting for long.
    #[must_use]
    pub fn account(&self, group: GroupId) -> Option<GroupAccount> {
        self.shared.lock().state.account(group)
    }

    /// What groups have asked for and not got at this moment; those that have nothing of the kind
    /// are not there.
    #[must_use]
    pub fn presence(&self) -> BTreeMap<GroupId, Presence> {
        self.shared.lock().state.presence_at(self.shared.clock.now())
    }

    /// How many jobs have been submitted and are not finished.
    #[must_use]
    pub fn jobs_left(&self) -> usize {
        self.shared.unfinished.load(Ordering::Acquire)
    }

    /// How often something went to the disk unasked, as the scheduler had said that it would let it
    /// through, and it would have kept it back. It never should.
    #[must_use]
    pub fn kept_back(&self) -> u64 {
        self.shared.lock().state.kept_back()
    }

    /// Who has something with the scheduler or at the device. For those who look now and then.
    #[must_use]
    pub fn unfinished(&self) -> Unfinished {
        self.shared.lock().state.unfinished()
    }

    /// The scheduler in charge, by the name of its revision.
    #[must_use]
    pub fn scheduler(&self) -> &'static str {
        self.shared.lock().state.scheduler()
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
        // The timer stays until everything is finished; only then can the others end.
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

/// Waits for a thread of the disk; not if it is the one that drops the disk, in a job's finish.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // One that has panicked is none to wait for.
        let _ = thread.join();
    }
}

impl Shared {
    /// What the state has not heard of it hears first; what comes of that is seen to by whoever
    /// answered, who locks it after that.
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
        state.take_up_depth(*latest);
        guarded
    }

    /// Changes the state at the present moment; says what to do now that the lock is given back.
    fn with(&self, change: impl FnOnce(&mut State, Instant)) -> Todo {
        self.change(&mut self.lock(), change)
    }

    fn change(&self, guarded: &mut Guarded, change: impl FnOnce(&mut State, Instant)) -> Todo {
        // Read under the lock: the scheduler's time never goes back.
        let now = self.clock.now();
        guarded.latest = now;
        change(&mut guarded.state, now);
        self.settle(guarded)
    }

    /// Sees to it that the timer comes in time; says what to do once the lock is given back.
    fn settle(&self, guarded: &mut Guarded) -> Todo {
        let answers_first = guarded.state.answers_at_once() && guarded.state.waiting() == 0;
        self.answers_first.store(answers_first, Ordering::Relaxed);
        let wanted = guarded.state.next_event();
        if guarded.appointment.brought_forward(wanted) || guarded.closing {
            self.sooner.notify_all();
        }
        let todo = std::mem::take(&mut guarded.state.todo);
        self.unfinished.fetch_sub(todo.finished.len(), Ordering::Relaxed);
        todo
    }

    /// Performs a request and hears what comes next.
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

    /// Tells whoever asked. Whether the scheduler is to be told now.
    fn answer(&self, which: Which, jobs: Jobs) -> bool {
        let outcome = Outcome::of(&jobs);
        let tell = self.unheard.answered(|| self.clock.now(), which, outcome);
        // Not before: whoever finds that none is left is to find all of them counted.
        self.unfinished.fetch_sub(jobs.len(), Ordering::Release);
        jobs.each(|(job, result)| job.finish(result));
        // Whoever came meanwhile may have done it.
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

    /// Longer than anything takes.
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

    /// What the test sees of a step.
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

    /// A read of whoever that is.
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
        }
    }

    fn ios(disk: &Disk) -> u64 {
        disk.account(GroupId::ROOT).map_or(0, |account| account.ios())
    }

    /// A task has something read, and what comes of that has been told to the scheduler.
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

    /// The scheduler hears of what went to the disk unasked before it decides about anything else.
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

    /// Whoever answers, and finds that it has been told of, leaves the pass alone that was given.
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

    /// Nobody else is let through, nor anybody once something has happened.
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
