//! A device with a fixed time per request and a data rate, served by `parallel` equal servers.
//!
//! One server makes the textbook serial disk; many make a crude solid-state disk or array. Each
//! server has the full data rate.

use super::rate::Rate;
use super::spec::{CAPACITY_MAX, SpecError, within};
use super::work::Ledger;
use super::{Check, Checked, Device, DeviceIo, Done};
use fairdisk_core::GroupId;
use fairdisk_core::request::{Op, RequestId};
use fairdisk_core::time::{Instant, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cost of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedCost {
    /// Fixed time per request, in microseconds.
    pub latency_us: u32,
    /// Data rate in millions of bytes per second; `None` means that data takes no time.
    pub mb_per_s: Option<u32>,
}

/// Parameters of a [`Fixed`] device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedParams {
    /// The device's size in 512-byte sectors.
    pub capacity_sectors: u64,
    /// The number of requests served at once, which is also the device's depth.
    pub parallel: u32,
    /// The cost of a read.
    pub read: FixedCost,
    /// The cost of a write.
    pub write: FixedCost,
    /// The time that a flush or a discard takes, in microseconds.
    pub flush_us: u32,
}

/// [`FixedParams`] that have been checked.
pub type FixedSpec = Checked<FixedParams>;

/// The most servers: more than any real device has, few enough to reserve memory for.
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

/// A [`FixedCost`] converted to the units of the simulation.
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

/// A request in service, ordered by completion time and then by submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InService {
    due: Instant,
    order: u64,
    id: RequestId,
    group: GroupId,
    service_ns: u64,
    ok: bool,
}

/// A device whose service time depends only on the request itself.
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
    /// An idle device.
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
