//! What a refusal means to the driver.

use super::state::State;
use crate::cfq::jiffies::Jiffies;
use fairdisk_core::{Decision, Instant, Why};

impl State {
    /// Asks for another look at what to do: what Linux calls kicking the queue. Between kicks a
    /// wait stands, as there the driver does not ask again.
    pub(super) const fn kick(&mut self) {
        self.standing = None;
    }

    /// An arrival ends a wait or takes the disk: a kick even where requests are gathered.
    pub(super) const fn kick_at_once(&mut self) {
        self.asks_at_once = true;
        self.kick();
    }

    /// When the driver is to be run whatever is gathered.
    pub(super) fn runs_driver_at(&self) -> Option<Instant> {
        if self.asks_at_once {
            return Some(Instant::ZERO);
        }
        self.device.idle_timer.map(|timer| self.instant(timer))
    }

    /// Turns a refusal into the wait it means, and lets it stand.
    pub(super) fn wait(&mut self, why: Why) -> Decision {
        let decision = self.meaning_of(why);
        self.standing = Some(decision);
        decision
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
