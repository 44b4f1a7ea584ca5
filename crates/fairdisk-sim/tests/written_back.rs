//! Buffered data in memory: when it goes to the disk, who submits it, and who waits.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{FILE_PAGES, LINUX, PAGE, writer};
use fairdisk_core::{
    Apart, Bio, GroupId, Instant, Op, OpKind, PoolConfig, PoolLayout, Record, Span,
};
use fairdisk_sim::device::Device;
use fairdisk_sim::host::WriteBackSpec;
use fairdisk_sim::workload::{Blocks, Direction, Drops, FlushEvery, Limits, TaskSpec};
use fairdisk_sim::{GroupSpec, Machine, MachineConfig, World};
use fifo::Fifo;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

/// Four files of 16 MiB, memory for 4096 pages, and 4 KiB per request.
fn config(tasks: Vec<TaskSpec>) -> MachineConfig {
    let groups = vec![GroupSpec::default(); 3];
    let mut config = MachineConfig { groups, ..dirty::config(4, tasks) };
    config.disks[0].engine.merge_sectors_max = 8;
    config
}

fn writing_on(file: u32, group: u32) -> TaskSpec {
    let mut task = writer(file, FILE_PAGES, 1);
    task.stream.limits = Limits { endless: true, ..Limits::default() };
    TaskSpec { group: GroupId(group), ..task }
}

fn reader(file: u32, pages: u64) -> TaskSpec {
    let mut task = writer(file, pages, 1);
    task.stream.direction = Direction::Read;
    task
}

/// A task that makes one direct read after 100 s, so that the run does not end before.
fn late() -> TaskSpec {
    TaskSpec { start: s(100), buffered: false, ..reader(3, 1) }
}

fn s(seconds: u64) -> Instant {
    Instant::ZERO + Span::from_s(seconds)
}

fn world(config: MachineConfig) -> World<Fifo> {
    World::new(Machine::new(Fifo::default(), config), small::disk(1))
}

#[derive(Debug)]
struct Sent {
    at: Instant,
    task: u32,
    group: u32,
    op: Op,
    page: u64,
}

/// What was submitted to the disk until `end`, or until the workload had ended.
fn sent(config: MachineConfig, end: Instant) -> Vec<Sent> {
    let mut world = world(config);
    world.run_until_done(end);
    drain(&mut world)
}

fn drain(world: &mut World<Fifo>) -> Vec<Sent> {
    let entries = world.machine_mut().drain_journal(0);
    let submitted = entries.filter_map(|entry| match entry.record {
        Record::Submitted(Bio { task, group, op, start, .. }) => {
            Some(Sent { at: entry.at, task: task.0, group: group.0, op, page: start.0 / 8 })
        }
        _ => None,
    });
    submitted.collect()
}

fn writes(sent: &[Sent]) -> Vec<&Sent> {
    sent.iter().filter(|it| it.op == Op::Write).collect()
}

#[test]
fn a_file_written_a_hundred_times_goes_to_the_disk_once_when_it_is_old() {
    let again = TaskSpec { drops: Drops::Nothing, ..writer(0, 256, 100) };
    let sent = sent(config(vec![again, late()]), s(90));
    let writes = writes(&sent);
    assert_eq!(writes.len(), 256);
    assert!(writes.iter().all(|it| it.at >= s(30) && it.at < s(31)), "it became dirty at once");
}

#[test]
fn what_is_no_longer_too_much_waits_until_it_is_old() {
    let sent = sent(config(vec![writer(0, 300, 1), writer(1, 300, 1), late()]), s(40));
    let writes = writes(&sent);
    assert_eq!(writes.len(), 600);
    // 409 pages may be dirty.
    let early = writes.iter().filter(|write| write.at < s(30));
    assert!((191..=300).contains(&early.clone().count()), "one file is enough");
    assert!(early.clone().all(|write| write.at < s(1)));
}

#[test]
fn the_flusher_begins_above_the_background_threshold_and_writes_a_slice_of_a_file() {
    let below = sent(config(vec![writer(0, 409, 1), late()]), s(29));
    assert_eq!(writes(&below).len(), 0);
    // The limits are checked every 128 pages.
    let above = sent(config(vec![writer(0, 512, 1), late()]), s(29));
    assert_eq!(writes(&above).len(), 512);
    assert!(above.iter().all(|it| it.at < s(1)));
}

#[test]
fn who_makes_more_dirty_than_the_disk_writes_goes_at_its_speed() {
    for with_d5 in [false, true] {
        let config =
            MachineConfig { async_of_submitter: with_d5, ..config(vec![writing_on(0, 1)]) };
        let mut world = world(config);
        world.run_until(s(20));
        let tally = |world: &World<Fifo>| world.machine().groups()[1].written_bytes / PAGE;
        let before = tally(&world);
        world.run_until(s(60));
        let rate = (tally(&world) - before) / 40;
        assert!((950..=1050).contains(&rate), "{rate} pages a second of 1000, D5 {with_d5}");
        let sent = drain(&mut world);
        let in_own_name = sent.iter().filter(|it| it.task == 0).count();
        assert_eq!(in_own_name > 1000, with_d5, "{in_own_name}");
    }
}

#[test]
fn what_waits_is_bounded_by_the_limit() {
    let mut world = world(config((0..4).map(|file| writing_on(file, 0)).collect()));
    for second in 1..30 {
        world.run_until(s(second));
        let bytes: u64 = world.machine().groups().iter().map(|it| it.written_bytes).sum();
        let completed = world.machine().engine(0).accounts().completed;
        let dirty = bytes / PAGE - completed;
        // The middle of the two thresholds, plus what four writers may write before they check.
        assert!(dirty <= 614 + 128 + 8, "{dirty} pages after {second} s");
    }
}

#[test]
fn a_page_is_charged_to_whoever_made_it_dirty_or_with_d5_to_the_flusher() {
    for (with_d5, groups) in [(false, [1, 2]), (true, [0, 0])] {
        let task = |file: u32| TaskSpec { group: GroupId(file + 1), ..writer(file, 100, 1) };
        let config = config(vec![task(0), task(1), late()]);
        let config = MachineConfig { async_of_submitter: with_d5, ..config };
        let sent = sent(config, s(90));
        for file in 0..2 {
            let of_file = |it: &&&Sent| it.page / FILE_PAGES == file;
            let writes = writes(&sent);
            let charged: BTreeSet<u32> = writes.iter().filter(of_file).map(|it| it.group).collect();
            assert_eq!(charged, [groups[file as usize]].into(), "D5 {with_d5}");
        }
        assert!(writes(&sent).iter().all(|it| it.task > 2), "a task of the host");
    }
}

#[test]
fn fsync_writes_what_is_dirty_of_its_file_and_of_no_other() {
    let flush = FlushEvery { fsync: NonZeroU32::new(10), fdatasync: None };
    let mut syncing = TaskSpec { start: s(2), drops: Drops::Nothing, ..writer(0, 40, 1) };
    syncing.stream.flush = flush;
    let mut beside = writer(0, 300, 1);
    beside.stream.offset = 1000 * PAGE;
    let sent = sent(config(vec![syncing, beside, writer(1, 50, 1), late()]), s(29));
    let writes = writes(&sent);
    assert!(writes.iter().all(|it| it.task == 0 && it.page < FILE_PAGES), "{writes:?}");
    assert_eq!(writes.len(), 300 + 40, "what is beside in the file, and its own");
    let flushes: Vec<_> = (0..sent.len()).filter(|at| sent[*at].op == Op::Flush).collect();
    let before = |flush: usize| sent[..flush].iter().filter(|it| it.op == Op::Write).count();
    assert_eq!(flushes.iter().map(|at| before(*at)).collect::<Vec<_>>(), [310, 320, 330, 340]);
    let waited = sent[flushes[0]].at - s(2);
    assert!((311..320).contains(&(waited.as_ns() / 1_000_000)), "for 310 writes: {waited:?}");
}

#[test]
fn fsync_waits_for_what_others_write_back_of_its_file() {
    let mut syncing = TaskSpec { start: s(30), ..writer(0, 1, 1) };
    syncing.end_flushes = 1;
    let sent = sent(config(vec![syncing, writer(0, 300, 1), late()]), s(90));
    let flush = sent.iter().find(|it| it.op == Op::Flush).expect("it flushes");
    let waited = (flush.at - s(30)).as_ns() / 1_000_000;
    assert!((300..320).contains(&waited), "{waited} ms for 300 pages on their way and its own");
}

#[test]
fn what_fsync_writes_is_the_work_of_whoever_made_it_dirty() {
    for with_d5 in [false, true] {
        let write = TaskSpec { group: GroupId(1), ..writer(0, 100, 1) };
        let sync = TaskSpec { start: s(2), drops: Drops::Nothing, end_flushes: 1, ..reader(0, 1) };
        let sync = TaskSpec { group: GroupId(2), ..sync };
        let mut config = config(vec![write, sync, late()]);
        config.async_of_submitter = with_d5;
        let mut world = world(config);
        world.run_until(s(20));
        let work = [1, 2].map(|group| world.jbod().disks()[0].work(GroupId(group)));
        assert_eq!(work, [Span::from_ms(100), Span::ZERO], "D5 {with_d5}");
        let charged = world.machine().engine(0).accounts().group(GroupId(2));
        let written = charged.map(|it| it.ops[OpKind::Write].bytes);
        assert_eq!(written, Some(100 * PAGE), "who waits for it");
    }
}

#[test]
fn fsync_waits_for_nothing_that_is_written_after_it() {
    let mut syncing = TaskSpec { start: s(2), ..writer(0, 100, 1) };
    syncing.end_flushes = 1;
    let later = s(2) + Span::from_ms(20);
    let mut beside = TaskSpec { start: later, ..writer(0, 1500, 1) };
    beside.stream.offset = 1000 * PAGE;
    let sent = sent(config(vec![syncing, beside, late()]), s(29));
    let flush = sent.iter().find(|it| it.op == Op::Flush).expect("it flushes");
    assert!(sent.iter().any(|it| it.page >= 1000 && it.at < flush.at), "much more is on its way");
    let waited = (flush.at - s(2)).as_ns() / 1_000_000;
    assert!((100..120).contains(&waited), "{waited} ms for 100 pages");
}

#[test]
fn dirty_pages_are_read_from_memory_even_if_they_were_to_be_dropped() {
    let read = TaskSpec { phase: 1, ..reader(0, 256) };
    let sent = sent(config(vec![writer(0, 256, 1), read]), s(20));
    assert!(sent.iter().all(|it| it.op == Op::Write), "{sent:?}");
}

#[test]
fn dropping_a_file_sends_what_is_dirty_of_it_to_the_disk_and_waits_for_nothing() {
    for with_d5 in [false, true] {
        let read = TaskSpec { start: s(2), group: GroupId(2), ..reader(0, 256) };
        let write = TaskSpec { group: GroupId(1), ..writer(0, 256, 1) };
        let mut config = config(vec![write, read, writer(1, 50, 1), late()]);
        config.async_of_submitter = with_d5;
        let mut world = world(config);
        world.run_until(s(20));
        let end = world.machine().task_ends().nth(1).and_then(|(_, end)| end).expect("it has read");
        assert!(end < s(2) + Span::from_ms(200), "from memory, while it is written: {end:?}");
        let sent = drain(&mut world);
        assert_eq!(sent.len(), 256, "of no other file");
        assert!(sent.iter().all(|it| it.at >= s(2) && it.page < FILE_PAGES));
        assert_eq!(sent.iter().all(|it| it.task == 1 && it.group == 2), with_d5);
        assert_eq!(sent.iter().all(|it| it.task > 3 && it.group == 1), !with_d5);
    }
}

#[test]
fn direct_io_waits_for_what_is_dirty_where_it_reads_or_writes() {
    for (direction, op) in [(Direction::Read, Op::Read), (Direction::Write, Op::Write)] {
        let mut direct = TaskSpec { start: s(2), buffered: false, ..writer(0, 8, 1) };
        direct.stream.direction = direction;
        direct.stream.blocks = Blocks::fixed(8 * PAGE);
        let direct = TaskSpec { drops: Drops::Nothing, ..direct };
        let sent = sent(config(vec![writer(0, 256, 1), direct, late()]), s(29));
        let first = (0..8).map(|page| (Op::Write, page));
        let expected: Vec<_> = first.chain((0..8).map(|page| (op, page))).collect();
        assert_eq!(sent.iter().map(|it| (it.op, it.page)).collect::<Vec<_>>(), expected);
        assert!(sent.iter().all(|it| it.task == 1), "in its name");
        assert!(sent[8].at >= s(2) + Span::from_ms(8), "once they are written");
    }
}

#[test]
fn all_is_written_once_the_tasks_have_ended_but_not_of_a_machine_that_was_stopped() {
    let mut ended = world(config(vec![writer(0, 300, 1)]));
    ended.run_until_done(s(20));
    assert!(ended.machine().is_done() && ended.now() < s(1), "{:?}", ended.now());
    assert_eq!(writes(&drain(&mut ended)).len(), 300);

    let mut stopped = world(config(vec![writer(0, 300, 1), late()]));
    stopped.run_until(s(1));
    stopped.machine_mut().stop();
    stopped.run_until_done(s(20));
    assert!(stopped.machine().is_done() && stopped.now() == s(1));
    assert_eq!(writes(&drain(&mut stopped)).len(), 0);
}

#[test]
fn memory_full_of_dirty_pages_makes_no_room() {
    let read = TaskSpec { phase: 1, ..reader(1, FILE_PAGES) };
    let again = TaskSpec { phase: 2, drops: Drops::Nothing, ..reader(0, 400) };
    let sent = sent(config(vec![writer(0, 400, 1), read, again]), s(29));
    let reads = sent.iter().filter(|it| it.op == Op::Read);
    assert!(reads.clone().count() > 0 && reads.clone().all(|it| it.page >= FILE_PAGES));
}

/// A task that waits for the slots of its read-ahead while it copies is not done with copying any
/// sooner.
#[test]
fn slots_do_not_cut_the_work_of_a_task_short() {
    let mut mixed = writing_on(0, 0);
    mixed.stream.direction = Direction::Mixed(30);
    mixed.stream.blocks = Blocks::fixed(8 * PAGE);
    let other = |file: u32| {
        let mut task = TaskSpec { buffered: false, ..writing_on(file, 0) };
        task.stream.direction = Direction::Read;
        task
    };
    let mut config = config(vec![mixed, other(1), other(2), other(3)]);
    config.read_ahead_pages = 256;
    config.memory_pages = 2048;
    config.cpu.cpus = 64;
    config.cpu.page_copy = Span::from_ms(10);
    config.disks[0].engine.pool =
        PoolConfig { layout: PoolLayout::Shared(Apart::Direction), requests: 4, batch_requests: 0 };
    config.write_back = Some(WriteBackSpec { background_percent: 99, limit_percent: 100, ..LINUX });
    let mut world = World::new(Machine::new(Fifo::default(), config), small::disk(8));
    world.run_until(s(60));
    let report = world.machine().task_reports().next().expect("the first");
    assert!((100..=750).contains(&report.ios), "80 ms each: {}", report.ios);
}
