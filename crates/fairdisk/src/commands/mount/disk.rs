//! The disk behind a mount: the source's own, or a device model.

use super::Args;
use crate::failure::Failure;
use clap::ValueEnum;
use fairdisk_core::{Apart, Change, CostModel, EngineConfig, PoolConfig, PoolLayout};
use fairdisk_lab::calibrate::calibrate;
use fairdisk_lab::catalog::device::{self, Adapter, Array, DeviceEntry};
use fairdisk_mount::BlockDevice;
use fairdisk_plane::backend::Preference;
use fairdisk_plane::disk::{DEEP, DEPTH_MAX, Device, Disk, StartError};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sim::device::{Device as _, DeviceSpec};

/// The number of threads for a modelled disk. A few suffice, because its requests are served from
/// the page cache.
const MODEL_THREADS: usize = 4;

/// The argument of `--io`: what performs the I/O of a busy disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Io {
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

    pub(crate) const fn preference(self) -> Preference {
        match self {
            Self::Auto => Preference::Auto,
            Self::Threads => Preference::Threads,
            Self::Uring => Preference::Uring,
        }
    }
}

/// What is known of a disk.
pub(super) enum Kind {
    /// It keeps to the timing of this device.
    Modelled(DeviceSpec),
    /// Its requests cost what they do there.
    Calibrated(DeviceSpec),
    /// Only what the kernel says of it.
    Unknown,
}

impl Kind {
    /// What the options say about the disk.
    pub(super) fn of(args: &Args) -> Result<Self, Failure> {
        match (&args.device_model, &args.costs) {
            (Some(model), _) => find(model, "--device-model").map(Self::Modelled),
            (None, Some(like)) => find(like, "--costs").map(Self::Calibrated),
            (None, None) => Ok(Self::Unknown),
        }
    }

    /// Whether schedulers would do better if the disk were measured.
    pub(super) fn could_be_measured(&self, device: &BlockDevice) -> bool {
        matches!(self, Self::Unknown) && device.rotational != Some(true)
    }

    /// What to tell schedulers about a disk with up to `depth` requests at once: whether it is
    /// rotational, and what its requests cost.
    fn known(&self, device: &BlockDevice, depth: u32) -> Vec<Change> {
        match self {
            Self::Modelled(like) | Self::Calibrated(like) => {
                let rotational = Change::Rotational { rotational: like.is_rotational() };
                vec![rotational, Change::Costs(CostModel { depth, ..calibrate(like) })]
            }
            Self::Unknown => {
                let rotational = Change::Rotational { rotational: false };
                // As long as it is not called rotating it gets several requests at once.
                (device.rotational != Some(true)).then_some(rotational).into_iter().collect()
            }
        }
    }
}

pub(super) fn start(
    args: &Args,
    spec: &SchedulerSpec,
    kind: &Kind,
    block_device: &BlockDevice,
) -> Result<Disk, Failure> {
    let measured = |most, may_turn| (Device::Measured { most, may_turn }, 1, most);
    let (device, depth, most) = match (kind, args.depth) {
        (Kind::Modelled(model), _) => {
            let model = model.build();
            let depth = model.depth();
            (Device::Modelled(Box::new(model)), depth, depth)
        }
        (_, Some(depth)) => (Device::Fixed, depth, depth),
        (Kind::Calibrated(like), None) => match like.build().depth().min(DEPTH_MAX) {
            depth if like.is_rotational() => (Device::Fixed, depth, depth),
            depth => measured(depth, false),
        },
        // Measured, because many virtual disks are reported as rotational.
        (Kind::Unknown, None) => measured(DEEP, block_device.rotational == Some(true)),
    };
    // As many threads as requests, so that an issued request never waits for a thread.
    let threads = if matches!(kind, Kind::Modelled(_)) { MODEL_THREADS } else { most as usize };
    let config = EngineConfig {
        depth,
        // Many pieces of write-back sleep for a slot. A direct write does not stand behind them.
        pool: PoolConfig { layout: PoolLayout::PerGroup(Apart::Sync), ..PoolConfig::default() },
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
    for change in kind.known(block_device, most) {
        disk.configure(change).expect("schedulers refuse nothing but what groups ask for");
    }
    Ok(disk)
}

/// The device of the catalogue that an option of a mount names.
fn find(name: &str, option: &str) -> Result<DeviceSpec, Failure> {
    let DeviceEntry { spec, array, .. } = device::load(name, &[])?;
    if array != Array::SINGLE {
        let text = match array {
            Array { adapter, .. } if adapter != Adapter::default() => {
                format!("device `{name}` has an adapter, which a mount does not model")
            }
            Array { disks: 1, link_mb_per_s: Some(_), .. } => {
                format!("device `{name}` has `link_mb_per_s`, which a mount does not model")
            }
            _ => format!("device `{name}` is {} disks, a mount has one", array.disks),
        };
        return Err(Failure::BadInput(format!("{text}; choose another {option}")));
    }
    Ok(spec)
}
