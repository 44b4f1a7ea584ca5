//! What an elevator is told of groups and the device, the same as the next one would be told, and
//! of flushes.

#[path = "model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "model/leave_to_fifo.rs"]
mod leave_to_fifo;

use fairdisk_core::{
    Bio, BioId, Change, Cost, CostModel, Effects, Elevator, Engine, EngineConfig, GroupId, Hearing,
    Input, Instant, IoPrio, Journal, Qos, Refusal, RequestId, Share, Span, Submitter, TaskId,
    Weight,
};
use fifo::Fifo;

/// First come, first served; remembers what it was told.
#[derive(Debug, Default)]
struct Witness {
    fifo: Fifo,
    told: Vec<Change>,
    /// Flushes that ended, with how long the device was busy with each and whether it succeeded.
    flushed: Vec<(Submitter, Span, bool)>,
}

impl Elevator for Witness {
    leave_to_fifo!(admit decide complete withdraw describe drain);

    fn configure(&mut self, _now: Instant, change: &Change) {
        self.told.push(*change);
    }
}

impl Hearing for Witness {
    fn flushed(&mut self, _now: Instant, by: Submitter, device_time: Span, ok: bool) {
        self.flushed.push((by, device_time, ok));
    }
}

fairdisk_core::default_extensions!(Witness: Merging, Driving, Promising, Reporting, Attaching);

struct Disk {
    engine: Engine<Witness>,
    effects: Effects,
}

impl Disk {
    fn new() -> Self {
        let (witness, config) = (Witness::default(), EngineConfig::default());
        let engine = Engine::new(witness, config, Journal::hashing());
        Self { engine, effects: Effects::new() }
    }

    /// Tells of a change and returns why it was refused, if it was.
    fn tell(&mut self, change: Change) -> Option<Refusal> {
        self.engine.handle(Instant::ZERO, Input::Configure(change), &mut self.effects);
        self.effects.change_refused
    }

    fn switch(&mut self) {
        self.engine.handle(Instant::ZERO, Input::Switch(Box::default()), &mut self.effects);
    }

    /// What the elevator was told, apart from the root group.
    fn told(&self) -> Vec<Change> {
        let told = self.engine.elevator().told.iter().copied();
        told.filter(|change| *change != added(0)).collect()
    }
}

const fn added(group: u32) -> Change {
    Change::GroupAdded { group: GroupId(group), share: Share::DEFAULT }
}

const fn inside(group: u32, outer: u32) -> Change {
    Change::GroupParent { group: GroupId(group), parent: Some(GroupId(outer)) }
}

fn settings(group: u32) -> [Change; 3] {
    let group = GroupId(group);
    let qos = Qos { latency_p99: Some(Span::from_ms(20)), ..Qos::NONE };
    let idle = Some(Span::ZERO);
    let share = Share::Weight(Weight::new(300).expect("in range"));
    [
        Change::GroupShare { group, share },
        Change::GroupQos { group, qos },
        Change::GroupIdle { group, idle },
    ]
}

#[test]
fn a_circle_is_refused_and_the_next_elevator_is_told_of_none() {
    let mut disk = Disk::new();
    let changes = [added(1), added(2), added(3), inside(2, 1), inside(3, 2)];
    changes.iter().for_each(|change| assert_eq!(disk.tell(*change), None));
    for (group, outer) in [(1, 2), (1, 3), (1, 1)] {
        let circle = Refusal::Circle { group: GroupId(group) };
        assert_eq!(disk.tell(inside(group, outer)), Some(circle));
    }
    assert_eq!(disk.told(), changes);
    disk.switch();
    assert_eq!(disk.told(), changes);
}

#[test]
fn a_group_has_settings_from_when_it_is_added_until_it_is_removed() {
    let mut disk = Disk::new();
    let (one, removed) = (GroupId(1), Change::GroupRemoved { group: GroupId(1) });
    let out = Change::GroupParent { group: one, parent: None };
    let all = || settings(1).into_iter().chain([inside(1, 0), out]);
    let unknown = Some(Refusal::Unknown { group: one });
    all().for_each(|change| assert_eq!(disk.tell(change), unknown));
    disk.tell(added(1));
    all().for_each(|change| assert_eq!(disk.tell(change), None));
    disk.tell(removed);
    all().for_each(|change| assert_eq!(disk.tell(change), unknown));
    let told: Vec<Change> = [added(1)].into_iter().chain(all()).chain([removed]).collect();
    assert_eq!(disk.told(), told);
}

#[test]
fn no_group_is_nested_in_one_that_was_not_added() {
    let mut disk = Disk::new();
    disk.tell(added(1));
    assert_eq!(disk.tell(inside(1, 7)), Some(Refusal::Unknown { group: GroupId(7) }));
    assert_eq!(disk.told(), [added(1)]);
}

const fn costs(depth: u32) -> Change {
    let cost = Cost { sequential: Span::ZERO, random: Span::ZERO, byte_ps: 0, random_byte_ps: 0 };
    let (saturation, alone) = (Span::from_ms(4), Span::from_ms(8));
    Change::Costs(CostModel { depth, saturation, alone, read: cost, write: cost })
}

/// A disk with one head accepts 32 requests, which is not told by itself as it does not serve them
/// faster together.
#[test]
fn a_cost_model_says_how_many_requests_are_accepted() {
    let mut disk = Disk::new();
    disk.tell(costs(32));
    disk.switch();
    assert_eq!(disk.told(), [costs(32)]);
}

#[test]
fn a_depth_that_was_told_is_that_of_the_cost_model_whichever_came_first() {
    let depth = Change::Depth { depth: 1 };
    for (changes, told) in [([depth, costs(32)], costs(1)), ([costs(32), depth], costs(32))] {
        let mut disk = Disk::new();
        changes.iter().for_each(|change| assert_eq!(disk.tell(*change), None));
        assert!(disk.told().contains(&depth) && disk.told().contains(&told));
        disk.switch();
        assert_eq!(disk.told(), [depth, costs(1)]);
    }
}

/// A flush belongs to whoever submitted it, however it ends and whoever has taken over meanwhile.
#[test]
fn the_end_of_a_flush_is_told() {
    let by = Submitter { task: TaskId(1), group: GroupId(7) };
    for (ok, switches) in [(true, false), (false, false), (true, true)] {
        let mut disk = Disk::new();
        let flush = Bio::flush(BioId(1), by.task, by.group, IoPrio::UNSET);
        disk.engine.handle(Instant::ZERO, Input::Submit(flush), &mut disk.effects);
        if switches {
            disk.switch();
        }
        let done = Input::Completed { request: RequestId(0), ok };
        let took = Span::from_ms(30);
        disk.engine.handle(Instant::ZERO + took, done, &mut disk.effects);
        assert_eq!(disk.engine.elevator().flushed, [(by, took, ok)]);
    }
}
