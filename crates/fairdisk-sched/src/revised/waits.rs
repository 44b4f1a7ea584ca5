//! What a refusal means to the driver: the wait that it implies.

use super::state::State;
use crate::cfq::jiffies::Jiffies;
use fairdisk_core::{Decision, Instant, Why};

impl State {
    /// When the engine must run the driver even if the device is plugged.
    pub(super) fn runs_driver_at(&self) -> Option<Instant> {
        let timer = self.device.idle_timer.map(|timer| self.instant(timer));
        self.kicks.runs_driver_at(timer)
    }

    /// Converts a refusal to the wait it implies, and lets that wait stand.
    pub(super) fn wait(&mut self, why: Why) -> Decision {
        let wait = self.meaning_of(why);
        self.kicks.let_stand(wait)
    }

    fn meaning_of(&self, why: Why) -> Decision {
        let outstanding = self.device.outstanding() > 0;
        if self.queued == 0 {
            let busy = Decision::WaitCompletion(Why::NothingQueued);
            return if outstanding { busy } else { Decision::Idle };
        }
        if let Some(timer) = self.device.idle_timer {
            return Decision::WaitUntil(self.instant(timer), Why::IdleWait);
        }
        debug_assert!(outstanding, "refused with {why:?}, nothing in flight");
        Decision::WaitCompletion(why)
    }

    fn instant(&self, at: Jiffies) -> Instant {
        self.ticker.instant(at)
    }
}
