//! Virtual time where groups are served out of turn, for latency targets.
//!
//! A group that is served out of turn gets ahead of the others. If these are only expected at that
//! moment, it is alone in the line. Virtual time that followed it there
//! would forget that it is ahead, and the others would lose what they are behind by. So it stays
//! with them until they have caught up.

use super::line::Member;
use super::{Hierarchy, outer_of};
use crate::fair::claims::Claim;
use crate::groups::{VirtualTime, virtual_time};
use fairdisk_core::Span;

impl Hierarchy {
    /// As [`reach`](Self::reach), where groups are served out of turn and get ahead by up to `debt`
    /// that way, as this one if `out_of_turn`.
    pub(in crate::fair) fn reach_beside(&mut self, group: u32, out_of_turn: bool, debt: Span) {
        let mut at = self.innermost(group);
        loop {
            let line = self.member(at).line;
            self.members[at as usize].is_brought |= out_of_turn;
            if let Some(first) = self.line(line).claims.first(&self.order) {
                let least = self.least_there(first, debt);
                let member = &mut self.members[first as usize];
                member.is_brought &= least < member.claim.start;
                self.lines[line as usize].claims.reach(least);
            }
            let Some(outer) = outer_of(line) else { return };
            at = outer;
        }
    }

    /// The start of the first in line; if that was served out of turn, the least of it and of those
    /// that are expected. These may be behind for another reason, such as that they want
    /// little, so none counts as further behind than it can be for `debt` and what it may catch up
    /// on.
    fn least_there(&self, first: u32, debt: Span) -> VirtualTime {
        let Member { claim: Claim { start, weight }, line, is_brought, .. } = *self.member(first);
        let line = self.line(line);
        match self.order.first(&line.expected).map(|one| self.member(one).claim.start) {
            Some(least) if is_brought => {
                let most = virtual_time(debt, weight) + virtual_time(self.lag, line.weight);
                start.min(least.max(start.saturating_sub(most)))
            }
            _ => start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;
    use alloc::vec::Vec;
    use fairdisk_core::Instant;

    const DEBT: Span = Span::from_ms(100);

    /// Serves the group `times` times for 1 ms.
    fn serve(tree: &mut Hierarchy, group: u32, times: u32, out_of_turn: bool) {
        for _ in 0..times {
            tree.reach_beside(group, out_of_turn, DEBT);
            tree.charge(group, Span::ZERO, Span::from_ms(1));
        }
    }

    /// Serves who is first for 1 ms, `times` times. Returns how often each of three groups was.
    fn serve_first(tree: &mut Hierarchy, times: u32) -> Vec<u32> {
        let mut served = alloc::vec![0; 3];
        for _ in 0..times {
            let group = tree.first().unwrap();
            serve(tree, group, 1, false);
            served[group as usize] += 1;
        }
        served
    }

    #[test]
    fn who_is_served_out_of_turn_gets_ahead_of_those_that_are_expected() {
        for (out_of_turn, is_ahead) in [(true, true), (false, false)] {
            let mut tree = tree(&[(20, None), (100, None)]);
            tree.set_expected(1, true);
            tree.set_wants(0, true);
            serve(&mut tree, 0, 101, out_of_turn);
            assert_eq!(tree.is_ahead(0, DEBT), is_ahead);
            tree.set_wants(1, true);
            let served = serve_first(&mut tree, 500);
            assert_eq!(served[1] >= 500, is_ahead, "{served:?}");
        }
    }

    #[test]
    fn who_was_served_out_of_turn_is_ahead_no_longer_once_the_others_have_caught_up() {
        let mut tree = tree(&[(100, None), (100, None)]);
        (0..2).for_each(|group| tree.set_wants(group, true));
        serve(&mut tree, 0, 50, true);
        assert_eq!(serve_first(&mut tree, 50)[1], 50);
        serve_first(&mut tree, 10);
        assert!(tree.members.iter().all(|member| !member.is_brought));
    }

    /// One that wants little is behind for that, and others cannot be ahead of it for ever.
    #[test]
    fn nobody_is_ahead_by_more_than_the_debt_and_what_is_caught_up_on() {
        let mut tree = tree(&[(20, None), (100, None), (100, None)]);
        tree.set_lag(Span::from_ms(12));
        tree.pass(Instant::ZERO + Span::from_s(1));
        tree.set_expected(1, true);
        tree.set_wants(0, true);
        serve(&mut tree, 0, 1000, true);
        assert!(tree.is_ahead(0, DEBT) && !tree.is_ahead(0, DEBT + Span::from_ms(13)));
        tree.set_expected(1, false);
        serve(&mut tree, 0, 1, true);
        assert!(!tree.is_ahead(0, Span::from_ms(1)), "nobody is there any more");
    }
}
