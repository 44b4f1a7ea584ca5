//! A device of which nothing is known but what was measured of it from outside.
//!
//! It consists of a few equal servers that work side by side, so many that as many small reads keep
//! all of it busy as were measured to. A request takes what it costs by the linear model, of all
//! servers together; what is larger than a [stripe](STRIPE_BYTES) is spread over several. With one
//! server, such as a head, a request takes longer the fewer others there are to pick from.
//!
//! Simplifications: writes take what they took once the caches were full, so there is no write
//! cache, and FUA changes nothing; a discard takes as long as a flush; a request is sequential if
//! it continues the one before it, so there is one stream; and [pauses](Pauses) are the same
//! whatever is done, though writing makes a solid-state disk collect garbage.

use super::pauses::{Pauses, PausesOfRun};
use super::spec::{CAPACITY_MAX, SpecError, within};
use super::work::Ledger;
use super::{Check, Checked, Device, DeviceIo, Done};
use crate::events::Events;
use fairdisk_core::request::{Lba, Op};
use fairdisk_core::time::{Instant, Span};
use fairdisk_core::{CostModel, GroupId, Times};
use std::collections::VecDeque;

/// What was measured of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredParams {
    /// The device's size in 512-byte sectors.
    pub capacity_sectors: u64,
    /// The number of requests that it was kept busy with.
    pub depth: u32,
    /// Whether it has a moving head.
    pub rotational: bool,
    /// Times of reads.
    pub read: Times,
    /// Times of writes.
    pub write: Times,
    /// The time for each small read at a random place with one request at the device at a time.
    pub qd1: Span,
    /// The time for each with two at a time.
    pub qd2: Span,
    /// How long a flush takes.
    pub flush: Span,
    /// When nothing is done. All times above are taken to have their part of it, as reads that were
    /// one at a time had.
    pub pauses: Pauses,
}

/// [`MeasuredParams`] that have been checked.
pub type MeasuredSpec = Checked<MeasuredParams>;

impl Check for MeasuredParams {
    fn check(&self) -> Result<(), SpecError> {
        let least = u64::from(Times::LARGE.0);
        within("capacity_sectors", self.capacity_sectors, least, CAPACITY_MAX)?;
        within("depth", self.depth, 1, 65_536)
    }
}

impl MeasuredParams {
    /// The cost model that follows from the measurement.
    #[must_use]
    pub fn costs(&self) -> CostModel {
        let (read, write) = (self.read.cost(), self.write.cost());
        let (saturation, alone) = (self.saturation(), self.qd1);
        CostModel { depth: self.depth, saturation, alone, read, write }
    }

    /// The amount of outstanding work that saturates the device. Of `n` parallel servers, two
    /// requests hit the same one once in `n` times; the number of servers follows from how much
    /// less than twice as much the device does at depth two. And no more requests are needed than
    /// would reach the throughput of full depth if none of them had to wait.
    fn saturation(&self) -> Span {
        if self.depth == 1 {
            return Span::ZERO;
        }
        let ns = |span: Span| span.as_ns().max(1) as f64;
        let (qd1, qd2, full) = (ns(self.qd1), ns(self.qd2), ns(self.read.random));
        let servers = 1.0 / (2.0 - qd1 / qd2).max(1e-6);
        // What requests take on their way can look as if they met at one server.
        let servers = if self.rotational { servers } else { servers.max(2.0) };
        let enough = servers.min(qd1 / full).clamp(1.0, f64::from(self.depth));
        Span::from_ns((enough * full) as u64)
    }

    /// What requests take as long as there is no pause.
    fn without_pauses(self) -> Self {
        let of = |span| self.pauses.without(span);
        let times = |times: Times| Times {
            sequential: of(times.sequential),
            random: of(times.random),
            large_sequential: of(times.large_sequential),
            large_random: of(times.large_random),
        };
        Self {
            read: times(self.read),
            write: times(self.write),
            qd1: of(self.qd1),
            qd2: of(self.qd2),
            flush: of(self.flush),
            ..self
        }
    }

    /// The number of servers: of requests that saturate the device. Rounded down, so that one
    /// request takes no longer than was measured.
    fn servers(&self) -> u32 {
        let servers = self.saturation().as_ns() / self.read.random.as_ns().max(1);
        servers.clamp(1, self.depth.into()) as u32
    }
}

/// What one server does of a request in one go. Assumed: the customary page of flash.
const STRIPE_BYTES: u64 = 16 << 10;

/// What happens by itself to the request in a slot.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A server is done with a part of it.
    Served(u32),
    /// It completes.
    Completed(u32),
}

/// A request at the device.
#[derive(Clone, Copy, Debug)]
struct AtWork {
    io: DeviceIo,
    is_sequential: bool,
    /// How many parts it has, and how many of them a server has done.
    parts: u32,
    served: u32,
}

/// How often two must be doubled to make `n`, times 65,536 and along straight lines between powers
/// of two: whole numbers are the same on every machine.
const fn doublings(n: u32) -> u64 {
    let whole = n.ilog2();
    let more = ((n - (1 << whole)) as u64) << 16 >> whole;
    ((whole as u64) << 16) + more - (1 << 16)
}

/// A device that does as much as was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    params: MeasuredParams,
    costs: CostModel,
    servers: u32,
    /// What a random read takes that occupies nobody, such as a way over a network.
    lag: Span,
    /// The servers that have nothing to do, and the slots of requests that wait for one, once for
    /// each part.
    idle: u32,
    waiting: VecDeque<u32>,
    /// The end of the last request.
    position: Lba,
    /// By slot.
    at_work: Vec<Option<AtWork>>,
    free: Vec<u32>,
    events: Events<Event>,
    pauses: PausesOfRun,
    work: Ledger,
}

impl Measured {
    /// An idle device. Its pauses follow from `seed`.
    #[must_use]
    pub fn new(spec: &MeasuredSpec, seed: u64) -> Self {
        let params = spec.params().without_pauses();
        let (depth, servers) = (params.depth, params.servers());
        let each = params.read.random;
        let soonest = params.qd1.min(each.scaled(depth.into(), 1));
        let lag = if servers == 1 { Span::ZERO } else { soonest - each.scaled(servers.into(), 1) };
        Self {
            costs: params.costs(),
            servers,
            lag,
            idle: servers,
            waiting: VecDeque::with_capacity(depth as usize),
            position: Lba(0),
            at_work: vec![None; depth as usize],
            free: (0..depth).rev().collect(),
            events: Events::new(),
            pauses: PausesOfRun::new(params.pauses, seed),
            work: Ledger::default(),
            params,
        }
    }

    /// Whether there are several servers.
    #[must_use]
    pub const fn serves_together(&self) -> bool {
        self.servers > 1
    }

    fn at_work(&mut self, slot: u32) -> &mut AtWork {
        self.at_work[slot as usize].as_mut().expect("only slots of requests are named")
    }

    /// Lets idle servers begin with what waits.
    fn serve(&mut self, at: Instant) {
        while self.idle > 0
            && let Some(slot) = self.waiting.pop_front()
        {
            self.idle -= 1;
            let request = *self.at_work(slot);
            let takes = self.takes(&request);
            self.work.add(request.io.group, takes.as_ns() / u64::from(self.servers));
            let end = self.pauses.end_of(at, takes);
            self.events.push(end, Event::Served(slot));
        }
    }

    /// How long a server takes for a part of a request.
    fn takes(&self, request: &AtWork) -> Span {
        let AtWork { io, is_sequential, parts, .. } = *request;
        if !io.op.moves_data() {
            return self.params.flush;
        }
        let cost = self.costs.cost(io.op, is_sequential, io.sectors.bytes());
        if self.servers == 1 && !is_sequential {
            return self.picked(cost);
        }
        cost.scaled(self.servers.into(), parts.into())
    }

    /// How long a single head takes for a request of this cost with those that are there to pick
    /// from. In between it gets shorter by the same time with each doubling.
    fn picked(&self, cost: Span) -> Span {
        let MeasuredParams { depth, read, qd1, qd2, .. } = self.params;
        let there = (depth - self.free.len() as u32).clamp(1, depth);
        let full = read.random;
        let took = match there {
            1 if depth > 1 => qd1,
            2 if depth > 2 => qd2,
            _ if depth <= 2 => full,
            _ => {
                let longer = qd2 - full;
                full + longer.scaled(doublings(depth) - doublings(there), doublings(depth))
            }
        };
        cost + (took - full)
    }
}

impl Device for Measured {
    fn depth(&self) -> u32 {
        self.params.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.params.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        let slot = self.free.pop().expect("more requests than the depth");
        let is_sequential = io.start == self.position;
        if io.op.moves_data() {
            self.position = Lba(io.start.0.saturating_add(io.sectors.0.into()));
        }
        let stripes = io.sectors.bytes().div_ceil(STRIPE_BYTES);
        let parts = stripes.clamp(1, self.servers.into()) as u32;
        self.at_work[slot as usize] = Some(AtWork { io: *io, is_sequential, parts, served: 0 });
        self.waiting.extend(std::iter::repeat_n(slot, parts as usize));
        self.serve(now);
    }

    fn next_event(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(at) = self.events.next_at().filter(|at| *at <= now)
            && let Some(event) = self.events.pop_due(at)
        {
            match event {
                Event::Served(slot) => {
                    let lag = self.lag;
                    let request = self.at_work(slot);
                    request.served += 1;
                    if request.served == request.parts {
                        let lags = request.io.op == Op::Read && !request.is_sequential;
                        let lag = if lags { lag } else { Span::ZERO };
                        self.events.push(at + lag, Event::Completed(slot));
                    }
                    self.idle += 1;
                    self.serve(at);
                }
                Event::Completed(slot) => {
                    let AtWork { io, .. } = *self.at_work(slot);
                    self.at_work[slot as usize] = None;
                    self.free.push(slot);
                    done.push(Done { id: io.id, ok: io.fits(self.params.capacity_sectors) });
                }
            }
        }
    }

    fn work(&self, group: GroupId) -> Span {
        self.work.of(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::request::{RequestId, Sectors};

    const fn times(sequential: u64, random: u64, large: u64) -> Times {
        let (large_sequential, large_random) =
            (Span::from_us(large), Span::from_us(large + random));
        let (sequential, random) = (Span::from_us(sequential), Span::from_us(random));
        Times { sequential, random, large_sequential, large_random }
    }

    const HEAD: MeasuredParams = MeasuredParams {
        capacity_sectors: 1 << 30,
        depth: 32,
        rotational: true,
        read: times(50, 4_000, 2_600),
        write: times(50, 4_000, 2_600),
        qd1: Span::from_us(12_000),
        qd2: Span::from_us(11_000),
        flush: Span::from_us(500),
        pauses: Pauses::NONE,
    };

    const FLASH: MeasuredParams = MeasuredParams {
        rotational: false,
        read: times(10, 10, 260),
        write: times(30, 30, 300),
        qd1: Span::from_us(100),
        qd2: Span::from_us(52),
        ..HEAD
    };

    /// A device and the latencies, in us, of requests that are submitted together.
    struct Bed(Measured, Instant);

    impl Bed {
        fn new(params: MeasuredParams) -> Self {
            let spec = Checked::new(params).expect("describes a device");
            Self(Measured::new(&spec, 0), Instant::ZERO)
        }

        fn serve(&mut self, ios: &[(Op, u64, u32)]) -> Vec<u64> {
            let (began, mut done) = (self.1, Vec::new());
            for (id, (op, start, sectors)) in (0..).zip(ios) {
                let (id, start, sectors) = (RequestId(id), Lba(*start), Sectors(*sectors));
                let group = GroupId::ROOT;
                self.0.submit(began, &DeviceIo { id, group, op: *op, start, sectors, fua: false });
            }
            let mut took = vec![0; ios.len()];
            while let Some(at) = self.0.next_event() {
                self.1 = at;
                self.0.advance(at, &mut done);
                done.drain(..).for_each(|done| took[done.id.0 as usize] = (at - began).as_us());
            }
            took
        }
    }

    #[test]
    fn a_flush_is_work_and_no_place() {
        let mut bed = Bed::new(HEAD);
        bed.serve(&[(Op::Write, 8_000, 8)]);
        assert_eq!(bed.serve(&[(Op::Write, 8_008, 8)]), [50]);
        assert_eq!(bed.serve(&[(Op::Flush, 0, 0)]), [500]);
        assert_eq!(bed.serve(&[(Op::Write, 8_016, 8)]), [50], "the stream goes on");
        let before = bed.0.work(GroupId::ROOT);
        bed.serve(&[(Op::Flush, 0, 0)]);
        assert_eq!(bed.0.work(GroupId::ROOT) - before, Span::from_us(500));
    }

    #[test]
    fn a_head_takes_longer_to_a_place_the_fewer_there_are_to_pick_from() {
        let mut bed = Bed::new(HEAD);
        assert!(!bed.0.serves_together());
        assert_eq!(bed.serve(&[(Op::Read, 800_000, 8)]), [12_000]);
        // The place takes longer, the data does not.
        let [large] = bed.serve(&[(Op::Read, 1_600_000, 512)])[..] else { panic!("one request") };
        assert!((14_500..=14_700).contains(&large), "{large}");
        let many: Vec<_> = (0..32).map(|at| (Op::Read, at * 800_000, 8)).collect();
        let took = bed.serve(&many);
        // The first begins before the others come; with the last, one that ends is still there.
        let of = |at: usize| took[at] - took[at - 1];
        assert_eq!((took[0], of(1), of(31)), (12_000, 4_000, 11_000), "{took:?}");
    }

    #[test]
    fn one_request_takes_what_it_took_alone_and_a_large_one_is_spread() {
        let mut bed = Bed::new(FLASH);
        // What ten servers would take for a read of 4 KiB is what was measured of one at a time.
        assert_eq!((bed.0.servers, bed.0.lag), (10, Span::ZERO));
        assert_eq!(bed.serve(&[(Op::Read, 800_000, 8)]), [100]);
        // Sixteen stripes of 16 KiB on ten servers.
        let [large] = bed.serve(&[(Op::Read, 1_600_000, 512)])[..] else { panic!("one request") };
        assert!((260..=280).contains(&large), "{large}");
        // A long way on top of what four servers take.
        let far = MeasuredParams { qd1: Span::from_us(320), qd2: Span::from_us(178), ..FLASH };
        let mut bed = Bed::new(far);
        assert_eq!(bed.serve(&[(Op::Read, 800_000, 8)]), [320]);
    }

    #[test]
    fn two_reads_that_look_as_if_they_met_do_not_make_a_head_of_flash() {
        let noisy = MeasuredParams { qd1: Span::from_us(26), qd2: Span::from_us(24), ..FLASH };
        assert!(Bed::new(noisy).0.serves_together());
        let head = MeasuredParams { rotational: true, ..noisy };
        assert!(!Bed::new(head).0.serves_together());
    }
}
