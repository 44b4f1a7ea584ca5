//! The disk behind a mount: the source's own, or a device model.

use super::Args;
use crate::failure::Failure;
use clap::ValueEnum;
use fairdisk_core::{Change, EngineConfig, PoolConfig, PoolLayout};
use fairdisk_lab::calibrate::calibrate;
use fairdisk_lab::catalog::device::{self, Array, DeviceEntry};
use fairdisk_mount::BlockDevice;
use fairdisk_plane::backend::Preference;
use fairdisk_plane::disk::{Device, Disk, StartError};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{Device as _, DeviceSpec};

/// The most requests at once at a disk that is not rotational.
const DEEP: u32 = 32;

/// The number of threads for a modelled disk. A few suffice, because its requests are served from
/// the page cache.
const MODEL_THREADS: usize = 4;

/// The argument of `--io`: what performs the I/O of a busy disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Io {
    /// io_uring if the kernel allows it, else threads
    #[default]
    Auto,
    /// A pool of threads
    Threads,
    /// io_uring, or fail
    Uring,
}

impl Io {
    /// The setting that another mount must have in order to share the disk; `None` if any will do.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Threads => Some("threads"),
            Self::Uring => Some("uring"),
        }
    }

    const fn preference(self) -> Preference {
        match self {
            Self::Auto => Preference::Auto,
            Self::Threads => Preference::Threads,
            Self::Uring => Preference::Uring,
        }
    }
}

pub(super) fn start(
    args: &Args,
    spec: &SchedulerSpec,
    model: Option<&DeviceSpec>,
    block_device: &BlockDevice,
) -> Result<Disk, Failure> {
    let (device, depth, threads) = match (model, args.depth) {
        (Some(model), _) => {
            let model = model.build();
            let depth = model.depth();
            (Device::Modelled(Box::new(model)), depth, MODEL_THREADS)
        }
        // As many threads as requests, so that an issued request never waits for a thread.
        (None, Some(depth)) => (Device::Fixed, depth, depth as usize),
        // Measured, because many virtual disks are reported as rotational.
        (None, None) => {
            let may_turn = block_device.rotational == Some(true);
            (Device::Measured { most: DEEP, may_turn }, 1, DEEP as usize)
        }
    };
    let config = EngineConfig {
        depth,
        pool: PoolConfig { layout: PoolLayout::PerGroup, ..PoolConfig::default() },
        // The page cache below orders the writes of a file, and a flush concerns one file.
        keeps_order: false,
        ..EngineConfig::default()
    };
    let disk = Disk::start(spec.build(), config, device, threads, args.io.preference());
    let disk = disk.map_err(|error| match error {
        StartError::NoUring(refusal) => Failure::Run(format!(
            "--io uring: {refusal}; leave the choice to Fairdisk or ask for threads"
        )),
        error @ StartError::NoThreads(_) => Failure::Run(error.to_string()),
    })?;
    for change in known_of(model, block_device) {
        disk.configure(change).expect("schedulers refuse nothing but what groups ask for");
    }
    Ok(disk)
}

/// What to tell schedulers about the disk: whether it is rotational, and what its requests cost.
/// For a real disk the kernel knows the former, and the latter is unknown.
fn known_of(model: Option<&DeviceSpec>, device: &BlockDevice) -> Vec<Change> {
    let Some(model) = model else {
        let rotational = Change::Rotational { rotational: false };
        return (device.rotational == Some(false)).then_some(rotational).into_iter().collect();
    };
    let rotational = Change::Rotational { rotational: model.is_rotational() };
    vec![rotational, Change::Costs(calibrate(model))]
}

pub(super) fn model(name: &str) -> Result<DeviceSpec, Failure> {
    let DeviceEntry { spec, array, .. } = device::load(name, &[])?;
    if array != Array::SINGLE {
        let text = format!("device `{name}` is {} disks, a mount has one", array.disks);
        return Err(Failure::BadInput(format!("{text}; choose another --device-model")));
    }
    Ok(spec)
}
