//! Simulated devices: what happens to a request between submission and completion.
//!
//! A [`Device`] is driven from outside: the world submits requests, asks when the device next does
//! something by itself, and advances it to that instant. Devices have no clock and no randomness of
//! their own: two devices built from the same [`DeviceSpec`] and given the same calls answer
//! identically, to the nanosecond.
//!
//! All kinds of device are behind one enum ([`DeviceModel`]) instead of a trait object, because the
//! calls are in the innermost loop of every simulation.

mod adapter;
mod fixed;
mod hdd;
mod jbod;
mod lane;
mod link;
mod measured;
mod null;
mod pauses;
mod raid5;
mod rate;
mod spec;
mod ssd;
mod virtual_disk;
mod work;

pub use adapter::AdapterCost;
pub use fixed::{Fixed, FixedCost, FixedParams, FixedSpec};
pub use hdd::{
    FlushPolicy, Hdd, HddParams, HddSpec, Order, QueueParams, ReadAheadParams, SeekParams,
    SeekPoint, WriteCacheParams,
};
pub use jbod::{Attachment, Jbod};
pub use measured::{Measured, MeasuredParams, MeasuredSpec};
pub use null::{Null, NullParams, NullSpec};
pub use pauses::Pauses;
pub use raid5::{Raid5, Raid5Params, Raid5Spec};
pub use spec::{Check, Checked, DeviceSpec, SpecError};
pub use ssd::{CollectionParams, Ssd, SsdParams, SsdSpec};
pub use virtual_disk::{HostCacheParams, VirtualDisk, VirtualDiskParams, VirtualDiskSpec};

use fairdisk_core::GroupId;
use fairdisk_core::request::{Flags, Lba, Op, Request, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};

/// A request as the device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceIo {
    /// The host's identifier, returned in [`Done`].
    pub id: RequestId,
    /// The group to which the device's [work](Device::work) for this request counts.
    pub group: GroupId,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The length; zero only for a flush.
    pub sectors: Sectors,
    /// Whether a write must be on the medium before it completes (forced unit access).
    pub fua: bool,
}

impl DeviceIo {
    /// The device's view of `request`.
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

    /// Whether all of its sectors are on a device of `capacity_sectors`.
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
    /// Whether the request succeeded. Only requests beyond the last sector fail.
    pub ok: bool,
}

/// The interface of every device. `now` must not decrease from one call to the next.
pub trait Device {
    /// The number of requests the device accepts at once; 1 without command queueing.
    fn depth(&self) -> u32;

    /// The device's size in sectors.
    fn capacity_sectors(&self) -> u64;

    /// Submits a request. At most [`depth`](Self::depth) requests may be outstanding, and
    /// everything due before `now` must have been collected with [`advance`](Self::advance).
    fn submit(&mut self, now: Instant, io: &DeviceIo);

    /// When the device next does something by itself; `None` while it is idle.
    fn next_event(&self) -> Option<Instant>;

    /// Advances the device to `now` and appends the requests that have completed, in order.
    fn advance(&mut self, now: Instant, done: &mut Vec<Done>);

    /// The work done for `group` so far, in time of the whole device: the work for all groups adds
    /// up to about a second in each second in which the device was fully loaded. Work after a
    /// completion, such as destaging cached data, counts for the group that wrote the data.
    fn work(&self, group: GroupId) -> Span;
}

/// A device of any kind.
// With a tag of its own. One hidden in a field of some device costs every call a few instructions.
#[repr(u8)]
#[derive(Clone, Debug)]
pub enum DeviceModel {
    /// A rotating disk.
    Hdd(Hdd),
    /// A device with a fixed time per request.
    Fixed(Fixed),
    /// An array of rotating disks with parity.
    Raid5(Raid5),
    /// A solid-state disk.
    Ssd(Ssd),
    /// A device that does as much as was measured.
    Measured(Measured),
    /// The disk of a virtual machine.
    Virtual(VirtualDisk),
    /// A device that takes no time.
    Null(Null),
}

macro_rules! each {
    ($model:expr, $device:ident => $call:expr) => {
        match $model {
            DeviceModel::Hdd($device) => $call,
            DeviceModel::Fixed($device) => $call,
            DeviceModel::Raid5($device) => $call,
            DeviceModel::Ssd($device) => $call,
            DeviceModel::Measured($device) => $call,
            DeviceModel::Virtual($device) => $call,
            DeviceModel::Null($device) => $call,
        }
    };
}

impl DeviceModel {
    /// Whether the device serves several requests together faster than one after another, because
    /// nothing has to move to reach them or because several arms can.
    #[must_use]
    pub fn serves_together(&self) -> bool {
        match self {
            Self::Hdd(_) => false,
            Self::Measured(device) => device.serves_together(),
            Self::Virtual(device) => device.serves_together(),
            _ => self.depth() > 1,
        }
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
