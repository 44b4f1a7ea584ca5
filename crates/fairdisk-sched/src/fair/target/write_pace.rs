//! The write pace: how fast others may write beside a group with a latency target.
//!
//! A device without a head may acknowledge a write at once and work on it, or on collecting garbage
//! for it, long afterwards, which others' requests at the device do not show. So while others have
//! only a fraction of the initial room, they write at that fraction of the device's stated rate.

use super::room::Room;
use crate::fair::Fair;
use crate::fair::answer::{Bar, Cause};
use fairdisk_core::{Instant, Span};

impl Fair {
    /// Whether a bar that ends at `at` is for the write pace. As no write may go before that allows
    /// it, the time stays where it is until then, and all bars of the pace end there.
    pub(in crate::fair) fn is_for_write_pace(&self, at: Instant) -> bool {
        at == self.promises.targets.written_until
    }

    /// Counts a write of a group towards the write pace.
    pub(in crate::fair) fn use_write_pace(&mut self, now: Instant, group: u32, cost: Span) {
        let is_paced = self.params.rules.write_pace && self.is_write_paced(group);
        let Some((whose, _)) = self.promises.targets.room.filter(|_| is_paced) else { return };
        let entry = &self.groups[whose as usize];
        let most = entry.target.room.most;
        let at_first = entry.qos.latency_p99.map_or(Span::ZERO, Room::at_first);
        if most >= at_first {
            return;
        }
        let time = self.device.time_of(cost).scaled(at_first.as_ns(), most.as_ns().max(1));
        let until = &mut self.promises.targets.written_until;
        *until = (*until).max(now) + time;
    }

    /// The bar for which the request, the group's next, has to wait if it is a write and the write
    /// pace does not allow it yet. All that the group has queued waits with it, other groups do
    /// not.
    pub(in crate::fair) fn write_pace_bar(&self, now: Instant, group: u32, at: u32) -> Option<Bar> {
        let until = self.promises.targets.written_until;
        let is_too_soon =
            until > now && self.requests[at].op.is_write() && self.is_write_paced(group);
        is_too_soon.then_some(Bar { group, until, cause: Cause::WritePace })
    }

    /// Whether the group's writes have to keep the pace for a target of another group.
    fn is_write_paced(&self, group: u32) -> bool {
        self.promises.targets.room.is_some()
            && !self.device.rotational
            && self.may_wait_alone(group)
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams};
    use crate::samples::request;
    use fairdisk_core::{
        Change, Cost, CostModel, Decision, Elevator, GroupId, Instant, Op, Qos, RequestId, Span,
        Why,
    };

    /// Whether a write of group 2, another write of it, and a read of group 3 are dispatched.
    fn let_go(most: Span, rotational: bool) -> [bool; 3] {
        let mut fair = Fair::new(&FairParams::default());
        let mut tell = |change| fair.configure(Instant::ZERO, &change);
        tell(Change::Rotational { rotational });
        tell(Change::Depth { depth: 8 });
        tell(Change::Costs(costs()));
        let qos = Qos { latency_p99: Some(Span::from_ms(8)), ..Qos::NONE };
        tell(Change::GroupQos { group: GroupId(1), qos });
        fair.groups[1].target.room.most = most;
        fair.note_target_present(1);
        let now = Instant::ZERO + Span::from_ms(1);
        fair.groups[1].past.absence.quiet_since = Some(now);
        for (slot, group, op) in [(0, 2, Op::Write), (1, 2, Op::Write), (2, 3, Op::Read)] {
            fair.admit(now, &request(slot, group, op, now));
        }
        let mut went = [false; 3];
        while let Decision::Dispatch(id, _) = fair.decide(now) {
            went[id.0 as usize] = true;
        }
        if !went[1] {
            let later = now + Span::from_us(4 * 100);
            assert_eq!(fair.decide(now), Decision::WaitUntil(later, Why::WritePaced));
            assert_eq!(fair.decide(later), Decision::Dispatch(RequestId(1), Why::LeastServed));
        }
        went
    }

    #[test]
    fn others_write_at_a_part_of_the_rate_where_they_have_that_part_of_the_room() {
        assert_eq!(let_go(Span::from_ms(2), false), [true, true, true]);
        assert_eq!(let_go(Span::from_us(500), false), [true, false, true]);
        assert_eq!(let_go(Span::from_us(500), true), [true, true, true]);
    }

    #[test]
    fn the_rate_a_pace_is_part_of_is_not_forgotten_while_writes_wait_for_it() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let mut fair = Fair::new(&FairParams::default());
        fair.configure(at(0), &Change::Rotational { rotational: false });
        fair.configure(at(0), &Change::Depth { depth: 8 });
        let qos = Qos { latency_p99: Some(Span::from_ms(8)), ..Qos::NONE };
        fair.configure(at(0), &Change::GroupQos { group: GroupId(1), qos });
        fair.groups[1].past.absence.quiet_since = Some(at(1));
        fair.settle_room_of_targets(at(1));
        fair.admit(at(1), &request(0, 2, Op::Write, at(1)));
        fair.promises.targets.written_until = at(1000);
        // A look at the device in which requests of this total cost complete within 10 ms.
        let look = |fair: &mut Fair, ms, cost| {
            (0..128).for_each(|_| fair.look_at_depth(at(ms), 0, cost));
            fair.device.depth_limit.time_of(Span::from_ms(1)).expect("it was seen")
        };
        let seen = look(&mut fair, 10, Span::from_ms(1));
        let bar = fair.write_pace_bar(at(10), 2, 0).expect("it is too soon");
        fair.begin_bar(bar);
        assert_eq!(look(&mut fair, 20, Span::from_us(1)), seen);
        assert!(look(&mut fair, 30, Span::from_us(1)) > seen, "nobody waited");
    }

    /// A write takes 100 us, a read 10 us.
    fn costs() -> CostModel {
        let of = |us| {
            let time = Span::from_us(us);
            Cost { sequential: time / 10, random: time, byte_ps: 0, random_byte_ps: 0 }
        };
        let (saturation, alone) = (Span::from_ms(1), Span::from_us(100));
        CostModel { depth: 8, saturation, alone, read: of(10), write: of(100) }
    }
}
