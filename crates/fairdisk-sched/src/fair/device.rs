//! The device as `fair` knows it: its stated properties and cost model, the measured time of
//! requests, and the work that it hides.

use super::Rules;
use super::backlog::Backlog;
use super::cache::Cache;
use super::depth_limit::DepthLimit;
use super::hierarchy::WHOLE_DISK;
use super::mean::Mean;
use super::pace::Pace;
use super::requests::Rq;
use super::service::Service;
use super::sharing::Sharing;
use super::untold;
use alloc::boxed::Box;
use fairdisk_core::{CostModel, Instant, Lba, Op, Span};

/// Size in bytes of a request that costs a seek more than its transfer: one page.
const SMALL_BYTES: u64 = 4096;
/// Position matters on a disk if a request that continues another is stated to be cheaper by more
/// than a sixteenth; for less it is not worth giving up turns of one request.
const NEARER_PARTS: u64 = 16;
/// A stream gets the heads to itself if it is stated to be at least 4 times cheaper than random
/// requests, so that a turn gains more than moving the heads there and back costs.
const ALONE_FACTOR: u64 = 4;

/// A read is overlong if it takes twice its stated time at a random place. A full rotation is twice
/// the average rotational delay and the longest seek about twice the average, and next to no read
/// has both. On a disk that picks the next of several commands some reads exceed this by waiting.
/// Chosen: with three times, a reader beside buffered writers on `hdd-ncq` is 23 points short
/// instead of 3.
const OVERLONG_FACTOR: u64 = 2;

/// What is known of the device.
#[derive(Debug)]
pub(super) struct Device {
    /// Whether the device has a head that takes longer to reach some places than others.
    pub(super) rotational: bool,
    /// Whether the device was declared rotational. `rotational` also takes its costs into account.
    is_said_to_rotate: bool,
    /// How many requests the device takes at once.
    pub(super) depth: u32,
    /// The end of the last dispatched request.
    position: Lba,
    costs: Option<CostModel>,
    /// How much may be there while the costs are unknown, and whether groups are then served
    /// together or in turns.
    pub(super) depth_limit: DepthLimit,
    pub(super) sharing: Sharing,
    pub(super) times: Times,
    /// The cost of durable writes at the device for which it programs pages meanwhile.
    pub(super) programs: Span,
    /// What it does after it has acknowledged writes, by whose reads it shows and by flushes.
    pub(super) cache: Box<Cache>,
    pub(super) backlog: Box<Backlog>,
    /// Used only on an array, where the model's costs and measured time are charged side by side.
    pub(super) pace: Pace,
}

/// Mean times of requests.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// On a device that serves one at a time: of all requests, and of those that did not follow one
    /// of the same queue.
    pub(super) service: Mean,
    pub(super) switching: Mean,
    /// Of writes that are durable when they complete, on a device that serves several requests at
    /// once. A mean of as many as such a device takes does not depend on single ones.
    durable: Mean<64>,
}

/// Whether the costs state that a read is cheaper near the one before.
fn saves_by_place(costs: &CostModel) -> bool {
    let [next, elsewhere] = [true, false].map(|next| costs.read.of(next, SMALL_BYTES).as_ns());
    next < elsewhere - elsewhere / NEARER_PARTS
}

impl Device {
    pub(super) fn new(rules: Rules) -> Self {
        Self {
            rotational: true,
            is_said_to_rotate: true,
            depth: 1,
            position: Lba(0),
            costs: None,
            depth_limit: DepthLimit::default(),
            sharing: Sharing::default(),
            times: Times::default(),
            programs: Span::ZERO,
            cache: Box::new(Cache::new(rules)),
            backlog: Box::new(Backlog::new()),
            pace: Pace::new(),
        }
    }

    /// Whether the device has a cost model.
    pub(super) const fn is_told(&self) -> bool {
        self.costs.is_some()
    }

    /// Whether what requests cost is stated, or enough of them have been measured.
    pub(super) fn knows_costs(&self) -> bool {
        self.is_told() || self.is_measured() && !self.is_in_turns() && self.times.service.is_full()
    }

    /// Forgets what was measured, as it was of a device that does not serve requests like this one.
    pub(super) fn forget_measured(&mut self) {
        (self.depth_limit, self.sharing) = (DepthLimit::default(), Sharing::default());
        self.times = Times::default();
    }

    /// Takes over the cost model and the depth it was measured at.
    pub(super) fn learn(&mut self, costs: CostModel) {
        self.costs = Some(costs);
        self.depth = if costs.depth > 1 { costs.depth } else { 1 };
        self.set_rotational(self.is_said_to_rotate);
    }

    /// Sets whether the device was declared to have a head. It counts as having none if its costs
    /// state that a request which continues another takes about as long as any.
    pub(super) fn set_rotational(&mut self, rotational: bool) {
        self.is_said_to_rotate = rotational;
        self.rotational = rotational && self.costs.is_none_or(|costs| saves_by_place(&costs));
    }

    /// Whether requests of this total cost keep all of the device busy; `at_work` includes at least
    /// one request.
    pub(super) fn is_saturated(&self, at_work: Span) -> bool {
        match &self.costs {
            Some(costs) => at_work >= costs.saturation,
            None => self.depth_limit.is_reached(at_work),
        }
    }

    /// Whether a write that is durable when it completes takes a device without a head more than
    /// twice as long as a read: it programs the page first. If not, it only acknowledges the write,
    /// like any other, as a device does whose buffer outlasts a power failure.
    #[cold]
    #[inline(never)]
    pub(super) fn programs_first(&self) -> bool {
        let costs = self.costs.as_ref().filter(|_| self.is_flash());
        costs.is_some_and(|costs| self.times.durable.or_zero() > costs.alone + costs.alone)
    }

    /// Accounts for the dispatch of a write of this cost that is durable when it completes. Returns
    /// whether the device programs a page for it meanwhile, which does not keep it busy for reads.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_durable(&mut self, cost: Span) -> bool {
        let is_programmed = self.programs_first();
        if is_programmed {
            self.programs += cost;
        }
        is_programmed
    }

    /// Accounts for the completion of such a write.
    #[cold]
    #[inline(never)]
    pub(super) fn end_durable(&mut self, now: Instant, rq: &Rq) {
        // What was dispatched while the device served one request at a time was charged nothing.
        if rq.dispatched.charged > Span::ZERO {
            self.times.durable.add(now.since(rq.dispatched.at));
            self.programs = self.programs - (rq.dispatched.charged - rq.work());
        }
    }

    /// How much more reads than stated it takes to keep the device busy. A read that comes to a
    /// unit which programs a page waits for half of that in the mean. So more reads have to be
    /// there, by as much as all of them take longer.
    #[inline]
    pub(super) fn more_to_saturate(&self) -> Span {
        if self.programs == Span::ZERO { Span::ZERO } else { self.delayed_by_programs() }
    }

    #[cold]
    #[inline(never)]
    fn delayed_by_programs(&self) -> Span {
        // No more units program at a time than there are.
        let programs = self.programs.min(self.times.durable.or_zero());
        let longer = |costs: CostModel| {
            programs.scaled(costs.saturation.as_ns(), 2 * costs.alone.as_ns().max(1))
        };
        self.costs.map_or(Span::ZERO, longer)
    }

    /// Whether the device has no head, serves several requests at once, and its costs are known.
    pub(super) const fn is_flash(&self) -> bool {
        !self.rotational && !self.is_serial() && self.is_told()
    }

    /// Whether a request of this size alone is more than enough to keep a device without a head
    /// fully busy.
    pub(super) fn is_filled_by(&self, op: Op, bytes: u64) -> bool {
        let costs = self.costs.as_ref().filter(|_| self.is_flash());
        costs.is_some_and(|costs| costs.cost(op, true, bytes) > costs.saturation)
    }

    /// How long the device takes for requests of this total cost; zero if that is unknown.
    pub(super) fn time_of(&self, at_work: Span) -> Span {
        if self.is_told() || self.is_measured() {
            return at_work;
        }
        self.depth_limit.time_of(at_work).unwrap_or(Span::ZERO)
    }

    /// Whether the device serves one request at a time.
    pub(super) const fn is_serial(&self) -> bool {
        self.depth == 1
    }

    /// The think time that ends now, for a task or group last served at `since`; at most twice
    /// `most`, the longest it would be waited for, so that one long pause does not hide many short
    /// ones in the mean. For a first request it is zero on a device that serves one request at a
    /// time, where a wait costs part of a request and is worth a try; elsewhere it counts from the
    /// start.
    pub(super) fn thought(&self, now: Instant, since: Option<Instant>, most: Span) -> Span {
        match since {
            None if self.is_serial() => Span::ZERO,
            _ => now.since(since.unwrap_or(Instant::ZERO)).min(most + most),
        }
    }

    /// Whether requests are served one after the other, at whatever depth, so that each can be
    /// measured.
    pub(super) fn is_measured(&self) -> bool {
        self.is_serial()
            || self.is_in_turns()
            || self.rotational
                && self.costs.is_none_or(|costs| {
                    let one = costs.read.of(false, SMALL_BYTES);
                    costs.saturation < one + one
                })
    }

    /// Whether the device has a head and picks the next of several requests, so that the last ones
    /// of a turn, which are few to pick from, take longer.
    pub(super) const fn picks_next(&self) -> bool {
        self.rotational && !self.is_serial()
    }

    /// Whether groups are served in turns on a device without a head.
    pub(super) const fn is_in_turns(&self) -> bool {
        !self.rotational && !self.is_serial() && self.sharing.is_in_turns()
    }

    /// Whether any request keeps all of it busy for other groups: it has one head, or groups have
    /// turns on it.
    pub(super) fn serves_one_group(&self) -> bool {
        self.is_told() && self.is_measured() || self.is_in_turns()
    }

    /// Whether a group has the device for its part of a round, rather than for a request.
    pub(super) const fn has_rounds(&self) -> bool {
        self.rotational || self.is_in_turns()
    }

    /// Whether the device serves several requests and sequential reads are much cheaper on it while
    /// nobody else moves the heads.
    pub(super) fn pays_alone(&self) -> bool {
        let much = |costs: CostModel| {
            let [next, elsewhere] =
                [true, false].map(|next| costs.read.of(next, SMALL_BYTES).as_ns());
            next.saturating_mul(ALONE_FACTOR) <= elsewhere
        };
        self.picks_next() && self.costs.is_some_and(much)
    }

    /// Whether a task that has the device to itself is charged the time that passes, while others
    /// are charged their modelled cost.
    pub(super) fn is_paced(&self) -> bool {
        self.pays_alone() && !self.is_measured()
    }

    /// Whether the work at the device may include a request at a random place.
    pub(super) fn has_work_elsewhere(&self, at_work: Span) -> bool {
        self.costs.is_none_or(|costs| at_work >= costs.read.of(false, SMALL_BYTES))
    }

    /// What one head of several does in this time, as work of the whole device.
    pub(super) fn work_of_one_head(&self, time: Span) -> Span {
        self.costs.map_or(time, |costs| {
            let (one, all) = (costs.read.of(false, SMALL_BYTES), costs.saturation);
            time.scaled(one.min(all).as_ns(), all.as_ns().max(1))
        })
    }

    /// What as many heads as so many such pieces of a stream need at once do in this time, as work
    /// of the whole device. What a request at a random place costs more than a small one is for the
    /// further heads that its bytes need. Of a piece that begins where a disk's part begins they
    /// are all it needs, of any other there is one more. Where parts begin is not known, so it is
    /// half of one, but at least one head is at work.
    pub(super) fn work_of_pieces(&self, time: Span, rq: &Rq, pieces: u32) -> Span {
        self.costs.map_or(time, |costs| {
            let [one, own] = [SMALL_BYTES, rq.bytes()].map(|bytes| costs.read.of(false, bytes));
            let needed = one.max(own - one / 2).as_ns().saturating_mul(u64::from(pieces));
            let all = costs.saturation.as_ns();
            time.scaled(needed.min(all), all.max(1))
        })
    }

    /// What requests at random places of this total cost did in this time, as work of the whole
    /// device. Some of them meet at a head while others stand idle: of `n` requests at `h` heads,
    /// the part `n / (n + h - 1)` of the heads is at work in the mean, as in any closed network of
    /// queues that are served alike.
    pub(super) fn work_at_random(&self, time: Span, there: Span) -> Span {
        self.costs.map_or(time, |costs| {
            let further = costs.saturation - costs.read.of(false, SMALL_BYTES);
            time.scaled(there.as_ns(), (there + further).as_ns().max(1))
        })
    }

    /// Whether the request was charged as one at a random place.
    pub(super) fn costs_as_elsewhere(&self, rq: &Rq) -> bool {
        self.costs.is_none_or(|costs| rq.dispatched.charged >= costs.cost(rq.op, false, rq.bytes()))
    }

    /// How long a small read takes while nothing else is at the device; zero if unknown.
    pub(super) fn alone(&self) -> Span {
        self.costs.map_or(Span::ZERO, |costs| costs.alone)
    }

    /// What part of a device without a head a task has that reads so much at a time, with such a
    /// pause before each, if nothing else is there, in parts of 2^32.
    pub(super) fn part_alone(&self, bytes: u64, pause: Span) -> u64 {
        self.costs.map_or(WHOLE_DISK, |costs| {
            let [cost, small] = [bytes, SMALL_BYTES].map(|bytes| costs.read.of(false, bytes));
            let takes = costs.alone + (cost - small) + pause;
            cost.scaled(WHOLE_DISK, takes.as_ns().max(1)).as_ns()
        })
    }

    /// What it costs to move the heads elsewhere: the stated work that keeps all of them busy; zero
    /// if unknown.
    pub(super) fn elsewhere(&self) -> Span {
        self.costs.map_or(Span::ZERO, |costs| costs.saturation)
    }

    /// Notes that a request which ends at `end` is being dispatched.
    pub(super) const fn reach(&mut self, end: Lba) {
        self.position = end;
    }

    /// The modelled cost of the request if it is dispatched next.
    pub(super) fn cost_of_next(&self, rq: &Rq) -> Span {
        let continues = self.position == rq.start;
        let cost = match &self.costs {
            Some(costs) => costs.cost(rq.op, continues, rq.bytes()),
            None => untold::COSTS.of(continues, Self::untold_bytes(rq)),
        };
        // No request is free: the group could otherwise have any number of them. 100 ns is below
        // the cost of any real request.
        cost.max(Span::from_ns(100))
    }

    /// Whether the device does other work beside a flush.
    pub(super) const fn works_beside_flushes(&self) -> bool {
        !self.rotational && !self.is_serial()
    }

    /// The cost of the smallest write at a random place.
    pub(super) fn smallest_write(&self) -> Span {
        self.costs.as_ref().map_or(untold::COSTS, |costs| costs.write).of(false, SMALL_BYTES)
    }

    /// What a request counts in a look: what it costs beside others, as told or assumed.
    pub(super) fn cost_in_look(&self, rq: &Rq) -> Span {
        match &self.costs {
            Some(costs) => costs.cost(rq.op, false, rq.bytes()),
            None => untold::cost_of(Self::untold_bytes(rq)),
        }
    }

    /// The size by which a request is costed where no costs are told: one that moves no data, such
    /// as a discard, costs an access however long it is.
    const fn untold_bytes(rq: &Rq) -> u64 {
        if rq.op.moves_data() { rq.bytes() } else { SMALL_BYTES }
    }

    /// The most that a request of this size costs, at a random place, read or write. Without a cost
    /// model it is the mean measured time, if any.
    pub(super) fn cost_of_any(&self, bytes: u64) -> Span {
        match &self.costs {
            Some(costs) => costs.read.of(false, bytes).max(costs.write.of(false, bytes)),
            None => self.times.service.or_zero(),
        }
    }

    /// The measured time of a completed request, with what is needed to judge it. So many others
    /// are still at the device.
    pub(super) fn served(&self, rq: &Rq, took: Span, others: u32) -> Service {
        let done_in = self.cost_of_any(rq.bytes());
        let overlong = Span::from_ns(done_in.as_ns().saturating_mul(OVERLONG_FACTOR));
        let is_told = self.is_told();
        let is_overlong_read = is_told && !rq.may_be_cached && took >= overlong;
        let was_alone = others == 0 && self.is_serial();
        let is_picked = self.picks_next();
        let stated =
            |costs: CostModel| costs.cost(rq.op, rq.dispatched.continues_queue, rq.bytes());
        let stated = self.costs.map_or(done_in, stated);
        Service { took, stated, done_in, is_overlong_read, was_alone, is_picked, is_told }
    }

    /// Adds the time of a request that was alone at the device to the means.
    pub(super) const fn measured(&mut self, rq: &Rq, service: Span) {
        self.times.service.add(service);
        if !rq.dispatched.follows {
            self.times.switching.add(service);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Cost;

    /// A device without a head that is kept busy by four reads of 50 us, each of which takes 200.
    fn flash() -> Device {
        let [cost, alone] = [50, 200].map(Span::from_us);
        let cost = Cost { random: cost, ..Cost::default() };
        let saturation = alone;
        let mut device = Device::new(Rules::ALL);
        device.set_rotational(false);
        device.learn(CostModel { depth: 32, saturation, alone, read: cost, write: cost });
        device
    }

    /// How much more work than stated it takes to keep such a device busy, in us, while so many
    /// durable writes are there that take `took` us each.
    fn more_beside(writes: usize, took: u64) -> u64 {
        let mut device = flash();
        let [charged, took] = [50, took].map(Span::from_us);
        for _ in 0..8 {
            let is_programmed = device.begin_durable(charged);
            let mut rq = Rq::FREE;
            (rq.dispatched.charged, rq.dispatched.is_programmed) = (charged, is_programmed);
            device.end_durable(Instant::ZERO + took, &rq);
        }
        (0..writes).for_each(|_| {
            device.begin_durable(charged);
        });
        device.more_to_saturate().as_us()
    }

    #[test]
    fn reads_wait_half_as_long_as_a_page_is_programmed() {
        // Each takes a twentieth of the device, and a read that comes to it 500 us longer.
        assert_eq!([0, 1, 4].map(|writes| more_beside(writes, 1000)), [0, 25, 100]);
        // Not more than all of it.
        assert_eq!(more_beside(100, 1000), 500);
    }

    /// Four heads, each of which does a small read in 8 ms and has 64 KiB of what lies in sequence.
    #[test]
    fn what_an_array_does_is_the_part_of_its_heads_that_work() {
        let [ms, us] = [Span::from_ms, Span::from_us];
        let read = Cost { random: us(1875), random_byte_ps: 30_518, ..Cost::default() };
        let (saturation, alone) = (ms(8), ms(8));
        let mut device = Device::new(Rules::ALL);
        device.learn(CostModel { depth: 32, saturation, alone, read, write: read });
        let piece = |kib: u64| Rq { end: Lba(2 * kib), ..Rq::FREE };
        let work = |kib, pieces| device.work_of_pieces(ms(40), &piece(kib), pieces).as_ms();
        // A piece of 64 KiB needs one and a half in the mean, and 4 KiB no less than one.
        assert_eq!([work(4, 1), work(64, 1), work(64, 2), work(512, 1)], [10, 14, 28, 40]);
        let random = |requests: u64| device.work_at_random(ms(40), ms(2 * requests)).as_ms();
        assert_eq!([1, 4, 16].map(random), [10, 22, 33]);
    }

    #[test]
    fn what_is_acknowledged_at_once_is_work_as_any() {
        assert_eq!(more_beside(4, 100), 0);
    }
}
