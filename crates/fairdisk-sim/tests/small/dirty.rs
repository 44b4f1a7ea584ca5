//! A small machine that keeps dirty pages in memory, and tasks that write through it.

use super::small;
use fairdisk_core::{EngineConfig, Lba, Span, Ticks};
use fairdisk_sim::host::{FileSpec, WriteBackSpec};
use fairdisk_sim::workload::{Direction, Limits, StreamSpec, TaskSpec};
use fairdisk_sim::{DiskConfig, MachineConfig};

pub(crate) const PAGE: u64 = 4096;
/// Pages per file.
pub(crate) const FILE_PAGES: u64 = 4096;

/// The settings of Linux 2.6.32.
pub(crate) const LINUX: WriteBackSpec = WriteBackSpec {
    background_percent: 10,
    limit_percent: 20,
    interval: Span::from_s(5),
    age: Span::from_s(30),
    payer: None,
    of_group: None,
};

/// A machine with `files` contiguous files, and memory for as many pages as one of them has.
pub(crate) fn config(files: u32, tasks: Vec<TaskSpec>) -> MachineConfig {
    let file = |number: u32| FileSpec {
        volume: 0,
        start: Lba(u64::from(number) * FILE_PAGES * 8),
        bytes: FILE_PAGES * PAGE,
        inode: number,
    };
    let ticks = Ticks::new(1000, Span::ZERO);
    let engine = EngineConfig { ticks, ..EngineConfig::default() };
    MachineConfig {
        disks: vec![DiskConfig { engine, ..DiskConfig::default() }],
        files: (0..files).map(file).collect(),
        memory: None,
        memory_pages: FILE_PAGES,
        write_back: Some(LINUX),
        keep_journal: true,
        tasks,
        ..small::config(TaskSpec::default(), Span::from_us(100))
    }
}

/// A task that writes the first `pages` pages of its file in order, `passes` times.
pub(crate) fn writer(file: u32, pages: u64, passes: u32) -> TaskSpec {
    let limits = Limits { passes: Some(passes), ..Limits::default() };
    let (direction, bytes) = (Direction::Write, pages * PAGE);
    let stream = StreamSpec { direction, bytes, limits, ..StreamSpec::default() };
    TaskSpec { files: vec![file], buffered: true, stream, ..TaskSpec::default() }
}
