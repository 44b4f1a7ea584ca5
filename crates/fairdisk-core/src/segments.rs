//! Physical segments: the stretches of memory that an adapter transfers one after another (spec:
//! memory, section 5.2).
//!
//! Two pages share a segment only if the second lies in the frame right behind the first, so pages
//! in descending frames are a segment each. A stretch longer than an adapter's largest segment is
//! cut greedily, from its first page on. The boundary of 4 GiB, which no segment crosses, is not
//! modelled.

use crate::request::Sectors;

/// The sectors of a page of 4 KiB.
const PAGE_SECTORS: u32 = 8;
/// The frame of a page that may be anywhere: no frame is behind it or before it.
const ANYWHERE: u32 = u32::MAX;

/// What an adapter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// The most segments of a request.
    pub segments_max: u32,
    /// The most pages of a segment.
    pub pages_max: u32,
}

impl SegmentLimits {
    /// The most sectors of a bio whose pages lie anywhere in memory.
    #[must_use]
    pub const fn scattered_max(&self) -> Sectors {
        Sectors(self.segments_max.saturating_mul(PAGE_SECTORS))
    }

    /// The segments of a run of pages in frames that follow one another.
    const fn of_run(&self, pages: u32) -> u32 {
        pages.div_ceil(self.pages_max)
    }
}

/// How many segments the pages of a bio or request are, and what lies at their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    count: u32,
    /// The frame of the first page, and the length of the run that it begins.
    first: u32,
    first_run: u32,
    /// The frame of the last page, and the length of the run that it ends.
    last: u32,
    last_run: u32,
    /// Whether both runs are the same.
    is_one_run: bool,
}

impl Segments {
    /// A page in this frame.
    #[must_use]
    pub const fn of_frame(frame: u32) -> Self {
        let (first, last) = (frame, frame);
        Self { count: 1, first, first_run: 1, last, last_run: 1, is_one_run: true }
    }

    /// Pages of which nobody knows where they are: each is a segment.
    #[must_use]
    pub const fn scattered(length: Sectors) -> Self {
        let count = length.0.div_ceil(PAGE_SECTORS);
        Self { count, ..Self::of_frame(ANYWHERE) }
    }

    /// These pages, followed by others.
    #[must_use]
    pub fn then(self, next: Self, limits: &SegmentLimits) -> Self {
        let apart = Self {
            count: self.count + next.count,
            last: next.last,
            last_run: next.last_run,
            is_one_run: false,
            ..self
        };
        if !self.adjoins(&next) {
            return apart;
        }
        let run = self.last_run + next.first_run;
        let before = limits.of_run(self.last_run) + limits.of_run(next.first_run);
        Self {
            count: apart.count - before + limits.of_run(run),
            first_run: if self.is_one_run { run } else { self.first_run },
            last_run: if next.is_one_run { run } else { next.last_run },
            is_one_run: self.is_one_run && next.is_one_run,
            ..apart
        }
    }

    /// Whether the first of other pages lies right behind the last of these.
    #[must_use]
    pub fn adjoins(&self, next: &Self) -> bool {
        next.first != ANYWHERE && next.first.checked_sub(1) == Some(self.last)
    }

    /// The number of segments.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const LIMITS: SegmentLimits = SegmentLimits { segments_max: 128, pages_max: 16 };

    fn of(frames: impl IntoIterator<Item = u32>) -> Segments {
        let pages = frames.into_iter().map(Segments::of_frame);
        pages.reduce(|all, page| all.then(page, &LIMITS)).expect("there is a page")
    }

    /// What an adapter makes of the frames, page by page.
    fn counted(frames: &[u32]) -> u32 {
        let (mut count, mut pages) = (0, 0);
        for (at, frame) in frames.iter().enumerate() {
            let goes_on = at > 0 && frames[at - 1] + 1 == *frame && pages < LIMITS.pages_max;
            pages = if goes_on { pages + 1 } else { 1 };
            count += u32::from(!goes_on);
        }
        count
    }

    #[test]
    fn pages_share_a_segment_only_in_ascending_frames_and_up_to_its_size() {
        let table: [(Vec<u32>, u32); 8] = [
            ([7].into(), 1),
            ((0..16).collect(), 1),
            ((0..17).collect(), 2),
            ((100..228).collect(), 8),
            ((100..228).rev().collect(), 128),
            ([1, 3, 5, 7].into(), 4),
            ([4, 5, 6, 2, 3, 9].into(), 3),
            ([5, 5, 6].into(), 2),
        ];
        for (frames, segments) in table {
            assert_eq!(of(frames.iter().copied()).count(), segments, "{frames:?}");
            assert_eq!(counted(&frames), segments, "{frames:?}");
        }
    }

    #[test]
    fn wherever_pages_are_parted_their_segments_join_again() {
        let frames: Vec<u32> = (0..20).chain(40..70).chain([9, 8, 7]).chain(70..75).collect();
        for cut in 1..frames.len() {
            let (one, two) = frames.split_at(cut);
            let whole = of(one.iter().copied()).then(of(two.iter().copied()), &LIMITS);
            assert_eq!(whole, of(frames.iter().copied()), "parted at {cut}");
            assert_eq!(whole.count(), counted(&frames), "parted at {cut}");
        }
    }

    #[test]
    fn pages_that_may_be_anywhere_are_a_segment_each() {
        let scattered = Segments::scattered(Sectors(64));
        assert_eq!(scattered.count(), 8);
        assert_eq!(Segments::scattered(Sectors(9)).count(), 2, "a part of a page is one too");
        assert_eq!(scattered.then(scattered, &LIMITS).count(), 16);
        assert_eq!(of([u32::MAX - 1]).then(scattered, &LIMITS).count(), 9);
        assert_eq!(scattered.then(of([0, 1]), &LIMITS).count(), 9);
        assert_eq!(LIMITS.scattered_max(), Sectors(1024));
    }
}
