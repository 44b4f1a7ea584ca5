//! The read buffer: what was read and not yet overwritten, a segment per stream.
//!
//! A segment is an interval of the groove. The one the head is reading into is *live*: it ends
//! where the head is. The others were left behind and end where the head left them.

use super::geometry::Extent;
use super::spec::ReadAheadParams;

/// One stream's data.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    length: u64,
}

impl Segment {
    /// Nothing: no extent starts in it.
    const EMPTY: Self = Self { from: u64::MAX, length: 0 };

    const fn between(from: u64, to: u64) -> Self {
        Self { from, length: to.saturating_sub(from) }
    }

    const fn to(&self) -> u64 {
        self.from.saturating_add(self.length)
    }

    /// Whether `groove` is in it or its end. One comparison, because every read asks every segment
    /// and the processor cannot guess on which side of a random groove a segment is.
    #[inline]
    const fn leads_to(&self, groove: u64) -> bool {
        groove.wrapping_sub(self.from) <= self.length
    }
}

/// All segments.
#[derive(Clone, Debug)]
pub(super) struct ReadBuffer {
    /// Where the live segment begins.
    live: Option<u64>,
    left: Vec<Segment>,
    /// Which of `left` was left longest ago and is given up next.
    oldest: usize,
    /// Size of a segment; 0 when nothing is kept.
    segment_sectors: u64,
}

/// Where the segment is that an extent goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No segment has its beginning, or ends where it begins.
    Nowhere,
    /// The live one.
    Live,
    /// One that was left, with the end of its data.
    Left(usize, u64),
}

impl ReadBuffer {
    /// An empty buffer; without parameters it stays empty.
    pub(super) fn new(params: Option<ReadAheadParams>) -> Self {
        let (segments, kib) = params.map_or((1, 0), |p| (p.segments, p.segment_kib));
        Self {
            live: None,
            left: vec![Segment::EMPTY; segments as usize - 1],
            oldest: 0,
            segment_sectors: u64::from(kib) * 2,
        }
    }

    /// The segment `extent` goes on with. The live one counts as reaching up to `lookahead`,
    /// because the head will get there if left alone.
    #[inline]
    pub(super) fn find(&self, extent: &Extent, lookahead: u64) -> Found {
        if let Some(live) = self.live
            && live <= extent.from
            && extent.from <= lookahead
        {
            return Found::Live;
        }
        // Mostly there is none: all are asked first, so that nothing is to be guessed.
        let leads_there = |segment: &Segment| segment.leads_to(extent.from);
        if !self.left.iter().fold(false, |any, segment| any | leads_there(segment)) {
            return Found::Nowhere;
        }
        match self.left.iter().position(leads_there) {
            Some(index) => Found::Left(index, self.left[index].to()),
            None => Found::Nowhere,
        }
    }

    /// How far the head may read ahead of `extent`. Measured in sectors of the extent's zone;
    /// switches between tracks count as sectors.
    #[inline]
    pub(super) fn limit(&self, extent: &Extent) -> u64 {
        extent.to + self.segment_ns(extent)
    }

    /// Records that `extent` was served from the live segment: data more than a segment behind its
    /// end is overwritten by what is read ahead.
    #[inline]
    pub(super) fn consume(&mut self, extent: &Extent) {
        let kept_from = extent.to.saturating_sub(self.segment_ns(extent));
        if let Some(live) = &mut self.live {
            *live = (*live).max(kept_from);
        }
    }

    /// Records a read of `extent` from the medium that goes on with what was `found`; the head was
    /// at `head` before. The segment becomes the live one. Answers how far the head may read ahead.
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

    /// The head leaves the live segment, having come as far as `head`.
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

    /// Forgets what a write to `extent` makes stale, a whole segment at a time: rare enough not to
    /// be finer.
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
