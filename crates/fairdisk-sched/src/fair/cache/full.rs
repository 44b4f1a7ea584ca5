//! Writes that wait for room in the device's cache, and who pays for that.
//!
//! A disk whose cache is full takes a write in once it has done another, and it chooses which. As
//! long as there is anything of a stream it may stay with that, because nothing else is as near.
//! Whoever writes next then waits for what others have written.
//!
//! So writes of a group are compared with what they usually take. What one takes beyond that is
//! charged to the other group with the most acknowledged writes left to be done, unless it is the
//! group's own doing: writes that were taken in at once have to be done as well.

use super::traces::LASTS_MOST;
use crate::fair::median::Median;
use crate::fair::service::{self, Service};
use fairdisk_core::Span;

/// A write waited for room if it took three times as long as usual. A full rotation is twice the
/// average rotational delay and the longest seek about twice the average, so that next to no write
/// takes as long by itself.
const WAITED_FACTOR: u64 = 3;

/// What a group's writes take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writes {
    usual: Median,
    /// What writes lacked of what they take once the cache is full: so much of their work is still
    /// to be done, and the group's later writes wait for it.
    lacking: Span,
}

impl Writes {
    /// Accounts for a write, and returns how long it waited for writes of others.
    pub(super) fn waited(&mut self, served: &Service) -> Span {
        let usual = self.usual.get();
        self.usual.add(served.took);
        let Some(usual) = usual else { return Span::ZERO };
        // Where most are taken in at once, what they take shows nowhere but in what is stated.
        let is_buffered = service::is_buffered(usual, served.done_in);
        let full = if is_buffered { served.stated } else { usual };
        let more = served.took - full;
        let excess = more - self.lacking;
        self.lacking = (self.lacking + (full - served.took) - more).min(LASTS_MOST);
        let waited = served.took.as_ns() >= usual.as_ns().saturating_mul(WAITED_FACTOR);
        if waited { excess } else { Span::ZERO }
    }

    /// Notes that the device was seen to have worked on the group's writes for so long.
    pub(super) fn done(&mut self, took: Span) {
        self.lacking = self.lacking - took;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long the last of these writes waited for others, in us. At most they take 12 ms, and
    /// `stated` us where they lie.
    fn last_waited(stated: u64, took_us: impl IntoIterator<Item = u64>) -> u64 {
        let mut writes = Writes::default();
        let mut waited = Span::ZERO;
        for us in took_us {
            let [took, stated, done_in] = [us, stated, 12_000].map(Span::from_us);
            waited = writes.waited(&Service::alone(took, stated, done_in));
        }
        waited.as_us()
    }

    #[test]
    fn a_write_at_random_that_takes_much_longer_than_usual_waited() {
        let waited = |us| last_waited(12_000, [3000; 40].into_iter().chain([us]));
        assert_eq!(waited(8000), 0, "others vary as much");
        let for_long = waited(50_000);
        assert!((46_000..48_000).contains(&for_long), "{for_long}");
    }

    #[test]
    fn a_stream_waits_for_what_it_has_written_itself() {
        let piece = [100, 100, 100, 100, 100, 100, 100, 100, 100, 8000];
        let stream = || piece.into_iter().cycle().take(200);
        let usual = last_waited(900, stream());
        assert!(usual < 1000, "{usual}");
        let for_others = last_waited(900, stream().take(199).chain([40_000]));
        assert!((30_000..34_000).contains(&for_others), "{for_others}");
    }
}
