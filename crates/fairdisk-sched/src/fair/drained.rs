//! Whether the device does all that was written before it reads, and how often it has.
//!
//! Such a device has nothing left of any write once a read is done. It is known by what reads take
//! while something may be left: those that come after a write take longer than usual, and those
//! that come after another read do not.

use super::cache::{Service, TRACES};
use super::mean::Mean;
use fairdisk_core::{Instant, Span};

/// What reads after a read may take beyond what is usual, as a part of what those after a write do.
const NOTHING: u64 = 4;

/// What reads took, and what they take otherwise.
#[derive(Clone, Copy, Debug)]
struct Reads {
    took: Mean<64>,
    usual: Mean<64>,
}

impl Reads {
    const NONE: Self = Self { took: Mean::NONE, usual: Mean::NONE };

    fn excess(&self) -> Option<Span> {
        Some(self.took.get()? - self.usual.get()?)
    }
}

/// What is known of the device, and of the last that it served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drained {
    after_write: Reads,
    after_read: Reads,
    /// What was served last, alone at the device, was a read.
    has_read: bool,
    /// Nothing is left of any write for what begins later.
    until: Instant,
    /// How often it has done all that was written.
    times: u32,
}

impl Drained {
    pub(super) const NEVER: Self = Self {
        after_write: Reads::NONE,
        after_read: Reads::NONE,
        has_read: false,
        until: Instant::ZERO,
        times: 0,
    };

    /// How often it has done all that was written.
    pub(super) const fn times(&self) -> u32 {
        self.times
    }

    /// Whether nobody wrote lately, before what now took so long.
    pub(super) fn is_long_ago(&self, now: Instant, service: Span) -> bool {
        now >= self.until + service
    }

    pub(super) fn wrote(&mut self, now: Instant) {
        self.has_read = false;
        self.until = now + TRACES;
    }

    /// A read was done that usually takes so long: whether it shows that nothing is left.
    pub(super) fn read(&mut self, now: Instant, served: Service, usual: Option<Span>) -> bool {
        let has_read = core::mem::replace(&mut self.has_read, served.was_alone);
        if !served.was_alone {
            return false;
        }
        if let Some(usual) = usual
            && !self.is_long_ago(now, served.took)
        {
            let reads = if has_read { &mut self.after_read } else { &mut self.after_write };
            reads.took.add(served.took);
            reads.usual.add(usual);
        }
        let both = self.after_read.excess().zip(self.after_write.excess());
        let is_drained = both.is_some_and(|(read, write)| read < write / NOTHING);
        self.times = self.times.wrapping_add(u32::from(is_drained));
        is_drained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 6 ms, every other after a write, of which `ms` are left for each read.
    fn reads(ms: [u64; 2]) -> u32 {
        let (mut drained, mut now) = (Drained::NEVER, Instant::ZERO);
        let usual = Some(Span::from_ms(6));
        for round in 0..20 {
            if round % 2 == 0 {
                drained.wrote(now);
            }
            let took = Span::from_ms(6 + ms[round % 2]);
            now += took;
            let done_in = Span::from_ms(13);
            let (is_overlong_read, was_alone, is_told) = (false, true, true);
            let served = Service { took, done_in, is_overlong_read, was_alone, is_told };
            drained.read(now, served, usual);
        }
        drained.times()
    }

    #[test]
    fn it_is_known_by_reads_after_reads() {
        assert_eq!(reads([8, 0]), 19, "from the first read after a read on");
        assert_eq!(reads([8, 1]), 19);
        assert_eq!(reads([8, 3]), 0, "the device goes on with what was written");
        assert_eq!(reads([0, 0]), 0, "and where nothing shows, nothing is known");
    }
}
