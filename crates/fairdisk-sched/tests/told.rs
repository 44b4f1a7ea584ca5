//! A scheduler honours its settings whenever it is told of them: before there are requests, under
//! load, or when it takes over a device with existing groups.

use fairdisk_core::{
    Bio, BioId, Change, Cost, CostModel, Effect, Effects, Engine, EngineConfig, Flags, GroupId,
    Input, Instant, IoPrio, Journal, Lba, Op, Prng, Qos, Rates, RequestId, Sectors, Share, Span,
    TaskId, Weight,
};
use fairdisk_sched::noop::NoopParams;
use fairdisk_sched::{Honours, Nesting, Scheduler, SchedulerSpec};
use std::collections::VecDeque;
use std::num::NonZeroU64;

const GROUPS: u32 = 3;
const TASKS_PER_GROUP: u32 = 8;
const SERVICE: Span = Span::from_us(500);

/// Three groups of tasks that read one block after another, on a disk that takes half a millisecond
/// for each.
struct Disk {
    engine: Engine<Scheduler>,
    effects: Effects,
    now: Instant,
    prng: Prng,
    at_disk: Option<RequestId>,
    ready: VecDeque<TaskId>,
    submitted: u64,
    /// Completed I/Os, by group.
    finished: [u32; 1 + GROUPS as usize],
}

const fn group_of(task: TaskId) -> GroupId {
    GroupId(1 + task.0 / TASKS_PER_GROUP)
}

impl Disk {
    fn new(spec: SchedulerSpec) -> Self {
        let engine = Engine::new(spec.build(), EngineConfig::default(), Journal::hashing());
        let mut disk = Self {
            engine,
            effects: Effects::new(),
            now: Instant::ZERO,
            prng: Prng::new(3),
            at_disk: None,
            ready: (0..GROUPS * TASKS_PER_GROUP).map(TaskId).collect(),
            submitted: 0,
            finished: [0; 1 + GROUPS as usize],
        };
        let cost = Cost { sequential: SERVICE, random: SERVICE, byte_ps: 0, random_byte_ps: 0 };
        disk.tell(&[Change::Costs(CostModel {
            depth: 1,
            saturation: Span::ZERO,
            alone: SERVICE,
            read: cost,
            write: cost,
        })]);
        for group in (1..=GROUPS).map(GroupId) {
            disk.tell(&[Change::GroupAdded { group, share: Share::DEFAULT }]);
        }
        disk
    }

    fn tell(&mut self, changes: &[Change]) {
        changes.iter().for_each(|change| self.handle(Input::Configure(*change)));
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            if let Some(task) = self.ready.pop_front() {
                let bio = self.next_bio(task);
                self.handle(Input::Submit(bio));
            } else if let Some(request) = self.at_disk.take() {
                self.now += SERVICE;
                self.handle(Input::Completed { request, ok: true });
            } else {
                self.now = self.effects.wake_at.expect("everybody waits for ever");
                self.handle(Input::Tick);
            }
        }
    }

    fn next_bio(&mut self, task: TaskId) -> Bio {
        self.submitted += 1;
        Bio {
            id: BioId(self.submitted),
            task,
            group: group_of(task),
            op: Op::Read,
            start: Lba(64 * self.prng.below(1 << 24)),
            sectors: Sectors(8),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        }
    }

    fn handle(&mut self, input: Input<Scheduler>) {
        self.engine.handle(self.now, input, &mut self.effects);
        for effect in self.effects.as_slice() {
            match *effect {
                Effect::Issue(request) => self.at_disk = Some(request.id),
                Effect::Finish { task, .. } => {
                    self.finished[group_of(task).0 as usize] += 1;
                    self.ready.push_back(task);
                }
                _ => {}
            }
        }
    }

    /// I/Os of each group in 24 s.
    fn measure(&mut self) -> [u32; 3] {
        // By then, the effects of earlier settings are over.
        self.run(Span::from_s(3));
        self.finished = Default::default();
        self.run(Span::from_s(24));
        [self.finished[1], self.finished[2], self.finished[3]]
    }
}

/// What the groups get if the scheduler is told of `changes` at the start, under load, and before
/// it takes over.
fn whenever(spec: SchedulerSpec, changes: &[Change]) -> [[u32; 3]; 3] {
    let mut at_once = Disk::new(spec);
    at_once.tell(changes);
    let mut under_load = Disk::new(spec);
    under_load.run(Span::from_ms(1234));
    under_load.tell(changes);
    let mut before = Disk::new(SchedulerSpec::Noop(NoopParams));
    before.run(Span::from_ms(321));
    before.tell(changes);
    before.run(Span::from_ms(321));
    before.handle(Input::Switch(Box::new(spec.build())));
    [at_once.measure(), under_load.measure(), before.measure()]
}

/// A setting, the schedulers that honour it, and the percentage that group 1 of three equal groups
/// then gets.
struct Told {
    what: &'static str,
    honoured: fn(&Honours) -> bool,
    changes: Vec<Change>,
    first_percent: std::ops::RangeInclusive<u32>,
}

fn qos(floor: u64, ceiling: u64) -> Qos {
    let rates = |iops: u64| Rates { iops: NonZeroU64::new(iops), ..Rates::NONE };
    Qos { floor: rates(floor), ceiling: rates(ceiling), ..Qos::NONE }
}

const fn inside(group: u32, outer: u32) -> Change {
    Change::GroupParent { group: GroupId(group), parent: Some(GroupId(outer)) }
}

fn all_told() -> [Told; 5] {
    let group = GroupId(1);
    let weight = |weight: u32| Share::Weight(Weight::new(weight).expect("1 to 10000"));
    [
        Told {
            what: "a share",
            honoured: |honours| honours.shares,
            changes: vec![Change::GroupShare { group, share: weight(200) }],
            // Turns of whole slices come only close to it.
            first_percent: 44..=56,
        },
        Told {
            // Group 2 serves its own tasks and group 3 from one half.
            what: "a group in a group",
            honoured: |honours| honours.nesting != Nesting::None,
            changes: vec![inside(3, 2)],
            first_percent: 47..=53,
        },
        Told {
            // Its tasks never pause, so it neither gains nor loses by it.
            what: "an idle wait",
            honoured: |honours| honours.idle,
            changes: vec![Change::GroupIdle { group, idle: Some(Span::from_ms(30)) }],
            first_percent: 32..=34,
        },
        Told {
            what: "a floor",
            honoured: |honours| honours.floors,
            changes: vec![Change::GroupQos { group, qos: qos(1_400, 0) }],
            first_percent: 68..=72,
        },
        Told {
            what: "a ceiling",
            honoured: |honours| honours.ceilings,
            changes: vec![Change::GroupQos { group, qos: qos(0, 200) }],
            first_percent: 8..=11,
        },
    ]
}

#[test]
fn what_is_honoured_is_honoured_whenever_it_is_told() {
    for name in SchedulerSpec::NAMES {
        let spec = SchedulerSpec::named(name).expect("it is listed");
        for told in all_told() {
            if !(told.honoured)(&spec.honours()) {
                continue;
            }
            let ways = whenever(spec, &told.changes);
            for (way, got) in ["at once", "under load", "before"].iter().zip(ways) {
                let percent = got[0] * 100 / got.iter().sum::<u32>();
                let what = told.what;
                assert!(told.first_percent.contains(&percent), "{name}, {what} {way}: {got:?}");
            }
        }
    }
}

/// Group 4 is beside group 1. It contains group 2, and group 5 with three times that weight, which
/// contains group 3. If all count as directly inside group 4, the weight of group 5 has no effect.
#[test]
fn groups_lie_as_deep_as_is_said() {
    let added = |group: u32, weight: u32| {
        let share = Share::Weight(Weight::new(weight).expect("1 to 10000"));
        Change::GroupAdded { group: GroupId(group), share }
    };
    let told = [added(4, 100), added(5, 300), inside(2, 4), inside(5, 4), inside(3, 5)];
    for name in SchedulerSpec::NAMES {
        let spec = SchedulerSpec::named(name).expect("it is listed");
        let third_percent = match spec.honours().nesting {
            Nesting::Deep => 36..=39,
            Nesting::OneLevel => 24..=26,
            Nesting::None => continue,
        };
        for got in whenever(spec, &told) {
            let percent = got[2] * 100 / got.iter().sum::<u32>();
            assert!(third_percent.contains(&percent), "{name}: {got:?}");
        }
    }
}

/// A scheduler that honours bursts limits how far a group runs ahead of its ceiling.
#[test]
fn bursts_count_where_they_are_said_to() {
    let group = GroupId(1);
    for name in SchedulerSpec::NAMES {
        let spec = SchedulerSpec::named(name).expect("it is listed");
        let [short, long] = [1, 2_000].map(|ms| {
            let mut disk = Disk::new(spec);
            let qos = Qos { burst: Span::from_ms(ms), ..qos(0, 200) };
            disk.tell(&[Change::GroupQos { group, qos }]);
            disk.run(Span::from_s(1));
            disk.finished
        });
        assert_eq!(short != long, spec.honours().bursts, "{name}: {short:?} {long:?}");
    }
}

/// A setting that is not honoured changes nothing.
#[test]
fn what_is_not_honoured_is_not_looked_at() {
    for name in SchedulerSpec::NAMES {
        let spec = SchedulerSpec::named(name).expect("it is listed");
        for told in all_told() {
            if (told.honoured)(&spec.honours()) {
                continue;
            }
            let (mut told_of, mut other) = (Disk::new(spec), Disk::new(spec));
            told_of.tell(&told.changes);
            assert_eq!(told_of.measure(), other.measure(), "{name} looks at {}", told.what);
        }
    }
}

/// A group that is moved into one of its own descendants stays where it is, and the next scheduler
/// finds it there.
#[test]
fn groups_never_lie_in_a_circle() {
    for name in SchedulerSpec::NAMES {
        let spec = SchedulerSpec::named(name).expect("it is listed");
        let [mut circle, mut line, mut out] = [(); 3].map(|()| Disk::new(spec));
        let share = Share::Weight(Weight::new(200).expect("1 to 10000"));
        let heavier = Change::GroupShare { group: GroupId(1), share };
        for disk in [&mut circle, &mut line, &mut out] {
            disk.tell(&[heavier, inside(3, 1), inside(2, 3)]);
            disk.run(Span::from_ms(1234));
        }
        circle.tell(&[inside(3, 2), inside(1, 2), inside(1, 1)]);
        out.tell(&[Change::GroupParent { group: GroupId(3), parent: None }]);
        let stays = line.measure();
        assert_eq!(circle.measure(), stays, "{name}");
        let is_nested = spec.honours().nesting != Nesting::None;
        assert_eq!(out.measure() != stays, is_nested, "{name}: group 3 at the top level");
        for disk in [&mut circle, &mut line] {
            disk.handle(Input::Switch(Box::new(spec.build())));
        }
        assert_eq!(circle.measure(), line.measure(), "{name}, after a switch");
    }
}
