//! When to decide again: the instants at which a wait may become another decision although nothing
//! happens.
//!
//! A wait has an end of its own, but something else may go first before that, such as a group whose
//! bar ends. So a wait ends at the first of all such instants, whatever it is for.

use super::Fair;
use fairdisk_core::Instant;

impl Fair {
    /// The next instant at which time alone may change the decision. All that a decision compares
    /// with the time is listed here, except for the end of its own wait.
    pub(super) fn decide_again_at(&self, now: Instant) -> Option<Instant> {
        let promised =
            [self.promises.barred.first(), self.floor_due(), self.promises.targets.first_due()];
        let saves = [self.next_saver(now), self.room_at(now)];
        let returns = match self.device.is_serial() {
            true => [self.next_return(now), None],
            false => [self.expected.first_until(), self.promises.targets.presence_check_at()],
        };
        let fits = self.promises.targets.intervals.presence_check_at();
        let others = [self.another_is_next(now), fits, self.expected.reserved.first_until()];
        promised.into_iter().chain(saves).chain(returns).chain(others).flatten().min()
    }

    /// When another request may be next, of the group that is first in line or of the one whose
    /// turn it is.
    fn another_is_next(&self, now: Instant) -> Option<Instant> {
        let waits = |group: &u32| self.groups[*group as usize].waiting > 0;
        let groups = [self.tree.first(), self.turn.map(|turn| turn.group).filter(waits)];
        let firsts = groups.into_iter().flatten().map(|group| self.queues.first_of(now, group));
        let has_more = |queue: &u32| self.queues.get(*queue).is_some_and(|one| one.waiting > 0);
        let in_turn = self.turn.map(|turn| turn.queue).filter(has_more);
        firsts.chain(in_turn).filter_map(|queue| self.overtaken_at(now, queue)).min()
    }

    /// When another request of its group may overtake the next one of the queue: a class has been
    /// passed over for long enough, or the queue's oldest request expires. The latter matters only
    /// to a write: where a read has to wait, so has any other request.
    fn overtaken_at(&self, now: Instant, queue: u32) -> Option<Instant> {
        let q = &self.queues[queue];
        let (oldest, arrived) = self.requests.oldest(q);
        let next = self.next_of(now, queue);
        let matters = self.requests[next].op.is_write();
        let expires = (next != oldest && matters).then(|| arrived + self.params.expire);
        expires.into_iter().chain(self.queues.passed_over_at(now, q.group)).min()
    }
}
