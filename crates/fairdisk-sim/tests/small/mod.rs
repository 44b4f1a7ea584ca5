//! A small machine for tests: one task, one file, one CPU, and a disk that takes a fixed time.

use fairdisk_core::{Lba, Span};
use fairdisk_sim::device::{DeviceModel, DeviceSpec, FixedCost, FixedParams, FixedSpec};
use fairdisk_sim::host::{CpuSpec, FileSpec, VolumeKind, VolumeSpec};
use fairdisk_sim::workload::TaskSpec;
use fairdisk_sim::{DiskConfig, GroupSpec, IntegrityWrites, MachineConfig, Unplugs};

/// A machine with this task, where copying a page takes `page_copy`.
pub(crate) fn config(task: TaskSpec, page_copy: Span) -> MachineConfig {
    let cpu = CpuSpec {
        cpus: 1,
        turnaround_min: Span::from_us(100),
        turnaround_max: Span::from_us(100),
        slot_wake: Span::ZERO,
        metadata_wake: Span::ZERO,
        page_copy,
        page_fault: Span::ZERO,
    };
    MachineConfig {
        disks: vec![DiskConfig::default()],
        cpu,
        read_ahead_pages: 32,
        memory: None,
        memory_pages: 1024,
        write_behind_bytes: 1 << 20,
        write_back: None,
        meta_hint: false,
        async_of_submitter: false,
        integrity_writes: IntegrityWrites::Async,
        unplugs: Unplugs::default(),
        groups: vec![GroupSpec::default()],
        made_later: Vec::new(),
        volumes: vec![VolumeSpec {
            disk: 0,
            kind: VolumeKind::Raw,
            start: Lba(0),
            warm: true,
            journal: None,
        }],
        files: vec![FileSpec { volume: 0, start: Lba(0), bytes: 8 << 20, inode: 0 }],
        tasks: vec![task],
        keep_journal: false,
    }
}

/// A disk that takes 1 ms per request and serves `parallel` at once.
pub(crate) fn disk(parallel: u32) -> DeviceModel {
    let cost = FixedCost { latency_us: 1_000, mb_per_s: None };
    let params =
        FixedParams { capacity_sectors: 1 << 20, parallel, read: cost, write: cost, flush_us: 0 };
    DeviceSpec::Fixed(FixedSpec::new(params).expect("describes a device")).build()
}
