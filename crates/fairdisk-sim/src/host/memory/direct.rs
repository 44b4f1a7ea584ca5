//! A task that reclaims for itself (spec: memory, 2.4).
//!
//! The question of whether enough was freed comes before the nap, other than with kswapd. What the
//! pages freed are worth to the task is another question: they go to the list of its CPU, and do
//! not count as free until that list is full.

use super::kswapd::NAP_BELOW_PRIORITY;
use super::reclaim::{CHUNK_PAGES, Pass};
use super::{Memory, PRIORITY_MAX};

/// Pages scanned after which the flushers are woken.
const WAKE_FLUSHERS_ABOVE: u32 = 48;

/// What a task that reclaims does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectStep {
    /// A wait of HZ/10 for congestion, because others reclaim more than there is.
    AwaitOthers,
    /// A wait until somebody has freed pages, because this task cannot.
    AwaitProgress,
    /// A pass of this priority. Then [`Direct::passed`].
    Pass(u8),
    /// The flushers are woken. The task may write dirty pages that it finds from now on.
    WakeFlushers,
    /// A wait of HZ/10 for congestion, or for a page to be written.
    Nap,
    /// It is done, and has freed this many pages.
    Done(u32),
}

/// What a task does that has reclaimed, and for which there are still no pages above the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutPage {
    /// All CPUs' lists are [drained](Memory::drain), and it looks once more.
    Drain,
    /// It waits for congestion, of HZ/50 at most, and reclaims again.
    Nap,
    /// It waits until free memory is above the low mark, of HZ/50 at most, and reclaims again.
    AwaitLow,
    /// It waits until somebody has freed pages, and reclaims again.
    AwaitProgress,
    /// It reclaims again.
    Reclaim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    BeforePass,
    Passed,
    Told,
    Napped,
}

/// A direct reclaim.
#[derive(Debug)]
pub struct Direct {
    stage: Stage,
    priority: u8,
    /// Pages scanned and freed so far.
    scanned: u32,
    freed: u32,
    /// Pages scanned, freed, and met on their way to the disk, in the last pass.
    scanned_last: u32,
    freed_last: u32,
    writing_last: u32,
    may_write: bool,
}

impl Direct {
    /// Begins a direct reclaim.
    pub const fn new(memory: &mut Memory) -> Self {
        memory.vmstat.allocstall += 1;
        Self {
            stage: Stage::BeforePass,
            priority: PRIORITY_MAX,
            scanned: 0,
            freed: 0,
            scanned_last: 0,
            freed_last: 0,
            writing_last: 0,
            may_write: false,
        }
    }

    /// Whether the task may write dirty pages that it finds.
    #[must_use]
    pub const fn may_write(&self) -> bool {
        self.may_write
    }

    /// What the task does next.
    pub fn next(&mut self, memory: &Memory) -> DirectStep {
        if self.stage == Stage::Passed {
            if self.freed >= CHUNK_PAGES {
                return DirectStep::Done(self.freed);
            }
            self.stage = Stage::Told;
            if self.scanned > WAKE_FLUSHERS_ABOVE {
                self.may_write = !memory.spec.kernel.direct_writes_none;
                return DirectStep::WakeFlushers;
            }
        }
        if self.stage == Stage::Told {
            self.stage = Stage::Napped;
            if let Some(wait) = self.waits(memory) {
                return wait;
            }
        }
        if self.stage == Stage::Napped {
            if self.priority == 0 {
                return DirectStep::Done(self.freed);
            }
            self.priority -= 1;
            self.stage = Stage::BeforePass;
        }
        if memory.has_too_many_isolated() {
            let throttles = memory.spec.kernel.throttles;
            return if throttles { DirectStep::AwaitProgress } else { DirectStep::AwaitOthers };
        }
        DirectStep::Pass(self.priority)
    }

    /// How the task waits after a pass that was not enough.
    const fn waits(&self, memory: &Memory) -> Option<DirectStep> {
        if self.scanned_last == 0 || self.priority >= NAP_BELOW_PRIORITY {
            return None;
        }
        match (memory.spec.kernel.throttles, self.freed_last, self.writing_last) {
            (false, _, _) | (true, 0, 1..) => Some(DirectStep::Nap),
            (true, 0, 0) => Some(DirectStep::AwaitProgress),
            (true, 1.., _) => None,
        }
    }

    /// Counts what a pass has done.
    pub fn passed(&mut self, pass: &Pass) {
        debug_assert_eq!(self.stage, Stage::BeforePass);
        self.scanned += pass.scanned();
        self.freed += pass.freed();
        self.scanned_last = pass.scanned();
        self.freed_last = pass.freed();
        self.writing_last = pass.writing();
        self.stage = Stage::Passed;
    }
}

impl Memory {
    /// What a task does next that has freed pages and got none (spec: memory, 2.2 and 2.5).
    /// `has_drained` says whether it has done so since it reclaimed, `disk_is_congested` whether
    /// asynchronous requests of any disk are.
    #[must_use]
    pub const fn without_page(&self, has_drained: bool, disk_is_congested: bool) -> WithoutPage {
        let kernel = &self.spec.kernel;
        if kernel.drain_and_retry && !has_drained {
            return WithoutPage::Drain;
        }
        if kernel.throttles {
            return WithoutPage::Reclaim;
        }
        if kernel.wait_iff_congested && !(disk_is_congested && self.is_congested) {
            return WithoutPage::Reclaim;
        }
        if kernel.watermark_wait { WithoutPage::AwaitLow } else { WithoutPage::Nap }
    }

    /// What a task does next that has freed nothing.
    #[must_use]
    pub const fn without_progress(&self) -> WithoutPage {
        if self.spec.kernel.throttles { WithoutPage::AwaitProgress } else { WithoutPage::Nap }
    }
}
