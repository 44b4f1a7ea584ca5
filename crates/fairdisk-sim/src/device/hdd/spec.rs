//! The parameters of a rotating disk. Times are in whole microseconds, the precision of data
//! sheets.

use crate::device::spec::{Check, Checked, SpecError, within};

/// Parameters of a rotating disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HddParams {
    /// The disk's size in 512-byte sectors.
    pub capacity_sectors: u64,
    /// Rotations per minute.
    pub rpm: u32,
    /// Angle of the platters when the run begins, as a time modulo a rotation.
    pub phase_ns: u64,
    /// Recording surfaces, each with a head.
    pub heads: u32,
    /// Zones: ranges of cylinders with the same number of sectors per track.
    pub zones: u32,
    /// Sectors per track of the outermost zone, which holds the lowest sectors.
    pub sectors_per_track_outer: u32,
    /// Sectors per track of the innermost zone. Zones in between are interpolated linearly.
    pub sectors_per_track_inner: u32,
    /// Time of a switch to the next head of a cylinder, and the skew that hides it.
    pub head_switch_us: u32,
    /// Time of a switch to the first head of the next cylinder, and the skew that hides it.
    pub cylinder_switch_us: u32,
    /// Seek times.
    pub seek: SeekParams,
    /// Additional time of a seek that ends in a write.
    pub write_settle_us: u32,
    /// Time from the arrival of a command until the arm or a transfer starts.
    pub command_overhead_us: u32,
    /// Additional time of every data transfer on the bus.
    pub bus_overhead_us: u32,
    /// Bus rate in millions of bytes per second.
    pub bus_mb_per_s: u32,
    /// The read buffer; without one, nothing is read ahead.
    pub read_ahead: Option<ReadAheadParams>,
    /// The write-back cache; without one, a write completes when it is on the medium.
    pub write_cache: Option<WriteCacheParams>,
    /// Command queueing.
    pub queue: QueueParams,
}

/// Seek times by distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeekParams {
    /// Lee's curve through the three numbers that data sheets give.
    Lee {
        /// Seek time to the next cylinder.
        min_us: u32,
        /// Mean seek time between random cylinders.
        average_us: u32,
        /// Seek time from the first cylinder to the last.
        max_us: u32,
    },
    /// Measured points joined by straight lines; the last one also holds for all greater distances.
    Points(Vec<SeekPoint>),
}

/// A measured point of a seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekPoint {
    /// Distance in cylinders.
    pub cylinders: u32,
    /// Seek time in microseconds.
    pub us: u32,
}

/// A read buffer of several segments, each of which follows one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadParams {
    /// The number of streams that are followed.
    pub segments: u32,
    /// The size of a segment, which is also how far a stream is read ahead at most.
    pub segment_kib: u32,
}

/// The write-back cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCacheParams {
    /// Places for writes, including the one being destaged. A write that continues other cached
    /// data shares its place.
    pub depth: u32,
    /// Capacity in KiB.
    pub kib: u32,
    /// The order in which writes are destaged.
    pub order: Order,
    /// Whether a read that needs the medium waits until every write accepted before it is on the
    /// medium.
    pub reads_wait_for_dirty: bool,
    /// What a flush does.
    pub flush: FlushPolicy,
}

impl WriteCacheParams {
    /// The largest cache that is accepted, in KiB; no disk has a larger one.
    pub const KIB_MAX: u32 = 1 << 20;
}

/// The order in which the arm takes up pieces of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest first.
    Fifo,
    /// The one that the head reaches first (shortest access time first).
    Satf,
    /// The next one inwards, then again from the outside.
    Elevator,
}

/// What a flush does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPolicy {
    /// Completes when every write accepted before it is on the medium.
    Drain,
    /// Completes at once, as on disks that do not keep their promise.
    Ignore,
}

/// Command queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueParams {
    /// Commands accepted at once; 1 means no command queueing.
    pub depth: u32,
    /// The order in which commands are served.
    pub order: Order,
    /// How long other commands may be served ahead of one. After that it is served in order of
    /// arrival, before all younger ones. `None` means without limit.
    pub age_limit_ms: Option<u32>,
}

/// [`HddParams`] that have been checked.
pub type HddSpec = Checked<HddParams>;

/// No mechanical time of a disk is longer. Keeps fixed-point products within 64 bits.
const MECHANICAL_MAX_US: u64 = 200_000;
/// The most sectors per track; today's disks have about 4000.
const SECTORS_PER_TRACK_MAX: u64 = 65_536;
/// The most tracks, so that their numbers fit 32 bits.
const TRACKS_MAX: u64 = 1 << 31;
/// The most zones; the hint table stores a zone in a byte.
const ZONES_MAX: u64 = 255;
/// The deepest queue or cache; choosing among its entries scans all of them.
const DEPTH_MAX: u64 = 1_024;
/// Disks take the limit as two bytes in units of 50 ms.
const AGE_LIMIT_MS_MAX: u64 = 65_535 * 50;

impl Check for HddParams {
    fn check(&self) -> Result<(), SpecError> {
        self.check_geometry()?;
        self.check_times()?;
        self.check_seek()?;
        if let Some(read_ahead) = self.read_ahead {
            within("read_ahead.segments", read_ahead.segments, 1, 256)?;
            within("read_ahead.segment_kib", read_ahead.segment_kib, 1, 1 << 20)?;
        }
        if let Some(cache) = self.write_cache {
            within("write_cache.depth", cache.depth, 1, DEPTH_MAX)?;
            within("write_cache.kib", cache.kib, 1, WriteCacheParams::KIB_MAX.into())?;
        }
        if let Some(limit_ms) = self.queue.age_limit_ms {
            within("queue.age_limit_ms", limit_ms, 1, AGE_LIMIT_MS_MAX)?;
        }
        within("queue.depth", self.queue.depth, 1, DEPTH_MAX)
    }
}

impl HddParams {
    fn check_geometry(&self) -> Result<(), SpecError> {
        let (inner, outer) = (self.sectors_per_track_inner, self.sectors_per_track_outer);
        within("heads", self.heads, 1, 255)?;
        within("zones", self.zones, 1, ZONES_MAX)?;
        within("sectors_per_track_inner", inner, 1, SECTORS_PER_TRACK_MAX)?;
        within("sectors_per_track_outer", outer, inner.into(), SECTORS_PER_TRACK_MAX)?;
        let least = u64::from(self.zones) * u64::from(self.heads) * u64::from(outer);
        let most = TRACKS_MAX * u64::from(inner);
        within("capacity_sectors", self.capacity_sectors, least, most)
    }

    fn check_times(&self) -> Result<(), SpecError> {
        within("rpm", self.rpm, 600, 60_000)?;
        let switch = self.head_switch_us;
        within("head_switch_us", switch, 0, MECHANICAL_MAX_US)?;
        within("cylinder_switch_us", self.cylinder_switch_us, switch.into(), MECHANICAL_MAX_US)?;
        within("write_settle_us", self.write_settle_us, 0, MECHANICAL_MAX_US)?;
        within("command_overhead_us", self.command_overhead_us, 0, MECHANICAL_MAX_US)?;
        within("bus_overhead_us", self.bus_overhead_us, 0, MECHANICAL_MAX_US)?;
        within("bus_mb_per_s", self.bus_mb_per_s, 1, 1_000_000)
    }

    fn check_seek(&self) -> Result<(), SpecError> {
        match &self.seek {
            SeekParams::Lee { min_us, average_us, max_us } => {
                let (min, max) = (u64::from(*min_us), u64::from(*max_us));
                // First, since no `max_us` would be in the range that begins with it.
                within("seek.min_us", min, 0, MECHANICAL_MAX_US)?;
                within("seek.max_us", max, min, MECHANICAL_MAX_US)?;
                // The range in which both of Lee's coefficients are non-negative, so that the curve
                // rises everywhere.
                let low = (2 * min + max).div_ceil(3);
                within("seek.average_us", *average_us, low, (7 * min + 8 * max) / 15)
            }
            SeekParams::Points(points) => check_points(points),
        }
    }
}

fn check_points(points: &[SeekPoint]) -> Result<(), SpecError> {
    let Some(first) = points.first() else {
        return Err(SpecError::new("seek.points", "empty", "at least one point"));
    };
    within("seek.points", first.cylinders, 1, u64::from(u32::MAX))?;
    for pair in points.windows(2) {
        if pair[1].cylinders <= pair[0].cylinders || pair[1].us < pair[0].us {
            let value = format!("[{}, {}]", pair[1].cylinders, pair[1].us);
            let allowed = format!(
                "more than {} cylinders and at least {} us, as it follows [{0}, {1}]",
                pair[0].cylinders, pair[0].us
            );
            return Err(SpecError::new("seek.points", value, allowed));
        }
    }
    points.iter().try_for_each(|point| within("seek.points", point.us, 0, MECHANICAL_MAX_US))
}
