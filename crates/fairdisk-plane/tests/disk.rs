//! A shared disk: many threads submit, one scheduler decides, nobody is forgotten.

use fairdisk_core::{
    Apart, Change, EngineConfig, Flags, GroupAccount, GroupId, IoPrio, Lba, Op, OpKind, PoolConfig,
    PoolLayout, Sectors, Share, Span, TaskId, Ticks, Weight,
};
use fairdisk_plane::backend::Preference;
use fairdisk_plane::disk::{Device, Disk, Job, Order, Thread};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{DeviceModel, DeviceSpec, FixedCost, FixedParams, FixedSpec};
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

const CONFIG: EngineConfig = EngineConfig {
    depth: 4,
    peek: false,
    pool: PoolConfig {
        layout: PoolLayout::PerGroup(Apart::Direction),
        requests: 8,
        batch_requests: 2,
    },
    ticks: Ticks::EXACT,
    merge_sectors_max: 64,
    keeps_order: true,
    plug: None,
    segments: None,
};

fn disk(scheduler: &str, model: Option<DeviceModel>) -> Disk {
    let spec = SchedulerSpec::named(scheduler).expect("a known scheduler");
    let device = model.map_or(Device::Fixed, |model| Device::Modelled(Box::new(model)));
    let disk = Disk::start(spec.build(), CONFIG, device, 4, Preference::Auto).expect("threads");
    for group in 1..4 {
        disk.configure(Change::GroupAdded { group: GroupId(group), share: Share::DEFAULT })
            .expect("nothing is promised");
    }
    disk
}

/// One request at a time, `service_us` each.
fn fixed(service_us: u32) -> DeviceModel {
    let cost = FixedCost { latency_us: service_us, mb_per_s: None };
    let params = FixedParams {
        capacity_sectors: 1 << 30,
        parallel: 1,
        read: cost,
        write: cost,
        flush_us: 1,
    };
    DeviceSpec::Fixed(FixedSpec::new(params).expect("a sound device")).build()
}

fn order(task: u32, lba: u64) -> Order {
    Order {
        task: TaskId(task),
        group: GroupId(task % 4),
        ioprio: IoPrio::UNSET,
        op: if lba.is_multiple_of(3) { Op::Write } else { Op::Read },
        start: Lba(lba),
        sectors: Sectors(8),
        sync: !lba.is_multiple_of(6),
        flags: Flags::NONE,
        waited: Span::ZERO,
    }
}

/// Fails where it is told to and says what it was told at the end.
struct Told {
    number: u64,
    fails: bool,
    performed: u32,
    tell: Sender<(u64, u32, Option<i32>)>,
}

impl Job for Told {
    fn perform(&mut self) -> io::Result<()> {
        self.performed += 1;
        if self.fails { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let errno = result.err().and_then(|error| error.raw_os_error());
        self.tell.send((self.number, self.performed, errno)).expect("the test listens");
    }
}

/// Submits 500 pieces from each of eight threads. Returns the disk while it is still working.
fn eight_threads(disk: Disk, tell: &Sender<(u64, u32, Option<i32>)>) -> Arc<Disk> {
    let disk = Arc::new(disk);
    let together = Barrier::new(8);
    std::thread::scope(|scope| {
        for task in 0..8_u32 {
            let (disk, tell, together) = (&disk, tell.clone(), &together);
            scope.spawn(move || {
                together.wait();
                for at in 0..500 {
                    let number = u64::from(task) * 500 + at;
                    let job =
                        Told { number, fails: number % 97 == 0, performed: 0, tell: tell.clone() };
                    let thread = if at % 2 == 0 { Thread::MayPerform } else { Thread::MustGoOn };
                    disk.submit(&order(task, number / 2 * 8), Box::new(job), thread);
                }
            });
        }
    });
    disk
}

#[test]
fn every_job_is_performed_once_and_told_its_own_result() {
    for scheduler in SchedulerSpec::NAMES {
        for model in [None, Some(fixed(1))] {
            let (tell, told) = channel();
            // Dropping the disk waits for what is in flight.
            drop(eight_threads(disk(scheduler, model), &tell));
            drop(tell);
            let mut all: Vec<_> = told.iter().collect();
            all.sort_unstable();
            let wanted: Vec<_> =
                (0..4000).map(|number| (number, 1, (number % 97 == 0).then_some(5))).collect();
            assert_eq!(all, wanted, "{scheduler}");
        }
    }
}

#[test]
fn nothing_is_lost_when_schedulers_change_under_load() {
    let (tell, told) = channel();
    let disk = Arc::new(disk("noop", Some(fixed(20))));
    std::thread::scope(|scope| {
        let busy = Arc::clone(&disk);
        let tell = &tell;
        scope.spawn(move || {
            for number in 0..4000 {
                let job = Told { number, fails: false, performed: 0, tell: tell.clone() };
                busy.submit(
                    &order(number as u32 % 8, number * 64),
                    Box::new(job),
                    Thread::MustGoOn,
                );
            }
        });
        for round in 0..1000 {
            let name = SchedulerSpec::NAMES[round % SchedulerSpec::NAMES.len()];
            let spec = SchedulerSpec::named(name).expect("a known scheduler");
            // The historical two-layer CFQ refuses to be switched to again (D1); the current one
            // stays.
            let _ = disk.switch(spec.build());
        }
    });
    drop(disk);
    drop(tell);
    assert_eq!(told.iter().count(), 4000);
}

/// A task that submits its next request as soon as the last one is answered, `left` times.
struct Again {
    disk: Arc<Disk>,
    task: u32,
    group: u32,
    at: u64,
    left: Arc<AtomicU64>,
    /// Receives a message when `left` is used up.
    over: Sender<()>,
}

impl Job for Again {
    fn perform(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>, _result: io::Result<()>) {
        let left = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_err() {
            let _ = self.over.send(());
            return;
        }
        self.at += 1;
        let order = Order {
            group: GroupId(self.group),
            op: Op::Read,
            sync: true,
            ..order(self.task, self.at * 1000)
        };
        let disk = Arc::clone(&self.disk);
        disk.submit(&order, self, Thread::MustGoOn);
    }
}

/// The device time of groups 1 and 2, in each of which `tasks` read one piece after the other.
fn shares(tasks: u32, weights: [u32; 2]) -> [f64; 2] {
    let disk = Arc::new(disk("two-layer-cfq", Some(fixed(1000))));
    let left = Arc::new(AtomicU64::new(1000));
    let (tell, over) = channel();
    for (group, weight) in (1..).zip(weights) {
        let share = Share::Weight(Weight::new(weight).expect("a weight"));
        disk.configure(Change::GroupShare { group: GroupId(group), share })
            .expect("nothing is promised");
    }
    for task in 0..2 * tasks {
        let (disk, left, over) = (Arc::clone(&disk), Arc::clone(&left), tell.clone());
        let at = u64::from(task) << 20;
        let job = Again { disk, task, group: 1 + task % 2, at, left, over };
        Box::new(job).finish(Ok(()));
    }
    over.recv().expect("a task finds nothing left");
    [1, 2].map(|group| disk.account(GroupId(group)).map_or(0.0, |it| it.device_time.as_ns() as f64))
}

#[test]
fn groups_get_what_their_weights_say_in_real_time() {
    for tasks in [1, 10] {
        let [favoured, other] = shares(tasks, [200, 50]);
        let share = 100.0 * favoured / (favoured + other);
        // Long, since threads wake late on a busy machine, and a late request would count as
        // absent.
        assert!((share - 80.0).abs() < 15.0, "{tasks} tasks: {share:.1} %, asked for 80");
    }
}

#[test]
fn what_waits_is_seen_and_a_group_of_the_same_number_begins_with_nothing() {
    let disk = disk("noop", Some(fixed(200_000)));
    let (tell, told) = channel();
    for number in 0..3 {
        let job = Told { number, fails: false, performed: 0, tell: tell.clone() };
        let order = Order { group: GroupId(1), ..order(1, number * 1000) };
        disk.submit(&order, Box::new(job), Thread::MustGoOn);
    }
    let there = disk.presence()[&GroupId(1)];
    assert_eq!((there.load.in_flight, there.load.queued), (1, 2));
    assert!(
        {
            let waits = there.waits[OpKind::Read];
            waits > Span::ZERO && there.oldest >= waits
        },
        "{there:?}"
    );
    assert_eq!(disk.jobs_left(), 3);
    assert_eq!(told.iter().take(3).count(), 3);
    while !disk.presence().is_empty() {}
    assert_eq!(disk.jobs_left(), 0);
    let ios = || disk.account(GroupId(1)).as_ref().map_or(0, GroupAccount::ios);
    assert_eq!(ios(), 3);
    let (group, share) = (GroupId(1), Share::DEFAULT);
    disk.configure(Change::GroupShare { group, share }).expect("nothing is promised");
    assert_eq!(ios(), 3);
    disk.configure(Change::GroupRemoved { group }).expect("nothing is promised");
    disk.configure(Change::GroupAdded { group, share }).expect("nothing is promised");
    assert_eq!(ios(), 0);
}

/// A job that takes a lock when it finishes, as a mount's jobs do when they submit more.
struct Locking {
    lock: Arc<Mutex<()>>,
    tell: Sender<()>,
}

impl Job for Locking {
    fn perform(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _result: io::Result<()>) {
        drop(self.lock.lock().expect("nobody panicked"));
        self.tell.send(()).expect("the test listens");
    }
}

#[test]
fn whoever_tells_of_a_change_finishes_no_job_of_others() {
    let disk = disk("noop", Some(fixed(50)));
    let (group, share) = (GroupId(1), Share::DEFAULT);
    let lock = Arc::new(Mutex::new(()));
    let (tell, told) = channel();
    for number in 0..500 {
        let job = Box::new(Locking { lock: Arc::clone(&lock), tell: tell.clone() });
        disk.submit(&order(1, number * 1000), job, Thread::MustGoOn);
        let held = lock.lock().expect("nobody panicked");
        // Sometimes the thread that changes the scheduler finds the completed request.
        while disk.jobs_left() > 0 {
            disk.configure(Change::GroupShare { group, share }).expect("nothing is promised");
        }
        drop(held);
        told.recv().expect("it is finished");
    }
}

/// A job that reports that it has started and works until it is told to end.
struct Busy {
    performed: Sender<Op>,
    end: Option<Receiver<()>>,
    op: Op,
}

impl Job for Busy {
    fn perform(&mut self) -> io::Result<()> {
        self.performed.send(self.op).expect("the test listens");
        if let Some(end) = &self.end {
            end.recv().expect("the test says when");
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _result: io::Result<()>) {}
}

#[test]
fn where_others_keep_the_order_a_flush_waits_for_no_write_of_somebody_else() {
    let spec = SchedulerSpec::named("fair").expect("a known scheduler");
    let config = EngineConfig { keeps_order: false, ..CONFIG };
    let threads = Preference::Threads;
    let disk = Disk::start(spec.build(), config, Device::Fixed, 4, threads).expect("threads");
    let (tell, performed) = channel();
    let (go_on, end) = channel();
    let mut end = Some(end);
    for (task, op) in [(1, Op::Write), (2, Op::Flush)] {
        let sectors = Sectors(if op == Op::Flush { 0 } else { 8 });
        let order = Order { op, sectors, sync: true, ..order(task, 0) };
        let job = Busy { performed: tell.clone(), end: end.take(), op };
        disk.submit(&order, Box::new(job), Thread::MustGoOn);
        assert_eq!(performed.recv(), Ok(op));
    }
    go_on.send(()).expect("it waits");
}

/// A job that reports the thread that performed it.
struct Named(Sender<Option<String>>);

impl Job for Named {
    fn perform(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _result: io::Result<()>) {
        let name = std::thread::current().name().map(str::to_owned);
        self.0.send(name).expect("the test listens");
    }
}

#[test]
fn threads_are_started_when_they_are_needed() {
    let spec = SchedulerSpec::named("noop").expect("a known scheduler");
    let pool = PoolConfig { requests: 128, ..CONFIG.pool };
    let config = EngineConfig { depth: 100, pool, ..CONFIG };
    let disk = Disk::start(spec.build(), config, Device::Fixed, 100, Preference::Threads);
    let disk = disk.expect("threads");
    let (tell, told) = channel();
    let mut names = BTreeSet::new();
    for lba in 0..200 {
        disk.submit(&order(1, lba), Box::new(Named(tell.clone())), Thread::MustGoOn);
        names.insert(told.recv().expect("it is finished"));
    }
    // The previous job may still be finishing when the next one is submitted.
    assert!(names.len() < 16, "{names:?}");
    let (tell, performed) = channel();
    let mut go_on = Vec::new();
    for task in 0..config.depth {
        let (end, ended) = channel();
        let job = Busy { performed: tell.clone(), end: Some(ended), op: Op::Read };
        disk.submit(&order(task, 1000 * u64::from(task)), Box::new(job), Thread::MustGoOn);
        go_on.push(end);
    }
    for _ in &go_on {
        performed.recv().expect("all at once");
    }
    go_on.iter().for_each(|end| end.send(()).expect("it waits"));
}

/// A disk without a model under `noop`, with a depth of one.
fn one_at_a_time() -> Arc<Disk> {
    let spec = SchedulerSpec::named("noop").expect("a known scheduler");
    let config = EngineConfig { depth: 1, ..CONFIG };
    let disk = Disk::start(spec.build(), config, Device::Fixed, 4, Preference::Threads);
    Arc::new(disk.expect("threads"))
}

/// A job that calls a function when it is answered.
struct Then<F>(Option<F>);

impl<F: FnOnce() + Send> Job for Then<F> {
    fn perform(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(mut self: Box<Self>, _result: io::Result<()>) {
        self.0.take().into_iter().for_each(|then| then());
    }
}

/// The scheduler learns of a completion before it learns of requests that the answer causes, so the
/// disk with its depth of one is free for them.
#[test]
fn what_is_answered_is_done_for_whoever_comes_then() {
    let disk = one_at_a_time();
    let (tell, told) = channel();
    let own = std::thread::current().name().map(str::to_owned);
    for number in 0..100 {
        let (next, tell) = (Arc::clone(&disk), tell.clone());
        let then = move || {
            let job = Box::new(Named(tell));
            next.submit(&order(2, number), job, Thread::MayPerform);
            let account = next.account(GroupId(1)).expect("it has asked for something");
            assert_eq!(account.ios(), number + 1);
        };
        disk.submit(&order(1, number), Box::new(Then(Some(then))), Thread::MayPerform);
        assert_eq!(told.try_recv(), Ok(own.clone()), "nobody else had to perform it");
    }
}

/// A job that finishes its answer only when it is told to.
struct Slow {
    job: Busy,
    answered: Receiver<()>,
}

impl Job for Slow {
    fn perform(&mut self) -> io::Result<()> {
        self.job.perform()
    }

    fn finish(self: Box<Self>, _result: io::Result<()>) {
        let _ = self.answered.recv();
    }
}

/// A slow answer to one caller delays no other that waits for the disk.
#[test]
fn what_waits_goes_to_the_disk_before_anybody_is_answered() {
    let disk = one_at_a_time();
    let (tell, performed) = channel();
    let (go_on, end) = channel();
    let job = Busy { performed: tell.clone(), end: Some(end), op: Op::Read };
    let (answering, answered) = channel::<()>();
    let job = Slow { job, answered };
    disk.submit(&order(1, 0), Box::new(job), Thread::MustGoOn);
    assert_eq!(performed.recv(), Ok(Op::Read));
    let next = Busy { performed: tell, end: None, op: Op::Write };
    disk.submit(&order(2, 1000), Box::new(next), Thread::MustGoOn);
    go_on.send(()).expect("it waits");
    assert_eq!(performed.recv_timeout(Duration::from_secs(20)), Ok(Op::Write));
    drop(answering);
}

/// A job that counts how many of its kind are performed at the same time.
struct Counted {
    now: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl Job for Counted {
    fn perform(&mut self) -> io::Result<()> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        std::thread::yield_now();
        self.now.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn finish(self: Box<Self>, _result: io::Result<()>) {}
}

/// Requests that bypass the scheduler on an idle disk still respect its depth.
#[test]
fn a_disk_is_given_no_more_than_it_takes_whoever_comes_when() {
    for scheduler in ["noop", "fair"] {
        let spec = SchedulerSpec::named(scheduler).expect("a known scheduler");
        let config = EngineConfig { depth: 1, ..CONFIG };
        let disk = Disk::start(spec.build(), config, Device::Fixed, 4, Preference::Threads);
        let disk = disk.expect("threads");
        let (now, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        std::thread::scope(|scope| {
            for task in 0..3_u32 {
                let (disk, now, most) = (&disk, &now, &most);
                scope.spawn(move || {
                    for at in 0..500 * u64::from(task + 1) {
                        let job = Counted { now: Arc::clone(now), most: Arc::clone(most) };
                        let order =
                            Order { sync: true, group: GroupId::ROOT, ..order(task, at * 8) };
                        disk.submit(&order, Box::new(job), Thread::MayPerform);
                    }
                });
            }
        });
        while disk.jobs_left() > 0 {}
        assert_eq!(disk.account(GroupId::ROOT).map(|account| account.ios()), Some(3000));
        assert_eq!(most.load(Ordering::SeqCst), 1, "{scheduler}");
    }
}
