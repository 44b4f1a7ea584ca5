//! Flash units, each of which does one thing at a time. Reads go before programming, and nothing
//! that has begun is interrupted.

use super::spec::{CollectionParams, SsdParams};
use fairdisk_core::time::Span;
use std::collections::VecDeque;

/// What a unit is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Reading for the command in this slot.
    Read(u32),
    /// Programming this many bytes.
    Program(u64),
    /// Preparing old cells for new data.
    Collect,
}

/// Pages that a unit is to read for the command in a slot.
#[derive(Clone, Copy, Debug)]
struct ReadJob {
    slot: u32,
    pages: u64,
}

#[derive(Clone, Debug, Default)]
struct Unit {
    work: Option<Work>,
    reads: VecDeque<ReadJob>,
    /// Bytes programmed since the unit's last collection.
    programmed: u64,
}

/// A piece of work that a unit has begun, and how long it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) unit: u32,
    pub(super) takes_ns: u64,
}

/// All units, and the data that waits to be programmed on any of them.
#[derive(Clone, Debug)]
pub(super) struct Units {
    units: Vec<Unit>,
    page_bytes: u64,
    read_ns: u64,
    program_ns: u64,
    collection: Option<CollectionParams>,
    /// Bytes that no unit has begun to program, and those among them, the first ones, that are
    /// programmed even if they do not fill a page.
    waiting_bytes: u64,
    urgent_bytes: u64,
    /// Bytes programmed in total.
    written: u64,
    /// The unit that is considered first for programming.
    turn: usize,
}

impl Units {
    pub(super) fn new(params: &SsdParams) -> Self {
        Self {
            units: vec![Unit::default(); params.units as usize],
            page_bytes: u64::from(params.page_kib) * 1024,
            read_ns: Span::from_us(params.read_us.into()).as_ns(),
            program_ns: Span::from_us(params.program_us.into()).as_ns(),
            collection: params.collection,
            waiting_bytes: 0,
            urgent_bytes: 0,
            written: 0,
            turn: 0,
        }
    }

    /// Queues the pages of `bytes` bytes from `first` on for the command in `slot` and returns the
    /// number of units that hold them. Work that begins at once is appended to `begun`.
    pub(super) fn read(
        &mut self,
        slot: u32,
        first: u64,
        bytes: u64,
        begun: &mut Vec<Begun>,
    ) -> u32 {
        let count = self.units.len() as u64;
        let (from, to) = (first / self.page_bytes, (first + bytes).div_ceil(self.page_bytes));
        let touched = (to - from).min(count);
        for step in 0..touched {
            let pages = (to - from - step).div_ceil(count);
            let unit = ((from + step) % count) as u32;
            self.units[unit as usize].reads.push_back(ReadJob { slot, pages });
            begun.extend(self.begin(unit));
        }
        touched as u32
    }

    /// How long reading these bytes takes if spread over all units.
    pub(super) fn reading_ns(&self, first: u64, bytes: u64) -> u64 {
        let pages = (first + bytes).div_ceil(self.page_bytes) - first / self.page_bytes;
        pages * self.read_ns / self.units.len() as u64
    }

    /// How long programming `bytes` takes if spread over all units, including the collections that
    /// it causes once fresh cells have run out.
    pub(super) fn programming_ns(&self, bytes: u64) -> u64 {
        let of_units = |ns: u64, per_bytes: u64| {
            let ns = u128::from(bytes) * u128::from(ns) / u128::from(per_bytes);
            ns as u64 / self.units.len() as u64
        };
        let collecting = self.collecting().map_or(0, |one| {
            of_units(Span::from_us(one.busy_us.into()).as_ns(), u64::from(one.every_kib) << 10)
        });
        of_units(self.program_ns, self.page_bytes) + collecting
    }

    /// The collection parameters, if fresh cells have run out.
    fn collecting(&self) -> Option<CollectionParams> {
        self.collection.filter(|one| self.written >= one.fresh_mib << 20)
    }

    /// Queues data to be programmed once it fills a page.
    pub(super) fn program(&mut self, bytes: u64, begun: &mut Vec<Begun>) {
        self.waiting_bytes += bytes;
        self.begin_programs(begun);
    }

    /// Lets all data be programmed, even if the last of it does not fill a page.
    pub(super) fn drain(&mut self, begun: &mut Vec<Begun>) {
        let had_page = self.has_page();
        self.urgent_bytes = self.waiting_bytes;
        // With a page to program, every unit is at work already.
        if !had_page {
            self.begin_programs(begun);
        }
    }

    /// Whether there is a page to be programmed.
    const fn has_page(&self) -> bool {
        self.waiting_bytes >= self.page_bytes || self.urgent_bytes > 0
    }

    fn begin_programs(&mut self, begun: &mut Vec<Begun>) {
        for _ in 0..self.units.len() {
            if !self.has_page() {
                return;
            }
            let unit = self.turn as u32;
            self.turn = (self.turn + 1) % self.units.len();
            begun.extend(self.begin(unit));
        }
    }

    /// Finishes a unit's work; returns what it was and what the unit begins next.
    pub(super) fn finish(&mut self, unit: u32) -> (Work, Option<Begun>) {
        let entry = &mut self.units[unit as usize];
        let work = entry.work.take().expect("a unit that is done has worked");
        if let Work::Program(bytes) = work {
            entry.programmed += bytes;
            self.written += bytes;
        }
        (work, self.begin(unit))
    }

    /// Starts the next piece of work on an idle unit, if there is any.
    fn begin(&mut self, unit: u32) -> Option<Begun> {
        let (collects, has_page) = (self.must_collect(unit), self.has_page());
        let entry = &mut self.units[unit as usize];
        if entry.work.is_some() {
            return None;
        }
        let (work, takes_ns) = if let Some(busy_ns) = collects {
            entry.programmed = 0;
            (Work::Collect, busy_ns)
        } else if let Some(job) = entry.reads.pop_front() {
            (Work::Read(job.slot), job.pages * self.read_ns)
        } else if has_page {
            let bytes = self.waiting_bytes.min(self.page_bytes);
            self.waiting_bytes -= bytes;
            self.urgent_bytes = self.urgent_bytes.saturating_sub(bytes);
            (Work::Program(bytes), self.program_ns)
        } else {
            return None;
        };
        entry.work = Some(work);
        Some(Begun { unit, takes_ns })
    }

    /// How long the unit must collect before it does anything else; `None` if it need not.
    fn must_collect(&self, unit: u32) -> Option<u64> {
        let collection = self.collecting()?;
        let due = self.units[unit as usize].programmed >= u64::from(collection.every_kib) << 10;
        due.then(|| Span::from_us(collection.busy_us.into()).as_ns())
    }
}
