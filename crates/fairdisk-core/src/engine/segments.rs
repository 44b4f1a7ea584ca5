//! The segments of bios and requests, for a device whose adapter takes only so many (spec: memory,
//! section 5.2). Elevators are told nothing of them.

use super::Engine;
use super::bios::BioIndex;
use super::effects::Effects;
use crate::elevator::{Elevator, Merge};
use crate::journal::Record;
use crate::request::{Bio, RequestId};
use crate::segments::{SegmentLimits, Segments};
use alloc::vec::Vec;

/// The segments of a request.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    /// As the adapter gets them.
    segments: Segments,
    /// As they count against its limit: where a bio has joined the request, a segment that goes on
    /// across the seam counts twice.
    counted: u32,
}

/// The segments of all bios and requests in flight.
#[derive(Debug)]
pub(super) struct SegmentTable {
    limits: SegmentLimits,
    /// Indexed by slot. `None` for a slot that has never been used.
    bios: Vec<Option<Segments>>,
    requests: Vec<Option<Gathered>>,
}

fn put<T>(list: &mut Vec<Option<T>>, at: u32, what: T) {
    let at = at as usize;
    if at >= list.len() {
        list.resize_with(at + 1, || None);
    }
    list[at] = Some(what);
}

impl SegmentTable {
    pub(super) const fn new(limits: SegmentLimits) -> Self {
        Self { limits, bios: Vec::new(), requests: Vec::new() }
    }

    /// Notes the segments of a new bio; its pages may be anywhere if they are not given.
    #[inline(never)]
    pub(super) fn submitted(&mut self, index: BioIndex, bio: &Bio, segments: Option<Segments>) {
        let segments = segments.unwrap_or(Segments::scattered(bio.sectors));
        let count = segments.count();
        let max = self.limits.segments_max;
        assert!(count <= max, "{:?} has {count} segments, the adapter takes {max}", bio.id);
        put(&mut self.bios, index.0, segments);
    }

    /// Notes that a bio has become a request of its own.
    pub(super) fn queued(&mut self, index: BioIndex, id: RequestId) {
        let segments = self.of_bio(index);
        put(&mut self.requests, id.0, Gathered { segments, counted: segments.count() });
    }

    /// Notes that a bio has joined a request.
    pub(super) fn grown(&mut self, id: RequestId, index: BioIndex, how: Merge) {
        let (own, bio) = (self.of_request(id), self.of_bio(index));
        let segments = match how {
            Merge::Front => bio.then(own.segments, &self.limits),
            _ => own.segments.then(bio, &self.limits),
        };
        put(&mut self.requests, id.0, Gathered { segments, counted: own.counted + bio.count() });
    }

    /// Notes that a request has joined the one before it.
    pub(super) fn absorbed(&mut self, id: RequestId, next: RequestId) {
        let counted = self.counted_together(id, next);
        let (own, next) = (self.of_request(id), self.of_request(next));
        let segments = own.segments.then(next.segments, &self.limits);
        put(&mut self.requests, id.0, Gathered { segments, counted });
    }

    /// Whether the adapter takes a request that a bio has joined.
    pub(super) fn fits(&self, id: RequestId, index: BioIndex) -> bool {
        let counted = self.of_request(id).counted + self.of_bio(index).count();
        counted <= self.limits.segments_max
    }

    /// Whether the adapter takes a request that the next one has joined.
    pub(super) fn fits_together(&self, id: RequestId, next: RequestId) -> bool {
        self.counted_together(id, next) <= self.limits.segments_max
    }

    fn counted_together(&self, id: RequestId, next: RequestId) -> u32 {
        let (own, next) = (self.of_request(id), self.of_request(next));
        own.counted + next.counted - u32::from(own.segments.adjoins(&next.segments))
    }

    fn of_bio(&self, index: BioIndex) -> Segments {
        self.bios[index.0 as usize].expect("a bio in flight has segments")
    }

    fn of_request(&self, id: RequestId) -> Gathered {
        self.requests[id.0 as usize].expect("a queued request has segments")
    }
}

impl<E: Elevator> Engine<E> {
    /// Seldom done, and apart so that what each bio goes through stands in one place.
    #[inline(never)]
    pub(super) fn submit_pages(&mut self, bio: &Bio, segments: Segments, out: &mut Effects) {
        self.submit(bio, Some(segments), out);
    }

    /// The number of segments of the request in slot `id`, if the device has an adapter that counts
    /// them.
    #[must_use]
    pub fn segments(&self, id: RequestId) -> Option<u32> {
        let table = self.segments.as_ref()?;
        let request = self.requests.get(id)?;
        let moves_data = request.op.moves_data();
        Some(if moves_data { table.of_request(id).segments.count() } else { 0 })
    }

    /// Whether the bio may join the request, as far as segments go.
    #[inline]
    pub(super) fn segments_fit(&self, id: RequestId, index: BioIndex) -> bool {
        self.segments.as_ref().is_none_or(|table| table.fits(id, index))
    }

    /// Notes that a bio has joined no request. If it is for the number of segments that the adapter
    /// takes, that is logged.
    #[inline(never)]
    pub(super) fn log_unjoined(&mut self, index: BioIndex, bio: &Bio) {
        let is_for_segments = |id| !self.segments_fit(id, index) && self.may_join(id, bio);
        let refused = self.merge.ending_at(bio.op, bio.start, is_for_segments);
        let refused =
            refused.or_else(|| self.merge.starting_at(bio.op, bio.end(), is_for_segments));
        if let Some(id) = refused {
            self.log(Record::TooManySegments(bio.id, id));
        }
    }
}
