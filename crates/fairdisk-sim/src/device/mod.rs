//! Simulated devices: what happens between the moment a request is handed over and its completion.
//!
//! A [`Device`] is driven from outside: the world submits, asks when the device next does something
//! by itself and brings it to that instant. Devices hold no clock and no randomness; two devices
//! built from the same [`DeviceSpec`] and fed the same calls answer the same, to the nanosecond.
//!
//! All kinds sit behind one enum ([`DeviceModel`]) rather than a trait object: the calls are in the
//! innermost loop of every simulation.

mod fixed;
mod hdd;
mod null;
mod raid5;
mod rate;
mod spec;
mod ssd;
mod work;

pub use fixed::{Fixed, FixedCost, FixedParams, FixedSpec};
pub use hdd::{
    FlushPolicy, Hdd, HddParams, HddSpec, Order, QueueParams, ReadAheadParams, SeekParams,
    SeekPoint, WriteCacheParams,
};
pub use null::{Null, NullParams, NullSpec};
pub use raid5::{Raid5, Raid5Params, Raid5Spec};
pub use spec::{Check, Checked, DeviceSpec, SpecError};
pub use ssd::{CollectionParams, Ssd, SsdParams, SsdSpec};

use fairdisk_core::GroupId;
use fairdisk_core::request::{Flags, Lba, Op, Request, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};

/// One request as the device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceIo {
    /// The host's name for it, returned in [`Done`].
    pub id: RequestId,
    /// For whom it is done: whose [work](Device::work) it is.
    pub group: GroupId,
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Length; zero only for a flush.
    pub sectors: Sectors,
    /// Whether a write must be on the medium before it completes.
    pub fua: bool,
}

impl DeviceIo {
    /// What `request` asks of a device.
    #[must_use]
    pub const fn of(request: &Request) -> Self {
        Self {
            id: request.id,
            group: request.group,
            op: request.op,
            start: request.start,
            sectors: request.sectors,
            fua: request.flags.contains(Flags::FUA),
        }
    }

    /// Whether a device of `capacity_sectors` has all its sectors.
    pub(crate) const fn fits(&self, capacity_sectors: u64) -> bool {
        match self.start.0.checked_add(self.sectors.0 as u64) {
            Some(end) => end <= capacity_sectors,
            None => false,
        }
    }
}

/// One completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The request that completed.
    pub id: RequestId,
    /// Whether it succeeded. A request beyond the last sector fails, nothing else does.
    pub ok: bool,
}

/// What every device does. `now` never decreases from one call to the next.
pub trait Device {
    /// How many requests the device takes at once (1 without command queueing).
    fn depth(&self) -> u32;

    /// How many sectors it has.
    fn capacity_sectors(&self) -> u64;

    /// Hands a request over. At most [`depth`](Self::depth) may be outstanding, and everything due
    /// before `now` must have been collected with [`advance`](Self::advance).
    fn submit(&mut self, now: Instant, io: &DeviceIo);

    /// When the device next does something by itself; `None` when it is quiet.
    fn next_event(&self) -> Option<Instant>;

    /// Brings the device to `now` and appends what completed, in the order of completion.
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>);

    /// What it has done for `group` until now, in time of the whole device: what all groups had of
    /// a second in which it had as much to do as it could adds up to about a second. What it does
    /// after a completion, as emptying its cache, counts for the group that wrote.
    fn work(&self, group: GroupId) -> Span;
}

/// A device of any kind.
#[derive(Clone, Debug)]
pub enum DeviceModel {
    /// A rotating disk.
    Hdd(Hdd),
    /// Fixed time per request.
    Fixed(Fixed),
    /// Rotating disks with parity.
    Raid5(Raid5),
    /// A solid-state disk.
    Ssd(Ssd),
    /// No time at all.
    Null(Null),
}

macro_rules! each {
    ($model:expr, $device:ident => $call:expr) => {
        match $model {
            DeviceModel::Hdd($device) => $call,
            DeviceModel::Fixed($device) => $call,
            DeviceModel::Raid5($device) => $call,
            DeviceModel::Ssd($device) => $call,
            DeviceModel::Null($device) => $call,
        }
    };
}

impl DeviceModel {
    /// Whether several requests together are served faster than one after the other: where nothing
    /// moves to reach them, or several arms do.
    #[must_use]
    pub fn serves_together(&self) -> bool {
        !matches!(self, Self::Hdd(_)) && self.depth() > 1
    }
}

impl Device for DeviceModel {
    #[inline]
    fn depth(&self) -> u32 {
        each!(self, device => device.depth())
    }

    #[inline]
    fn capacity_sectors(&self) -> u64 {
        each!(self, device => device.capacity_sectors())
    }

    #[inline]
    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        each!(self, device => device.submit(now, io));
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        each!(self, device => device.next_event())
    }

    #[inline]
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        each!(self, device => device.advance(now, done));
    }

    fn work(&self, group: GroupId) -> Span {
        each!(self, device => device.work(group))
    }
}
