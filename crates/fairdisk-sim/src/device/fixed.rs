//! A device with a fixed time per request and a data rate: `parallel` equal servers in a row.
//!
//! One server makes the textbook serial disk; many make a crude solid-state disk or array. Each
//! server has the full rate.

use super::rate::Rate;
use super::spec::{CAPACITY_MAX, SpecError, within};
use super::work::Ledger;
use super::{Check, Checked, Device, DeviceIo, Done};
use fairdisk_core::GroupId;
use fairdisk_core::request::{Op, RequestId};
use fairdisk_core::time::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What one request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedCost {
    /// Time per request.
    pub latency_us: u32,
    /// Rate of the data in million bytes per second; without one, data takes no time.
    pub mb_per_s: Option<u32>,
}

/// Parameters of a [`Fixed`] device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedParams {
    /// Size.
    pub capacity_sectors: u64,
    /// Requests served at once, and the depth.
    pub parallel: u32,
    /// What a read costs.
    pub read: FixedCost,
    /// What a write costs.
    pub write: FixedCost,
    /// What a flush or a discard costs.
    pub flush_us: u32,
}

/// Checked [`FixedParams`].
pub type FixedSpec = Checked<FixedParams>;

/// More servers than any real device has, few enough to reserve memory for.
const PARALLEL_MAX: u64 = 65_536;

impl Check for FixedParams {
    fn check(&self) -> Result<(), SpecError> {
        within("capacity_sectors", self.capacity_sectors, 1, CAPACITY_MAX)?;
        within("parallel", self.parallel, 1, PARALLEL_MAX)?;
        let rate = |field, cost: &FixedCost| match cost.mb_per_s {
            Some(mb_per_s) => within(field, mb_per_s, 1, u64::from(u32::MAX)),
            None => Ok(()),
        };
        rate("mb_per_s", &self.read)?;
        rate("write_mb_per_s", &self.write)
    }
}

/// A cost with its units worked out.
#[derive(Clone, Copy, Debug)]
struct Cost {
    latency_ns: u64,
    rate: Rate,
}

impl Cost {
    fn new(cost: FixedCost) -> Self {
        Self {
            latency_ns: Span::from_us(cost.latency_us.into()).as_ns(),
            rate: cost.mb_per_s.map_or(Rate::UNLIMITED, Rate::from_mb_per_s),
        }
    }
}

/// A request in service; ordered by completion, then by submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InService {
    due: Instant,
    order: u64,
    id: RequestId,
    group: GroupId,
    service_ns: u64,
    ok: bool,
}

/// Serves each request in a time that depends on nothing but the request.
#[derive(Clone, Debug)]
pub struct Fixed {
    capacity_sectors: u64,
    parallel: u32,
    read: Cost,
    write: Cost,
    flush: Cost,
    submitted: u64,
    in_service: BinaryHeap<Reverse<InService>>,
    work: Ledger,
}

impl Fixed {
    /// A quiet device.
    #[must_use]
    pub fn new(spec: &FixedSpec) -> Self {
        let params = spec.params();
        Self {
            capacity_sectors: params.capacity_sectors,
            parallel: params.parallel,
            read: Cost::new(params.read),
            write: Cost::new(params.write),
            flush: Cost::new(FixedCost { latency_us: params.flush_us, mb_per_s: None }),
            submitted: 0,
            in_service: BinaryHeap::with_capacity(params.parallel as usize),
            work: Ledger::default(),
        }
    }

    fn service(&self, io: &DeviceIo) -> Span {
        let cost = match io.op {
            Op::Read => self.read,
            Op::Write | Op::WriteZeroes => self.write,
            Op::Flush | Op::Discard => self.flush,
        };
        Span::from_ns(cost.latency_ns + cost.rate.ns(io.sectors.bytes()))
    }
}

impl Device for Fixed {
    fn depth(&self) -> u32 {
        self.parallel
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        assert!(self.in_service.len() < self.parallel as usize, "more requests than the depth");
        self.submitted += 1;
        let service = self.service(io);
        self.in_service.push(Reverse(InService {
            due: now + service,
            order: self.submitted,
            id: io.id,
            group: io.group,
            service_ns: service.as_ns(),
            ok: io.fits(self.capacity_sectors),
        }));
    }

    fn next_event(&self) -> Option<Instant> {
        self.in_service.peek().map(|next| next.0.due)
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(Reverse(next)) = self.in_service.peek().copied()
            && next.due <= now
        {
            self.in_service.pop();
            self.work.add(next.group, next.service_ns / u64::from(self.parallel));
            done.push(Done { id: next.id, ok: next.ok });
        }
    }

    fn work(&self, group: GroupId) -> Span {
        self.work.of(group)
    }
}
