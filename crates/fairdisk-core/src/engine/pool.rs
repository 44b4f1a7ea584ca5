//! Request slots: how many bios may be queued, who sleeps, who is woken
//! (spec: cfq, section 1.4; groups, section 0).

use super::bios::BioIndex;
use crate::request::{Bio, GroupId, Op, Request, TaskId};
use crate::time::{Instant, Span};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// How long a batch lasts (HZ/50).
const BATCH_SPAN: Span = Span::from_ms(20);

/// Who shares request slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolLayout {
    /// No limit.
    Unlimited,
    /// One pool for reads and one for writes, for the whole device: the historical rule (D2).
    PerDirection,
    /// One pool for reads and one for writes for every group.
    PerGroup,
}

/// The request slots of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Who shares.
    pub layout: PoolLayout,
    /// Slots in a pool (`nr_requests`); batching tasks may take half as many again.
    pub requests: u32,
    /// Slots a batching task may take past a full pool.
    pub batch_requests: u32,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { layout: PoolLayout::PerDirection, requests: 128, batch_requests: 32 }
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
    pools: Vec<Pool>,
    batches: Vec<Batch>,
}

impl Pools {
    pub(super) const fn new(config: PoolConfig) -> Self {
        Self { config, pools: Vec::new(), batches: Vec::new() }
    }

    /// Takes a slot, or says that the task must sleep. `must`: the elevator waits for this task,
    /// so a full pool does not stop it; the hard cap does.
    pub(super) fn take(&mut self, now: Instant, bio: &Bio, must: bool) -> bool {
        let config = self.config;
        if config.layout == PoolLayout::Unlimited {
            return true;
        }
        let index = self.index(bio.group, bio.op);
        if self.pools[index].taken + 1 >= config.requests {
            if !self.pools[index].full {
                self.pools[index].full = true;
                self.start_batch(now, bio.task);
            } else if !must && !self.is_batching(now, bio.task) {
                return false;
            }
        }
        if self.pools[index].taken >= config.requests + config.requests / 2 {
            return false;
        }
        self.pools[index].taken += 1;
        if self.is_batching(now, bio.task) {
            self.batches[bio.task.0 as usize].left -= 1;
        }
        true
    }

    /// Frees the request's slot and says whom to wake.
    pub(super) fn give_back(&mut self, request: &Request) -> Option<BioIndex> {
        if self.config.layout == PoolLayout::Unlimited {
            return None;
        }
        let limit = self.config.requests;
        let index = self.index(request.group, request.op);
        let pool = &mut self.pools[index];
        debug_assert!(pool.taken > 0, "a slot was given back twice");
        pool.taken -= 1;
        if pool.taken + 1 > limit {
            return None;
        }
        pool.full = false;
        pool.sleepers.pop_front()
    }

    pub(super) fn push_sleeper(&mut self, bio: &Bio, index: BioIndex) {
        let pool = self.index(bio.group, bio.op);
        self.pools[pool].sleepers.push_back(index);
    }

    pub(super) fn forget_sleeper(&mut self, bio: &Bio, index: BioIndex) -> bool {
        if self.config.layout == PoolLayout::Unlimited {
            return false;
        }
        let pool = self.index(bio.group, bio.op);
        let sleepers = &mut self.pools[pool].sleepers;
        let Some(at) = sleepers.iter().position(|sleeper| *sleeper == index) else { return false };
        sleepers.remove(at);
        true
    }

    /// The task may take slots past a full pool for a while.
    pub(super) fn start_batch(&mut self, now: Instant, task: TaskId) {
        let index = task.0 as usize;
        if index >= self.batches.len() {
            self.batches.resize(index + 1, Batch::default());
        }
        self.batches[index] = Batch { left: self.config.batch_requests, until: now + BATCH_SPAN };
    }

    /// A fresh batch is good for one slot even after its time.
    fn is_batching(&self, now: Instant, task: TaskId) -> bool {
        let Some(batch) = self.batches.get(task.0 as usize) else { return false };
        batch.left > 0 && (batch.left == self.config.batch_requests || now < batch.until)
    }

    fn index(&mut self, group: GroupId, op: Op) -> usize {
        let group = if self.config.layout == PoolLayout::PerGroup { group.0 as usize } else { 0 };
        let index = group * 2 + usize::from(op.is_write());
        if index >= self.pools.len() {
            self.pools.resize_with(index + 1, Pool::default);
        }
        index
    }
}
