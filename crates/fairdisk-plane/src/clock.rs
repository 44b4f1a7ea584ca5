//! Clocks. No other module of Fairdisk reads the time.
//!
//! All other code gets `now` as an argument, or a [`Clock`] to wait with. Under a [`FakeClock`] a
//! wait jumps to its deadline instead of lasting, so that tests run the real shell in virtual time.

use fairdisk_core::{Instant, Span};
use rustix::thread::{NanosleepRelativeResult, nanosleep, set_current_timer_slack};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long before a deadline blocking ends and polling begins. Waking an idle processor takes
/// 30–60 µs; polling for longer than that would take processor time from others.
const SPIN: Duration = Duration::from_micros(60);

/// A source of time that can be waited on.
pub trait Clock {
    /// The time since the clock was started. Never decreases.
    fn now(&self) -> Instant;

    /// Returns once `deadline` has come.
    fn pass_until(&self, deadline: Instant);

    /// Whether time passes by itself. Under a clock where it does not, time stands still while real
    /// hardware works.
    fn runs(&self) -> bool;

    /// Prepares the calling thread for precise waits. To be called once on each thread that waits.
    fn prepare(&self) {}

    /// How to continue a wait for hardware that ends at `deadline` at the latest.
    fn stance(&self, deadline: Option<Instant>) -> Stance {
        let Some(deadline) = deadline else { return Stance::Block(None) };
        let left = Duration::from_nanos((deadline - self.now()).as_ns());
        if left.is_zero() {
            Stance::Over
        } else if !self.runs() {
            Stance::Block(None)
        } else if left > SPIN {
            Stance::Block(Some(left - SPIN))
        } else {
            Stance::Spin
        }
    }
}

/// The next step of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Block until a completion arrives, for at most this long, or without limit.
    Block(Option<Duration>),
    /// Poll: the deadline is too near to block.
    Spin,
    /// End the wait: the deadline has come.
    Over,
}

/// The system's monotonic clock, counted from the start of this value. Copies show the same time.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin_ns: u64,
}

impl MonotonicClock {
    /// A clock whose time is zero now.
    #[must_use]
    pub fn start() -> Self {
        Self { origin_ns: read_ns() }
    }
}

/// The system's monotonic clock as the kernel stamps its events with it.
#[must_use]
pub fn kernel_time() -> Instant {
    Instant::from_ns(read_ns())
}

/// Reads the monotonic clock in nanoseconds, of which a `u64` holds 584 years. Every request reads
/// it three times, so a plain integer is worthwhile.
fn read_ns() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

/// Sleeps for `time` before another check on something that gives no notice: another process, or
/// a state of the kernel. Where notice can be given, wait for that instead.
#[expect(clippy::disallowed_methods, reason = "the one place that sleeps, for those who say why")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The calendar time, for log lines that people read. It may jump in either direction.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the clock everything else is given")]
pub fn wall_time() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

impl Clock for MonotonicClock {
    fn now(&self) -> Instant {
        Instant::from_ns(read_ns() - self.origin_ns)
    }

    fn pass_until(&self, deadline: Instant) {
        loop {
            match self.stance(Some(deadline)) {
                Stance::Over => return,
                Stance::Spin | Stance::Block(None) => std::hint::spin_loop(),
                Stance::Block(Some(span)) => doze(span),
            }
        }
    }

    fn runs(&self) -> bool {
        true
    }

    fn prepare(&self) {
        // The kernel extends sleeps by up to 50 µs by default. A refusal only costs precision.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
    }
}

/// Sleeps for `span`, or less if a signal arrives.
fn doze(span: Duration) {
    let Ok(request) = Timespec::try_from(span) else { return };
    match nanosleep(&request) {
        NanosleepRelativeResult::Ok
        | NanosleepRelativeResult::Interrupted(_)
        | NanosleepRelativeResult::Err(_) => {}
    }
}

/// A clock that stands still until it is set. Clones share their time.
#[derive(Clone, Debug, Default)]
pub struct FakeClock {
    ns: Arc<AtomicU64>,
}

impl FakeClock {
    /// A clock at time zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time to `now`, unless it is later already.
    pub fn set(&self, now: Instant) {
        self.ns.fetch_max(now.as_ns(), Ordering::SeqCst);
    }

    /// Advances the time by `span`.
    pub fn advance(&self, span: Span) {
        self.ns.fetch_add(span.as_ns(), Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        Instant::from_ns(self.ns.load(Ordering::SeqCst))
    }

    fn pass_until(&self, deadline: Instant) {
        self.set(deadline);
    }

    fn runs(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_clock_jumps_and_never_goes_back() {
        let clock = FakeClock::new();
        let same = clock.clone();
        clock.pass_until(Instant::from_ns(500));
        clock.set(Instant::from_ns(100));
        same.advance(Span::from_ns(7));
        assert_eq!(clock.now(), Instant::from_ns(507));
        assert_eq!(clock.stance(Some(Instant::from_ns(600))), Stance::Block(None));
        assert_eq!(clock.stance(Some(Instant::from_ns(507))), Stance::Over);
    }

    #[test]
    fn the_monotonic_clock_waits_for_the_deadline() {
        let clock = MonotonicClock::start();
        clock.prepare();
        let deadline = clock.now() + Span::from_ms(3);
        assert!(matches!(clock.stance(Some(deadline)), Stance::Block(Some(_))));
        clock.pass_until(deadline);
        assert!(clock.now() >= deadline);
        assert_eq!(clock.stance(Some(deadline)), Stance::Over);
        assert_eq!(clock.stance(None), Stance::Block(None));
    }
}
