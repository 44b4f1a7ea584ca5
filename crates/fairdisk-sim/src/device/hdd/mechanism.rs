//! The mechanism: the arm over the rotating platters.
//!
//! The head always follows a groove. After an access it stays where that ended or, when told to
//! read ahead, follows the groove up to a limit. Its position is a function of time, so reading
//! ahead needs no events.

use super::geometry::{Extent, Geometry, Track};
use super::seek::SeekCurve;
use super::spec::HddParams;

/// The head: at `groove` since `since`, then moving along the groove in step with time up to
/// `limit`.
#[derive(Clone, Copy, Debug)]
struct Head {
    groove: u64,
    since: u64,
    limit: u64,
    /// The track of `groove`; the previous one if `groove` is the start of a track.
    track: Track,
    /// The groove at which the track after `track` starts.
    next_track: u64,
}

/// The mechanics of one disk. Times are in nanoseconds since the start of the run.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    geometry: Geometry,
    seek: SeekCurve,
    phase_ns: u64,
    write_settle_ns: u64,
    head: Head,
}

/// The direction of an access to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Data is read from the medium.
    Read,
    /// Data is written to the medium, for which the head must settle longer.
    Write,
}

impl Mechanism {
    /// The mechanics described by `params`, with the head over the first track.
    pub(super) fn new(params: &HddParams, phase_ns: u64) -> Self {
        let geometry = Geometry::new(params);
        let rotation = geometry.rotation();
        let track = Track::default();
        let next_track = geometry.next_track_start(track);
        Self {
            seek: SeekCurve::new(&params.seek, geometry.cylinders()),
            phase_ns: rotation.div_rem(params.phase_ns).1 + rotation.div_rem(phase_ns).1,
            write_settle_ns: u64::from(params.write_settle_us) * 1_000,
            head: Head { groove: 0, since: 0, limit: 0, track, next_track },
            geometry,
        }
    }

    /// The time of one rotation, in nanoseconds.
    pub(super) const fn rotation_ns(&self) -> u64 {
        self.geometry.rotation().get()
    }

    /// The location of a range of sectors.
    #[inline(always)]
    pub(super) fn extent(&self, start: u64, sectors: u32) -> Extent {
        self.geometry.extent(start, sectors)
    }

    /// The groove that the head is at.
    #[inline]
    pub(super) fn position(&self, at: u64) -> u64 {
        let head = &self.head;
        (head.groove + at.saturating_sub(head.since)).min(head.limit)
    }

    /// The groove up to which the head moves if left alone.
    pub(super) fn limit(&self) -> u64 {
        self.head.limit
    }

    /// When the head, left alone, passes a `groove` between its position and its limit.
    #[inline]
    pub(super) fn passes(&self, groove: u64) -> u64 {
        self.head.since + (groove - self.head.groove)
    }

    /// When the head is over `groove` of `track`, if it leaves its present place at `at`.
    #[inline]
    pub(super) fn reach(&self, groove: u64, track: Track, at: u64, access: Access) -> u64 {
        let arrive = at + self.travel_ns(self.track(at), track, access);
        let rotation = self.geometry.rotation();
        let (target, now) =
            (rotation.div_rem(groove).1, rotation.div_rem(arrive + self.phase_ns).1);
        arrive + if target >= now { target - now } else { target + rotation.get() - now }
    }

    /// Like [`reach`](Self::reach), for a groove whose track is not known.
    pub(super) fn reach_groove(&self, groove: u64, at: u64) -> u64 {
        self.reach(groove, self.geometry.track_at(groove), at, Access::Read)
    }

    /// Records that an access of `extent` ended at `end`, after which the head reads on up to
    /// `limit`.
    #[inline]
    pub(super) fn finish(&mut self, extent: &Extent, end: u64, limit: u64) {
        debug_assert!(limit >= extent.to);
        self.head = Head {
            groove: extent.to,
            since: end,
            limit,
            track: extent.last,
            next_track: self.geometry.next_track_start(extent.last),
        };
    }

    /// Lets the head read on up to a later `limit`; from `at` on if it has already stopped.
    pub(super) fn extend(&mut self, limit: u64, at: u64) {
        if limit <= self.head.limit {
            return;
        }
        let groove = self.position(at);
        if groove == self.head.limit {
            let track = self.track(at);
            let since = self.reach(groove, track, at, Access::Read);
            let next_track = self.geometry.next_track_start(track);
            self.head = Head { groove, since, limit, track, next_track };
        }
        self.head.limit = limit;
    }

    #[inline]
    fn track(&self, at: u64) -> Track {
        let groove = self.position(at);
        if groove < self.head.next_track { self.head.track } else { self.geometry.track_at(groove) }
    }

    #[inline]
    fn travel_ns(&self, from: Track, to: Track, access: Access) -> u64 {
        if to.number == from.number {
            return 0;
        }
        if to.number == from.number + 1 {
            // Continuing with the next track is what skew is made for, so no settling is needed.
            return self.geometry.switch_ns(to.cylinder != from.cylinder);
        }
        let settle = if access == Access::Write { self.write_settle_ns } else { 0 };
        let distance = to.cylinder.abs_diff(from.cylinder);
        let moved =
            if distance == 0 { self.geometry.switch_ns(false) } else { self.seek.ns(distance) };
        moved + settle
    }
}
