//! A small machine whose dirty pages wait in memory, and tasks that write through it.

use super::small;
use fairdisk_core::{EngineConfig, Lba, Span, Ticks};
use fairdisk_sim::MachineConfig;
use fairdisk_sim::host::{FileSpec, WriteBackSpec};
use fairdisk_sim::workload::{Direction, Limits, StreamSpec, TaskSpec};

pub(crate) const PAGE: u64 = 4096;
/// Pages of each file.
pub(crate) const FILE_PAGES: u64 = 4096;

/// As Linux 2.6.32 had it.
pub(crate) const LINUX: WriteBackSpec = WriteBackSpec {
    background_percent: 10,
    limit_percent: 20,
    interval: Span::from_s(5),
    age: Span::from_s(30),
};

/// A machine with so many files, one behind the other, and memory for as many pages as one has.
pub(crate) fn config(files: u32, tasks: Vec<TaskSpec>) -> MachineConfig {
    let file = |number: u32| FileSpec {
        volume: 0,
        start: Lba(u64::from(number) * FILE_PAGES * 8),
        bytes: FILE_PAGES * PAGE,
        inode: number,
    };
    let ticks = Ticks::new(1000, Span::ZERO);
    MachineConfig {
        engine: EngineConfig { ticks, ..EngineConfig::default() },
        files: (0..files).map(file).collect(),
        memory_pages: FILE_PAGES,
        write_back: Some(LINUX),
        keep_journal: true,
        tasks,
        ..small::config(TaskSpec::default(), Span::from_us(100))
    }
}

/// Writes the first `pages` of its file in order, so many times.
pub(crate) fn writer(file: u32, pages: u64, passes: u32) -> TaskSpec {
    let limits = Limits { passes: Some(passes), ..Limits::default() };
    let (direction, bytes) = (Direction::Write, pages * PAGE);
    let stream = StreamSpec { direction, bytes, limits, ..StreamSpec::default() };
    TaskSpec { files: vec![file], buffered: true, stream, ..TaskSpec::default() }
}
