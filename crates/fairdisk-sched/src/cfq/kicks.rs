//! Kicks: events after which the driver should ask for a request again, as when Linux kicks the
//! queue.

use fairdisk_core::{Decision, Instant};

/// Kicks, and the wait that stands between them: as in Linux, the driver does not ask again before
/// the next kick.
#[derive(Debug, Default)]
pub(crate) struct Kicks {
    /// The latest wait decision; `None` after a kick.
    standing: Option<Decision>,
    /// Whether the request admitted last warrants running the driver at once.
    at_once: bool,
}

impl Kicks {
    /// Makes the driver ask again.
    pub(crate) const fn kick(&mut self) {
        self.standing = None;
    }

    /// Makes the driver ask again even if the device is plugged, because an arrival ends an idle
    /// wait or preempts the active queue.
    pub(crate) const fn kick_at_once(&mut self) {
        self.at_once = true;
        self.kick();
    }

    /// Notes an arrival while `queued` requests are queued. With none queued it is a kick, since
    /// the driver asks an empty scheduler again as soon as something arrives.
    pub(crate) const fn arrived(&mut self, queued: u32) {
        self.at_once = false;
        if queued == 0 {
            self.kick();
        }
    }

    /// The wait that still stands, if any.
    pub(crate) const fn standing(&self) -> Option<Decision> {
        self.standing
    }

    /// Records `wait` as the standing wait and returns it.
    pub(crate) const fn let_stand(&mut self, wait: Decision) -> Decision {
        self.standing = Some(wait);
        wait
    }

    /// When to run the driver even if the device is plugged, given an idle timer that fires at
    /// `timer`.
    pub(crate) const fn runs_driver_at(&self, timer: Option<Instant>) -> Option<Instant> {
        if self.at_once { Some(Instant::ZERO) } else { timer }
    }
}
