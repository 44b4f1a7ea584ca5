//! Who is charged for buffered writes under each rule, who owns an inode, and what limits of groups
//! do.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{FILE_PAGES, LINUX, PAGE, writer};
use fairdisk_core::{Bio, GroupId, Instant, Op, OpKind, Record, Span};
use fairdisk_sim::host::{GroupLimits, Payer, WriteBackSpec};
use fairdisk_sim::workload::{Drops, Limits, TaskSpec};
use fairdisk_sim::{GroupSpec, Machine, MachineConfig, World};
use fifo::Fifo;

/// Four files of 16 MiB, groups 0 to 3, and a disk that takes a millisecond per page.
fn config(write_back: WriteBackSpec, tasks: Vec<TaskSpec>) -> MachineConfig {
    let groups = vec![GroupSpec::default(); 4];
    let write_back = Some(write_back);
    let mut config = MachineConfig { groups, write_back, ..dirty::config(4, tasks) };
    config.disks[0].engine.merge_sectors_max = 8;
    config
}

fn world(config: MachineConfig) -> World<Fifo> {
    World::new(Machine::new(Fifo::default(), config), small::disk(1))
}

fn s(seconds: u64) -> Instant {
    Instant::ZERO + Span::from_s(seconds)
}

/// A task of a group that writes pages of the first file.
fn writes(group: u32, first: u64, pages: u64, start: Instant) -> TaskSpec {
    let mut task = writer(0, pages, 1);
    task.stream.offset = first * PAGE;
    TaskSpec { group: GroupId(group), start, drops: Drops::Nothing, ..task }
}

fn endless(mut task: TaskSpec) -> TaskSpec {
    task.stream.limits = Limits { endless: true, ..Limits::default() };
    task
}

/// A task that does one thing after 100 s, so that the run does not end before.
fn late() -> TaskSpec {
    TaskSpec { start: s(100), ..writer(3, 1, 1) }
}

/// The pages of the first file submitted for each group.
fn submitted(world: &mut World<Fifo>) -> [u64; 4] {
    let mut pages = [0; 4];
    for entry in world.machine_mut().drain_journal(0) {
        if let Record::Submitted(Bio { op: Op::Write, group, start, sectors, .. }) = entry.record
            && start.0 / 8 < FILE_PAGES
        {
            pages[group.0 as usize] += u64::from(sectors.0) / 8;
        }
    }
    pages
}

/// Pages that each rule says it would have charged each group.
fn by_rule(world: &World<Fifo>) -> [[u64; 4]; 4] {
    let of = |group: u32| world.machine().charged_by_rule(GroupId(group)).expect("it is counted");
    let groups = [0, 1, 2, 3].map(of);
    std::array::from_fn(|rule| groups.map(|group| group[rule] / PAGE))
}

/// Group 1 writes pages 0 to 99, then group 2 pages 50 to 149, before any of it is old.
#[test]
fn each_rule_charges_another_group_and_says_what_the_others_would_have_charged() {
    let table = [
        (Payer::Submitter, [150, 0, 0, 0]),
        (Payer::Dirtier, [0, 100, 50, 0]),
        (Payer::LastWriter, [0, 50, 100, 0]),
        (Payer::InodeOwner, [0, 150, 0, 0]),
    ];
    for (payer, charged) in table {
        let tasks = vec![writes(1, 0, 100, s(0)), writes(2, 50, 100, s(2)), late()];
        let mut world = world(config(WriteBackSpec { payer: Some(payer), ..LINUX }, tasks));
        world.run_until(s(60));
        assert_eq!(by_rule(&world), table.map(|(_, charged)| charged), "{payer:?}");
        assert_eq!(submitted(&mut world), charged, "{payer:?}");
    }
}

#[test]
fn whoever_makes_data_durable_pays_for_it_by_every_rule() {
    for payer in Payer::ALL {
        let syncing = TaskSpec { end_flushes: 1, ..writes(2, 50, 10, s(2)) };
        let tasks = vec![writes(1, 0, 100, s(0)), syncing, late()];
        let mut world = world(config(WriteBackSpec { payer: Some(payer), ..LINUX }, tasks));
        world.run_until(s(20));
        assert_eq!(by_rule(&world), [[0, 0, 100, 0]; 4], "{payer:?}");
        assert_eq!(submitted(&mut world), [0, 0, 100, 0], "{payer:?}");
    }
}

#[test]
fn a_host_that_does_not_say_who_pays_counts_nothing() {
    let world = world(config(LINUX, vec![writes(1, 0, 100, s(0))]));
    assert_eq!(world.machine().charged_by_rule(GroupId(1)), None);
}

/// Group 1 writes a second, then stops for good; group 2 writes all the time.
#[test]
fn an_inode_goes_to_the_group_that_goes_on_writing_to_it() {
    let write_back = WriteBackSpec {
        payer: Some(Payer::InodeOwner),
        of_group: Some(GroupLimits { background: 0, limit: 256 }),
        ..LINUX
    };
    let tasks = vec![writes(1, 0, 1000, s(0)), endless(writes(2, 2000, 2000, s(2))), late()];
    let mut world = world(config(write_back, tasks));
    world.run_until(s(2));
    assert_eq!(submitted(&mut world)[1], 1000);
    world.run_until(s(20));
    let mine = submitted(&mut world);
    assert_eq!(world.machine().owner_changes(), 1);
    assert!(mine[1] > 0 && mine[2] > 10_000 && mine[0] + mine[3] == 0, "{mine:?}");
    world.run_until(s(30));
    let later = submitted(&mut world);
    assert!(later[1] == 0 && later[2] >= 9_500, "it is all the new owner's: {later:?}");
}

/// Groups 1 and 2 write as fast as they may. Group 3 writes 100 pages a second later.
#[test]
fn a_group_that_has_too_much_dirty_holds_up_nobody_else() {
    const LIMIT: u64 = 200;
    let write_back = WriteBackSpec {
        background_percent: 100,
        limit_percent: 100,
        payer: Some(Payer::Dirtier),
        of_group: Some(GroupLimits { background: 0, limit: LIMIT }),
        ..LINUX
    };
    let on_file = |file: u32, group: u32| {
        endless(TaskSpec { group: GroupId(group), ..writer(file, FILE_PAGES, 1) })
    };
    let quick = TaskSpec { group: GroupId(3), start: s(5), ..writer(3, 100, 1) };
    let tasks = vec![on_file(0, 1), on_file(1, 1), on_file(2, 2), quick, late()];
    let mut world = world(config(write_back, tasks));
    for second in 1..30 {
        world.run_until(s(second));
        let machine = world.machine();
        let accounts = machine.engine(0).accounts();
        for (group, tally) in machine.groups().iter().enumerate().skip(1) {
            let account = accounts.group(GroupId(group as u32));
            let written = account.map_or(0, |it| it.ops[OpKind::Write].bytes);
            // Two tasks of a group may each write a page that is too much.
            let dirty = (tally.written_bytes.saturating_sub(written)) / PAGE;
            assert!(dirty <= LIMIT + 2, "group {group} has {dirty} dirty after {second} s");
        }
    }
    let ends: Vec<_> = world.machine().task_ends().map(|(_, end)| end).collect();
    let took = ends[3].map(|end| end - s(5));
    assert!(took.is_some_and(|took| took < Span::from_ms(20)), "it waits for nobody: {took:?}");
    let groups = world.machine().groups();
    let rate = (groups[1].written_bytes + groups[2].written_bytes) / PAGE / 29;
    assert!((950..=1050).contains(&rate), "the disk is busy: {rate} pages a second");
}

/// One flusher writes in the root group's name, whichever group has a slot.
#[test]
fn limits_of_groups_hold_where_the_submitter_pays_as_well() {
    let write_back = WriteBackSpec {
        background_percent: 100,
        limit_percent: 100,
        payer: Some(Payer::Submitter),
        of_group: Some(GroupLimits { background: 0, limit: 200 }),
        ..LINUX
    };
    let on_file = |file: u32, group: u32| {
        endless(TaskSpec { group: GroupId(group), ..writer(file, FILE_PAGES, 1) })
    };
    let mut world = world(config(write_back, (0..3).map(|at| on_file(at, at + 1)).collect()));
    world.run_until(s(30));
    let groups = world.machine().groups();
    let pages = [1, 2, 3].map(|group: usize| groups[group].written_bytes / PAGE);
    let whole: u64 = pages.iter().sum();
    assert!(pages.iter().all(|pages| (pages * 100 / whole).abs_diff(33) <= 3), "{pages:?}");
    let charged = world.machine().charged_by_rule(GroupId::ROOT).expect("it is counted");
    assert_eq!(charged[1..], [0, 0, 0]);
    assert!(charged[0] / PAGE > 28_000);
}
