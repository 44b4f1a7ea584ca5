//! Kyber: a latency target for reads and one for writes, kept by how many requests of each kind
//! are at the device.
//!
//! Requests are of one of four domains: reads, writes, discards and the rest. A domain has tokens,
//! one for each request that it may have at the device, and sends batches in turn with the others,
//! first come, first served. When enough requests of a window are done, the tokens of a domain are
//! scaled by its p99 of the whole latency over its target. They become fewer only if the latency
//! at the device exceeds the target of any domain: then the device is congested.
//!
//! Sources: Linux, "Kyber I/O scheduler tunables"; Omar Sandoval, "blk-mq: introduce Kyber
//! multiqueue I/O scheduler" (description of the patch), April 2017, and "kyber: implement improved
//! heuristics" (description), September 2018. Targets of reads and writes are those that a running
//! Linux 6.18 tells in /sys. The sources do not say how many tokens there are, how long a batch and
//! a window are, and which percentile at the device counts: these are assumed.

use crate::family::Family;
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Handover, Instant, Op, Request,
    RequestId, Span, Why, dense,
};

/// The tunables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KyberParams {
    /// The target latency of reads.
    pub read_target: Span,
    /// The target latency of writes.
    pub write_target: Span,
    /// The target latency of discards.
    pub discard_target: Span,
    /// How long latencies are collected at least before tokens are scaled.
    pub window: Span,
    /// How many requests of a domain must be done in a window at least.
    pub window_requests: u32,
    /// The most requests of a domain in a batch.
    pub batch_requests: u32,
}

impl Default for KyberParams {
    fn default() -> Self {
        Self {
            read_target: Span::from_ms(2),
            write_target: Span::from_ms(10),
            discard_target: Span::from_s(1),
            window: Span::from_ms(100),
            window_requests: 32,
            batch_requests: 16,
        }
    }
}

impl Family for KyberParams {
    const NAME: &'static str = "kyber";
    type Scheduler = Kyber;

    fn honours(&self) -> Honours {
        Honours::NONE
    }

    fn build(&self) -> Kyber {
        Kyber::new(*self)
    }
}

const DOMAINS: usize = 4;

/// The domain of an operation.
const fn domain_of(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Discard => 2,
        Op::Flush | Op::WriteZeroes => 3,
    }
}

/// The requests of one kind.
#[derive(Debug)]
struct Domain {
    queue: List,
    tokens: u32,
    in_flight: u32,
    /// The target; the last domain has none.
    target: Option<Span>,
    /// Latencies in this window: from arrival, and at the device.
    whole: Latencies,
    device: Latencies,
}

/// A request at the scheduler or at the device.
#[derive(Clone, Copy, Debug)]
struct Slot {
    domain: u8,
    arrived: Instant,
    sent: Instant,
}

/// The Kyber elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Kyber {
    params: KyberParams,
    domains: [Domain; DOMAINS],
    links: Lists<()>,
    slots: Vec<Slot>,
    /// The domain whose batch it is, and how many of it are left.
    turn: usize,
    left: u32,
    /// The most requests that the device takes.
    depth: u32,
    window_began: Instant,
}

/// Latencies of a window, in sixteenths of the target, up to four times the target.
#[derive(Clone, Copy, Debug)]
struct Latencies {
    counts: [u32; BUCKETS],
    total: u32,
}

const PER_TARGET: u64 = 16;
const BUCKETS: usize = 4 * PER_TARGET as usize;

impl Latencies {
    const fn new() -> Self {
        Self { counts: [0; BUCKETS], total: 0 }
    }

    fn record(&mut self, latency: Span, target: Span) {
        let bucket = latency.as_ns().saturating_mul(PER_TARGET) / target.as_ns().max(1);
        self.counts[(bucket as usize).min(BUCKETS - 1)] += 1;
        self.total += 1;
    }

    /// The p99 in sixteenths of the target, rounded up.
    fn p99(&self) -> u64 {
        let above = u64::from(self.total) / 100;
        let mut left = u64::from(self.total) - above;
        for (bucket, count) in (1..).zip(self.counts) {
            left = left.saturating_sub(u64::from(count));
            if left == 0 {
                return bucket;
            }
        }
        BUCKETS as u64
    }
}

impl Domain {
    fn new(target: Option<Span>) -> Self {
        let (whole, device) = (Latencies::new(), Latencies::new());
        Self { queue: List::new(), tokens: 1, in_flight: 0, target, whole, device }
    }

    fn may_send(&self) -> bool {
        self.queue.first().is_some() && self.in_flight < self.tokens
    }

    /// Whether requests take longer at the device alone than they may in all.
    fn is_congested(&self) -> bool {
        self.device.total > 0 && self.device.p99() > PER_TARGET
    }

    /// Has more tokens if latencies are above the target, and fewer if below and allowed.
    fn scale(&mut self, may_shrink: bool, most: u32) {
        if self.whole.total > 0 {
            let scaled = u64::from(self.tokens) * self.whole.p99() / PER_TARGET;
            let scaled = scaled.clamp(1, u64::from(most)) as u32;
            if scaled > self.tokens || may_shrink {
                self.tokens = scaled;
            }
        }
        (self.whole, self.device) = (Latencies::new(), Latencies::new());
    }
}

impl Kyber {
    /// An elevator with nothing queued.
    #[must_use]
    pub fn new(params: KyberParams) -> Self {
        let KyberParams { read_target, write_target, discard_target, .. } = params;
        let targets = [Some(read_target), Some(write_target), Some(discard_target), None];
        Self {
            params,
            domains: targets.map(Domain::new),
            links: Lists::new(),
            slots: Vec::new(),
            turn: 0,
            left: params.batch_requests,
            depth: 1,
            window_began: Instant::ZERO,
        }
    }

    /// The domain that sends next: the one whose batch it is, or the next that may.
    fn next_domain(&self) -> Option<usize> {
        if self.left > 0 && self.domains[self.turn].may_send() {
            return Some(self.turn);
        }
        let following = (1..=DOMAINS).map(|step| (self.turn + step) % DOMAINS);
        following.into_iter().find(|at| self.domains[*at].may_send())
    }

    fn take(&mut self, domain: usize) -> Option<RequestId> {
        let queue = &mut self.domains[domain].queue;
        let first = queue.first()?;
        self.links.remove(queue, first);
        Some(RequestId(first))
    }

    fn scale(&mut self, now: Instant) {
        self.window_began = now;
        let is_congested = self.domains.iter().any(Domain::is_congested);
        let most = self.depth;
        self.domains.iter_mut().for_each(|domain| domain.scale(is_congested, most));
    }

    fn slot(&mut self, id: RequestId) -> &mut Slot {
        &mut self.slots[id.0 as usize]
    }
}

impl Elevator for Kyber {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let slot = Slot { domain: domain_of(request.op), arrived: request.arrived, sent: now };
        *dense::entry(&mut self.slots, request.id.0, || slot) = slot;
        let domain = &mut self.domains[usize::from(slot.domain)];
        self.links.insert(&mut domain.queue, request.id.0, ());
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        if let Some(at) = self.next_domain()
            && let Some(id) = self.take(at)
        {
            if at != self.turn || self.left == 0 {
                (self.turn, self.left) = (at, self.params.batch_requests);
            }
            self.left = self.left.saturating_sub(1);
            self.domains[at].in_flight += 1;
            self.slot(id).sent = now;
            return Decision::Dispatch(id, Why::ArrivedFirst);
        }
        let is_queued = self.domains.iter().any(|domain| domain.queue.first().is_some());
        let in_flight: u32 = self.domains.iter().map(|domain| domain.in_flight).sum();
        match (is_queued, in_flight) {
            (true, _) => Decision::WaitCompletion(Why::TargetRoomUsed),
            (false, 1..) => Decision::WaitCompletion(Why::NothingQueued),
            (false, 0) => Decision::Idle,
        }
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let Slot { domain, arrived, sent } = *self.slot(completion.request);
        let domain = &mut self.domains[usize::from(domain)];
        domain.in_flight -= 1;
        if let Some(target) = domain.target {
            domain.whole.record(now.since(arrived), target);
            domain.device.record(now.since(sent), target);
        }
        let is_enough = domain.whole.total >= self.params.window_requests;
        if is_enough && now.since(self.window_began) >= self.params.window {
            self.scale(now);
        }
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let domain = usize::from(self.slot(id).domain);
        self.links.remove(&mut self.domains[domain].queue, id.0);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        (0..DOMAINS).find_map(|domain| self.take(domain))
    }

    fn configure(&mut self, _now: Instant, change: &Change) {
        if let Change::Depth { depth } = change {
            self.depth = (*depth).max(1);
            self.domains.iter_mut().for_each(|domain| domain.tokens = self.depth);
        }
    }

    fn describe(&self) -> Description {
        Description::new(KyberParams::NAME, Handover::Single)
    }
}

fairdisk_core::default_extensions!(
    Kyber: Merging, Driving, Hearing, Promising, Reporting, Attaching
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::request;

    /// Reads that come one at a time, beside so many writes at a device whose time for each grows
    /// with how many it has. Returns the tokens of reads and writes in the end.
    fn tokens_after(us_per_request: u64) -> [u32; 2] {
        let mut kyber = Kyber::new(KyberParams::default());
        kyber.configure(Instant::ZERO, &Change::Depth { depth: 32 });
        let mut now = Instant::ZERO;
        let mut free: Vec<u32> = (0..64).collect();
        let mut flying: Vec<u32> = Vec::new();
        for round in 0..20_000 {
            while let Some(slot) = free.pop() {
                let op = if slot == 0 { Op::Read } else { Op::Write };
                kyber.admit(now, &request(slot, 0, op, now));
            }
            while let Decision::Dispatch(RequestId(slot), _) = kyber.decide(now) {
                flying.push(slot);
            }
            now += Span::from_us(us_per_request);
            let slot = flying.remove(0);
            let (request, device_time) = (RequestId(slot), Span::from_us(us_per_request));
            kyber.complete(now, &Completion { request, device_time, ok: true });
            free.push(slot);
            assert!(flying.len() <= 64, "{round}");
        }
        [kyber.domains[0].tokens, kyber.domains[1].tokens]
    }

    #[test]
    fn writes_make_way_for_reads_that_are_too_slow_and_only_then() {
        let [_, writes] = tokens_after(10);
        assert_eq!(writes, 32, "a device that is fast enough is left alone");
        let [reads, writes] = tokens_after(100);
        // At most twenty at 0.1 ms each are done in the two milliseconds that a read may take.
        assert!(reads == 32 && (4..=22).contains(&writes), "{reads} {writes}");
    }
}
