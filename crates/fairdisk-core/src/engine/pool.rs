//! Request slots: how many requests may be queued, which tasks sleep for a slot, and which sleeper
//! is woken (spec: cfq, section 1.4; groups, section 0).

use super::bios::BioIndex;
use crate::dense;
use crate::request::{Bio, GroupId, Op, Request, TaskId};
use crate::time::{Instant, Span, Ticks};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How long a batch lasts (HZ/50). Counted in whole timer ticks, so it may end up to one tick
/// early.
const BATCH_SPAN: Span = Span::from_ms(20);

/// How request slots are divided into pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolLayout {
    /// No pools: the number of requests is not limited.
    Unlimited,
    /// Pools for the whole device (defect D2).
    Shared(Apart),
    /// Pools for each group.
    PerGroup(Apart),
}

/// Which requests have a pool of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Reads and writes: the historical rule.
    Direction,
    /// Synchronous requests and asynchronous ones, the rule of Linux 2.6.30 and later: what is
    /// waited for does not stand behind what nobody waits for.
    Sync,
}

impl Apart {
    /// Which of the two pools a request has its slot in.
    const fn pool_of(self, slot: &Slot) -> usize {
        let second = match self {
            Self::Direction => slot.op.is_write(),
            Self::Sync => slot.op.is_write() && !slot.sync,
        };
        second as usize
    }
}

/// The properties of a request that determine its pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    group: GroupId,
    op: Op,
    /// Whether it was submitted as synchronous.
    sync: bool,
}

impl Slot {
    /// The slot of a request, which may have been hurried since.
    pub(super) const fn of(request: &Request, is_hurried: bool) -> Self {
        let Request { group, op, sync, .. } = *request;
        Self { group, op, sync: sync && !is_hurried }
    }
}

impl From<&Bio> for Slot {
    fn from(bio: &Bio) -> Self {
        Self { group: bio.group, op: bio.op, sync: bio.sync }
    }
}

/// The configuration of a device's request slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// How the slots are divided into pools.
    pub layout: PoolLayout,
    /// Slots in each pool (`nr_requests`). Batching tasks may exceed this by half: the hard cap.
    pub requests: u32,
    /// Slots a batching task may take while the pool is full.
    pub batch_requests: u32,
}

impl Default for PoolConfig {
    fn default() -> Self {
        let layout = PoolLayout::Shared(Apart::Direction);
        Self { layout, requests: 128, batch_requests: 32 }
    }
}

#[derive(Clone, Debug, Default)]
struct Pool {
    taken: u32,
    full: bool,
    sleepers: VecDeque<BioIndex>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    left: u32,
    until: Instant,
}

#[derive(Debug)]
pub(super) struct Pools {
    config: PoolConfig,
    ticks: Ticks,
    pools: Vec<Pool>,
    batches: Vec<Batch>,
}

impl Pools {
    pub(super) const fn new(config: PoolConfig, ticks: Ticks) -> Self {
        Self { config, ticks, pools: Vec::new(), batches: Vec::new() }
    }

    /// Takes a slot, or returns `false` if the task must sleep. With `must`, the elevator is
    /// waiting for this task, and only the hard cap stops it.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Instant, bio: &Bio, must: bool) -> bool {
        if self.is_unlimited() {
            return true;
        }
        let pool = self.index(bio.into());
        let last = self.pools[pool].taken + 1 >= self.config.requests;
        if last && !self.try_fill(pool, now, bio.task, must) {
            return false;
        }
        self.pools[pool].taken += 1;
        if self.is_batching(now, bio.task) {
            self.batches[bio.task.0 as usize].left -= 1;
        }
        true
    }

    /// Asks for the last slot of a pool, or one in excess of it. The task that fills the pool
    /// starts a batch. Returns whether the task may take the slot.
    #[inline(never)]
    fn try_fill(&mut self, pool: usize, now: Instant, task: TaskId, must: bool) -> bool {
        let requests = self.config.requests;
        if !self.pools[pool].full {
            self.pools[pool].full = true;
            self.start_batch(now, task);
        } else if !must && !self.is_batching(now, task) {
            return false;
        }
        self.pools[pool].taken < requests + requests / 2
    }

    /// Has some sleepers woken before the others, in the order in which they came.
    pub(super) fn put_first(&mut self, are_first: impl Fn(BioIndex) -> bool) {
        for pool in &mut self.pools {
            pool.sleepers.make_contiguous().sort_by_key(|sleeper| !are_first(*sleeper));
        }
    }

    /// Frees the slot of a request and returns the sleeper to wake, if any.
    #[inline]
    pub(super) fn give_back(&mut self, slot: Slot) -> Option<BioIndex> {
        if self.is_unlimited() {
            return None;
        }
        let limit = self.config.requests;
        let index = self.index(slot);
        let pool = &mut self.pools[index];
        debug_assert!(pool.taken > 0, "a slot was given back twice");
        pool.taken -= 1;
        if pool.taken + 1 > limit {
            return None;
        }
        pool.full = false;
        pool.sleepers.pop_front()
    }

    /// Adds a sleeper, which is woken next if it is `first`, else last.
    pub(super) fn push_sleeper(&mut self, bio: &Bio, index: BioIndex, first: bool) {
        let pool = self.index(bio.into());
        let sleepers = &mut self.pools[pool].sleepers;
        if first { sleepers.push_front(index) } else { sleepers.push_back(index) }
    }

    pub(super) fn forget_sleeper(&mut self, bio: &Bio, index: BioIndex) -> bool {
        if self.is_unlimited() {
            return false;
        }
        let pool = self.index(bio.into());
        let sleepers = &mut self.pools[pool].sleepers;
        let Some(at) = sleepers.iter().position(|sleeper| *sleeper == index) else { return false };
        sleepers.remove(at);
        true
    }

    /// Starts a batch: for a while the task may take slots from a full pool.
    pub(super) fn start_batch(&mut self, now: Instant, task: TaskId) {
        let until = self.ticks.after(now, self.ticks.whole(BATCH_SPAN));
        *dense::entry(&mut self.batches, task.0, Batch::default) =
            Batch { left: self.config.batch_requests, until };
    }

    /// A batch from which no slot has been taken is good for one slot even after its time is over.
    #[inline]
    fn is_batching(&self, now: Instant, task: TaskId) -> bool {
        let Some(batch) = self.batches.get(task.0 as usize) else { return false };
        batch.left > 0 && (batch.left == self.config.batch_requests || now < batch.until)
    }

    /// Whether seven eighths of the slots are taken that requests like this get theirs from (spec:
    /// memory, 5.4).
    pub(super) fn is_congested(&self, group: GroupId, op: Op, sync: bool) -> bool {
        let pool = self.pools.get(self.position(&Slot { group, op, sync }));
        let requests = self.config.requests;
        !self.is_unlimited() && pool.is_some_and(|pool| pool.taken > requests - requests / 8)
    }

    #[inline(always)]
    const fn is_unlimited(&self) -> bool {
        matches!(self.config.layout, PoolLayout::Unlimited)
    }

    #[inline(always)]
    const fn position(&self, slot: &Slot) -> usize {
        match self.config.layout {
            PoolLayout::Unlimited => 0,
            PoolLayout::Shared(apart) => apart.pool_of(slot),
            PoolLayout::PerGroup(apart) => slot.group.0 as usize * 2 + apart.pool_of(slot),
        }
    }

    #[inline]
    fn index(&mut self, slot: Slot) -> usize {
        let index = self.position(&slot);
        dense::entry(&mut self.pools, index as u32, Pool::default);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    const T0: Instant = Instant::ZERO;

    fn bio(task: u32, group: u32, op: Op) -> Bio {
        Bio { task: TaskId(task), group: GroupId(group), ..samples::bio(op) }
    }

    fn read(task: u32) -> Bio {
        bio(task, 0, Op::Read)
    }

    fn pools(layout: PoolLayout) -> Pools {
        Pools::new(PoolConfig { layout, ..PoolConfig::default() }, Ticks::EXACT)
    }

    /// The number of slots the task gets before it must sleep.
    fn taken(pools: &mut Pools, now: Instant, bio: &Bio) -> u32 {
        (0..10_000).take_while(|_| pools.take(now, bio, false)).count() as u32
    }

    #[test]
    fn a_lone_task_fills_the_pool_and_its_batch() {
        let mut pools = pools(PoolLayout::Shared(Apart::Direction));
        // The task takes 127 slots freely. The 128th fills the pool and starts a batch of 32 slots,
        // of which it is the first.
        assert_eq!(taken(&mut pools, T0, &read(1)), 127 + 32);
        assert_eq!(taken(&mut pools, T0, &read(2)), 0, "another must sleep");
        assert_eq!(taken(&mut pools, T0, &bio(2, 0, Op::Write)), 127 + 32, "writes are apart");
    }

    #[test]
    fn a_batch_ends_after_20_ms() {
        let mut pools = pools(PoolLayout::Shared(Apart::Direction));
        (0..128).for_each(|_| assert!(pools.take(T0, &read(1), false)));
        let (inside, after) = (T0 + Span::from_us(19_999), T0 + Span::from_ms(20));
        assert!(pools.take(inside, &read(1), false));
        assert!(!pools.take(after, &read(1), false));
        pools.start_batch(after, TaskId(1));
        assert!(pools.take(after + Span::from_s(1), &read(1), false), "a fresh batch: one slot");
        assert!(!pools.take(after + Span::from_s(1), &read(1), false), "and no more");
    }

    #[test]
    fn a_batch_ends_at_the_fifth_tick_of_4_ms() {
        let config = PoolConfig::default();
        let mut pools = Pools::new(config, Ticks::new(250, Span::from_ms(1)));
        (0..128).for_each(|_| assert!(pools.take(T0, &read(1), false)));
        assert!(pools.take(T0 + Span::from_us(18_999), &read(1), false));
        assert!(!pools.take(T0 + Span::from_ms(19), &read(1), false));
    }

    #[test]
    fn nobody_passes_the_hard_cap() {
        let mut pools = pools(PoolLayout::Shared(Apart::Direction));
        let tasks_slots: u32 = (1..=3).map(|task| must_take(&mut pools, task)).sum();
        assert_eq!(tasks_slots, 192);
    }

    fn must_take(pools: &mut Pools, task: u32) -> u32 {
        (0..1000).take_while(|_| pools.take(T0, &read(task), true)).count() as u32
    }

    #[test]
    fn sleepers_are_woken_in_order_once_the_pool_is_below_its_size() {
        let mut pools = pools(PoolLayout::Shared(Apart::Direction));
        assert_eq!(taken(&mut pools, T0, &read(1)), 159);
        pools.push_sleeper(&read(2), BioIndex(20), false);
        pools.push_sleeper(&read(3), BioIndex(30), false);
        for left in (128..159).rev() {
            assert_eq!(pools.give_back((&read(0)).into()), None, "{left} are taken");
        }
        assert_eq!(pools.give_back((&read(0)).into()), Some(BioIndex(20)), "127 are taken");
        assert_eq!(pools.give_back((&read(0)).into()), Some(BioIndex(30)));
        assert_eq!(pools.give_back((&read(0)).into()), None);
    }

    #[test]
    fn groups_have_pools_of_their_own_if_asked_for() {
        let (mut apart, mut shared) = (
            pools(PoolLayout::PerGroup(Apart::Direction)),
            pools(PoolLayout::Shared(Apart::Direction)),
        );
        for (pools, second) in [(&mut apart, 159), (&mut shared, 0)] {
            assert_eq!(taken(pools, T0, &bio(1, 1, Op::Read)), 159);
            assert_eq!(taken(pools, T0, &bio(2, 2, Op::Read)), second);
        }
        assert_eq!(taken(&mut pools(PoolLayout::Unlimited), T0, &read(1)), 10_000);
    }

    #[test]
    fn writes_that_are_waited_for_take_from_the_reads_since_2_6_30() {
        let mut pools = pools(PoolLayout::Shared(Apart::Sync));
        assert_eq!(taken(&mut pools, T0, &bio(1, 0, Op::Write)), 159);
        assert_eq!(taken(&mut pools, T0, &read(2)), 0);
        let background = Bio { sync: false, ..bio(3, 0, Op::Write) };
        assert_eq!(taken(&mut pools, T0, &background), 159);
        let unmarked = Bio { sync: false, ..read(4) };
        assert_eq!(taken(&mut pools, T0, &unmarked), 0, "every read is waited for");
    }

    #[test]
    fn a_sleeper_can_be_forgotten_once() {
        let mut pools = pools(PoolLayout::Shared(Apart::Direction));
        pools.push_sleeper(&read(2), BioIndex(5), false);
        assert!(pools.forget_sleeper(&read(2), BioIndex(5)));
        assert!(!pools.forget_sleeper(&read(2), BioIndex(5)));
    }
}
