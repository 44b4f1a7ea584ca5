//! The accounts of `fair`, each checked against all that it counts.
//!
//! An account is changed in many places and read in more, and a wrong one shows much later, as an
//! unfair share. So storms check all of them after each call.

use super::requests::Rq;
use super::{Fair, NIL};
use fairdisk_core::Span;

impl Fair {
    /// Looks at everything, so it is for tests.
    ///
    /// # Panics
    /// If an account is not the sum of what it counts.
    pub(super) fn check_all_accounts(&self) {
        self.check_requests();
        self.check_groups();
        self.tree.check_accounts();
    }

    fn check_requests(&self) {
        let (mut waiting, mut in_flight) = (0, 0);
        let mut of_groups = alloc::vec![(0, 0); self.groups.len()];
        for (at, queue) in self.queues.used() {
            assert_eq!(queue.order.in_line, queue.waiting > 0, "queue {at} is in line");
            waiting += queue.waiting;
            in_flight += queue.in_flight;
            let of_group = &mut of_groups[queue.group as usize];
            *of_group = (of_group.0 + queue.waiting, of_group.1 + queue.in_flight);
        }
        assert_eq!(
            (self.load.queued, self.load.in_flight),
            (waiting, in_flight),
            "requests of all queues"
        );
        for (at, group) in self.groups.iter().enumerate() {
            assert_eq!((group.waiting, group.in_flight), of_groups[at], "requests of group {at}");
        }
        let charged = self.requests.all().map(Rq::work);
        let reserved = self.groups.iter().map(|group| group.beside.reserved);
        let work = charged.chain(reserved).fold(Span::ZERO, |sum, one| sum + one);
        assert_eq!(self.load.at_work, work, "work at the device");
        let reads = self.requests.all().filter(|rq| rq.dispatched.is_counted).count();
        assert_eq!(self.device.cache.reads as usize, reads, "reads at the device");
    }

    fn check_groups(&self) {
        let flushes: u32 = self.groups.iter().map(|group| group.flushes).sum();
        assert_eq!(self.device.cache.flushes, flushes, "flushes");
        let count = |is: fn(&super::Group) -> bool| {
            self.groups.iter().filter(|group| is(group)).count() as u32
        };
        assert_eq!(
            self.returning.back(),
            count(|group| group.past.absence.is_back),
            "groups that are back"
        );
        let capped = count(|group| !group.qos.is_unlimited());
        assert_eq!(self.promises.barred.capped(), capped, "groups with a ceiling");
        if let Some(turn) = self.turn {
            assert_ne!(turn.group, NIL, "a turn is a group's");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams};
    use crate::samples::request;
    use fairdisk_core::{Decision, Elevator, Instant, Op, Reporting, Span};

    /// A scheduler that has a request queued and one at the device.
    fn busy() -> Fair {
        let (mut fair, now) = (Fair::new(&FairParams::default()), Instant::ZERO);
        (0..2).for_each(|slot| {
            fair.admit(now, &request(slot, slot, Op::Read, now));
        });
        assert!(matches!(fair.decide(now), Decision::Dispatch(..)));
        fair
    }

    #[test]
    fn accounts_are_right() {
        busy().check_accounts();
    }

    #[test]
    #[should_panic(expected = "work at the device")]
    fn work_that_nothing_does_is_found() {
        let mut fair = busy();
        fair.load.at_work += Span::from_us(1);
        fair.check_accounts();
    }

    #[test]
    #[should_panic(expected = "weights of line 0")]
    fn a_line_that_weighs_more_than_what_is_in_it_is_found() {
        let mut fair = busy();
        fair.tree.spoil();
        fair.check_accounts();
    }
}
