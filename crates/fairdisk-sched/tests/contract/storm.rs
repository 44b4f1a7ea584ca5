//! Storms: everything that a shell may do to an engine, in random order, from one seed.

mod one_way;

use crate::world::World;
use fairdisk_core::{
    Auditor, Bio, BioId, Change, Cost, CostModel, EngineConfig, Flags, GroupId, Input, IoClass,
    IoPrio, Journal, Lba, Op, Prng, Qos, Rates, Sectors, Share, Span, TaskId, Weight,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};
use one_way::PAIR;
use std::collections::BTreeMap;
use std::num::NonZeroU64;

const TASKS: usize = 12;
const GROUPS: u32 = 6;
/// The size of the disk; small enough for bios to overlap and adjoin.
const DISK_SECTORS: u64 = 3000;
/// Enough for the scheduler to know how long a task thinks.
const SHARED_PERIODS: usize = 16;

/// The parameters of a storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storm {
    pub(crate) spec: SchedulerSpec,
    pub(crate) config: EngineConfig,
    pub(crate) seed: u64,
    pub(crate) bios: u64,
    /// Whether other elevators take over now and then.
    pub(crate) switch: bool,
}

impl Storm {
    /// Runs the storm and returns the hash of its journal.
    pub(crate) fn run(self) -> u64 {
        self.run_on(self.spec.build())
    }

    /// Runs the storm on the given scheduler.
    pub(crate) fn run_on(self, scheduler: Scheduler) -> u64 {
        let sea = Sea::new(self, scheduler, Journal::hashing());
        sea.cross().engine.journal().hash()
    }

    /// Runs the storm on a disk with a write cache and one head that may be flushed from the
    /// beginning. Returns how often its scheduler flushed it.
    pub(crate) fn run_cached(self) -> u64 {
        let mut sea = Sea::new(self, self.spec.build(), Journal::hashing());
        sea.world.taken_in = Some(Span::from_us(20));
        let of = |us| Cost { random: Span::from_us(us), ..Cost::default() };
        let (saturation, alone) = (Span::from_us(700), Span::from_us(700));
        let costs = CostModel { depth: 1, saturation, alone, read: of(700), write: of(500) };
        sea.configure(Change::Costs(costs));
        sea.change_depth();
        sea.configure(Change::Flushable { flushable: true });
        sea.cross().own_flushes
    }
}

#[derive(Clone, Copy)]
struct Task {
    id: TaskId,
    group: GroupId,
    ioprio: IoPrio,
    position: Lba,
}

struct Sea {
    storm: Storm,
    world: World<Auditor<Scheduler>>,
    prng: Prng,
    tasks: Vec<Task>,
    /// In order of creation.
    groups: Vec<GroupId>,
    /// The parent of each group whose parent was ever set.
    parents: BTreeMap<GroupId, Option<GroupId>>,
    next_task: u32,
    submitted: u64,
    /// Whether each group mostly reads or mostly writes, on a disk without a head that is kept
    /// busy.
    is_one_way: bool,
}

impl Sea {
    fn new(storm: Storm, scheduler: Scheduler, journal: Journal) -> Self {
        let elevator = Auditor::new(scheduler);
        let mut world = World::with_journal(elevator, storm.config, storm.seed, journal);
        (world.failing, world.asking) = (20, 4);
        world.taken_in = (storm.seed % 2 == 1).then_some(Span::from_us(20));
        let tasks = (0..TASKS as u32).map(newborn).collect();
        let prng = Prng::new(storm.seed);
        let (groups, next_task) = (vec![GroupId::ROOT], TASKS as u32);
        let parents = BTreeMap::new();
        let (submitted, is_one_way) = (0, false);
        Self { storm, world, prng, tasks, groups, parents, next_task, submitted, is_one_way }
    }

    /// Runs until all bios are done.
    fn cross(mut self) -> World<Auditor<Scheduler>> {
        while self.submitted < self.storm.bios {
            self.pause();
            self.something();
        }
        self.world.run_dry();
        self.world
    }

    /// Lets time pass: mostly a little, so that queues fill, and sometimes long enough for slices
    /// and waits to end.
    fn pause(&mut self) {
        if self.is_one_way && !self.prng.chance(1, 400) {
            return self.pause_while_busy();
        }
        let us = match self.prng.below(40) {
            0 => self.prng.below(30_000),
            1 => self.prng.below(600_000),
            2..20 => 0,
            _ => self.prng.below(900),
        };
        self.world.run_until(self.world.now + Span::from_us(us));
    }

    fn something(&mut self) {
        match self.prng.below(100) {
            0..69 => self.submit(),
            69..72 if self.is_one_way => self.submit(),
            69 => self.share(),
            70..72 => self.come_back(),
            72..78 => self.fill_a_gap(),
            78..83 => self.world.handle(Input::Tick),
            83..88 => self.cancel(),
            88..91 => self.reprioritise(),
            91..94 => self.change_groups(),
            94..97 => self.move_task(),
            97..99 => self.exit_task(),
            _ if self.storm.switch && self.prng.chance(3, 4) => self.switch(),
            _ => self.change_device(),
        }
    }

    fn change_device(&mut self) {
        if self.is_one_way {
            // What turns are worth is to be found out before that is forgotten.
            if self.prng.chance(1, 40) {
                self.change_flash();
            }
            return;
        }
        match self.prng.below(4) {
            0 => self.change_depth(),
            1 => self.change_costs(),
            2 => {
                let flushable = self.prng.chance(1, 2);
                self.configure(Change::Flushable { flushable });
            }
            _ => {
                let rotational = self.prng.chance(1, 2);
                self.configure(Change::Rotational { rotational });
            }
        }
    }

    fn change_depth(&mut self) {
        let depth = self.prng.between(1, 8) as u32;
        self.world.depth = depth as usize;
        self.configure(Change::Depth { depth });
    }

    fn submit(&mut self) {
        let op = match self.prng.below(20) {
            0..10 => Op::Read,
            10..17 => Op::Write,
            17 => Op::Flush,
            18 => Op::Discard,
            _ => Op::WriteZeroes,
        };
        let who = if self.is_one_way { self.who_is_short() } else { self.some_task() };
        let sectors = if op == Op::Flush { 0 } else { 8 * self.prng.between(1, 12) as u32 };
        let (start, sectors) = self.some_place(self.tasks[who].position, sectors);
        let flags = self.some_flags();
        let sync = if op == Op::Read { !self.prng.chance(1, 8) } else { self.prng.chance(1, 3) };
        self.submit_as(who, op, start, sectors, sync, flags);
    }

    /// Lets a task have the disk to itself for a while.
    fn come_back(&mut self) {
        let (who, mut pause) = (self.some_task(), Span::from_ms(300));
        for _ in 0..4 {
            self.world.run_until(self.world.now + pause);
            let (start, sectors) = self.some_place(self.tasks[who].position, 8);
            let op = if self.prng.chance(3, 4) { Op::Read } else { Op::Write };
            self.submit_as(who, op, start, sectors, true, Flags::NONE);
            pause = Span::from_us(self.prng.below(20_000));
        }
    }

    /// Lets three tasks share a slow disk: one always has something queued, one thinks for about as
    /// long each time, and one comes now and then.
    fn share(&mut self) {
        let before = self.world.service;
        self.world.service = Span::from_ms(self.prng.between(2, 8));
        let [busy, thinker, guest] = [(); 3].map(|()| {
            let who = self.some_task();
            let group = self.some_group();
            self.set_group(who, group);
            who
        });
        let idle = self.prng.chance(1, 2).then(|| Span::from_ms(self.prng.between(5, 40)));
        self.configure(Change::GroupIdle { group: self.tasks[guest].group, idle });
        if self.prng.chance(1, 2) {
            let who = [busy, thinker, guest][self.prng.below(3) as usize];
            self.give_some_priority(who);
            let (group, qos) = (self.tasks[who].group, self.some_qos());
            self.configure(Change::GroupQos { group, qos });
        }
        let period = self.world.service.as_us() * self.prng.between(2, 5);
        let op = if self.prng.chance(3, 4) { Op::Read } else { Op::Write };
        for _ in 0..SHARED_PERIODS {
            (0..3).for_each(|_| self.submit_somewhere(busy, op));
            self.submit_somewhere(thinker, Op::Read);
            let early = self.prng.below(period);
            self.world.run_until(self.world.now + Span::from_us(early));
            if self.prng.chance(1, 3) {
                self.submit_somewhere(guest, Op::Read);
            }
            self.world.run_until(self.world.now + Span::from_us(period - early));
        }
        self.world.service = before;
    }

    fn submit_somewhere(&mut self, who: usize, op: Op) {
        let start = Lba(8 * self.some_page());
        self.submit_as(who, op, start, 8, true, Flags::NONE);
    }

    /// Submits two bios and a third one between them, so that the requests on either side are
    /// merged.
    fn fill_a_gap(&mut self) {
        let who = self.some_task();
        let op = if self.prng.chance(1, 2) { Op::Read } else { Op::Write };
        let start = 8 * self.some_page();
        for offset in [0, 16, 8] {
            self.submit_as(who, op, Lba(start + offset), 8, true, Flags::NONE);
        }
    }

    fn submit_as(
        &mut self,
        who: usize,
        op: Op,
        start: Lba,
        sectors: u32,
        sync: bool,
        flags: Flags,
    ) {
        let Task { id: task, group, ioprio, .. } = self.tasks[who];
        // What a task does not wait for, or is neither read nor write, would count as a pause.
        let is_usual = self.is_one_way && op != Op::Flush;
        let op = if is_usual { self.usual_op(group) } else { op };
        let sync = sync || is_usual;
        self.submitted += 1;
        let (id, sectors) = (BioId(self.submitted), Sectors(sectors));
        let bio = Bio { id, task, group, op, start, sectors, sync, flags, ioprio };
        self.tasks[who].position = bio.end();
        self.world.submit(bio);
    }

    /// A position; half of the bios continue at the end of the task's previous bio, or end at its
    /// start, so that they are merged.
    fn some_place(&mut self, position: Lba, sectors: u32) -> (Lba, u32) {
        match self.prng.below(8) {
            0..4 => (position, sectors),
            4 => (Lba(position.0.saturating_sub(2 * u64::from(sectors))), sectors),
            _ => (Lba(8 * self.some_page()), sectors),
        }
    }

    /// A page of the disk. Where groups are to have turns, hardly any two bios overlap: what others
    /// wait for is served in nobody's turn.
    fn some_page(&mut self) -> u64 {
        let pages = if self.is_one_way { 1 << 20 } else { DISK_SECTORS / 8 };
        self.prng.below(pages)
    }

    fn some_task(&mut self) -> usize {
        self.prng.below(self.tasks.len() as u64) as usize
    }

    fn some_flags(&mut self) -> Flags {
        match self.prng.below(10) {
            0 => Flags::META,
            1 => Flags::NOIDLE,
            2 => Flags::FUA,
            _ => Flags::NONE,
        }
    }

    /// Cancels a bio that is in flight, has ended, or never existed.
    fn cancel(&mut self) {
        let recent = self.submitted.saturating_sub(self.prng.below(40));
        self.world.handle(Input::Cancel(BioId(recent)));
    }

    fn reprioritise(&mut self) {
        let who = self.some_task();
        self.give_some_priority(who);
    }

    fn give_some_priority(&mut self, who: usize) {
        let classes = [IoClass::None, IoClass::RealTime, IoClass::BestEffort, IoClass::Idle];
        let class = classes[self.prng.below(4) as usize];
        let ioprio = IoPrio { class, level: self.prng.below(8) as u8 };
        self.tasks[who].ioprio = ioprio;
        let task = self.tasks[who].id;
        self.configure(Change::TaskPriority { task, ioprio });
    }

    fn change_groups(&mut self) {
        let group = GroupId(self.prng.between(1, u64::from(GROUPS)) as u32);
        let share = self.some_share();
        match self.groups.iter().position(|known| *known == group) {
            None => {
                self.groups.push(group);
                self.configure(Change::GroupAdded { group, share });
            }
            Some(_) if self.prng.chance(1, 3) => {
                self.configure(Change::GroupShare { group, share });
            }
            Some(at) if self.prng.chance(1, 4) => self.nest_group(at),
            Some(_) if self.prng.chance(1, 3) => {
                let has_any = !self.is_one_way || self.prng.chance(1, 8);
                let qos = if has_any { self.some_qos() } else { Qos::NONE };
                self.configure(Change::GroupQos { group, qos });
            }
            Some(_) if self.prng.chance(1, 2) => {
                let ms = Span::from_ms(self.prng.below(40));
                let idle = self.prng.chance(3, 4).then_some(ms);
                self.configure(Change::GroupIdle { group, idle });
            }
            Some(_) if self.is_one_way && PAIR.contains(&group) => {}
            Some(at) => {
                self.groups.remove(at);
                self.empty_group(group);
                self.configure(Change::GroupRemoved { group });
            }
        }
    }

    /// Nests a group in one created before it, or moves it to the top level.
    fn nest_group(&mut self, at: usize) {
        let group = self.groups[at];
        let outer = self.prng.below(at as u64) as usize;
        let parent = Some(self.groups[outer]).filter(|parent| *parent != GroupId::ROOT);
        self.parents.insert(group, parent);
        self.configure(Change::GroupParent { group, parent });
    }

    /// Floors and ceilings that matter to a disk of several thousand I/Os per second.
    fn some_qos(&mut self) -> Qos {
        let mut rate = |most: u64| {
            let rate = NonZeroU64::new(self.prng.between(1, most));
            rate.filter(|_| self.prng.chance(1, 2))
        };
        let floor = Rates { iops: rate(500), bytes_per_s: rate(4 << 20) };
        let ceiling = Rates { iops: rate(5_000), bytes_per_s: rate(40 << 20) };
        let burst = Span::from_ms(self.prng.between(1, 200));
        let target = Span::from_ms(self.prng.between(1, 100));
        let aims = self.prng.chance(1, 2) && !self.is_one_way;
        let latency_p99 = aims.then_some(target);
        Qos { floor, ceiling, burst, latency_p99 }
    }

    fn change_costs(&mut self) {
        let mut us = |most: u64| Span::from_us(self.prng.below(most));
        let read =
            Cost { sequential: us(100), random: us(200), byte_ps: 2_000, random_byte_ps: 3_000 };
        let write =
            Cost { sequential: us(300), random: us(300), byte_ps: 4_000, random_byte_ps: 4_000 };
        let saturation = us(500);
        let depth = self.world.depth as u32;
        self.configure(Change::Costs(CostModel {
            depth,
            saturation,
            alone: saturation,
            read,
            write,
        }));
    }

    fn some_share(&mut self) -> Share {
        match Weight::new(self.prng.between(1, 10_000) as u32) {
            Some(weight) if self.prng.chance(1, 2) => Share::Weight(weight),
            _ => Share::Priority(self.prng.below(8) as u8),
        }
    }

    /// Moves all nested groups out of a group.
    fn empty_group(&mut self, group: GroupId) {
        self.parents.remove(&group);
        let inner = self.parents.iter().filter(|(_, parent)| **parent == Some(group));
        let inner: Vec<GroupId> = inner.map(|(inner, _)| *inner).collect();
        for inner in inner {
            self.parents.insert(inner, None);
            self.configure(Change::GroupParent { group: inner, parent: None });
        }
        for who in 0..self.tasks.len() {
            if self.tasks[who].group == group {
                self.set_group(who, GroupId::ROOT);
            }
        }
    }

    fn move_task(&mut self) {
        let who = self.some_task();
        let group = self.some_group();
        self.set_group(who, group);
    }

    fn some_group(&mut self) -> GroupId {
        // Of more groups than the root and two others none would keep the disk busy.
        let most = if self.is_one_way { 1 + PAIR.len() } else { self.groups.len() };
        self.groups[self.prng.below(self.groups.len().min(most) as u64) as usize]
    }

    fn set_group(&mut self, who: usize, group: GroupId) {
        self.tasks[who].group = group;
        self.configure(Change::TaskMoved { task: self.tasks[who].id, group });
    }

    /// Replaces a task that exits; its bios may be in any state.
    fn exit_task(&mut self) {
        let who = self.some_task();
        let task = self.tasks[who].id;
        self.configure(Change::TaskExited { task });
        let group = self.tasks[who].group;
        self.tasks[who] = newborn(self.next_task);
        self.next_task += 1;
        if self.is_one_way {
            self.set_group(who, group);
        }
    }

    fn switch(&mut self) {
        let names = SchedulerSpec::NAMES;
        let name = names[self.prng.below(names.len() as u64) as usize];
        let own = (name == self.storm.spec.name()).then_some(self.storm.spec);
        let spec = own.or_else(|| SchedulerSpec::named(name)).expect("it is listed");
        self.world.handle(Input::Switch(Box::new(Auditor::new(spec.build()))));
        self.check_leftovers();
    }

    /// Checks that a scheduler without defect D1 leaves no records behind.
    fn check_leftovers(&self) {
        let clean = matches!(self.storm.spec, SchedulerSpec::TwoLayerCfq(params)
            if !params.d1_stale_group_records);
        let leftovers = self.world.engine.leftovers();
        assert!(!clean || leftovers.is_empty(), "left behind: {leftovers:?}");
    }

    fn configure(&mut self, change: Change) {
        self.world.handle(Input::Configure(change));
    }
}

const fn newborn(id: u32) -> Task {
    Task { id: TaskId(id), group: GroupId::ROOT, ioprio: IoPrio::UNSET, position: Lba(0) }
}
