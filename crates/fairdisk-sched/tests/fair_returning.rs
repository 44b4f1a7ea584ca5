//! Tasks that think for longer than the disk idles for them, and for which the disk stays idle
//! shortly before they return, on a disk that serves one request at a time.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Cost, CostModel, Decision, Elevator, GroupId, Hearing, Instant, Lba, Op,
    Prng, Qos, Rates, Request, RequestId, Share, Span, Submitter, TaskId, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use reads::read;
use std::num::NonZeroU64;

const SERVICE: Span = Span::from_ms(8);
/// Tasks of group 1, which always have a request; each other group has one task that thinks.
const BUSY: u32 = 4;
/// The slots of writes in the background begin here.
const BACKGROUND: u32 = 1000;
/// The time after which the disk acknowledges a write, before it is on the medium.
const ACKNOWLEDGED: Span = Span::from_us(300);
/// The work after which the cache is full: a further write takes its place.
const CACHE: Span = Span::from_ms(200);

/// A task that thinks after each request, and flushes before that.
#[derive(Clone, Copy)]
struct Thinker {
    pause: Span,
    flush: Span,
    back_at: Option<Instant>,
}

struct Play {
    fair: Fair,
    now: Instant,
    prng: Prng,
    thinkers: Vec<Thinker>,
    /// Whether group 1 writes, and how long the disk works on each of its writes after
    /// acknowledging it, if it acknowledges writes early.
    writes: bool,
    hides: Span,
    /// Work that the disk has acknowledged and not done yet.
    hidden: Span,
    /// Whether something is written in the background for a thinking task just before it is back.
    writes_back: bool,
    /// Whether pauses are random, from nothing to twice their usual length.
    is_random: bool,
    /// For each task, since when it has been back without being served.
    since: Vec<Instant>,
    /// When a request was last at the disk.
    busy_until: Instant,
    /// How long the disk was idle in total, and at most before a request was served.
    idle: Span,
    idle_most: Span,
    /// How long the thinking tasks waited in total, and how often.
    waited: Span,
    served: u32,
    /// How long the requests of thinking tasks took, and how many requests of others were done.
    took: Span,
    of_others: u32,
}

impl Play {
    fn new(rotational: bool, thinkers: &[(Span, Span)]) -> Self {
        let (now, mut fair) = (Instant::ZERO, Fair::new(&FairParams::default()));
        fair.configure(now, &Change::Rotational { rotational });
        for group in 0..=thinkers.len() as u32 {
            let weight = if group == 0 { 100 } else { 1000 };
            let share = Share::Weight(Weight::new(weight).expect("in range"));
            fair.configure(now, &Change::GroupAdded { group: GroupId(1 + group), share });
        }
        let thinker = |(pause, flush): &(Span, Span)| Thinker {
            pause: *pause,
            flush: *flush,
            back_at: Some(now),
        };
        let thinkers: Vec<_> = thinkers.iter().map(thinker).collect();
        let since = vec![now; thinkers.len()];
        let (idle, idle_most, waited) = (Span::ZERO, Span::ZERO, Span::ZERO);
        let (busy_until, served, of_others) = (now, 0, 0);
        let (writes, hides, hidden, took) = (false, Span::ZERO, Span::ZERO, Span::ZERO);
        let (prng, is_random, writes_back) = (Prng::new(1), false, false);
        let mut play = Self {
            fair,
            now,
            prng,
            thinkers,
            writes,
            hides,
            hidden,
            writes_back,
            is_random,
            since,
            busy_until,
            idle,
            idle_most,
            waited,
            served,
            took,
            of_others,
        };
        (0..BUSY).for_each(|task| play.submit(task));
        play
    }

    /// The group of a task, and its index among the thinking tasks.
    fn group_of(task: u32) -> (GroupId, Option<usize>) {
        if let Some(at) = task.checked_sub(BACKGROUND) {
            return (GroupId(2 + at), None);
        }
        match task.checked_sub(BUSY) {
            Some(thinker) => (GroupId(2 + thinker), Some(thinker as usize)),
            None => (GroupId(1), None),
        }
    }

    fn submit(&mut self, task: u32) {
        let start = Lba(u64::from(task) << 20);
        let request = read(task, Self::group_of(task).0, start, self.now);
        let op = if self.writes && task < BUSY { Op::Write } else { Op::Read };
        self.fair.admit(self.now, &Request { op, ..request });
    }

    fn write_back(&mut self, at: u32) {
        let (slot, start) = (BACKGROUND + at, Lba(u64::from(BACKGROUND + at) << 20));
        let request = read(slot, Self::group_of(slot).0, start, self.now);
        self.fair.admit(self.now, &Request { op: Op::Write, sync: false, ..request });
    }

    fn pass_until(&mut self, end: Instant) {
        loop {
            let back = self.thinkers.iter().enumerate().filter_map(|(at, one)| {
                one.back_at.filter(|back| *back <= end).map(|back| (back, at))
            });
            let Some((back, at)) = back.min() else { break };
            self.now = self.now.max(back);
            self.thinkers[at].back_at = None;
            self.since[at] = self.now;
            if self.writes_back {
                self.write_back(at as u32);
            }
            self.submit(BUSY + at as u32);
            if self.busy_until <= self.now {
                // The scheduler is asked again at once.
                return;
            }
        }
        self.now = end;
    }

    fn serve(&mut self, request: RequestId) {
        let idle = self.now.since(self.busy_until);
        self.idle += idle;
        self.idle_most = self.idle_most.max(idle);
        let (group, thinker) = Self::group_of(request.0);
        if let Some(at) = thinker {
            self.waited += self.now - self.since[at];
            self.served += 1;
        }
        let device_time = self.device_time(thinker.is_none(), idle);
        self.busy_until = self.now + device_time;
        self.pass_until(self.busy_until);
        self.fair.complete(self.now, &Completion { request, device_time, ok: true });
        match thinker {
            Some(_) => self.took += device_time,
            None => self.of_others += 1,
        }
        if request.0 >= BACKGROUND {
            return;
        }
        let Some(at) = thinker else { return self.submit(request.0) };
        let Thinker { pause, flush, .. } = self.thinkers[at];
        if flush > Span::ZERO {
            let by = Submitter { task: TaskId(request.0), group };
            self.fair.flushes(self.now, by);
            self.busy_until = self.now + flush;
            self.pass_until(self.busy_until);
            self.fair.flushed(self.now, by, flush, true);
        }
        let any = Span::from_us(self.prng.between(0, 2 * pause.as_us()));
        self.thinkers[at].back_at = Some(self.now + if self.is_random { any } else { pause });
    }

    /// The time of a request that arrives after the disk was idle for `idle`.
    fn device_time(&mut self, is_of_others: bool, idle: Span) -> Span {
        self.hidden = self.hidden - idle;
        if is_of_others && self.hidden >= CACHE {
            return self.hides;
        }
        if is_of_others && self.hides > Span::ZERO {
            self.hidden += self.hides;
            return ACKNOWLEDGED;
        }
        SERVICE + core::mem::take(&mut self.hidden)
    }

    /// Makes group 1 write from now on, on a disk whose cost model is known.
    fn write(&mut self, hides: Span) {
        let cost =
            Cost { sequential: Span::from_ms(1), random: SERVICE, byte_ps: 0, random_byte_ps: 0 };
        let model =
            CostModel { depth: 1, saturation: SERVICE, alone: SERVICE, read: cost, write: cost };
        self.fair.configure(self.now, &Change::Costs(model));
        (self.writes, self.hides) = (true, hides);
    }

    fn run(&mut self, time: Span) {
        (self.idle, self.idle_most) = (Span::ZERO, Span::ZERO);
        (self.waited, self.served) = (Span::ZERO, 0);
        (self.took, self.of_others) = (Span::ZERO, 0);
        let end = self.now + time;
        while self.now < end {
            match self.fair.decide(self.now) {
                Decision::Dispatch(request, _) => self.serve(request),
                Decision::WaitUntil(at, _) => self.pass_until(at),
                other => panic!("{other:?} with requests queued and none in flight"),
            }
        }
    }
}

const SETTLES: Span = Span::from_s(2);

#[test]
fn nobody_is_held_back_for_who_may_have_nothing_yet() {
    let mut play = Play::new(false, &[(Span::from_ms(12), Span::ZERO)]);
    play.run(SETTLES);
    play.run(SETTLES);
    assert!(play.idle > Span::ZERO, "it is worth waiting for");
    let ceiling = Rates { iops: NonZeroU64::new(10), bytes_per_s: None };
    let qos = Qos { ceiling, burst: Span::from_ms(1), ..Qos::NONE };
    play.fair.configure(play.now, &Change::GroupQos { group: GroupId(2), qos });
    play.run(SETTLES);
    play.run(SETTLES);
    assert!(play.served >= 19, "{}", play.served);
    assert_eq!(play.idle, Span::ZERO);
}

#[test]
fn several_who_are_late_cost_no_more_than_one() {
    let mut play = Play::new(false, &[(Span::from_ms(100), Span::ZERO); 8]);
    play.is_random = true;
    play.run(SETTLES);
    play.run(Span::from_s(100));
    assert!(play.idle > Span::from_s(1), "{}", play.idle);
    assert!(play.idle_most <= Span::from_ms(6), "{}", play.idle_most);
}

#[test]
fn who_is_back_is_served_though_something_was_written_for_it_first() {
    let waits = [false, true].map(|writes_back| {
        let mut play = Play { writes_back, ..Play::new(true, &[(Span::from_ms(40), Span::ZERO)]) };
        let change =
            Change::GroupShare { group: GroupId(2), share: Share::Weight(Weight::DEFAULT) };
        play.fair.configure(play.now, &change);
        play.run(SETTLES);
        play.run(Span::from_s(20));
        play.waited / u64::from(play.served)
    });
    // A turn of the others takes 100 ms. At most a request of theirs, and the write, go before it.
    assert!(waits[0] <= SERVICE && waits[1] <= SERVICE + SERVICE, "{waits:?}");
}

#[test]
fn who_flushes_before_it_thinks_is_expected_from_then_on() {
    let mut play = Play::new(true, &[(Span::from_ms(12), Span::from_ms(5))]);
    play.run(SETTLES);
    play.run(SETTLES);
    let mean = Span::from_ns(play.waited.as_ns() / u64::from(play.served));
    assert!(mean < Span::from_ms(1), "{mean}");
}

#[test]
fn no_more_is_written_while_somebody_thinks_than_is_done_when_it_is_back() {
    let mut play = Play::new(true, &[(Span::from_ms(20), Span::ZERO)]);
    play.write(Span::from_ms(2));
    play.run(Span::from_s(20));
    play.run(Span::from_s(20));
    let mean = Span::from_ns((play.took + play.waited).as_ns() / u64::from(play.served));
    assert!(mean < Span::from_ms(12), "{mean}");
    // Ten would fit into each of its pauses.
    assert!(play.of_others >= 6 * play.served, "{} of {}", play.of_others, play.served);
}

/// Two groups that read now and then beside a writer, as jobs that run once a second or a minute.
#[test]
fn a_writer_does_not_wait_for_who_is_away_for_long() {
    let seldom = [Span::from_ms(900), Span::from_s(60)].map(|pause| (pause, Span::ZERO));
    let mut play = Play::new(true, &seldom);
    play.write(Span::from_ms(2));
    play.run(Span::from_s(600));
    assert!(play.served > 500, "{}", play.served);
    assert!(play.idle_most <= FairParams::default().idle_max, "{}", play.idle_most);
}

#[test]
fn who_writes_to_a_disk_that_does_it_at_once_waits_no_longer_than_who_reads() {
    let idle = [false, true].map(|writes| {
        let mut play = Play::new(true, &[(Span::from_ms(20), Span::ZERO)]);
        play.write(Span::ZERO);
        play.writes = writes;
        play.run(SETTLES);
        play.run(Span::from_s(10));
        play.idle
    });
    assert_eq!(idle[0], idle[1]);
}
