//! When there is reason to look again at what to do: what Linux calls kicking the queue.

use fairdisk_core::{Decision, Instant};

/// Kicks. Between them a wait stands, as in Linux the driver does not ask again.
#[derive(Debug, Default)]
pub(crate) struct Kicks {
    /// The wait last decided for; `None` once something asked for another look.
    standing: Option<Decision>,
    /// The request admitted last is worth running the driver at once.
    at_once: bool,
}

impl Kicks {
    /// Asks for another look.
    pub(crate) const fn kick(&mut self) {
        self.standing = None;
    }

    /// An arrival ends a wait or takes the disk: a kick even where requests are gathered.
    pub(crate) const fn kick_at_once(&mut self) {
        self.at_once = true;
        self.kick();
    }

    /// A request comes where so many are queued. The driver asks an empty scheduler again as soon
    /// as something comes.
    pub(crate) const fn arrived(&mut self, queued: u32) {
        self.at_once = false;
        if queued == 0 {
            self.kick();
        }
    }

    /// The wait that stands.
    pub(crate) const fn standing(&self) -> Option<Decision> {
        self.standing
    }

    /// Lets a wait stand.
    pub(crate) const fn let_stand(&mut self, wait: Decision) -> Decision {
        self.standing = Some(wait);
        wait
    }

    /// When the driver is to be run whatever is gathered, if a timer fires at `timer`.
    pub(crate) const fn runs_driver_at(&self, timer: Option<Instant>) -> Option<Instant> {
        if self.at_once { Some(Instant::ZERO) } else { timer }
    }
}
