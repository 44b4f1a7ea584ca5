//! Limits to what groups owe others for service that they had out of turn.

use super::line::Member;
use super::{DEBT_MOST, FLOORS_PER_REST, Hierarchy, of_group, outer_of};
use crate::fair::claims::Claim;
use crate::groups::{VirtualTime, virtual_time};
use fairdisk_core::Span;

impl Hierarchy {
    /// Accounts for `cost`, charged to `group` and those around it, that was service for the floor
    /// of `floored`, which is the group or lies around it.
    ///
    /// - What the group with the floor owes is limited, as what a floor gives beyond the share is
    ///   not taken back.
    /// - The shares of groups around it pay as far as they go, but for the part that is left to
    ///   members without a floor.
    pub(in crate::fair) fn forgive_floor(&mut self, group: u32, floored: u32, cost: Span) {
        let (mut at, mut is_around) = (self.innermost(group), false);
        loop {
            let Member { claim: Claim { start, weight }, line, .. } = *self.member(at);
            let mut due = start;
            if is_around {
                let cost = virtual_time(cost, weight);
                due = start.saturating_sub(cost - self.pay_for_floor(at, cost));
            }
            is_around |= at == of_group(floored);
            if is_around {
                due = due.min(self.line(line).claims.owing(virtual_time(DEBT_MOST, weight)));
            }
            if start > due {
                self.set_start(at, due);
            }
            let Some(outer) = outer_of(line) else { return };
            at = outer;
        }
    }

    /// How much of `cost`, service for floors inside the member's group, the group's share pays: no
    /// more of the share than floors may take of the disk, and ahead of time no more than its part
    /// of the `lag` of all. Otherwise those beside the floors would have nothing of it, however
    /// long they wait.
    fn pay_for_floor(&mut self, at: u32, cost: VirtualTime) -> VirtualTime {
        let parts = VirtualTime::from(FLOORS_PER_REST);
        let line = self.line(self.member(at).line);
        let (reached, ahead) =
            (line.claims.reached, virtual_time(self.lag, line.weight_with(self.member(at))));
        let until = &mut self.paid_floors[at as usize / 2];
        *until = (*until).max(reached);
        let paid = cost.min((reached + ahead).saturating_sub(*until) / (parts + 1) * parts);
        *until += paid + paid / parts;
        paid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::hierarchy::tests::{served, tree};

    #[test]
    fn who_comes_does_not_pay_for_what_others_had_out_of_turn() {
        let mut tree = tree(&[(100, None), (900, None), (900, None)]);
        (0..2).for_each(|group| tree.set_wants(group, true));
        for round in 0..3000 {
            // As for a floor, group 0 is served whichever is first in line.
            let group = if round % 3 > 0 { 0 } else { 1 };
            tree.reach(group);
            tree.charge(group, Span::ZERO, Span::from_ms(1));
            tree.forgive_floor(group, group, Span::from_ms(1));
        }
        assert!(tree.is_ahead(0, Span::from_ms(90)));
        tree.set_wants(2, true);
        let first = served(&mut tree, 100);
        assert!(first[2] >= 45 && first[1] >= 40, "{first:?}");
    }

    /// What groups are served in 20 s, in ms. Group 1 lies in group 0, beside group 2 and with
    /// weight `inner`; for its floor it has 1 ms of each `period`. Group 3 is beside them all.
    fn served_beside_floor(outer: u32, inner: u32, period: u32) -> [u32; 4] {
        let groups = [(outer, None), (inner, Some(0)), (100, Some(0)), (500, None)];
        let mut tree = tree(&groups);
        tree.set_lag(Span::from_ms(400));
        (1..4).for_each(|group| tree.set_wants(group, true));
        let mut served = [0; 4];
        for ms in 0..20_000 {
            let is_due = ms % period == 0;
            let group = if is_due { 1 } else { tree.first().unwrap() };
            tree.reach(group);
            tree.charge(group, Span::ZERO, Span::from_ms(1));
            if is_due {
                tree.forgive_floor(group, group, Span::from_ms(1));
            }
            served[group as usize] += 1;
        }
        served
    }

    #[test]
    fn a_floor_leaves_those_beside_it_a_tenth_of_the_share_around_them() {
        // A floor of 25 % where the group around has an eleventh of the rest: of that, a tenth is
        // left, whatever the weights inside.
        for inner in [1, 100] {
            let [_, floored, beside, others] = served_beside_floor(50, inner, 4);
            assert_eq!((floored, others), (5000, 15_000 - beside));
            assert!((100..=160).contains(&beside), "{beside}");
        }
        // Where the share around is enough for the floor, it pays all of it.
        let [_, floored, beside, others] = served_beside_floor(500, 1, 4);
        assert!((5000..=5050).contains(&floored), "{floored}");
        assert!((4900..=5000).contains(&beside), "{beside}");
        assert!((9900..=10_100).contains(&others), "{others}");
    }
}
