//! What schedulers are told about devices and about tasks that end.

#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
#[macro_use]
#[path = "../../fairdisk-core/tests/model/leave_to_fifo.rs"]
mod leave_to_fifo;
mod small;

use fairdisk_core::{
    Admission, Apart, Change, Elevator, EngineConfig, GroupId, Instant, Lba, PoolConfig,
    PoolLayout, Request, Span, TaskId,
};
use fairdisk_sim::workload::{Blocks, Direction, Limits, StreamSpec, TaskSpec};
use fairdisk_sim::{DiskConfig, Machine, MachineConfig, World};
use fifo::Fifo;

/// First come, first served; records what it was told.
#[derive(Debug, Default)]
struct Witness {
    fifo: Fifo,
    depth: Option<u32>,
    exited: Vec<TaskId>,
    admitted: u32,
}

impl Elevator for Witness {
    leave_to_fifo!(decide complete withdraw describe drain);

    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        assert!(!self.exited.contains(&request.task), "{:?} is no more", request.task);
        self.admitted += 1;
        self.fifo.admit(now, request)
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        match *change {
            Change::Depth { depth } => self.depth = Some(depth),
            Change::TaskExited { task } => self.exited.push(task),
            _ => {}
        }
    }
}

fairdisk_core::default_extensions!(Witness);

/// A disk of 1 ms per request, and a task that reads a file's first pages through the page cache.
fn world(pages: u64, engine: EngineConfig, serves_together: bool) -> World<Witness> {
    let machine = Machine::new(Witness::default(), config(pages, engine, serves_together));
    World::new(machine, small::disk(1))
}

fn config(pages: u64, engine: EngineConfig, serves_together: bool) -> MachineConfig {
    let limits = Limits { ios: Some(pages), ..Limits::default() };
    let stream = StreamSpec { blocks: Blocks::fixed(4096), limits, ..StreamSpec::default() };
    let task = TaskSpec { files: vec![0], buffered: true, stream, ..TaskSpec::default() };
    let config = small::config(task, Span::from_us(1));
    let disk = DiskConfig { engine, serves_together, ..DiskConfig::default() };
    MachineConfig { disks: vec![disk], ..config }
}

#[test]
fn a_task_is_gone_when_nothing_more_of_it_arrives() {
    // Every page is a request and slots are few, so read-ahead still sleeps when the task ends.
    let pool =
        PoolConfig { layout: PoolLayout::Shared(Apart::Direction), requests: 3, batch_requests: 1 };
    let engine = EngineConfig { merge_sectors_max: 8, pool, ..EngineConfig::default() };
    let mut world = world(2, engine, false);
    world.run_until_done(Instant::ZERO + Span::from_s(10));
    let machine = world.machine();
    assert!(machine.is_done());
    let reader = machine.task_reports().next().expect("there is a task");
    let ended = reader.finished.expect("it has ended");
    assert!(ended + Span::from_ms(2) < world.now(), "its read-ahead takes longer than itself");
    let witness = machine.engine(0).elevator();
    assert!(witness.admitted > 4, "it has read ahead: {}", witness.admitted);
    assert_eq!(witness.exited, [TaskId(0)]);
}

#[test]
fn the_depth_of_a_device_that_serves_several_at_once_is_told() {
    let engine = EngineConfig { depth: 4, ..EngineConfig::default() };
    let told = |together| world(1, engine, together).machine().engine(0).elevator().depth;
    assert_eq!((told(true), told(false)), (Some(4), None));
}

/// These failures make no call of the task fail.
#[test]
fn read_ahead_and_write_out_that_fail_are_errors_of_the_group() {
    for direction in [Direction::Read, Direction::Write] {
        let mut config = config(8, EngineConfig::default(), false);
        config.tasks[0].stream.direction = direction;
        // The file lies past the end of the disk.
        config.files[0].start = Lba(1 << 20);
        let mut world = World::new(Machine::new(Witness::default(), config), small::disk(1));
        world.run_until_done(Instant::ZERO + Span::from_s(10));
        let machine = world.machine();
        assert!(machine.is_done(), "{direction:?}");
        let accounts = machine.engine(0).accounts();
        let failed = accounts.group(GroupId::ROOT).expect("it asked").errors;
        let tallies = machine.groups().iter().map(|group| group.errors).sum::<u64>();
        assert!(failed > 0 && tallies == failed, "{direction:?}: {tallies} of {failed}");
    }
}
