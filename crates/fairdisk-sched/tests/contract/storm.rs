//! Storms: everything that a shell may do to an engine, in random order, from one seed.

mod disk;
mod kind;

use crate::world::World;
use fairdisk_core::{
    Auditor, Bio, BioId, Change, EngineConfig, Flags, GroupId, Input, IoClass, IoPrio, Journal,
    Lba, Op, Prng, Qos, Rates, Sectors, Share, Span, TaskId, Weight,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};
pub(crate) use kind::Kind;
use kind::{Event, Habit};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

const TASKS: usize = 12;
const GROUPS: u32 = 6;
/// Enough for the scheduler to know how long a task thinks.
const SHARED_PERIODS: usize = 16;

/// The parameters of a storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Storm {
    pub(crate) kind: &'static Kind,
    pub(crate) spec: SchedulerSpec,
    pub(crate) config: EngineConfig,
    pub(crate) seed: u64,
    pub(crate) bios: u64,
    /// Whether other elevators take over now and then.
    pub(crate) switch: bool,
}

/// What was seen of a storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The hash of its journal.
    pub(crate) hash: u64,
    /// How long the disk was found to have worked on writes after it had acknowledged them.
    pub(crate) deferred: Span,
}

impl Storm {
    /// Runs the storm.
    pub(crate) fn run(self) -> Outcome {
        self.run_on(self.spec.build())
    }

    /// Runs the storm on the given scheduler.
    pub(crate) fn run_on(self, scheduler: Scheduler) -> Outcome {
        let World { engine, .. } = Sea::new(self, scheduler).cross();
        let groups = (0..GROUPS).filter_map(|group| engine.deferred(GroupId(group)));
        let deferred = groups.fold(Span::ZERO, |sum, one| sum + one);
        Outcome { hash: engine.journal().hash(), deferred }
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
}

impl Sea {
    fn new(storm: Storm, scheduler: Scheduler) -> Self {
        let Storm { kind: Kind { disk, .. }, config, seed, .. } = storm;
        let elevator = Auditor::new(scheduler);
        let mut world = World::with_journal(elevator, config, seed, Journal::keeping());
        (world.failing, world.asking) = (20, 4);
        (world.service, world.mixed) = (disk.service, disk.mixed);
        let is_cached = disk.always_cached || seed % 2 == 1;
        world.taken_in = is_cached.then_some(Span::from_us(20));
        let tasks = (0..TASKS as u32).map(newborn).collect();
        let (groups, parents) = (vec![GroupId::ROOT], BTreeMap::new());
        let (next_task, submitted) = (TASKS as u32, 0);
        let prng = Prng::new(seed);
        let mut sea = Self { storm, world, prng, tasks, groups, parents, next_task, submitted };
        sea.settle_down();
        disk.at_first.iter().for_each(|change| sea.change_disk(*change));
        sea
    }

    /// Adds the groups with habits, and distributes the tasks among those that are to be busy.
    fn settle_down(&mut self) {
        let kind = self.storm.kind;
        for Habit { group, .. } in kind.habits.iter().filter(|habit| habit.group != GroupId::ROOT) {
            self.groups.push(*group);
            self.configure(Change::GroupAdded { group: *group, share: Share::DEFAULT });
        }
        for (who, Habit { group, .. }) in (0..TASKS).zip(kind.busy().cycle()) {
            self.set_group(who, *group);
        }
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
        if !self.one_in(self.storm.kind.pause_in) {
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

    /// Lets time pass until one of the groups that are to be busy has too little queued.
    fn pause_while_busy(&mut self) {
        while self.shortest_queue().is_some_and(|(habit, queued)| queued >= habit.queued_min) {
            self.world.run_to_event();
        }
    }

    /// Of the groups that are to be busy, that with the fewest requests queued, and how many it
    /// has.
    fn shortest_queue(&self) -> Option<(&'static Habit, u32)> {
        let loads = self.world.engine.loads();
        let queued = |habit: &Habit| loads.get(&habit.group).map_or(0, |load| load.queued);
        let queues = self.storm.kind.busy().map(|habit| (habit, queued(habit)));
        queues.min_by_key(|(_, queued)| *queued)
    }

    fn something(&mut self) {
        match self.some_event() {
            Event::Submit => self.submit(),
            Event::Share => self.share(),
            Event::ComeBack => self.come_back(),
            Event::FillGap => self.fill_gap(),
            Event::Tick => self.world.handle(Input::Tick),
            Event::CancelOrHurry => self.cancel_or_hurry(),
            Event::Reprioritise => self.reprioritise(),
            Event::ChangeGroups => self.change_groups(),
            Event::MoveTask => self.move_task(),
            Event::ExitTask => self.exit_task(),
            Event::SwitchOrChangeDisk if self.storm.switch && self.prng.chance(3, 4) => {
                self.switch();
            }
            Event::SwitchOrChangeDisk => self.maybe_change_disk(),
        }
    }

    fn some_event(&mut self) -> Event {
        let mut left = self.prng.below(100);
        for (parts, event) in self.storm.kind.events {
            match left.checked_sub(*parts) {
                Some(rest) => left = rest,
                None => return *event,
            }
        }
        unreachable!("the parts of all events are a hundred")
    }

    /// Whether it is one of so many. Nothing is drawn if it is every one.
    fn one_in(&mut self, many: u64) -> bool {
        many == 1 || self.prng.chance(1, many)
    }

    fn submit(&mut self) {
        let op = match self.prng.below(20) {
            0..10 => Op::Read,
            10..17 => Op::Write,
            17 => Op::Flush,
            18 => Op::Discard,
            _ => Op::WriteZeroes,
        };
        let who = self.some_submitter();
        let sectors = if op == Op::Flush { 0 } else { 8 * self.prng.between(1, 12) as u32 };
        let (start, sectors) = self.some_place(self.tasks[who].position, sectors);
        let flags = self.some_flags();
        let sync = if op == Op::Read { !self.prng.chance(1, 8) } else { self.prng.chance(1, 3) };
        self.submit_as(who, op, start, sectors, sync, flags);
    }

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

    fn fill_gap(&mut self) {
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
        let (op, sync) = match self.storm.kind.habit(group) {
            // What a task does not wait for, or is neither read nor write, would count as a pause.
            Some(habit) if op != Op::Flush => (self.usual_op(habit), true),
            _ => (op, sync),
        };
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

    /// What tasks with this habit mostly do, and now and then the opposite.
    fn usual_op(&mut self, habit: &Habit) -> Op {
        match (habit.mostly == Op::Write) != self.prng.chance(1, 40) {
            true => Op::Write,
            false => Op::Read,
        }
    }

    fn some_page(&mut self) -> u64 {
        self.prng.below(self.storm.kind.disk.pages)
    }

    /// A task of the group that has the fewest requests queued of those that are to be busy, if it
    /// has any; otherwise any task.
    fn some_submitter(&mut self) -> usize {
        let who = self.some_task();
        let Some((short, _)) = self.shortest_queue() else { return who };
        let mut from_there = (who..self.tasks.len()).chain(0..who);
        from_there.find(|who| self.tasks[*who].group == short.group).unwrap_or(who)
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

    fn cancel_or_hurry(&mut self) {
        let recent = self.submitted.saturating_sub(self.prng.below(40));
        if self.prng.chance(1, 2) {
            return self.world.handle(Input::Cancel(BioId(recent)));
        }
        let some = recent..=recent + self.prng.below(8);
        self.world.handle(Input::Hurry(some.map(BioId).collect()));
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
                let has_any = self.one_in(self.storm.kind.qos_in);
                let qos = if has_any { self.some_qos() } else { Qos::NONE };
                self.configure(Change::GroupQos { group, qos });
            }
            Some(_) if self.prng.chance(1, 2) => {
                let ms = Span::from_ms(self.prng.below(40));
                let idle = self.prng.chance(3, 4).then_some(ms);
                self.configure(Change::GroupIdle { group, idle });
            }
            Some(_) if self.storm.kind.habit(group).is_some() => {}
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
        let aims = self.prng.chance(1, 2) && self.storm.kind.targets;
        let latency_p99 = aims.then_some(target);
        Qos { floor, ceiling, burst, latency_p99, ..Qos::NONE }
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
        match self.storm.kind.habits {
            [] => self.groups[self.prng.below(self.groups.len() as u64) as usize],
            habits => habits[self.prng.below(habits.len() as u64) as usize].group,
        }
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
        if self.storm.kind.habit(group).is_some() {
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
