//! What part of the disk a group has, while some groups want it and others are expected.

use super::line::{Line, Member, State};
use super::{Hierarchy, WHOLE_DISK};
use fairdisk_core::Span;

impl Hierarchy {
    /// The group's part of the disk, in parts of 2^32, while it and all that now want the disk do.
    pub(in crate::fair) fn part(&self, group: u32) -> u64 {
        self.part_of(group, |line, member| (member.claim.weight, line.weight_with(member)))
    }

    /// The part of the disk, in parts of 2^32, of all those in line with the group, which is in
    /// line itself, while those that are expected have theirs.
    pub(in crate::fair) fn part_in_line(&self, group: u32) -> u64 {
        self.part_of(group, |line, _| (line.weight, line.weight + line.expected_weight))
    }

    /// The group's part of the disk, in parts of 2^32, while it does and all do that now want the
    /// disk or are expected.
    pub(in crate::fair) fn part_beside_all(&self, group: u32) -> u64 {
        self.part_of(group, |line, member| {
            let own = match member.state {
                State::InLine | State::Expected => 0,
                State::Away => member.claim.weight,
            };
            (member.claim.weight, line.weight + line.expected_weight + own)
        })
    }

    /// The weight of all others that want the disk or are expected, as a part of the group's own,
    /// in parts of `whole`: by how much more of its time they may delay it.
    pub(in crate::fair) fn weight_of_others(&self, group: u32, whole: u64) -> u64 {
        let part = self.part_beside_all(group);
        Span::from_ns(WHOLE_DISK - part.min(WHOLE_DISK)).scaled(whole, part).as_ns()
    }

    /// The weights of the group and of another where they part: of the members in one line that
    /// they lie in. Both are 1 if one lies in the other.
    pub(in crate::fair) fn weights_beside(&self, group: u32, other: u32) -> (u64, u64) {
        let others = || self.levels(other).map(|(at, _)| at);
        for (at, _) in self.levels(group) {
            let Member { line, claim, .. } = *self.member(at);
            let beside = others().find(|one| *one != at && self.member(*one).line == line);
            if let Some(beside) = beside {
                return (claim.weight, self.member(beside).claim.weight);
            }
        }
        (1, 1)
    }

    /// The product of parts of the lines around the group, each a weight and the weight of all.
    fn part_of(&self, group: u32, weights: impl Fn(&Line, &Member) -> (u64, u64)) -> u64 {
        let part = self.levels(group).fold(WHOLE_DISK, |part, (at, line)| {
            let (own, all) = weights(line, self.member(at));
            (u128::from(part) * u128::from(own) / u128::from(all.max(1))) as u64
        });
        part.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::hierarchy::tests::tree;
    use fairdisk_core::Weight;

    #[test]
    fn a_part_is_of_those_in_line_and_those_in_line_have_what_is_not_of_the_expected() {
        let mut tree = tree(&[(100, None), (300, None), (100, None)]);
        tree.set_wants(0, true);
        let parts = |tree: &Hierarchy| [tree.part(0), tree.part_in_line(0)].map(percent);
        assert_eq!(parts(&tree), [100, 100]);
        tree.set_expected(1, true);
        assert_eq!(parts(&tree), [100, 25]);
        tree.set_weight(1, Weight::new(600).unwrap());
        tree.set_expected(2, true);
        assert_eq!(parts(&tree), [100, 12]);
        tree.set_wants(2, true);
        assert_eq!(parts(&tree), [50, 25]);
        (1..=2).for_each(|group| tree.set_expected(group, false));
        assert_eq!(parts(&tree), [50, 100]);
    }

    const fn percent(part: u64) -> u64 {
        part * 100 / WHOLE_DISK
    }
}
