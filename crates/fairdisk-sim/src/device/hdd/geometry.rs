//! Disk geometry: where on the medium a sector is.
//!
//! Sectors fill a track, then the next head's track of the same cylinder, then the next cylinder
//! inwards. Track starts are skewed by exactly the time that a switch takes, so a single number
//! describes a sector's place in space and in rotation. This number is the *groove*: the time at
//! which a head that passes sector 0 at time 0 and reads on without pause passes the start of this
//! sector. The groove modulo a rotation is the sector's angle, and the difference of two grooves is
//! how long a sequential stream takes between the sectors.

use super::divisor::Divisor;
use super::spec::HddParams;

/// A contiguous range of sectors on the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    /// Groove of the start of the first sector.
    pub(super) from: u64,
    /// Groove of the end of the last sector.
    pub(super) to: u64,
    /// Track of the first sector.
    pub(super) first: Track,
    /// Track of the last sector.
    pub(super) last: Track,
    /// Time per sector in this zone, in nanoseconds with 20 fractional bits.
    pub(super) sector_q20: u64,
}

/// A track and its cylinder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Track {
    /// The track's number, counted from the outside inwards, head by head.
    pub(super) number: u32,
    /// The cylinder that contains the track.
    pub(super) cylinder: u32,
}

/// A range of cylinders with the same number of sectors per track.
#[derive(Clone, Copy, Debug)]
struct Zone {
    start: u64,
    end: u64,
    first_track: u32,
    sectors_per_track: Divisor,
    sector_q20: u64,
}

/// The layout of a disk.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    zones: Vec<Zone>,
    /// For each bucket of sectors, the zone of its first sector.
    zone_hints: Vec<u8>,
    hint_shift: u32,
    heads: Divisor,
    cylinders: u32,
    rotation: Divisor,
    /// The time of a rotation and a switch to the next head.
    track_ns: u64,
    /// How much longer a switch to the next cylinder takes than one to the next head.
    cylinder_extra_ns: u64,
}

/// Buckets of the hint table. There are enough for most zones to span many, so that the hint is
/// nearly always right.
const HINTS: u64 = 512;

impl Geometry {
    /// The layout described by `params`.
    pub(super) fn new(params: &HddParams) -> Self {
        let rotation_ns = 60_000_000_000 / u64::from(params.rpm);
        let head_switch_ns = u64::from(params.head_switch_us) * 1_000;
        let zones = lay_out(params, rotation_ns);
        let cylinders = cylinders_of(params);
        let hint_shift = (params.capacity_sectors / HINTS).max(1).ilog2();
        Self {
            zone_hints: hints(&zones, params.capacity_sectors, hint_shift),
            hint_shift,
            zones,
            heads: Divisor::new(params.heads.into()),
            cylinders,
            rotation: Divisor::new(rotation_ns),
            track_ns: rotation_ns + head_switch_ns,
            cylinder_extra_ns: u64::from(params.cylinder_switch_us) * 1_000 - head_switch_ns,
        }
    }

    /// The number of cylinders.
    pub(super) const fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// The time of one rotation, in nanoseconds.
    pub(super) const fn rotation(&self) -> Divisor {
        self.rotation
    }

    /// How long a switch to the next head takes, or to the next cylinder.
    #[inline]
    pub(super) const fn switch_ns(&self, cylinder: bool) -> u64 {
        let extra = if cylinder { self.cylinder_extra_ns } else { 0 };
        self.track_ns - self.rotation.get() + extra
    }

    /// The location of the sectors `start..start + sectors`; at least one sector, all on the disk.
    #[inline(always)]
    pub(super) fn extent(&self, start: u64, sectors: u32) -> Extent {
        let zone = self.zone_of(start);
        let (track_in_zone, sector) = zone.sectors_per_track.div_rem(start - zone.start);
        let first = self.track(zone.first_track + track_in_zone as u32);
        let base = self.track_start(first);
        let from = base + angle(zone, sector);
        let after = sector + u64::from(sectors);
        let (to, last) = if after <= zone.sectors_per_track.get() {
            (base + angle(zone, after), first)
        } else {
            self.end_of(start + u64::from(sectors) - 1)
        };
        Extent { from, to, first, last, sector_q20: zone.sector_q20 }
    }

    /// Groove of the end of `sector`, and its track.
    #[inline(never)]
    fn end_of(&self, sector: u64) -> (u64, Track) {
        let end = self.extent(sector, 1);
        (end.to, end.first)
    }

    /// The track at a groove; a switch counts as part of the track before it.
    pub(super) fn track_at(&self, groove: u64) -> Track {
        let cylinder_ns = self.heads.get() * self.track_ns + self.cylinder_extra_ns;
        let cylinder = groove / cylinder_ns;
        let head = ((groove - cylinder * cylinder_ns) / self.track_ns).min(self.heads.get() - 1);
        Track { number: (cylinder * self.heads.get() + head) as u32, cylinder: cylinder as u32 }
    }

    /// The groove of a track's first sector.
    #[inline]
    pub(super) fn track_start(&self, track: Track) -> u64 {
        u64::from(track.number) * self.track_ns + u64::from(track.cylinder) * self.cylinder_extra_ns
    }

    /// The groove of the first sector of the track after `track`.
    #[inline]
    pub(super) fn next_track_start(&self, track: Track) -> u64 {
        let number = track.number + 1;
        let last_of_cylinder =
            u64::from(number) == (u64::from(track.cylinder) + 1) * self.heads.get();
        self.track_start(Track { number, cylinder: track.cylinder + u32::from(last_of_cylinder) })
    }

    #[inline]
    fn track(&self, number: u32) -> Track {
        Track { number, cylinder: self.heads.div_rem(number.into()).0 as u32 }
    }

    #[inline]
    fn zone_of(&self, start: u64) -> &Zone {
        let mut zone = usize::from(self.zone_hints[(start >> self.hint_shift) as usize]);
        while start >= self.zones[zone].end {
            zone += 1;
        }
        &self.zones[zone]
    }
}

/// The angle at which a sector starts on its track, as a time.
#[inline]
fn angle(zone: &Zone, sector: u64) -> u64 {
    (sector * zone.sector_q20) >> 20
}

/// Sectors per track of zone number `zone`, interpolated linearly from the outer to the inner
/// value.
fn sectors_per_track(params: &HddParams, zone: u32) -> u32 {
    let (outer, inner) = (params.sectors_per_track_outer, params.sectors_per_track_inner);
    let steps = u64::from(params.zones - 1).max(1);
    let drop = u64::from(outer - inner) * u64::from(zone);
    outer - ((drop + steps / 2) / steps) as u32
}

/// The smallest number of cylinders, spread evenly over the zones, that holds the capacity.
fn cylinders_of(params: &HddParams) -> u32 {
    let zones = u64::from(params.zones);
    let of_all: u64 =
        (0..params.zones).map(|zone| u64::from(sectors_per_track(params, zone))).sum();
    (params.capacity_sectors * zones).div_ceil(of_all * u64::from(params.heads)) as u32
}

fn lay_out(params: &HddParams, rotation_ns: u64) -> Vec<Zone> {
    let cylinders = cylinders_of(params);
    let (mut start, mut first_track) = (0, 0);
    let mut zones = Vec::with_capacity(params.zones as usize);
    for zone in 0..params.zones {
        // The outer zones get the remaining cylinders, so that the capacity is always reached.
        let share = cylinders / params.zones + u32::from(zone < cylinders % params.zones);
        let sectors_per_track = sectors_per_track(params, zone);
        let tracks = share * params.heads;
        let end = start + u64::from(tracks) * u64::from(sectors_per_track);
        let sector_q20 = (rotation_ns << 20) / u64::from(sectors_per_track);
        let sectors_per_track = Divisor::new(sectors_per_track.into());
        zones.push(Zone { start, end, first_track, sectors_per_track, sector_q20 });
        (start, first_track) = (end, first_track + tracks);
    }
    assert!(start >= params.capacity_sectors, "the zones hold the capacity");
    zones
}

fn hints(zones: &[Zone], capacity_sectors: u64, shift: u32) -> Vec<u8> {
    let zone_of = |sector| zones.partition_point(|zone| zone.end <= sector) as u8;
    (0..=(capacity_sectors - 1) >> shift).map(|bucket| zone_of(bucket << shift)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Geometry, HddParams};
    use crate::device::{Order, QueueParams, SeekParams};

    fn params() -> HddParams {
        HddParams {
            capacity_sectors: 488_397_168,
            rpm: 7_200,
            phase_ns: 0,
            heads: 6,
            zones: 16,
            sectors_per_track_outer: 1_020,
            sectors_per_track_inner: 600,
            head_switch_us: 900,
            cylinder_switch_us: 1_100,
            seek: SeekParams::Lee { min_us: 1_200, average_us: 8_900, max_us: 20_000 },
            write_settle_us: 0,
            command_overhead_us: 0,
            bus_overhead_us: 0,
            bus_mb_per_s: 300,
            read_ahead: None,
            write_cache: None,
            queue: QueueParams { depth: 1, order: Order::Fifo, age_limit_ms: None },
        }
    }

    #[test]
    fn the_first_sectors_are_where_one_would_look_for_them() {
        let geometry = Geometry::new(&params());
        let rotation = geometry.rotation().get();
        assert_eq!(geometry.cylinders(), 100_494);
        assert_eq!(geometry.extent(0, 1).from, 0);
        assert_eq!(geometry.extent(1_020, 1).from, rotation + 900_000);
        assert_eq!(geometry.extent(6 * 1_020, 1).from, 6 * rotation + 5 * 900_000 + 1_100_000);
        assert_eq!(geometry.extent(6 * 1_020, 1).first.cylinder, 1);
    }

    #[test]
    fn the_groove_goes_on_from_sector_to_sector_through_the_whole_disk() {
        let geometry = Geometry::new(&params());
        let ends = geometry.zones.iter().map(|zone| zone.end).filter(|&end| end < 488_397_168);
        let steps = (1..488_397_168).step_by(9_973);
        for sector in ends.chain(steps) {
            let (before, here) = (geometry.extent(sector - 1, 1), geometry.extent(sector, 1));
            let gap = here.from - before.to;
            assert!(gap == 0 || (900_000..1_200_000).contains(&gap), "{gap} before {sector}");
            assert_eq!(gap == 0, before.first == here.first, "{sector}");
            assert_eq!(geometry.track_at(here.from), here.first, "{sector}");
            assert_eq!(geometry.next_track_start(before.first) <= here.from, gap != 0);
            assert_eq!(geometry.extent(sector - 1, 2).to, here.to, "{sector}");
        }
    }
}
