//! The read buffer: data that was read and not yet overwritten, one segment per stream.
//!
//! A segment is an interval of the groove. The segment that the head is reading into is *live*: it
//! ends where the head is. The others were left behind and end where the head left them.

use super::geometry::Extent;
use super::spec::ReadAheadParams;

/// The buffered data of one stream.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    length: u64,
}

impl Segment {
    /// A segment without data, which no extent continues.
    const EMPTY: Self = Self { from: u64::MAX, length: 0 };

    const fn between(from: u64, to: u64) -> Self {
        Self { from, length: to.saturating_sub(from) }
    }

    const fn to(&self) -> u64 {
        self.from.saturating_add(self.length)
    }

    /// Whether `groove` is within the segment or at its end. Written as one comparison because
    /// every read checks every segment and the outcome for a random groove is unpredictable.
    #[inline]
    const fn leads_to(&self, groove: u64) -> bool {
        groove.wrapping_sub(self.from) <= self.length
    }
}

/// All segments of the buffer.
#[derive(Clone, Debug)]
pub(super) struct ReadBuffer {
    /// The start of the live segment; `None` if there is none.
    live: Option<u64>,
    left: Vec<Segment>,
    /// Index of the segment in `left` that was left longest ago and is reused next.
    oldest: usize,
    /// The size of a segment in sectors; 0 if the disk does not buffer.
    segment_sectors: u64,
}

/// The segment that an extent continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The extent neither starts within a segment nor at the end of one.
    Nowhere,
    /// The extent continues the live segment.
    Live,
    /// The extent continues the left segment with this index, whose data ends at this groove.
    Left(usize, u64),
}

impl ReadBuffer {
    /// An empty buffer. Without parameters it stays empty.
    pub(super) fn new(params: Option<ReadAheadParams>) -> Self {
        let (segments, kib) = params.map_or((1, 0), |p| (p.segments, p.segment_kib));
        Self {
            live: None,
            left: vec![Segment::EMPTY; segments as usize - 1],
            oldest: 0,
            segment_sectors: u64::from(kib) * 2,
        }
    }

    /// The segment that `extent` continues. The live segment counts as extending to `lookahead`,
    /// which the head will reach if left alone.
    #[inline]
    pub(super) fn find(&self, extent: &Extent, lookahead: u64) -> Found {
        if let Some(live) = self.live
            && live <= extent.from
            && extent.from <= lookahead
        {
            return Found::Live;
        }
        // Usually there is no such segment. All are checked first, without a branch to mispredict.
        let leads_there = |segment: &Segment| segment.leads_to(extent.from);
        if !self.left.iter().fold(false, |any, segment| any | leads_there(segment)) {
            return Found::Nowhere;
        }
        match self.left.iter().position(leads_there) {
            Some(index) => Found::Left(index, self.left[index].to()),
            None => Found::Nowhere,
        }
    }

    /// How far the head may read ahead after `extent`: one segment, measured in sectors of the
    /// extent's zone. Switches between tracks count as sectors.
    #[inline]
    pub(super) fn limit(&self, extent: &Extent) -> u64 {
        extent.to + self.segment_ns(extent)
    }

    /// Records that `extent` was served from the live segment. Data more than a segment behind its
    /// end is overwritten by what is read ahead.
    #[inline]
    pub(super) fn consume(&mut self, extent: &Extent) {
        let kept_from = extent.to.saturating_sub(self.segment_ns(extent));
        if let Some(live) = &mut self.live {
            *live = (*live).max(kept_from);
        }
    }

    /// Records a read of `extent` from the medium that continues the `found` segment, starting with
    /// the head at `head`. That segment becomes the live one. Returns how far the head may read
    /// ahead.
    #[inline]
    pub(super) fn fill(&mut self, extent: &Extent, found: Found, head: u64) -> u64 {
        if self.segment_sectors == 0 {
            return extent.to;
        }
        match found {
            Found::Live => {}
            Found::Nowhere => {
                self.leave(head);
                self.live = Some(extent.from);
            }
            Found::Left(index, _) => {
                let left = self.live.map_or(Segment::EMPTY, |live| Segment::between(live, head));
                self.live = Some(std::mem::replace(&mut self.left[index], left).from);
            }
        }
        self.consume(extent);
        self.limit(extent)
    }

    /// Turns the live segment into a left one when the head leaves it at `head`.
    #[inline]
    pub(super) fn leave(&mut self, head: u64) {
        let Some(live) = self.live.take() else { return };
        if let Some(oldest) = self.left.get_mut(self.oldest) {
            *oldest = Segment::between(live, head);
            self.oldest += 1;
            if self.oldest == self.left.len() {
                self.oldest = 0;
            }
        }
    }

    /// Drops the segments that a write to `extent` makes stale. Drops them whole, because this is
    /// rare.
    pub(super) fn invalidate(&mut self, extent: &Extent, lookahead: u64) {
        let stale = |from, to| from < extent.to && extent.from < to;
        self.live = self.live.filter(|&live| !stale(live, lookahead));
        for segment in &mut self.left {
            if stale(segment.from, segment.to()) {
                *segment = Segment::EMPTY;
            }
        }
    }

    #[inline]
    fn segment_ns(&self, extent: &Extent) -> u64 {
        (self.segment_sectors * extent.sector_q20) >> 20
    }
}
