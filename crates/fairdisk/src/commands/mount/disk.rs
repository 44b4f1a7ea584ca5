//! The disk behind a mount: the source's own, or one held to the pace of a model.

use super::Args;
use crate::failure::Failure;
use fairdisk_core::{EngineConfig, PoolConfig, PoolLayout};
use fairdisk_lab::catalog::device::parse_device;
use fairdisk_lab::catalog::library::{Kind, find};
use fairdisk_plane::Disk;
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{Device as _, DeviceModel};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Threads that wait for the disk at most.
const THREADS_MAX: u32 = 64;

/// A model is served from the page cache: a few threads are enough.
const MODEL_THREADS: usize = 4;

pub(super) fn start(args: &Args, spec: &SchedulerSpec) -> Result<Disk, Failure> {
    let model = args.device_model.as_deref().map(model).transpose()?;
    let depth = match &model {
        Some(model) => model.depth(),
        None => args.depth.unwrap_or_else(|| depth_of(&args.source)),
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

fn model(name: &str) -> Result<DeviceModel, Failure> {
    let document = find(Kind::Device, name)?;
    Ok(parse_device(&document.id, &document.text, &document.path)?.build())
}

/// Rotating disks get their requests one by one, in the scheduler's order.
fn depth_of(source: &Path) -> u32 {
    let rotating = fs::metadata(source).ok().and_then(|source| {
        let (major, minor) = (rustix::fs::major(source.dev()), rustix::fs::minor(source.dev()));
        let device = format!("/sys/dev/block/{major}:{minor}");
        // A partition's queue is the disk's.
        ["queue", "../queue"]
            .into_iter()
            .find_map(|queue| fs::read_to_string(format!("{device}/{queue}/rotational")).ok())
    });
    if rotating.as_deref().map(str::trim) == Some("1") { 1 } else { 32 }
}
