//! How a trace goes over time: rates and depths, and maps of places and of times. Bins double their
//! width as a trace turns out to be longer, so that it is read once and in bounded memory.

use crate::request::Request;
use fairdisk_core::{Histogram, Instant, Span};
use std::collections::BTreeMap;

/// The most bins of time.
const BINS_MOST: usize = 240;
/// The most bins of places.
const ROWS_MOST: u64 = 96;
/// The width of bins of time in the beginning.
const FIRST_WIDTH: Span = Span::from_us(100);
/// Bins of times by the power of two of nanoseconds, and this many within each.
const STEPS: u32 = 4;

/// What happened in a bin of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Requests that were asked for.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time of all requests that were under way, added up.
    pub under_way: Span,
}

/// A part's way through time, and how long its requests took.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// By time.
    pub bins: Vec<Bin>,
    /// From queueing to the end.
    pub took: Histogram,
}

/// How a trace goes over time, by part.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The width of a bin of time.
    pub width: Span,
    /// The parts, by name.
    pub parts: BTreeMap<String, Course>,
    /// The sectors of a row of `places`.
    pub row_sectors: u64,
    /// The bytes in each bin of time and row of places.
    pub places: BTreeMap<(usize, u64), u64>,
    /// The requests in each bin of time and of how long they took, of which [`Timeline::edges`] has
    /// the ends.
    pub times: BTreeMap<(usize, u32), u64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            width: FIRST_WIDTH,
            parts: BTreeMap::new(),
            row_sectors: 8,
            places: BTreeMap::new(),
            times: BTreeMap::new(),
        }
    }
}

impl Timeline {
    /// Adds a request of a part.
    pub fn add(&mut self, part: &str, request: &Request) {
        let end = request.done.unwrap_or(request.queued);
        while self.bin(end) >= BINS_MOST {
            self.double();
        }
        let rows = |sectors| request.end().0.saturating_sub(1) / sectors;
        while request.op.moves_data() && rows(self.row_sectors) >= ROWS_MOST {
            self.row_sectors *= 2;
            self.places = merged(&self.places, |(bin, row)| (bin, row / 2));
        }
        let at = self.bin(request.queued);
        if request.op.moves_data() {
            let row = request.start.0 / self.row_sectors;
            *self.places.entry((at, row)).or_default() += request.sectors.bytes();
        }
        let width = self.width;
        if !self.parts.contains_key(part) {
            self.parts.insert(part.to_owned(), Course::default());
        }
        let Some(course) = self.parts.get_mut(part) else { return };
        let bin = course.bin(at);
        bin.ios += 1;
        bin.bytes = bin.bytes.saturating_add(request.sectors.bytes());
        let Some(took) = request.took() else { return };
        course.took.record(took);
        *self.times.entry((at, step(took))).or_default() += 1;
        let (mut from, until) = (request.queued, end);
        while from < until {
            let at = (from.as_ns() / width.as_ns()) as usize;
            let next = Instant::from_ns((at as u64 + 1).saturating_mul(width.as_ns())).min(until);
            course.bin(at).under_way += next.since(from);
            from = next;
        }
    }

    /// The least and the greatest time of a row of `times`.
    #[must_use]
    pub fn edges(row: u32) -> [Span; 2] {
        let ns = |row: u32| Span::from_ns(2_f64.powf(f64::from(row) / f64::from(STEPS)) as u64);
        [ns(row), ns(row + 1)]
    }

    fn bin(&self, at: Instant) -> usize {
        (at.as_ns() / self.width.as_ns()) as usize
    }

    fn double(&mut self) {
        self.width = self.width.scaled(2, 1);
        self.places = merged(&self.places, |(bin, row)| (bin / 2, row));
        self.times = merged(&self.times, |(bin, row)| (bin / 2, row));
        for course in self.parts.values_mut() {
            let halves = core::mem::take(&mut course.bins);
            for (at, half) in halves.into_iter().enumerate() {
                let bin = course.bin(at / 2);
                bin.ios += half.ios;
                bin.bytes = bin.bytes.saturating_add(half.bytes);
                bin.under_way += half.under_way;
            }
        }
    }
}

impl Course {
    fn bin(&mut self, at: usize) -> &mut Bin {
        if self.bins.len() <= at {
            self.bins.resize(at + 1, Bin::default());
        }
        &mut self.bins[at]
    }
}

/// The row of a time.
fn step(took: Span) -> u32 {
    ((took.as_ns().max(1) as f64).log2() * f64::from(STEPS)) as u32
}

fn merged<K: Ord, L: Ord + Copy>(
    cells: &BTreeMap<L, u64>,
    to: impl Fn(L) -> K,
) -> BTreeMap<K, u64> {
    let mut new = BTreeMap::new();
    for (at, amount) in cells {
        *new.entry(to(*at)).or_default() += amount;
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OriginId, Traits};
    use fairdisk_core::{Lba, Op, Sectors};

    fn request(at_us: u64, took_us: u64, start: u64) -> Request {
        let queued = Instant::ZERO + Span::from_us(at_us);
        Request {
            origin: OriginId(0),
            op: Op::Read,
            traits: Traits::SYNC,
            start: Lba(start),
            sectors: Sectors(8),
            queued,
            issued: None,
            done: Some(queued + Span::from_us(took_us)),
        }
    }

    #[test]
    fn a_longer_trace_has_wider_bins_and_loses_nothing() {
        let mut all = Timeline::default();
        for at in 0..10_000 {
            all.add(if at % 4 == 0 { "/a" } else { "/b" }, &request(at * 100, 250, at * 1000));
        }
        let sum = |part: &str| {
            let bins = all.parts[part].bins.iter();
            bins.fold((0, 0, 0), |(ios, bytes, ns), bin| {
                (ios + bin.ios, bytes + bin.bytes, ns + bin.under_way.as_ns())
            })
        };
        assert_eq!(sum("/a"), (2500, 2500 * 4096, 2500 * 250_000));
        assert_eq!(sum("/b"), (7500, 7500 * 4096, 7500 * 250_000));
        assert!(all.parts["/b"].bins.len() <= BINS_MOST && all.width == Span::from_us(6400));
        assert_eq!(all.places.values().sum::<u64>(), 10_000 * 4096);
        assert!(all.places.keys().all(|(bin, row)| *bin < BINS_MOST && *row < ROWS_MOST));
        assert_eq!(all.times.values().sum::<u64>(), 10_000);
        for (_, row) in all.times.keys() {
            let [low, high] = Timeline::edges(*row);
            assert!((low..=high).contains(&Span::from_us(250)), "{low:?} {high:?}");
        }
    }
}
