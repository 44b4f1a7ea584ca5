//! The disk behind a mount: the source's own, or one held to the pace of a model.

use super::Args;
use crate::failure::Failure;
use fairdisk_core::{EngineConfig, PoolConfig, PoolLayout};
use fairdisk_lab::catalog::device::parse_device;
use fairdisk_lab::catalog::library::{Kind, find};
use fairdisk_mount::BlockDevice;
use fairdisk_plane::Disk;
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{Device as _, DeviceModel};

/// Threads that wait for the disk at most.
const THREADS_MAX: u32 = 64;

/// A model is served from the page cache: a few threads are enough.
const MODEL_THREADS: usize = 4;

pub(super) fn start(
    args: &Args,
    spec: &SchedulerSpec,
    model: Option<DeviceModel>,
    device: &BlockDevice,
) -> Result<Disk, Failure> {
    let depth = match &model {
        Some(model) => model.depth(),
        None => args.depth.unwrap_or_else(|| depth_of(device)),
    };
    let config = EngineConfig {
        depth,
        pool: PoolConfig { layout: PoolLayout::PerGroup, ..PoolConfig::default() },
        ..EngineConfig::default()
    };
    let threads = match &model {
        Some(_) => MODEL_THREADS,
        None => depth.min(THREADS_MAX) as usize,
    };
    Disk::start(spec.build(), config, model, threads)
        .map_err(|error| Failure::Run(format!("cannot start threads: {error}")))
}

pub(super) fn model(name: &str) -> Result<DeviceModel, Failure> {
    let document = find(Kind::Device, name)?;
    Ok(parse_device(&document.id, &document.text, &document.path)?.build())
}

/// Rotating disks get their requests one by one, in the scheduler's order.
fn depth_of(device: &BlockDevice) -> u32 {
    if device.rotational == Some(true) { 1 } else { 32 }
}
