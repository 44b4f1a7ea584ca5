//! A bound on how long a request waits, which fixes defect D3 (spec: groups, section 1.8).
//!
//! A request that has waited for `limit` goes to the dispatch list when the driver next asks, ahead
//! of every turn and every other condition, oldest first. The driver asks when the dispatch list
//! has run empty, and that list never holds more than the most requests that were outstanding at
//! once. So the longest wait is
//!
//! > `limit` + requests outstanding at once × device time of one request
//!
//! where the last two are the largest seen so far. The number of tasks and groups matters only
//! through requests that become overdue together: they leave together, and count as outstanding
//! then.

use super::jiffies::Jiffies;
use super::queue::NIL;
use alloc::vec::Vec;
use fairdisk_core::{Span, dense};

#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: Jiffies,
    older: u32,
    younger: u32,
}

/// The requests that wait, by age, and the maxima that determine the bound.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Span,
    limit_ticks: Jiffies,
    waiting: Vec<Waiting>,
    oldest: u32,
    youngest: u32,
    outstanding_max: u32,
    device_time_max: Span,
}

impl Patience {
    /// A bound under which a request waits no longer than `limit` plus the time for outstanding
    /// requests; the timer has `hz` ticks per second.
    pub(crate) const fn new(limit: Span, hz: u32) -> Self {
        Self {
            limit,
            limit_ticks: (limit.as_ms() * hz as u64 / 1000) as Jiffies,
            waiting: Vec::new(),
            oldest: NIL,
            youngest: NIL,
            outstanding_max: 0,
            device_time_max: Span::ZERO,
        }
    }

    /// The longest time a request can have waited so far; see the module documentation.
    pub(crate) fn bound(&self) -> Span {
        let device = self.device_time_max.as_ns().saturating_mul(self.outstanding_max.into());
        self.limit + Span::from_ns(device)
    }

    /// Adds a request that starts to wait at `now`, as the youngest.
    pub(crate) fn admitted(&mut self, now: Jiffies, index: u32) {
        let waiting = Waiting { since: now, older: self.youngest, younger: NIL };
        let nobody = || Waiting { since: 0, older: NIL, younger: NIL };
        *dense::entry(&mut self.waiting, index, nobody) = waiting;
        match self.youngest {
            NIL => self.oldest = index,
            youngest => self.waiting[youngest as usize].younger = index,
        }
        self.youngest = index;
    }

    /// Removes a request that no longer waits.
    pub(crate) fn left(&mut self, index: u32) {
        let Waiting { older, younger, .. } = self.waiting[index as usize];
        match older {
            NIL => self.oldest = younger,
            older => self.waiting[older as usize].younger = younger,
        }
        match younger {
            NIL => self.youngest = older,
            younger => self.waiting[younger as usize].older = older,
        }
    }

    /// When the oldest request becomes overdue; `None` if none waits.
    pub(crate) fn due(&self) -> Option<Jiffies> {
        self.waiting.get(self.oldest as usize).map(|waiting| waiting.since + self.limit_ticks)
    }

    /// The oldest request, if it is overdue.
    pub(crate) fn overdue(&self, now: Jiffies) -> Option<u32> {
        self.due().filter(|due| now >= *due).map(|_| self.oldest)
    }

    pub(crate) fn handed_over(&mut self, outstanding: u32) {
        self.outstanding_max = self.outstanding_max.max(outstanding);
    }

    pub(crate) fn completed(&mut self, device_time: Span) {
        self.device_time_max = self.device_time_max.max(device_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_overdue_first() {
        let mut patience = Patience::new(Span::from_ms(10), 1000);
        for (now, index) in [(0, 7), (4, 3), (4, 5)] {
            patience.admitted(now, index);
        }
        assert_eq!(patience.overdue(9), None);
        assert_eq!(patience.overdue(10), Some(7));
        patience.left(7);
        assert_eq!((patience.overdue(13), patience.due()), (None, Some(14)));
        patience.left(5);
        assert_eq!(patience.overdue(14), Some(3));
        patience.left(3);
        assert_eq!(patience.due(), None);
    }

    #[test]
    fn the_bound_grows_with_what_is_outstanding_and_how_slow_it_is() {
        let mut patience = Patience::new(Span::from_ms(10), 1000);
        assert_eq!(patience.bound(), Span::from_ms(10));
        patience.handed_over(3);
        patience.handed_over(2);
        patience.completed(Span::from_ms(4));
        assert_eq!(patience.bound(), Span::from_ms(22));
    }
}
