//! The timer thread, which acts when no other thread does: at the times at which the scheduler
//! wants to decide again, or a modelled disk completes a request.

use super::{Shared, WHOLE};
use crate::clock::{Clock as _, Stance};
use fairdisk_core::Instant;
use std::sync::atomic::Ordering;

/// The time at which the timer wakes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Appointment(Option<Instant>);

impl Appointment {
    /// Requests that the timer act at `wanted`. Returns whether it must be woken for that; if it
    /// wakes early enough by itself, it will then see the later time.
    pub(super) fn bring_forward(&mut self, wanted: Option<Instant>) -> bool {
        let is_earlier = wanted.is_some_and(|wanted| self.0.is_none_or(|made| wanted < made));
        if is_earlier {
            self.0 = wanted;
        }
        is_earlier
    }

    /// Sets the time at which the timer, having seen the current state, wakes by itself.
    fn made(&mut self, wanted: Option<Instant>) -> Option<Instant> {
        self.0 = wanted;
        wanted
    }
}

impl Shared {
    /// The main function of the timer thread.
    pub(super) fn keep_appointments(&self) {
        self.clock.prepare();
        // Locked without telling the scheduler the latest events: the threads that do tell it set
        // the timer. Telling would revoke the pass of a task that is let through meanwhile.
        let mut guarded = self.guarded.lock().expect(WHOLE);
        loop {
            let wanted = guarded.state.next_event();
            let appointment = guarded.appointment.made(wanted);
            if guarded.closing && self.unfinished.load(Ordering::Relaxed) == 0 {
                return;
            }
            guarded = match self.clock.stance(appointment) {
                Stance::Block(None) => self.sooner.wait(guarded).expect(WHOLE),
                Stance::Block(Some(span)) => {
                    self.sooner.wait_timeout(guarded, span).expect(WHOLE).0
                }
                Stance::Spin => {
                    drop(guarded);
                    std::hint::spin_loop();
                    self.lock()
                }
                Stance::Over => {
                    drop(guarded);
                    let todo = self.with(|state, now| state.advance(now));
                    self.see_to(todo);
                    self.lock()
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_is_told_of_what_comes_before_it_would_look() {
        let mut appointment = Appointment::default();
        let mut wants = |ns: u64| appointment.bring_forward(Some(Instant::from_ns(ns)));
        assert!(wants(50), "it would never come");
        assert!(!wants(50) && !wants(70), "it comes early enough");
        assert!(wants(30));
        assert!(!wants(40), "it comes for the earlier one");
        assert!(!appointment.bring_forward(None), "it may come in vain");
        assert_eq!(appointment, Appointment(Some(Instant::from_ns(30))));
    }

    #[test]
    fn the_timer_makes_one_by_what_it_has_seen() {
        let mut appointment = Appointment::default();
        let [early, late] = [30, 70].map(|ns| Some(Instant::from_ns(ns)));
        assert!(appointment.bring_forward(early));
        assert_eq!(appointment.made(late), late, "the earlier one has been kept");
        assert!(appointment.bring_forward(early));
        assert_eq!(appointment.made(None), None);
        assert!(appointment.bring_forward(late));
    }
}
