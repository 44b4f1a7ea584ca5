//! When kswapd reclaims, naps and sleeps (spec: memory, 2.3).
//!
//! kswapd goes in rounds of passes with falling priority, until free memory is above the high mark.
//! The nap between two passes comes before the question of whether enough was freed. So it naps
//! after a pass that succeeded, too, if that pass had a priority below 10.

use super::reclaim::{CHUNK_PAGES, Pass};
use super::{Mark, Memory, PRIORITY_MAX};
use fairdisk_core::Instant;

/// Below this priority, whoever has scanned anything naps after a pass.
pub(super) const NAP_BELOW_PRIORITY: u8 = 10;

/// What kswapd does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KswapdStep {
    /// A pass of this priority. Then [`Kswapd::passed`].
    Pass(u8),
    /// A wait for congestion, or for a page to be written, of HZ/10 at most. Then [`Kswapd::next`].
    Nap,
    /// A sleep of HZ/10 that a task which needs memory ends early. Then [`Kswapd::next`].
    Doze,
    /// Sleep until it is woken.
    Sleep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asleep,
    BeforePass,
    Passed,
    Napped,
    Dozed,
}

/// The kernel's task that reclaims.
#[derive(Debug)]
pub struct Kswapd {
    stage: Stage,
    priority: u8,
    /// Pages scanned and freed in this round.
    scanned: u32,
    freed: u32,
    /// Pages freed, and met on their way to the disk, in the last pass.
    freed_last: u32,
    writing_last: u32,
}

impl Default for Kswapd {
    fn default() -> Self {
        Self {
            stage: Stage::Asleep,
            priority: PRIORITY_MAX,
            scanned: 0,
            freed: 0,
            freed_last: 0,
            writing_last: 0,
        }
    }
}

impl Kswapd {
    /// Wakes kswapd, if it sleeps or dozes and free memory is not above the low mark. Returns
    /// whether it did; then it goes on with [`next`](Self::next).
    pub fn wake(&mut self, memory: &mut Memory, now: Instant) -> bool {
        let sleeps = matches!(self.stage, Stage::Asleep | Stage::Dozed);
        if !sleeps || memory.is_above(now, Mark::Low) {
            return false;
        }
        self.begin_round(memory);
        true
    }

    /// What kswapd does next.
    pub fn next(&mut self, memory: &mut Memory, now: Instant) -> KswapdStep {
        if self.stage == Stage::Asleep {
            return KswapdStep::Sleep;
        }
        let is_enough = memory.is_above(now, Mark::High);
        if self.stage == Stage::Dozed {
            if is_enough {
                return self.sleep(memory);
            }
            self.begin_round(memory);
        }
        if self.stage == Stage::Passed {
            if is_enough && memory.spec.kernel.kswapd_checks_after {
                return self.finish(memory);
            }
            self.stage = Stage::Napped;
            if self.naps(memory, now) {
                memory.vmstat.kswapd_naps += 1;
                return KswapdStep::Nap;
            }
        }
        if self.stage == Stage::Napped {
            if self.freed >= CHUNK_PAGES || self.priority == 0 {
                self.begin_round(memory);
            } else {
                self.priority -= 1;
                self.stage = Stage::BeforePass;
            }
        }
        if is_enough {
            return self.finish(memory);
        }
        KswapdStep::Pass(self.priority)
    }

    /// Counts what a pass has done.
    pub fn passed(&mut self, pass: &Pass) {
        debug_assert_eq!(self.stage, Stage::BeforePass);
        self.scanned += pass.scanned();
        self.freed += pass.freed();
        self.freed_last = pass.freed();
        self.writing_last = pass.writing();
        self.stage = Stage::Passed;
    }

    fn begin_round(&mut self, memory: &mut Memory) {
        memory.kswapd_is_awake = true;
        memory.vmstat.pageoutrun += 1;
        *self = Self { stage: Stage::BeforePass, ..Self::default() };
    }

    fn naps(&self, memory: &mut Memory, now: Instant) -> bool {
        if memory.spec.kernel.kswapd_never_naps {
            return false;
        }
        if memory.spec.kernel.throttles {
            let is_in_vain = self.writing_last > 0 || self.priority == 0;
            return self.freed_last == 0 && is_in_vain;
        }
        let may_nap = !memory.spec.kernel.kswapd_awake_below_min || memory.is_above(now, Mark::Min);
        may_nap && self.scanned > 0 && self.priority < NAP_BELOW_PRIORITY
    }

    fn finish(&mut self, memory: &mut Memory) -> KswapdStep {
        memory.is_congested = false;
        if memory.spec.kernel.kswapd_sleeps_twice {
            self.stage = Stage::Dozed;
            return KswapdStep::Doze;
        }
        self.sleep(memory)
    }

    fn sleep(&mut self, memory: &mut Memory) -> KswapdStep {
        memory.kswapd_is_awake = false;
        self.stage = Stage::Asleep;
        KswapdStep::Sleep
    }
}
