//! Tests that data written by concurrent tasks reaches the disk.

#[path = "../../tests/small/dirty.rs"]
mod dirty;
#[path = "../../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
#[path = "../../tests/small/mod.rs"]
mod small;

use super::{GroupSpec, Machine, MachineConfig};
use crate::World;
use crate::host::{Advice, GroupLimits, Payer};
use crate::workload::{Blocks, Direction, FlushEvery, IoOrder, RandomOrder, TaskSpec};
use dirty::{FILE_PAGES, PAGE};
use fairdisk_core::{Bio, GroupId, Instant, Op, Record, Span, Ticks};
use fifo::Fifo;
use std::num::NonZeroU32;

const FILES: u32 = 3;

/// A task that writes the first `pages` pages of its file in random order, `passes` times.
fn writer(file: u32, pages: u64, passes: u32) -> TaskSpec {
    let mut task = dirty::writer(file, pages, passes);
    task.stream.order = IoOrder::Drawn(RandomOrder::default());
    task
}

/// Six tasks of all kinds on three files, which may or may not fill the memory.
fn config(seed: u32) -> MachineConfig {
    let mut passing = writer(0, 600, 1 + seed % 3);
    passing.stream.blocks = Blocks::fixed(PAGE * u64::from(1 + seed % 2));
    let mapping = TaskSpec { mapped: Some(Advice::Random), ..writer(1, 300, 1) };
    let mut syncing = writer(1, 600, 2);
    syncing.stream.order = IoOrder::default();
    syncing.stream.flush = FlushEvery { fsync: NonZeroU32::new(7 + seed), fdatasync: None };
    let through = TaskSpec { write_through: true, ..writer(0, 50, 2) };
    let mut direct = TaskSpec { buffered: false, ..writer(2, 200, 1) };
    direct.stream.direction = Direction::Mixed(50);
    let mut mixed = writer(2, 900, 1);
    mixed.stream.direction = Direction::Mixed(30);
    let mut config = MachineConfig {
        memory: None,
        memory_pages: [300, 1000, 4096][seed as usize % 3],
        async_of_submitter: seed.is_multiple_of(2),
        ..dirty::config(FILES, vec![passing, mapping, syncing, through, direct, mixed])
    };
    if let Some(back) = &mut config.write_back {
        let rules = [None].into_iter().chain(Payer::ALL.map(Some));
        back.payer = rules.cycle().nth(seed as usize).flatten();
        let limits = GroupLimits { background: u64::from(seed % 4) * 10, limit: 64 };
        back.of_group = (!seed.is_multiple_of(3)).then_some(limits);
    }
    config.groups = vec![GroupSpec::default(); 4];
    for (at, task) in config.tasks.iter_mut().enumerate() {
        task.group = GroupId(at as u32 % 4);
    }
    config.disks[0].seed = u64::from(seed);
    config.disks[0].engine.merge_sectors_max = 8 << (seed % 4);
    config
}

/// For each page of all files, the number of journal entries when it was last sent to the disk.
fn last_sent(machine: &Machine<Fifo>) -> Vec<u64> {
    let mut sent = vec![0; FILES as usize * FILE_PAGES as usize];
    for (at, entry) in (1..).zip(machine.engine(0).journal().entries()) {
        if let Record::Submitted(Bio { op: Op::Write, start, sectors, .. }) = entry.record {
            let first = (start.0 / 8) as usize;
            sent[first..first + sectors.0 as usize / 8].fill(at);
        }
    }
    sent
}

/// Whatever tasks do concurrently, every page goes to the disk after it was last dirtied.
#[test]
fn nothing_written_is_lost() {
    for seed in 0..24 {
        let machine = Machine::new(Fifo::default(), config(seed));
        let mut world = World::new(machine, small::disk(1));
        world.run_until_done(Instant::ZERO + Span::from_s(200));
        let machine = world.machine();
        let ends: Vec<_> = machine.task_ends().map(|(_, end)| end).collect();
        assert!(machine.is_done(), "seed {seed}: {ends:?}");
        let sent = last_sent(machine);
        let made_dirty = &machine.write_back.as_ref().expect("it has one").made_dirty;
        let mut pages = [0; FILES as usize];
        for (entries, file, range) in made_dirty {
            let first = u64::from(*file) * FILE_PAGES;
            for page in range.clone() {
                let sent = sent[(first + page) as usize];
                assert!(sent > *entries, "seed {seed}: page {page} of file {file}: {sent}");
            }
            pages[*file as usize] += range.end - range.start;
        }
        assert!(pages.iter().all(|pages| *pages >= 500), "seed {seed}: {pages:?}");
    }
}

#[test]
#[should_panic(expected = "would sleep for nanoseconds")]
fn a_machine_that_writes_back_has_a_timer() {
    let mut config = config(0);
    config.disks[0].engine.ticks = Ticks::EXACT;
    let _ = Machine::new(Fifo::default(), config);
}
