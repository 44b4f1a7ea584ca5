//! Plugging: an idle device is kept from starting until a few requests have gathered or a short
//! delay is over (spec: cfq, section 1.5; memory, section 5.3).

use super::Engine;
use crate::elevator::{Decision, Elevator};
use crate::journal::Record;
use crate::time::{Instant, Span, Ticks};
use crate::why::Why;

/// When an idle device is plugged and when it starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlugConfig {
    /// The number of queued requests at which the device starts.
    pub requests: u32,
    /// The longest time the device stays plugged; rounded down to whole timer ticks, but at least
    /// one.
    pub delay: Span,
    /// Which devices without a moving head are plugged.
    pub flash: PlugFlash,
}

/// Which devices without a moving head are plugged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlugFlash {
    /// All of them: the rule before Linux 2.6.30.
    #[default]
    All,
    /// Devices that take one request at a time: the rule of Linux 2.6.30, 2.6.31 and 2.6.33.
    OneAtATime,
    /// Devices that have never had more than four requests in flight: the rule of Linux 2.6.32.
    NeverDeep,
}

/// The most requests in flight with which a device does not yet count as queueing commands.
const SHALLOW_MAX: u32 = 4;

/// The state of one device's plug.
#[derive(Debug)]
pub(super) struct Plug {
    config: PlugConfig,
    ticks: Ticks,
    /// When the device is unplugged; `None` while it is not plugged.
    due: Option<Instant>,
    /// Whether the device has ever had more than [`SHALLOW_MAX`] requests in flight.
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

    /// The timer tick at which a device plugged at `now` is unplugged.
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
    /// Whether the device is plugged. A task that waits for its bios must then
    /// [unplug](super::Input::Unplug) it.
    #[inline]
    pub const fn is_plugged(&self) -> bool {
        matches!(self.plug, Some(Plug { due: Some(_), .. }))
    }

    /// Requests that have not been issued to the device.
    fn waiting(&self) -> u32 {
        self.requests.count() - self.at_device.count()
    }

    /// Handles a newly queued request: plugs the device for the first one, and unplugs it once
    /// enough have gathered or when the elevator wants the driver to run.
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

    /// Logs the wait of a plugged device once time moves on. A plug that is removed in the instant
    /// it was inserted has delayed nothing and is not logged.
    pub(super) fn log_gathering(&mut self) {
        if let Some(due) = self.plug.as_ref().and_then(Plug::due) {
            let wait = Decision::WaitUntil(due, Why::Gathering);
            self.log_wait(wait, Record::Waits(due, Why::Gathering));
        }
    }

    /// Unplugs the device if the delay is over or nothing is waiting.
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
