//! The order in which `fair` serves groups, against a model that examines everything each time.
//! While weights change, groups are created, removed and moved, and ceilings come and go, both must
//! choose the same group. Runs `FAIRDISK_FAIR_STORMS` such storms, or a few.

mod naive;

use fairdisk_core::{
    Change, Completion, Decision, Elevator, Flags, GroupId, Instant, IoClass, IoPrio, Lba, Op,
    Prng, Qos, Rates, Request, RequestId, Sectors, Share, Span, TaskId, Weight, Why,
};
use fairdisk_sched::fair::{Fair, FairParams};
use naive::Naive;
use std::env;
use std::num::NonZeroU64;

const GROUPS: usize = 8;
const TASKS: usize = 16;
const SECTORS: Sectors = Sectors(8);
/// Only a few values, as for device times, so that starts are often equal.
const WEIGHTS: [u32; 6] = [7, 100, 100, 200, 400, 1000];
const STEPS: u64 = 800;

/// A task, which has one request at a time.
#[derive(Clone, Copy, Debug)]
struct Task {
    group: usize,
    ioprio: IoPrio,
    /// The group of the task's queued request.
    queued: Option<usize>,
}

struct Storm {
    fair: Fair,
    naive: Naive,
    prng: Prng,
    now: Instant,
    rotational: bool,
    tasks: Vec<Task>,
    parents: [Option<usize>; GROUPS],
    /// The group that was served last.
    before: Option<usize>,
    /// The groups that have interrupted turns since, after a pause.
    back: Vec<usize>,
    served: u64,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let params = FairParams::default();
        let mut prng = Prng::new(seed);
        let mut fair = Fair::new(&params);
        let rotational = prng.chance(1, 4);
        fair.configure(Instant::ZERO, &Change::Rotational { rotational });
        let task = Task { group: 0, ioprio: IoPrio::UNSET, queued: None };
        Self {
            fair,
            naive: Naive::new(GROUPS, &params),
            prng,
            now: Instant::ZERO,
            rotational,
            tasks: vec![task; TASKS],
            parents: [None; GROUPS],
            before: None,
            back: Vec::new(),
            served: 0,
        }
    }

    fn something(&mut self) {
        match self.prng.below(40) {
            0..16 => self.submit(),
            16..36 => self.serve(),
            36 => self.change_group(),
            37 => self.change_task(),
            38 => self.withdraw(),
            _ => self.now += Span::from_us(self.prng.below(60_000)),
        }
    }

    fn some_group(&mut self) -> usize {
        self.prng.below(GROUPS as u64) as usize
    }

    fn some_task(&mut self) -> usize {
        self.prng.below(TASKS as u64) as usize
    }

    fn configure(&mut self, change: Change) {
        self.naive.pass(self.now);
        self.fair.configure(self.now, &change);
    }

    // ---- requests ------------------------------------------------------------------------

    fn submit(&mut self) {
        let who = self.some_task();
        let Task { group, ioprio, queued: None } = self.tasks[who] else { return };
        let sync = self.prng.chance(4, 5);
        let request = Request {
            id: RequestId(who as u32),
            task: TaskId(who as u32),
            group: GroupId(group as u32),
            // On a disk with a moving head, writes are charged later; the model knows no cache.
            op: if sync || self.rotational { Op::Read } else { Op::Write },
            start: Lba(8 * self.prng.below(1 << 28)),
            sectors: SECTORS,
            sync,
            flags: Flags::NONE,
            ioprio,
            arrived: self.now,
        };
        self.fair.admit(self.now, &request);
        self.naive.pass(self.now);
        self.tasks[who].queued = Some(group);
        self.naive.set_wants(group, true);
    }

    /// Removes a queued request and returns its group.
    fn take_out(&mut self, who: usize) -> usize {
        let group = self.tasks[who].queued.take().expect("it has a request queued");
        let more = self.tasks.iter().any(|task| task.queued == Some(group));
        self.naive.set_wants(group, more);
        group
    }

    fn withdraw(&mut self) {
        let who = self.some_task();
        if self.tasks[who].queued.is_some() {
            self.fair.withdraw(self.now, RequestId(who as u32));
            self.naive.pass(self.now);
            self.take_out(who);
        }
    }

    fn serve(&mut self) {
        self.naive.pass(self.now);
        self.naive.release();
        match self.fair.decide(self.now) {
            Decision::Dispatch(id, why) => self.dispatch(id, why),
            Decision::WaitUntil(at, why) => {
                if why == Why::AtCeiling {
                    assert_eq!(self.naive.next(), None, "somebody is not at a ceiling");
                }
                // Another request may arrive before that.
                if self.prng.chance(1, 2) {
                    self.now = at;
                }
            }
            Decision::Idle => assert!(self.tasks.iter().all(|task| task.queued.is_none())),
            Decision::WaitCompletion(why) => panic!("{why:?} with nothing in flight"),
        }
    }

    fn dispatch(&mut self, id: RequestId, why: Why) {
        let who = id.0 as usize;
        let group = self.tasks[who].queued.expect("it is queued");
        // On a disk with a moving head a group keeps the disk for a while, whoever is served in
        // between, and so may one that is back after a pause.
        let may_go_on = self.before == Some(group) || self.back.contains(&group);
        if !self.rotational || !may_go_on {
            assert_eq!(self.naive.next(), Some(group), "{why:?} at {}", self.now);
        }
        if why == Why::Preempted {
            self.back.push(group);
        } else {
            self.before = Some(group);
            self.back.clear();
        }
        self.naive.serve(group);
        self.take_out(who);
        let device_time = Span::from_us(500 * self.prng.between(1, 6));
        self.now += device_time;
        self.fair.complete(self.now, &Completion { request: id, device_time, ok: true });
        self.naive.done(self.now, group);
        self.naive.charge(group, device_time);
        self.served += 1;
    }

    // ---- changes -------------------------------------------------------------------------

    fn change_group(&mut self) {
        let at = self.some_group();
        let group = GroupId(at as u32);
        match self.prng.below(4) {
            0 => {
                let weight = WEIGHTS[self.prng.below(WEIGHTS.len() as u64) as usize];
                let share = Share::Weight(Weight::new(weight).expect("in range"));
                self.configure(Change::GroupShare { group, share });
                self.naive.set_weight(at, u64::from(weight));
            }
            1 => {
                // Only into a group with a lower index, so never in a circle.
                let outer = self.prng.below(at as u64 + 1) as usize;
                self.put_into(at, Some(outer).filter(|outer| *outer < at));
            }
            2 => {
                let qos = self.some_qos();
                self.configure(Change::GroupQos { group, qos });
                self.naive.set_qos(at, qos);
            }
            _ => self.remove(at),
        }
    }

    fn put_into(&mut self, at: usize, parent: Option<usize>) {
        self.parents[at] = parent;
        let parent_id = parent.map(|parent| GroupId(parent as u32));
        self.configure(Change::GroupParent { group: GroupId(at as u32), parent: parent_id });
        self.naive.set_parent(at, parent);
    }

    /// Removes a group: nothing new arrives in it and no group is nested in it; what is queued
    /// stays.
    fn remove(&mut self, at: usize) {
        for inner in 0..GROUPS {
            if self.parents[inner] == Some(at) {
                self.put_into(inner, None);
            }
        }
        self.tasks.iter_mut().filter(|task| task.group == at).for_each(|task| task.group = 0);
        self.parents[at] = None;
        self.configure(Change::GroupRemoved { group: GroupId(at as u32) });
        self.naive.remove(at);
    }

    /// A ceiling, or none. With a moving head, ceilings of other groups are not examined while one
    /// keeps the disk.
    fn some_qos(&mut self) -> Qos {
        let iops = NonZeroU64::new(self.prng.between(20, 400));
        let some = !self.rotational && self.prng.chance(2, 3);
        let ceiling = Rates { iops: iops.filter(|_| some), bytes_per_s: None };
        Qos { ceiling, burst: Span::from_ms(self.prng.below(40)), ..Qos::NONE }
    }

    fn change_task(&mut self) {
        let (who, group) = (self.some_task(), self.some_group());
        let classes = [IoClass::RealTime, IoClass::BestEffort, IoClass::Idle];
        let class = classes[self.prng.below(3) as usize];
        self.tasks[who].ioprio = IoPrio { class, level: self.prng.below(8) as u8 };
        self.tasks[who].group = group;
    }
}

#[test]
fn a_model_that_looks_at_everything_serves_the_same_groups() {
    let storms =
        env::var("FAIRDISK_FAIR_STORMS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let mut served = 0;
    for seed in 0..storms {
        let run = || {
            let mut storm = Storm::new(seed);
            (0..STEPS).for_each(|_| storm.something());
            storm.served
        };
        served += std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(served > storms * STEPS / 5, "{served} requests were served");
}
