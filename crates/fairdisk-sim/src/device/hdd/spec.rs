//! What a rotating disk is described by. Lengths of time are whole microseconds, the precision of
//! data sheets.

use crate::device::spec::{Check, Checked, SpecError, within};

/// Parameters of a rotating disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HddParams {
    /// Size.
    pub capacity_sectors: u64,
    /// Rotations per minute.
    pub rpm: u32,
    /// Angle of the platters when the run begins, as a time (modulo a rotation).
    pub phase_ns: u64,
    /// Recording surfaces, each with its head.
    pub heads: u32,
    /// Groups of cylinders with the same number of sectors per track.
    pub zones: u32,
    /// Sectors on a track of the outermost zone, where the low sectors are.
    pub sectors_per_track_outer: u32,
    /// Sectors on a track of the innermost zone. Zones between are spaced evenly.
    pub sectors_per_track_inner: u32,
    /// Time to go on with the next head of a cylinder, and the skew that hides it.
    pub head_switch_us: u32,
    /// Time to go on with the first head of the next cylinder, and the skew that hides it.
    pub cylinder_switch_us: u32,
    /// How long the arm takes to another cylinder.
    pub seek: SeekParams,
    /// Added to a seek that ends in a write.
    pub write_settle_us: u32,
    /// From the arrival of a command to the start of the arm or of a transfer.
    pub command_overhead_us: u32,
    /// Added to every data transfer on the bus.
    pub bus_overhead_us: u32,
    /// Rate of the bus in million bytes per second.
    pub bus_mb_per_s: u32,
    /// The read buffer; without one nothing is read ahead.
    pub read_ahead: Option<ReadAheadParams>,
    /// The write-back cache; without one a write completes when it is on the medium.
    pub write_cache: Option<WriteCacheParams>,
    /// Command queueing.
    pub queue: QueueParams,
}

/// The time of a seek by its distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeekParams {
    /// Lee's curve through the three numbers data sheets give.
    Lee {
        /// To the next cylinder.
        min_us: u32,
        /// To a random cylinder from a random cylinder.
        average_us: u32,
        /// From the first cylinder to the last.
        max_us: u32,
    },
    /// Measured points with straight lines between them; the last one holds for all beyond.
    Points(Vec<SeekPoint>),
}

/// One measured point of a seek curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekPoint {
    /// Distance.
    pub cylinders: u32,
    /// Time.
    pub us: u32,
}

/// The read buffer: some segments, each following one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadParams {
    /// How many streams are remembered.
    pub segments: u32,
    /// How much is kept, and read ahead at most, for each.
    pub segment_kib: u32,
}

/// The write-back cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCacheParams {
    /// Places it holds data for, the one being written to the medium included: what goes on where
    /// other data ends takes none.
    pub depth: u32,
    /// How much data it holds.
    pub kib: u32,
    /// In which order they go to the medium.
    pub order: Order,
    /// Whether a read that needs the medium waits until every write accepted before it is there.
    pub reads_wait_for_dirty: bool,
    /// What a flush does.
    pub flush: FlushPolicy,
}

impl WriteCacheParams {
    /// No disk's cache holds more.
    pub const KIB_MAX: u32 = 1 << 20;
}

/// Which of several pieces of work the arm takes up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest.
    Fifo,
    /// The one the head reaches first (shortest access time first).
    Satf,
    /// The next one inwards, then from the outside again.
    Elevator,
}

/// What a flush does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushPolicy {
    /// Completes when every write accepted before it is on the medium.
    Drain,
    /// Completes at once, as disks do that promise more than they keep.
    Ignore,
}

/// Command queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueParams {
    /// Commands taken at once; 1 is a disk without command queueing.
    pub depth: u32,
    /// Which command goes first.
    pub order: Order,
    /// How long other commands may be put before one; from then on it is served in the order of
    /// arrival, before all that are younger. Without it, for ever.
    pub age_limit_ms: Option<u32>,
}

/// Checked [`HddParams`].
pub type HddSpec = Checked<HddParams>;

/// No mechanical time of any disk is longer; keeps fixed-point products within 64 bits.
const MECHANICAL_MAX_US: u64 = 200_000;
/// Sectors on a track at most (today's disks have about 4000).
const SECTORS_PER_TRACK_MAX: u64 = 65_536;
/// Tracks at most, so that their numbers fit 32 bits.
const TRACKS_MAX: u64 = 1 << 31;
/// The zone table is indexed by bytes.
const ZONES_MAX: u64 = 255;
/// The choice among commands or cached writes looks at each of them.
const DEPTH_MAX: u64 = 1_024;
/// Two bytes of 50 ms each, as disks are told it.
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
                within("seek.max_us", max, min, MECHANICAL_MAX_US)?;
                // Where both of Lee's coefficients are at least zero: the curve rises everywhere.
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
