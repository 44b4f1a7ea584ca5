//! Whether the device finishes all writes before it reads.
//!
//! On such a device nothing is left of any write once a read is done. It is recognized by reads
//! that begin while something may be left: those right after a write take much longer than usual,
//! and those right after a read do not. Two kinds of reads are ignored: those so fast that they may
//! come from a buffer, and those after a pause, which have nothing left to wait for.

use super::mean::Mean;
use super::service::Service;
use fairdisk_core::{Instant, Span};

/// Reads of each kind needed for a decision. The mean of 32 is off by about a fifth of their spread
/// (1 / sqrt 32).
const READS_LEAST: u8 = 32;
/// Reads after a write must exceed their usual time by more than half of it, well above the error
/// of the mean.
const AFTER_WRITE_PARTS: u64 = 2;
/// Reads after a read must exceed theirs by less than a quarter of that; with more, the device
/// still works on writes.
const AFTER_READ_PARTS: u64 = 4;
/// A pause longer than a quarter of a read leaves the device time to finish a write.
const PAUSE_PARTS: u64 = 4;

/// Mean measured and usual times of a kind of reads.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    took: Mean<64>,
    usual: Mean<64>,
}

impl Reads {
    const fn add(&mut self, took: Span, usual: Span) {
        self.took.add(took);
        self.usual.add(usual);
    }

    fn excess(&self) -> Span {
        self.took.or_zero() - self.usual.or_zero()
    }

    const fn are_enough(&self) -> bool {
        self.took.samples() >= READS_LEAST
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    Write,
    Read,
    #[default]
    Unknown,
}

/// What is known of the device, and the last request it completed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WritesFirst {
    after_write: Reads,
    after_read: Reads,
    last: Last,
    /// When the last request completed.
    done: Instant,
}

impl WritesFirst {
    pub(super) const fn wrote(&mut self, now: Instant) {
        (self.last, self.done) = (Last::Write, now);
    }

    /// Notes that a flush finished all writes.
    pub(super) const fn flushed(&mut self) {
        self.last = Last::Unknown;
    }

    /// Accounts for a read that was alone at the device, and returns whether nothing is left of any
    /// write. `usual` is its usual time if something may have been left when it began.
    pub(super) fn read(&mut self, now: Instant, served: Service, usual: Option<Span>) -> bool {
        if served.is_buffered() {
            return false;
        }
        let last = core::mem::replace(&mut self.last, Last::Read);
        let done = core::mem::replace(&mut self.done, now);
        if let Some(usual) = usual
            && now.since(done) - served.took <= usual / PAUSE_PARTS
        {
            match last {
                Last::Write => self.after_write.add(served.took, usual),
                Last::Read => self.after_read.add(served.took, usual),
                Last::Unknown => {}
            }
        }
        self.is_known()
    }

    fn is_known(&self) -> bool {
        let Self { after_write, after_read, .. } = self;
        let (longer, usual) = (after_write.excess(), after_write.usual.or_zero());
        let shows =
            longer > usual / AFTER_WRITE_PARTS && after_read.excess() < longer / AFTER_READ_PARTS;
        shows && after_write.are_enough() && after_read.are_enough()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose random reads take 2 to 10 ms.
    struct Device {
        first: WritesFirst,
        now: Instant,
        reads: u64,
    }

    impl Device {
        fn new() -> Self {
            Self { first: WritesFirst::default(), now: Instant::ZERO, reads: 0 }
        }

        fn write(&mut self) {
            self.now += Span::from_us(300);
            self.first.wrote(self.now);
        }

        /// A read after `pause` that takes `longer` for earlier writes.
        fn read(&mut self, longer: Span, pause: Span) -> bool {
            self.reads += 1;
            let took = Span::from_ms(2 + self.reads * 7 % 9) + longer;
            self.served(took, pause)
        }

        fn served(&mut self, took: Span, pause: Span) -> bool {
            self.now += pause + took;
            let served = Service::alone(took, took, Span::from_ms(13));
            self.first.read(self.now, served, Some(Span::from_ms(6)))
        }

        /// In how many of 200 rounds a read showed that nothing is left. A round is a write and two
        /// reads, which take the given times in ms longer.
        fn rounds(&mut self, [one, other]: [u64; 2]) -> usize {
            let round = |_| {
                self.write();
                self.read(Span::from_ms(one), Span::ZERO);
                self.read(Span::from_ms(other), Span::ZERO)
            };
            (0..200).map(round).filter(|shown| *shown).count()
        }
    }

    #[test]
    fn it_is_known_by_reads_after_reads() {
        let known = |longer| Device::new().rounds(longer);
        assert_eq!(known([8, 0]), 200 - usize::from(READS_LEAST) + 1);
        assert_eq!(known([8, 8]), 0, "it goes on with what was written");
        assert_eq!(known([8, 4]), 0);
        assert_eq!(known([0, 0]), 0, "where nothing shows, nothing is known");
        assert_eq!(known([1, 0]), 0);
    }

    #[test]
    fn a_device_that_does_so_no_more_is_found_out() {
        let mut device = Device::new();
        assert!(device.rounds([8, 0]) > 100);
        let still = device.rounds([8, 8]);
        assert!((1..60).contains(&still), "{still}");
        assert_eq!(device.rounds([8, 8]), 0);
    }

    /// The disk finishes the write in the pause.
    #[test]
    fn what_comes_after_a_pause_says_nothing() {
        let mut device = Device::new();
        for _ in 0..200 {
            device.write();
            assert!(!device.read(Span::from_ms(8), Span::ZERO));
            assert!(!device.read(Span::ZERO, Span::from_ms(20)));
        }
        assert!(device.rounds([8, 0]) > 100, "it would have been known");
    }

    #[test]
    fn what_may_come_from_a_buffer_says_nothing() {
        let mut device = Device::new();
        assert!(device.rounds([8, 0]) > 100);
        device.write();
        assert!(!device.served(Span::from_us(400), Span::ZERO), "the write is still there");
        assert!(device.read(Span::from_ms(8), Span::ZERO));
    }

    #[test]
    fn a_flush_does_what_was_written() {
        let mut device = Device::new();
        for _ in 0..200 {
            device.write();
            device.first.flushed();
            assert!(!device.read(Span::ZERO, Span::ZERO));
        }
        assert!(device.rounds([8, 0]) > 100, "reads after flushes are not among them");
    }
}
