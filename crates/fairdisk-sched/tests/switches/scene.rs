//! A small closed loop: tasks with habits, and a disk whose head takes time to move.

use fairdisk_core::{
    Bio, BioId, Change, Effect, Effects, Engine, EngineConfig, Flags, GroupId, Input, Instant,
    IoPrio, Journal, Lba, Op, PoolConfig, PoolLayout, Prng, RequestId, Sectors, Share, Span,
    TaskId,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};

/// What a task does over and over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habit {
    /// The position of the next read after `run` consecutive requests: random, within `span`
    /// sectors of `home`.
    pub(crate) home: u64,
    pub(crate) span: u64,
    pub(crate) run: u32,
    /// Sectors left out between two requests of a run.
    pub(crate) gap: u64,
    pub(crate) sectors: u32,
    /// Requests in flight at once.
    pub(crate) at_once: u32,
    /// The longest think time between requests.
    pub(crate) think: Span,
    pub(crate) write: bool,
    pub(crate) sync: bool,
    pub(crate) flags: Flags,
    pub(crate) ioprio: IoPrio,
    pub(crate) group: GroupId,
}

/// A reader of consecutive 4 KiB pieces.
pub(crate) const READER: Habit = Habit {
    home: 0,
    span: 1 << 20,
    run: u32::MAX,
    gap: 0,
    sectors: 8,
    at_once: 1,
    think: Span::ZERO,
    write: false,
    sync: true,
    flags: Flags::NONE,
    ioprio: IoPrio::UNSET,
    group: GroupId::ROOT,
};

/// When groups change.
const CHANGE: Span = Span::from_ms(500);

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) depth: u32,
    pub(crate) rotational: bool,
    pub(crate) habits: Vec<Habit>,
}

struct Task {
    habit: Habit,
    left: u32,
    at: u64,
    /// When the task submits next, for each request it may have in flight.
    due: Vec<Instant>,
}

struct Play {
    engine: Engine<Scheduler>,
    now: Instant,
    prng: Prng,
    effects: Effects,
    tasks: Vec<Task>,
    rotational: bool,
    head: Lba,
    /// Requests at the device, one after another, with their completion times.
    jobs: Vec<(Instant, RequestId)>,
    wake_at: Option<Instant>,
    submitted: u64,
}

impl Scene {
    /// The hash of the journal after `length`.
    pub(crate) fn play(&self, spec: SchedulerSpec, seed: u64, length: Span) -> u64 {
        let mut play = self.begin(spec, seed);
        play.run_to(Instant::ZERO + CHANGE);
        play.change_groups();
        play.run_to(Instant::ZERO + length);
        play.engine.journal().hash()
    }

    /// The device time of each of the two groups in `length`, without a change of groups.
    pub(crate) fn device_times(&self, spec: SchedulerSpec, length: Span) -> [Span; 2] {
        let mut play = self.begin(spec, 7);
        play.run_to(Instant::ZERO + length);
        let accounts = play.engine.accounts();
        [1, 2].map(|group| accounts.group(GroupId(group)).map_or(Span::ZERO, |it| it.device_time))
    }

    fn begin(&self, spec: SchedulerSpec, seed: u64) -> Play {
        let pool = PoolConfig { layout: PoolLayout::Unlimited, ..PoolConfig::default() };
        let config = EngineConfig { depth: self.depth, pool, ..EngineConfig::default() };
        let prng = Prng::new(seed);
        let task = |habit: &Habit| Task {
            habit: *habit,
            left: 0,
            at: habit.home,
            due: vec![Instant::ZERO; habit.at_once as usize],
        };
        let mut play = Play {
            engine: Engine::new(spec.build(), config, Journal::hashing()),
            now: Instant::ZERO,
            prng,
            effects: Effects::new(),
            tasks: self.habits.iter().map(task).collect(),
            rotational: self.rotational,
            head: Lba(0),
            jobs: Vec::new(),
            wake_at: None,
            submitted: 0,
        };
        if !self.rotational {
            play.handle(Input::Configure(Change::Rotational { rotational: false }));
        }
        for (group, weight) in [(1, Share::Priority(0)), (2, Share::Priority(6))] {
            let group = GroupId(group);
            play.handle(Input::Configure(Change::GroupAdded { group, share: weight }));
        }
        play
    }
}

impl Play {
    /// Swaps the shares of the groups: the large one becomes small, and the tasks of both change
    /// places.
    fn change_groups(&mut self) {
        let share = Share::Priority(7);
        self.handle(Input::Configure(Change::GroupShare { group: GroupId(1), share }));
        for who in 0..self.tasks.len() {
            let group = match self.tasks[who].habit.group {
                GroupId(1) => GroupId(2),
                GroupId(2) => GroupId(1),
                _ => continue,
            };
            self.tasks[who].habit.group = group;
            let task = TaskId(who as u32);
            self.handle(Input::Configure(Change::TaskMoved { task, group }));
        }
    }

    fn run_to(&mut self, until: Instant) {
        while self.now < until {
            let submits = self.tasks.iter().flat_map(|task| task.due.iter().copied());
            let done = self.jobs.iter().map(|(at, _)| *at);
            let Some(next) = submits.chain(done).chain(self.wake_at).min() else { break };
            self.now = next.max(self.now);
            self.event();
        }
    }

    fn event(&mut self) {
        let now = self.now;
        if let Some(at) = self.jobs.iter().position(|(done, _)| *done <= now) {
            let (_, request) = self.jobs.remove(at);
            self.handle(Input::Completed { request, ok: true });
        } else if let Some(who) = self.tasks.iter().position(|task| task.is_due(now)) {
            let bio = self.next_bio(who);
            self.handle(Input::Submit(bio));
        } else {
            self.handle(Input::Tick);
        }
    }

    fn next_bio(&mut self, who: usize) -> Bio {
        self.submitted += 1;
        let now = self.now;
        let task = &mut self.tasks[who];
        let habit = task.habit;
        let due = task.due.iter().position(|due| *due <= now).expect("it is due");
        task.due.swap_remove(due);
        if task.left == 0 {
            task.at = habit.home + 8 * self.prng.below(habit.span / 8);
            task.left = habit.run;
        }
        task.left -= 1;
        let start = Lba(task.at);
        task.at += u64::from(habit.sectors) + habit.gap;
        Bio {
            id: BioId(self.submitted),
            task: TaskId(who as u32),
            group: habit.group,
            op: if habit.write { Op::Write } else { Op::Read },
            start,
            sectors: Sectors(habit.sectors),
            sync: habit.sync,
            flags: habit.flags,
            ioprio: habit.ioprio,
        }
    }

    fn handle(&mut self, input: Input<Scheduler>) {
        self.engine.handle(self.now, input, &mut self.effects);
        self.wake_at = self.effects.wake_at;
        let effects: Vec<Effect> = self.effects.as_slice().to_vec();
        for effect in effects {
            match effect {
                Effect::Issue(request) => {
                    let free = self.jobs.last().map_or(self.now, |(done, _)| *done);
                    let distance = request.start.distance(self.head);
                    self.head = request.end();
                    let seek = if distance == 0 || !self.rotational {
                        Span::ZERO
                    } else {
                        Span::from_us(500 + (distance >> 11).min(6000))
                    };
                    let transfer = Span::from_us(100 + 2 * u64::from(request.sectors.0));
                    self.jobs.push((free + seek + transfer, request.id));
                }
                Effect::Finish { task, .. } => {
                    let think = self.tasks[task.0 as usize].habit.think.as_ns();
                    let think = Span::from_ns(self.prng.below(think + 1));
                    self.tasks[task.0 as usize].due.push(self.now + think);
                }
                Effect::Sleep { .. } | Effect::Wake { .. } | Effect::Cancelled(_) => {}
            }
        }
    }
}

impl Task {
    fn is_due(&self, now: Instant) -> bool {
        self.due.iter().any(|due| *due <= now)
    }
}
