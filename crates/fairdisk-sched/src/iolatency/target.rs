//! Whether a group meets its target. Latencies are collected in windows and judged at the end of
//! each. A window ends with a completion, so it stays open while there are none.

use fairdisk_core::{Instant, Span};

/// Whether the target was missed in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    Yes,
    No,
}

/// The latencies of a group since the last verdict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// When the first latency of the window was recorded.
    began: Option<Instant>,
    last: Instant,
    done: u64,
    late: u64,
    sum_ns: u64,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { began: None, last: Instant::ZERO, done: 0, late: 0, sum_ns: 0 }
    }

    /// When a latency was last recorded.
    pub(super) const fn last(&self) -> Instant {
        self.last
    }

    /// Records a latency. Returns the verdict if the window is over: by the percentage of late
    /// requests, or by the mean if `percent` is `None`.
    pub(super) fn note(
        &mut self,
        now: Instant,
        took: Span,
        target: Span,
        length: Span,
        missed_percent: Option<u32>,
    ) -> Option<Missed> {
        let began = *self.began.get_or_insert(now);
        self.last = now;
        self.done += 1;
        self.late += u64::from(took > target);
        self.sum_ns = self.sum_ns.saturating_add(took.as_ns());
        if now - began < length {
            return None;
        }
        let missed = match missed_percent {
            Some(percent) => self.late * 100 > self.done * u64::from(percent),
            None => self.sum_ns / self.done > target.as_ns(),
        };
        *self = Self { began: Some(now), last: now, ..Self::new() };
        Some(if missed { Missed::Yes } else { Missed::No })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(latencies_ms: &[u64], percent: Option<u32>) -> Option<Missed> {
        let mut window = Window::new();
        let ms = Span::from_ms;
        let mut verdict = None;
        for (at, latency) in (0..).zip(latencies_ms) {
            assert_eq!(verdict, None, "too early");
            let now = Instant::ZERO + ms(10 * at);
            verdict = window.note(now, ms(*latency), ms(20), ms(100), percent);
        }
        verdict
    }

    #[test]
    fn the_mean_decides_with_a_head_and_the_slowest_tenth_without() {
        // Eleven requests, the last one 100 ms after the first.
        let one_slow = [10, 10, 10, 10, 10, 300, 10, 10, 10, 10, 10];
        assert_eq!(verdicts(&one_slow, None), Some(Missed::Yes));
        assert_eq!(verdicts(&one_slow, Some(10)), Some(Missed::No));
        let two_slow = [10, 21, 10, 10, 10, 21, 10, 10, 10, 10, 10];
        assert_eq!(verdicts(&two_slow, None), Some(Missed::No));
        assert_eq!(verdicts(&two_slow, Some(10)), Some(Missed::Yes));
        assert_eq!(verdicts(&two_slow[..10], Some(10)), None);
    }
}
