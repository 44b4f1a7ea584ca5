//! What is known of the device: what it was said to be, and what requests were seen to take.

use super::cache::Service;
use super::knee::Knee;
use super::mean::Mean;
use super::requests::Rq;
use fairdisk_core::{Cost, CostModel, Instant, Lba, Span};

/// Bytes of a request in which the place counts.
const SMALL: u64 = 4096;
/// Places matter where a request that continues another takes less than any by more than one in so
/// many parts.
const NEARER: u64 = 16;
/// How much cheaper a request that continues another has to be to have the heads to itself.
const ALONE: u64 = 4;

/// A read takes much longer than any if it takes so many times as long as one at a random place is
/// said to. A whole turn of the disk is twice the average wait for it, and the longest seek about
/// twice the average one: next to no read has both. Where the disk picks the next of several, what
/// one is said to take is less than it takes by itself, and some reads count that wait for nothing.
const OVERLONG: u64 = 2;

/// The device.
#[derive(Debug)]
pub(super) struct Device {
    /// It has a head to move, which takes longer to some places than to others.
    pub(super) rotational: bool,
    /// It is said to have one.
    is_said_to_rotate: bool,
    /// Requests it takes at once.
    pub(super) depth: u32,
    /// Where the request ended that was dispatched last.
    position: Lba,
    costs: Option<CostModel>,
    /// Where costs are not known.
    pub(super) knee: Knee,
    /// What requests took where they were served one at a time: all of them, and those that did
    /// not follow one of the same queue.
    pub(super) service: Mean,
    pub(super) switching: Mean,
}

/// What requests cost relative to each other where nobody has said it: an access is worth 16 KiB,
/// as about holds for solid-state disks of any speed.
const UNTOLD: Cost = Cost {
    sequential: Span::from_us(16),
    random: Span::from_us(16),
    byte_ps: 976,
    random_byte_ps: 976,
};

/// Whether it takes less time to read what lies near.
fn saves_by_place(costs: &CostModel) -> bool {
    let [next, elsewhere] = [true, false].map(|next| costs.read.of(next, SMALL).as_ns());
    next < elsewhere - elsewhere / NEARER
}

impl Device {
    pub(super) fn new() -> Self {
        Self {
            rotational: true,
            is_said_to_rotate: true,
            depth: 1,
            position: Lba(0),
            costs: None,
            knee: Knee::default(),
            service: Mean::default(),
            switching: Mean::default(),
        }
    }

    /// Whether what requests cost is known.
    pub(super) const fn is_told(&self) -> bool {
        self.costs.is_some()
    }

    /// What requests cost is known.
    pub(super) fn learn(&mut self, costs: CostModel) {
        self.costs = Some(costs);
        self.depth = if costs.depth > 1 { costs.depth } else { 1 };
        self.set_rotational(self.is_said_to_rotate);
    }

    /// It is said to have a head, or none. If a request that continues another is known to take as
    /// long as any, it does not matter where that is.
    pub(super) fn set_rotational(&mut self, rotational: bool) {
        self.is_said_to_rotate = rotational;
        self.rotational = rotational && self.costs.is_none_or(|costs| saves_by_place(&costs));
    }

    /// Whether all of it is at work with requests of such a cost, of which there is one at least.
    pub(super) fn is_saturated(&self, at_work: Span) -> bool {
        match &self.costs {
            Some(costs) => at_work >= costs.saturation,
            None => self.knee.is_passed(at_work),
        }
    }

    /// How long it takes for requests of such a cost; nothing where that is not known.
    pub(super) fn time_of(&self, at_work: Span) -> Span {
        if self.is_told() || self.is_measured() {
            return at_work;
        }
        self.knee.time_of(at_work).unwrap_or(Span::ZERO)
    }

    /// Whether requests are served one at a time, so that each can be measured.
    pub(super) const fn is_serial(&self) -> bool {
        self.depth == 1
    }

    /// How long somebody thought who was last heard of at `since`, if ever, and is waited for no
    /// longer than `most`. Beyond that it does not matter how long: one long pause must not hide
    /// many short ones. Where one request is served at a time, waiting for whoever is new costs a
    /// part of one and is worth a try; elsewhere who is new has been away since the beginning.
    pub(super) fn thought(&self, now: Instant, since: Option<Instant>, most: Span) -> Span {
        match since {
            None if self.is_serial() => Span::ZERO,
            _ => now.since(since.unwrap_or(Instant::ZERO)).min(most + most),
        }
    }

    /// Whether requests are served one after the other, however many it takes, so that each can be
    /// measured.
    pub(super) fn is_measured(&self) -> bool {
        self.is_serial()
            || self.rotational
                && self.costs.is_none_or(|costs| {
                    let one = costs.read.of(false, SMALL);
                    costs.saturation < one + one
                })
    }

    /// Whether it is known to have one head, so that all of it is at work with any request.
    pub(super) fn has_one_head(&self) -> bool {
        self.is_told() && self.is_measured()
    }

    /// Whether requests that continue each other are done much sooner where nobody else moves the
    /// heads, on a device that serves several.
    pub(super) fn pays_alone(&self) -> bool {
        let much = |costs: CostModel| {
            let [next, elsewhere] = [true, false].map(|next| costs.read.of(next, SMALL).as_ns());
            next.saturating_mul(ALONE) <= elsewhere
        };
        self.rotational && !self.is_serial() && self.costs.is_some_and(much)
    }

    /// Whether a task that has the device to itself is charged the time that passes, and the others
    /// what the model says.
    pub(super) fn is_paced(&self) -> bool {
        self.pays_alone() && !self.is_measured()
    }

    /// Whether what is at the device may be as much as one request that continues no other.
    pub(super) fn has_work_elsewhere(&self, at_work: Span) -> bool {
        self.costs.is_none_or(|costs| at_work >= costs.read.of(false, SMALL))
    }

    /// What a request takes that finds nothing else at the device: so much does it cost to have
    /// the heads elsewhere.
    pub(super) fn alone(&self) -> Span {
        self.costs.map_or(Span::ZERO, |costs| costs.saturation)
    }

    /// A request that ends there goes to the device.
    pub(super) const fn reach(&mut self, end: Lba) {
        self.position = end;
    }

    /// What the request is said to cost if it is the next at the device.
    pub(super) fn cost_of_next(&self, rq: &Rq) -> Span {
        let continues = self.position == rq.start;
        let cost = match &self.costs {
            Some(costs) => costs.cost(rq.op, continues, rq.bytes()),
            None => UNTOLD.of(continues, rq.bytes()),
        };
        // Nothing is for nothing, or a group could have any number of them.
        cost.max(Span::from_ns(100))
    }

    /// What a request of so many bytes costs wherever it lies and whatever it does, as far as that
    /// is known.
    pub(super) fn cost_of_any(&self, bytes: u64) -> Span {
        match &self.costs {
            Some(costs) => costs.read.of(false, bytes).max(costs.write.of(false, bytes)),
            None => self.service.or_zero(),
        }
    }

    /// What a request took beside what any does.
    pub(super) fn served(&self, rq: &Rq, took: Span, is_last: bool) -> Service {
        let done_in = self.cost_of_any(rq.bytes());
        let overlong = Span::from_ns(done_in.as_ns().saturating_mul(OVERLONG));
        let is_told = self.is_told();
        let is_overlong_read = is_told && !rq.op.is_write() && took >= overlong;
        let was_alone = is_last && self.is_serial();
        Service { took, done_in, is_overlong_read, was_alone, is_told }
    }

    /// A request, alone at the device, took so long.
    pub(super) const fn measured(&mut self, follows: bool, service: Span) {
        self.service.add(service);
        if !follows {
            self.switching.add(service);
        }
    }
}
