//! How much memory a simulated machine takes. A program of its own, as its memory is measured.

#[path = "small/dirty.rs"]
mod dirty;
#[path = "../../fairdisk-core/tests/model/fifo.rs"]
mod fifo;
mod small;

use dirty::{PAGE, writer};
use fairdisk_core::{Instant, Lba, Span};
use fairdisk_sim::device::Jbod;
use fairdisk_sim::host::memory::{Kernel, MemorySpec};
use fairdisk_sim::host::{FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::Direction;
use fairdisk_sim::{Machine, MachineConfig, MemoryConfig, World};
use fifo::Fifo;

const READERS: u32 = 64;
const FILE_MIB: u64 = 2000;
const MEMORY_MIB: u64 = 256;

/// The most memory in KiB that the process has had at once, where that is told.
fn resident_kib_max() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// 64 MiB and 32 bytes for each page of simulated memory, whatever the files.
#[test]
fn large_files_take_no_memory() {
    if resident_kib_max().is_none() {
        println!("skipped: this system does not say how much memory a process has");
        return;
    }
    let spec = MemorySpec::new(Kernel::of_release("2.6.32").expect("listed"), MEMORY_MIB, 4);
    let (page_take, page_scan) = (Span::from_ns(1500), Span::from_ns(1000));
    let memory = Some(MemoryConfig { spec, page_take, page_scan });
    let mut config = MachineConfig { memory, ..dirty::config(0, Vec::new()) };
    let disk = config.disks[0];
    config.disks = vec![disk; READERS as usize];
    config.volumes.clear();
    for disk in 0..READERS {
        let (kind, start) = (VolumeKind::Raw, Lba(0));
        config.volumes.push(VolumeSpec { disk, kind, start, warm: false, journal: None });
        config.files.push(FileSpec { volume: disk, start, bytes: FILE_MIB << 20, inode: 0 });
        let mut task = writer(disk, 2048, 1);
        task.stream.direction = Direction::Read;
        config.tasks.push(task);
    }
    let disks = vec![small::disk(4); READERS as usize];
    let elevators: Vec<_> = (0..READERS).map(|_| Fifo::default()).collect();
    let mut world = World::new(Machine::of_disks(elevators, config), Jbod::new(disks, None));
    world.run_until_done(Instant::ZERO + Span::from_s(600));
    assert!(world.machine().is_done());

    let simulated_pages = (MEMORY_MIB << 20) / PAGE;
    let (most, limit) = (resident_kib_max(), (64 << 10) + simulated_pages * 32 / 1024);
    assert!(most < Some(limit), "{most:?} KiB, not {limit}");
}
