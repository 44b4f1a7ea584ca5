//! The kinds of storms, as data: what the groups and the disk are like, and what happens how often.
//! One generator interprets all of them, and does not know which one it has.

use fairdisk_core::{GroupId, Op, Span};

/// A kind of storm. A new one is a value beside those below.
#[derive(Debug)]
pub(crate) struct Kind {
    /// What happens, each so many times out of a hundred.
    pub(super) events: &'static [(u64, Event)],
    /// Time passes, however much is queued, before one event in this many; before the others, only
    /// until a group has less queued than its habit.
    pub(super) pause_in: u64,
    /// The groups in which all tasks are, from the beginning to the end. Others come and go beside
    /// them. Without any, tasks are in all groups and do what they like.
    pub(super) habits: &'static [Habit],
    /// One in this many changes of floors and ceilings sets some; the others take them away.
    pub(super) qos_in: u64,
    /// Whether groups may have latency targets.
    pub(super) targets: bool,
    pub(super) disk: Disk,
}

/// Something that happens in a storm.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A task submits a bio.
    Submit,
    /// Three tasks share a slow disk: one always has something queued, one thinks for about as long
    /// each time, and one comes now and then.
    Share,
    /// A task has the disk to itself for a while.
    ComeBack,
    /// The requests on either side of a third one are merged with it.
    FillGap,
    /// The engine is asked although nothing has happened.
    Tick,
    /// A bio is cancelled that is in flight, has ended, or never existed, or somebody comes to wait
    /// for some of them.
    CancelOrHurry,
    Reprioritise,
    ChangeGroups,
    MoveTask,
    ExitTask,
    /// Another scheduler takes over, if the storm allows it, or the disk changes.
    SwitchOrChangeDisk,
}

/// What the tasks of a group do.
#[derive(Debug)]
pub(super) struct Habit {
    pub(super) group: GroupId,
    /// What they mostly do; now and then they do the opposite.
    pub(super) mostly: Op,
    /// How many requests the group has queued at least.
    pub(super) queued_min: u32,
}

/// The disk of a storm.
#[derive(Debug)]
pub(super) struct Disk {
    /// Few, for bios to overlap and adjoin, or many, so that hardly any two do.
    pub(super) pages: u64,
    /// The service time of a request.
    pub(super) service: Span,
    /// How much longer a request takes if reads and writes are at the disk together.
    pub(super) mixed: Span,
    /// Whether writes always go into a cache, and not just in every other storm.
    pub(super) always_cached: bool,
    /// What the engine is told of it at first.
    pub(super) at_first: &'static [DiskChange],
    /// How it may change.
    pub(super) changes: &'static [DiskChange],
    /// It does in one of this many cases.
    pub(super) changes_in: u64,
}

/// What the engine is told of a disk.
#[derive(Clone, Copy, Debug)]
pub(super) enum DiskChange {
    Depth,
    Costs,
    Rotational,
    /// What requests cost a disk that has one head.
    OneHead,
    /// That it is one without a head that a few requests keep busy.
    Flash,
}

/// Enough requests for a group not to run dry, which would count as a pause.
const BUSY: u32 = 10;

impl Kind {
    /// Anything happens, on any disk.
    pub(crate) const ANY: Self = Self {
        events: &[
            (69, Event::Submit),
            (1, Event::Share),
            (2, Event::ComeBack),
            (6, Event::FillGap),
            (5, Event::Tick),
            (5, Event::CancelOrHurry),
            (3, Event::Reprioritise),
            (3, Event::ChangeGroups),
            (3, Event::MoveTask),
            (2, Event::ExitTask),
            (1, Event::SwitchOrChangeDisk),
        ],
        pause_in: 1,
        habits: &[],
        qos_in: 1,
        targets: true,
        disk: Disk {
            pages: 375,
            service: Span::from_us(700),
            mixed: Span::ZERO,
            always_cached: false,
            at_first: &[],
            changes: &[DiskChange::Depth, DiskChange::Costs, DiskChange::Rotational],
            changes_in: 1,
        },
    };

    /// The disk has a write cache and one head.
    pub(crate) const CACHED: Self = Self {
        disk: Disk {
            always_cached: true,
            at_first: &[DiskChange::OneHead, DiskChange::Depth],
            ..Self::ANY.disk
        },
        ..Self::ANY
    };

    /// One group mostly reads and one mostly writes, on a disk without a head that both keep busy
    /// and that is slower if both are there: reads and writes take turns.
    pub(crate) const ONE_WAY: Self = Self {
        events: &[
            (72, Event::Submit),
            (6, Event::FillGap),
            (5, Event::Tick),
            (5, Event::CancelOrHurry),
            (3, Event::Reprioritise),
            (3, Event::ChangeGroups),
            (3, Event::MoveTask),
            (2, Event::ExitTask),
            (1, Event::SwitchOrChangeDisk),
        ],
        pause_in: 400,
        // Of more groups none would keep the disk busy.
        habits: &[
            Habit { group: GroupId::ROOT, mostly: Op::Read, queued_min: 0 },
            Habit { group: GroupId(1), mostly: Op::Write, queued_min: BUSY },
            Habit { group: GroupId(2), mostly: Op::Read, queued_min: BUSY },
        ],
        qos_in: 8,
        targets: false,
        disk: Disk {
            // What others wait for is served in nobody's turn.
            pages: 1 << 20,
            service: Span::from_us(100),
            mixed: Span::from_us(900),
            always_cached: false,
            at_first: &[DiskChange::Flash],
            changes: &[DiskChange::Flash],
            // What turns are worth is to be found out before that is forgotten.
            changes_in: 40,
        },
    };

    /// The groups that are to have something queued all the time.
    pub(super) fn busy(&self) -> impl Iterator<Item = &Habit> + Clone {
        self.habits.iter().filter(|habit| habit.queued_min > 0)
    }

    /// What the tasks of `group` do, if they are to keep to something.
    pub(super) fn habit(&self, group: GroupId) -> Option<&Habit> {
        self.habits.iter().find(|habit| habit.group == group)
    }
}
