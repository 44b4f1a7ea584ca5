//! The log of an ext3 journal, as the disk sees it.

#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use fairdisk_core::{Bio, EngineConfig, Instant, Lba, Record, Span, TaskId};
use fairdisk_sim::host::{FileSpec, JournalSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::{Blocks, Limits, StreamSpec, TaskSpec};
use fairdisk_sim::{DiskConfig, Machine, MachineConfig, World};
use fifo::Fifo;

const TASKS: u32 = 300;

/// One 4 KiB read of a file of its own.
fn task(number: u32) -> TaskSpec {
    let limits = Limits { ios: Some(1), ..Limits::default() };
    let stream =
        StreamSpec { blocks: Blocks::fixed(4096), bytes: 4096, limits, ..StreamSpec::default() };
    TaskSpec { files: vec![number], stream, ..TaskSpec::default() }
}

/// The bios of the journal task: position in the log, and length.
fn log_writes(blocks: u32) -> Vec<(u64, u32)> {
    let journal = JournalSpec {
        start: Lba(0),
        blocks,
        commit_interval: Span::from_s(1),
        inodes_per_block: 1,
        second_phase: Span::ZERO,
        nice: 0,
    };
    let (kind, journal) = (VolumeKind::Ext3, Some(journal));
    let volume = VolumeSpec { disk: 0, kind, start: Lba(0), warm: true, journal };
    let data = |number: u32| Lba(u64::from(blocks + number) * 8);
    let file = |number| FileSpec { volume: 0, start: data(number), bytes: 4096, inode: number };
    let engine = EngineConfig { merge_sectors_max: 256, ..EngineConfig::default() };
    let config = MachineConfig {
        disks: vec![DiskConfig { engine, ..DiskConfig::default() }],
        volumes: vec![volume],
        files: (0..TASKS).map(file).collect(),
        tasks: (0..TASKS).map(task).collect(),
        keep_journal: true,
        ..small::config(task(0), Span::ZERO)
    };
    let mut world = World::new(Machine::new(Fifo::default(), config), small::disk(1));
    world.run_until(Instant::ZERO + Span::from_s(10));
    let journal_task = TaskId(TASKS);
    let entries = world.machine_mut().drain_journal(0);
    entries
        .filter_map(|entry| match entry.record {
            Record::Submitted(Bio { task, start, sectors, .. }) if task == journal_task => {
                Some((start.0, sectors.0))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_large_commit_is_cut_as_any_other_write_is() {
    let bios = log_writes(1000);
    let logged: u32 = bios.iter().map(|(_, sectors)| sectors).sum();
    assert_eq!(logged, (1 + TASKS + 1) * 8, "a descriptor, the blocks and a record");
    assert!(bios.iter().all(|(_, sectors)| *sectors <= 256), "{bios:?}");
}

#[test]
fn a_commit_stays_within_the_log() {
    let bios = log_writes(100);
    let logged: u32 = bios.iter().map(|(_, sectors)| sectors).sum();
    assert_eq!(logged, (4 * 2 + TASKS) * 8, "in four parts");
    assert!(bios.iter().all(|(start, sectors)| start + u64::from(*sectors) <= 800), "{bios:?}");
}
