//! Measures whether a disk serves several requests together. Its behaviour decides, not its
//! description.
//!
//! A rotational disk gets one request at a time, in the scheduler's order. A disk that answers far
//! reads faster than any rotational disk could, or moves data faster, does not rotate, whatever the
//! kernel reports: many virtual disks are reported as rotational.

use fairdisk_core::{Lba, Op, Request, SECTOR_BYTES, Span};

/// The distance in sectors from the last request at which a read makes a rotational disk seek.
const FAR_SECTORS: u64 = 8192;
/// The largest read, in sectors, whose time is dominated by the seek.
const SMALL_SECTORS: u32 = 128;
/// The time within which a far small read is faster than on a rotational disk, except for the few
/// that happen to find the right angle.
pub const FAR_SPAN: Span = Span::from_ms(1);
/// The smallest transfer, in sectors, that reveals the transfer rate.
const LARGE_SECTORS: u32 = 512;
/// A transfer rate in bytes per second that no rotational disk reaches.
const TURNING_BYTES_PER_S: u64 = 600_000_000;
/// The number of revealing requests between two decisions.
const WINDOW: u32 = 32;
/// The number of these requests that must agree to change the decision.
const MAJORITY: u32 = 24;

/// What a request can reveal about the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    /// Nothing.
    Mute,
    /// Its seek time: a small read far from the previous request.
    Far,
    /// Its transfer rate: a large transfer, with the time that it would take at the rate of the
    /// fastest rotational disk.
    Large(Span),
}

/// Decides whether the disk gets several requests at once.
#[derive(Debug, Default)]
pub(super) struct DepthMeter {
    is_deep: bool,
    last_end: Lba,
    seen: u32,
    fast: u32,
}

impl DepthMeter {
    /// Whether the disk gets several requests at once; at first it gets one.
    pub(super) const fn is_deep(&self) -> bool {
        self.is_deep
    }

    /// Notes that a request goes to the disk. Returns what its completion can reveal.
    pub(super) fn issued(&mut self, request: &Request) -> Witness {
        if !matches!(request.op, Op::Read | Op::Write) {
            return Witness::Mute;
        }
        let distance = request.start.distance(self.last_end);
        self.last_end = request.end();
        let sectors = request.sectors.0;
        if sectors >= LARGE_SECTORS {
            let bytes = u64::from(sectors) * SECTOR_BYTES;
            Witness::Large(Span::from_ns(bytes * 1_000_000_000 / TURNING_BYTES_PER_S))
        } else if request.op == Op::Read && sectors <= SMALL_SECTORS && distance > FAR_SECTORS {
            Witness::Far
        } else {
            Witness::Mute
        }
    }

    /// Notes a completion after the disk was busy with the request for `took`.
    pub(super) fn completed(&mut self, witness: Witness, took: Span) {
        let fast = match witness {
            Witness::Mute => return,
            // Twice the time, so that a disk in between keeps its classification.
            Witness::Far if self.is_deep => took <= FAR_SPAN + FAR_SPAN,
            Witness::Far => took <= FAR_SPAN,
            // With several requests at once, waiting for the bus says nothing about seeks.
            Witness::Large(turning) if self.is_deep || took > turning => return,
            Witness::Large(_) => true,
        };
        self.seen += 1;
        self.fast += u32::from(fast);
        if self.seen < WINDOW {
            return;
        }
        let (fast, slow) = (self.fast, self.seen - self.fast);
        (self.seen, self.fast) = (0, 0);
        let changes = if self.is_deep { slow >= MAJORITY } else { fast >= MAJORITY };
        self.is_deep ^= changes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Flags, GroupId, Instant, IoPrio, RequestId, Sectors, TaskId};

    fn request(op: Op, start: u64, sectors: u32) -> Request {
        Request {
            id: RequestId(0),
            task: TaskId(1),
            group: GroupId::ROOT,
            op,
            start: Lba(start),
            sectors: Sectors(sectors),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
            arrived: Instant::ZERO,
        }
    }

    /// Whether a disk that serves the given requests in the given times gets several at once.
    fn is_deep(meter: &mut DepthMeter, op: Op, sectors: u32, times_us: &[u64]) -> bool {
        for at in 0..200 {
            let start = at as u64 % 2 * 1_000_000;
            let witness = meter.issued(&request(op, start, sectors));
            meter.completed(witness, Span::from_us(times_us[at % times_us.len()]));
        }
        meter.is_deep()
    }

    #[test]
    fn a_disk_that_cannot_turn_is_given_many_at_once() {
        let mut meter = DepthMeter::default();
        assert!(is_deep(&mut meter, Op::Read, 8, &[70, 90, 3000, 60]));
        assert!(is_deep(&mut meter, Op::Read, 8, &[70, 1500]), "it stays that");
        assert!(!is_deep(&mut meter, Op::Read, 8, &[9000, 5000, 8000, 200]));
        assert!(is_deep(&mut DepthMeter::default(), Op::Write, 2048, &[900]));
    }

    #[test]
    fn a_disk_that_turns_is_not_whatever_its_cache_does() {
        let mut meter = DepthMeter::default();
        assert!(!is_deep(&mut meter, Op::Read, 8, &[9000, 5000, 100, 12_000]), "seeks");
        assert!(!is_deep(&mut meter, Op::Write, 8, &[50]), "writes into its cache");
        assert!(!is_deep(&mut meter, Op::Read, 2048, &[8000]), "streams");
        for at in 0..200 {
            let witness = meter.issued(&request(Op::Read, at * 8, 8));
            meter.completed(witness, Span::from_us(40));
            assert!(!meter.is_deep(), "reads ahead");
        }
    }
}
