//! Plugging: a device that has nothing to do is kept from starting until a few requests have
//! gathered, for a short time at most (spec: cfq, section 1.5; memory, section 5.3).

use super::Engine;
use crate::elevator::{Decision, Elevator, Why};
use crate::journal::Record;
use crate::time::{Instant, Span, Ticks};

/// How a device is plugged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlugConfig {
    /// Queued requests with which it starts.
    pub requests: u32,
    /// When it starts in any case: rounded down to whole timer ticks, but at least one.
    pub delay: Span,
    /// Whether it is plugged if it has no head to move.
    pub flash: PlugFlash,
}

/// Which devices without a head are plugged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlugFlash {
    /// All: the rule before Linux 2.6.30.
    #[default]
    All,
    /// Those that take one request at a time: the rule of Linux 2.6.30, 2.6.31 and 2.6.33.
    OneAtATime,
    /// Those that have never had more than four requests at once: the rule of Linux 2.6.32.
    NeverDeep,
}

/// Requests in flight above which a device counts as queueing commands.
const SHALLOW_MAX: u32 = 4;

/// The plug of a device.
#[derive(Debug)]
pub(super) struct Plug {
    config: PlugConfig,
    ticks: Ticks,
    /// When it comes out; `None` if it is out.
    due: Option<Instant>,
    /// The device has had more than a few requests in flight at once.
    deep: bool,
}

impl Plug {
    pub(super) const fn new(config: PlugConfig, ticks: Ticks) -> Self {
        Self { config, ticks, due: None, deep: false }
    }

    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) const fn issued(&mut self, in_flight: u32) {
        self.deep |= in_flight > SHALLOW_MAX;
    }

    /// The timer tick at which a plug that goes in at `now` comes out.
    fn tick_after(&self, now: Instant) -> Instant {
        self.ticks.after(now, self.ticks.whole(self.config.delay).max(1))
    }

    const fn is_for(&self, rotational: bool, depth: u32) -> bool {
        rotational
            || match self.config.flash {
                PlugFlash::All => true,
                PlugFlash::OneAtATime => depth == 1,
                PlugFlash::NeverDeep => !self.deep,
            }
    }
}

impl<E: Elevator> Engine<E> {
    /// Whether the device is kept from starting: a task that waits must [`Input::Unplug`] it.
    #[inline]
    pub const fn is_plugged(&self) -> bool {
        matches!(self.plug, Some(Plug { due: Some(_), .. }))
    }

    /// Requests that are not at the device.
    fn waiting(&self) -> u32 {
        self.requests.count() - self.at_device.count()
    }

    /// A request was queued. The first plugs the device; the plug comes out with the last of a few,
    /// or with one for which the elevator has the driver run.
    #[inline]
    pub(super) fn plug_or_unplug(&mut self) {
        let waiting = self.waiting();
        let latest = self.elevator.runs_driver_at().unwrap_or(Instant::MAX);
        let (rotational, depth) = (self.rotational, self.config.depth);
        let Some(plug) = &mut self.plug else { return };
        if latest <= self.now || waiting >= plug.config.requests {
            plug.due = None;
        } else if waiting == 1 && plug.due.is_none() && plug.is_for(rotational, depth) {
            plug.due = Some(plug.tick_after(self.now).min(latest));
        }
    }

    /// The present is over, and the plug is still in. Where it comes out in the instant in which it
    /// went in nothing was kept back.
    pub(super) fn log_gathering(&mut self) {
        if let Some(due) = self.plug.as_ref().and_then(Plug::due) {
            let wait = Decision::WaitUntil(due, Why::Gathering);
            self.log_wait(wait, Record::Waits(due, Why::Gathering));
        }
    }

    /// Pulls the plug if its time has come, or with nothing behind it.
    pub(super) fn unplug_when_due(&mut self) {
        let nothing = self.waiting() == 0;
        let now = self.now;
        if let Some(plug) = &mut self.plug {
            plug.due = plug.due.filter(|due| now < *due && !nothing);
        }
    }

    pub(super) const fn unplug(&mut self) {
        if let Some(plug) = &mut self.plug {
            plug.due = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plug(hz: u32, phase_us: u64, flash: PlugFlash) -> Plug {
        let ticks = Ticks::new(hz, Span::from_us(phase_us));
        Plug::new(PlugConfig { requests: 4, delay: Span::from_ms(3), flash }, ticks)
    }

    #[test]
    fn three_milliseconds_end_at_a_tick_and_take_at_least_one() {
        let out = |hz, phase_us, at_us: u64| {
            let now = Instant::from_ns(1000 * at_us);
            plug(hz, phase_us, PlugFlash::All).tick_after(now).as_ns() / 1000
        };
        assert_eq!(out(1000, 0, 10_000), 13_000);
        assert_eq!(out(1000, 0, 10_999), 13_000);
        assert_eq!(out(1000, 400, 10_599), 12_600);
        assert_eq!(out(1000, 400, 10_600), 13_600);
        assert_eq!(out(300, 0, 0), 3_333, "no whole tick is in it");
        assert_eq!(out(250, 0, 3_900), 4_000);
        assert_eq!(out(100, 0, 100), 10_000);
    }

    #[test]
    fn flash_is_plugged_by_the_rule_of_its_time() {
        use PlugFlash::{All, NeverDeep, OneAtATime};
        let is_for = |flash, depth, in_flight| {
            let mut plug = plug(1000, 0, flash);
            plug.issued(in_flight);
            plug.is_for(false, depth)
        };
        assert!(is_for(All, 32, 32));
        assert!(is_for(OneAtATime, 1, 1) && !is_for(OneAtATime, 2, 0));
        assert!(is_for(NeverDeep, 32, 4) && !is_for(NeverDeep, 32, 5));
        let mut disk = plug(1000, 0, OneAtATime);
        disk.issued(32);
        assert!(disk.is_for(true, 32), "what has a head is plugged in any case");
    }
}
