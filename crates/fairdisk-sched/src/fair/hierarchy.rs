//! The order of groups: a line of [claims](super::claims) at every level of a tree of groups.
//!
//! The service a member of a line receives advances its start and those of the groups around it. If
//! a group has both tasks of its own and groups inside, the members of its line are these groups
//! and, as one member of weight 100, its own tasks.
//!
//! A member with nothing queued may be *expected* back soon. It is not in the line, but it keeps
//! its start, so that it can be told whether a member in the line is ahead of it.

mod brought;
mod debts;
mod line;
mod parts;

use super::NIL;
use crate::groups::{Nested, VirtualTime, virtual_time};
use alloc::vec::Vec;
use fairdisk_core::tree::Forest;
use fairdisk_core::{Instant, Span, Weight};
use line::{Line, Member, State};

/// The most that a group owes others for service beyond its share given for a floor or a latency
/// target: half of a default round.
pub(super) const DEBT_MOST: Span = Span::from_ms(100);

/// The whole disk, as the fixed-point unit of a group's part: 32 bits leave room for a product with
/// a weight.
pub(super) const WHOLE_DISK: u64 = 1 << 32;

/// How many times as much as what is left to others all floors may take: of the disk, and of the
/// share of a group around them.
pub(super) const FLOORS_PER_REST: u64 = 9;

/// A group's node in the tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The group around this one, or `NIL`.
    parent: u32,
    /// The number of groups directly inside.
    inner: u32,
    /// Whether the group's own tasks have requests queued.
    wants: bool,
    /// Whether the group's own tasks are expected to have requests soon.
    expected: bool,
    /// Whether the group gets no service for now, such as at its ceiling.
    barred: bool,
}

/// The tree of groups.
#[derive(Debug)]
pub(super) struct Hierarchy {
    nodes: Vec<Node>,
    /// Two per group: the group itself, and its own tasks.
    members: Vec<Member>,
    /// The outermost line, then the line inside each group.
    lines: Vec<Line>,
    /// By group: up to where, in the virtual time of its line, its share has paid for floors inside
    /// it.
    paid_floors: Vec<VirtualTime>,
    order: Forest<VirtualTime>,
    credit: Span,
    lag: Span,
    now: Instant,
}

impl Nested for Hierarchy {
    #[inline]
    fn outer(&self, group: u32) -> Option<u32> {
        Some(self.nodes[group as usize].parent).filter(|parent| *parent != NIL)
    }
}

/// The member that stands for the group.
const fn of_group(group: u32) -> u32 {
    2 * group
}

/// The member that stands for the group's own tasks, used if it has groups inside.
const fn of_tasks(group: u32) -> u32 {
    2 * group + 1
}

/// The line of the groups that are inside no other.
const OUTERMOST: u32 = 0;

/// The line inside the group, of the groups in it and its own tasks.
const fn line_in(group: u32) -> u32 {
    group + 1
}

impl Hierarchy {
    /// An empty tree. A member that was away for no longer than `credit` may catch up on its part
    /// of `lag` of everybody's service; after a longer absence, on `credit` of its own service.
    pub(super) fn new(credit: Span, lag: Span) -> Self {
        let lines = alloc::vec![Line::EMPTY];
        let (nodes, members, order) = (Vec::new(), Vec::new(), Forest::new());
        let (paid_floors, now) = (Vec::new(), Instant::ZERO);
        Self { nodes, members, lines, paid_floors, order, credit, lag, now }
    }

    /// Replaces the `lag` of [`new`](Self::new).
    pub(super) const fn set_lag(&mut self, lag: Span) {
        self.lag = lag;
    }

    /// Sets the current time.
    pub(super) const fn pass(&mut self, now: Instant) {
        self.now = now;
    }

    /// Ensures that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        while self.nodes.len() <= group as usize {
            let own = line_in(self.nodes.len() as u32);
            self.nodes.push(Node {
                parent: NIL,
                inner: 0,
                wants: false,
                expected: false,
                barred: false,
            });
            self.members.extend([OUTERMOST, own].map(Member::new));
            self.lines.push(Line::EMPTY);
            self.paid_floors.push(0);
        }
    }

    /// Sets the weight. What the group is ahead or behind by stays the same amount of service.
    pub(super) fn set_weight(&mut self, group: u32, weight: Weight) {
        let at = of_group(group);
        let Member { mut claim, line, state, .. } = *self.member(at);
        let (old, new) = (claim.weight, u64::from(weight.get()));
        if new == old {
            return;
        }
        self.line(line).claims.reweigh(&mut claim, new);
        self.members[at as usize].claim.weight = new;
        self.paid_floors[group as usize] = 0;
        self.set_start(at, claim.start);
        if let Some(weight) = self.lines[line as usize].weight_of(state) {
            *weight = *weight - old + new;
        }
    }

    /// Moves the group into `parent`, or to the outermost line. Does nothing if that would make a
    /// circle.
    pub(super) fn set_parent(&mut self, group: u32, parent: Option<u32>) {
        let may = self.may_lie_in(group, parent);
        let (old, parent) = (self.nodes[group as usize].parent, parent.unwrap_or(NIL));
        if old == parent || !may {
            return;
        }
        // While barred, the group leaves its old line; it then joins the new one like a newcomer.
        let before = self.nodes[group as usize];
        self.set_barred(group, true);
        self.nodes[group as usize] = Node { parent, ..before };
        let line = if parent == NIL { OUTERMOST } else { line_in(parent) };
        let start = self.line(line).claims.reached;
        let member = &mut self.members[of_group(group) as usize];
        (member.line, member.claim.start) = (line, start);
        self.paid_floors[group as usize] = 0;
        for (outer, more) in [(old, false), (parent, true)] {
            let Some(node) = self.nodes.get_mut(outer as usize) else { continue };
            node.inner = if more { node.inner + 1 } else { node.inner - 1 };
            self.refresh(of_tasks(outer));
            self.refresh(of_group(outer));
        }
        self.refresh(of_group(group));
    }

    /// Whether the group may be served before a turn of `served` goes on: at each level at which
    /// only one of them lies in a member, the group's member is first or not ahead.
    pub(super) fn may_go_before(&self, group: u32, served: u32) -> bool {
        self.path(group).take_while(|one| !self.lies_in(served, *one)).all(|one| {
            let Member { claim, line, .. } = self.member(of_group(one));
            let line = &self.line(*line).claims;
            !line.owes_more_than(claim, Span::ZERO)
                || line.first(&self.order) == Some(of_group(one))
        })
    }

    /// Makes an account wrong.
    #[cfg(test)]
    pub(super) fn spoil(&mut self) {
        self.lines[OUTERMOST as usize].weight += 1;
    }

    /// Looks at every member, so it is for tests.
    ///
    /// # Panics
    /// If the weight of a line is not the sum of the weights in it.
    pub(super) fn check_accounts(&self) {
        for (at, line) in self.lines.iter().enumerate() {
            let of = |state| {
                let members = self.members.iter().filter(move |one| one.line == at as u32);
                let weights = members.filter(move |one| one.state == state);
                weights.map(|one| one.claim.weight).sum::<u64>()
            };
            let weights = [State::InLine, State::Expected].map(of);
            let accounts = [line.weight, line.expected_weight];
            assert_eq!(accounts, weights, "weights of line {at}");
        }
    }

    /// Resets the starts of the group, so that a new group with this number is neither ahead nor
    /// behind.
    pub(super) fn forget(&mut self, group: u32) {
        self.paid_floors[group as usize] = 0;
        for at in [of_group(group), of_tasks(group)] {
            self.set_start(at, self.line(self.member(at).line).claims.reached);
            self.members[at as usize].is_brought = false;
        }
    }

    /// Resets the starts of the group and of those around it: none of them owes anything.
    pub(super) fn forget_debts(&mut self, group: u32) {
        let mut at = Some(group);
        while let Some(one) = at {
            self.forget(one);
            at = self.outer(one);
        }
    }

    /// Sets whether the group's own tasks have requests queued.
    #[inline]
    pub(super) fn set_wants(&mut self, group: u32, wants: bool) {
        let node = &mut self.nodes[group as usize];
        if node.wants == wants {
            return;
        }
        node.wants = wants;
        self.refresh_group(group);
    }

    /// Sets whether the group's own tasks, while they have nothing queued, are expected to have
    /// requests soon.
    #[inline]
    pub(super) fn set_expected(&mut self, group: u32, expected: bool) {
        let node = &mut self.nodes[group as usize];
        if node.expected != expected {
            node.expected = expected;
            self.refresh_group(group);
        }
    }

    fn refresh_group(&mut self, group: u32) {
        if self.nodes[group as usize].inner > 0 {
            self.refresh(of_tasks(group));
        }
        self.refresh(of_group(group));
    }

    /// Sets whether the group, and with it every group inside, gets no service.
    pub(super) fn set_barred(&mut self, group: u32, barred: bool) {
        self.nodes[group as usize].barred = barred;
        self.refresh(of_group(group));
    }

    pub(super) fn is_barred(&self, group: u32) -> bool {
        self.path(group).any(|one| self.nodes[one as usize].barred)
    }

    /// The group whose own tasks are next.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.first_in(OUTERMOST)
    }

    /// The group whose own tasks are next among `group` and the groups inside it; `None` if none of
    /// them wants the disk or they are barred.
    pub(super) fn first_inside(&self, group: u32) -> Option<u32> {
        let node = &self.nodes[group as usize];
        if self.is_barred(group) {
            return None;
        }
        if node.inner == 0 { node.wants.then_some(group) } else { self.first_in(line_in(group)) }
    }

    /// Whether the group, or one around it, is ahead of its share by more than `most`.
    pub(super) fn is_ahead(&self, group: u32, most: Span) -> bool {
        self.levels(group)
            .any(|(at, line)| line.claims.owes_more_than(&self.member(at).claim, most))
    }

    /// Whether something in the group wants the disk or is expected to, and it may be served.
    pub(super) fn is_there(&self, group: u32) -> bool {
        let state = self.member(of_group(group)).state;
        matches!(state, State::InLine | State::Expected) && !self.is_barred(group)
    }

    fn first_in(&self, mut line: u32) -> Option<u32> {
        loop {
            let first = self.line(line).claims.first(&self.order)?;
            let group = first / 2;
            if first == of_tasks(group) || self.nodes[group as usize].inner == 0 {
                return Some(group);
            }
            line = line_in(group);
        }
    }

    /// Advances the virtual time of the lines around the group, which is about to be served, to the
    /// smallest start in each. That may belong to another member; newcomers start there.
    #[inline]
    pub(super) fn reach(&mut self, group: u32) {
        let mut at = self.innermost(group);
        loop {
            let line = self.member(at).line;
            if let Some(first) = self.line(line).claims.first(&self.order) {
                let least = self.member(first).claim.start;
                self.lines[line as usize].claims.reach(least);
            }
            let Some(outer) = outer_of(line) else { return };
            at = outer;
        }
    }

    /// Replaces a charge of `charged` to the group's own tasks by `cost`, at every level.
    #[inline]
    pub(super) fn charge(&mut self, group: u32, charged: Span, cost: Span) {
        let mut at = self.innermost(group);
        loop {
            let Member { mut claim, line, .. } = *self.member(at);
            claim.charge(charged, cost);
            self.set_start(at, claim.start);
            let Some(outer) = outer_of(line) else { return };
            at = outer;
        }
    }

    /// By how much service the group is behind; `None` if it would not be next with something
    /// queued, or only because it came first.
    pub(super) fn behind_by(&self, group: u32) -> Option<Span> {
        let mut least = Span::MAX;
        for (at, line) in self.levels(group) {
            if let Some(first) = line.claims.first(&self.order)
                && first != at
            {
                // A level where the member is first itself is skipped: there it competes with
                // members inside it.
                let behind = self.member(at).claim.behind(&self.member(first).claim)?;
                least = least.min(behind);
            }
        }
        Some(least)
    }

    /// Whether, at any level, an expected member is behind the group's.
    #[inline]
    pub(super) fn has_passed_expected(&self, group: u32) -> bool {
        self.levels(group).any(|(at, line)| {
            let expected = self.order.first(&line.expected);
            expected.is_some_and(|one| self.member(one).claim.start < self.member(at).claim.start)
        })
    }

    /// Whether any group but this one wants the disk.
    pub(super) fn others_want(&self, group: u32) -> bool {
        self.levels(group).any(|(at, line)| {
            line.claims.tree.len() > u32::from(self.member(at).state == State::InLine)
        })
    }

    /// Whether any group but this one is expected.
    pub(super) fn others_are_expected(&self, group: u32) -> bool {
        self.levels(group).any(|(at, line)| {
            line.expected.len() > u32::from(self.member(at).state == State::Expected)
        })
    }

    // ---- lines ---------------------------------------------------------------------------

    fn member(&self, at: u32) -> &Member {
        &self.members[at as usize]
    }

    fn line(&self, line: u32) -> &Line {
        &self.lines[line as usize]
    }

    /// The group's members from the innermost outwards, each with its line.
    #[inline]
    fn levels(&self, group: u32) -> impl Iterator<Item = (u32, &Line)> {
        let outer = |at: &u32| outer_of(self.member(*at).line);
        let members = core::iter::successors(Some(self.innermost(group)), outer);
        members.map(|at| (at, self.line(self.member(at).line)))
    }

    /// Whether there are groups inside this one.
    pub(super) fn has_inner(&self, group: u32) -> bool {
        self.nodes[group as usize].inner > 0
    }

    /// The member that stands for the group's own tasks.
    #[inline]
    fn innermost(&self, group: u32) -> u32 {
        if self.has_inner(group) { of_tasks(group) } else { of_group(group) }
    }

    /// The state that the member should have in its line.
    fn due_state(&self, at: u32) -> State {
        let node = &self.nodes[at as usize / 2];
        let inside = &self.lines[at as usize / 2 + 1];
        let is_tasks = at == of_tasks(at / 2);
        let (wants, expected) = match (is_tasks, node.inner > 0) {
            (true, false) => (false, false),
            (true, true) | (false, false) => (node.wants, node.expected),
            (false, true) => (!inside.claims.tree.is_empty(), !inside.expected.is_empty()),
        };
        match (wants, expected) {
            _ if node.barred && !is_tasks => State::Away,
            (true, _) => State::InLine,
            (false, true) => State::Expected,
            (false, false) => State::Away,
        }
    }

    /// Updates the member's state, and then those of the groups around it as far as they change.
    #[inline]
    fn refresh(&mut self, mut at: u32) {
        loop {
            let state = self.due_state(at);
            if state == self.member(at).state {
                return;
            }
            self.enter(at, state);
            let Some(outer) = outer_of(self.member(at).line) else { return };
            at = outer;
        }
    }

    /// Gives the member a new state in its line.
    fn enter(&mut self, at: u32, state: State) {
        let member = &mut self.members[at as usize];
        let line = &mut self.lines[member.line as usize];
        if let Some(tree) = line.tree_of(member.state) {
            self.order.remove(tree, at);
            member.left = self.now;
        }
        if let Some(weight) = line.weight_of(member.state) {
            *weight -= member.claim.weight;
        }
        if state == State::InLine {
            // After an absence a member catches up on a limited amount of service; what it owes
            // remains.
            let credit = virtual_time(self.credit, member.claim.weight);
            let brief = self.now.since(member.left) <= self.credit;
            let lag = if brief { virtual_time(self.lag, line.weight_with(member)) } else { 0 };
            line.claims.let_in(&mut member.claim, credit.max(lag));
        }
        if let Some(weight) = line.weight_of(state) {
            *weight += member.claim.weight;
        }
        if let Some(tree) = line.tree_of(state) {
            self.order.insert(tree, at, member.claim.start);
        }
        member.state = state;
    }

    #[inline]
    fn set_start(&mut self, at: u32, start: VirtualTime) {
        let member = &mut self.members[at as usize];
        member.claim.start = start;
        if let Some(tree) = self.lines[member.line as usize].tree_of(member.state) {
            self.order.set_key(tree, at, start);
        }
    }
}

/// The member of the group that the line is inside; `None` for the outermost line.
const fn outer_of(line: u32) -> Option<u32> {
    if line == OUTERMOST { None } else { Some(of_group(line - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tree(groups: &[(u32, Option<u32>)]) -> Hierarchy {
        let mut tree = Hierarchy::new(Span::from_ms(10), Span::ZERO);
        for (group, (weight, parent)) in (0..).zip(groups) {
            tree.make(group);
            tree.set_weight(group, Weight::new(*weight).unwrap());
            tree.set_parent(group, *parent);
        }
        tree
    }

    /// Serves groups that always want the disk `rounds` times for 1 ms. Returns how often each was
    /// served.
    pub(super) fn served(tree: &mut Hierarchy, rounds: u32) -> Vec<u32> {
        let mut served = alloc::vec![0; tree.nodes.len()];
        for _ in 0..rounds {
            let group = tree.first().unwrap();
            tree.reach(group);
            tree.charge(group, Span::ZERO, Span::from_ms(1));
            served[group as usize] += 1;
        }
        served
    }

    #[test]
    fn groups_get_the_disk_by_weight() {
        let mut tree = tree(&[(100, None), (300, None), (600, None)]);
        (0..3).for_each(|group| tree.set_wants(group, true));
        assert_eq!(served(&mut tree, 1000), [100, 300, 600]);
    }

    #[test]
    fn groups_inside_share_what_the_outer_one_gets_with_its_own_tasks() {
        let mut tree = tree(&[(100, None), (300, None), (100, Some(1)), (400, Some(1))]);
        (0..4).for_each(|group| tree.set_wants(group, true));
        // Group 0 gets 1/4. Of the other 3/4, the tasks of group 1 get 1/6 and its groups 1/6 and
        // 4/6.
        assert_eq!(served(&mut tree, 2400), [600, 300, 300, 1200]);
        tree.set_wants(1, false);
        tree.set_wants(3, false);
        assert_eq!(tree.part(2), 3 << 30, "it is alone in there");
    }

    #[test]
    fn who_was_away_gets_no_more_than_a_little_of_it_back() {
        let mut tree = tree(&[(100, None), (100, None)]);
        tree.set_wants(0, true);
        served(&mut tree, 1000);
        tree.set_wants(1, true);
        let first = served(&mut tree, 12);
        assert!((10..=12).contains(&first[1]), "{first:?}");
        assert_eq!(served(&mut tree, 100)[1] / 5, 10, "and from then on its share");
    }

    #[test]
    fn who_is_behind_knows_by_how_much() {
        let mut tree = tree(&[(100, None), (300, None), (100, Some(1)), (200, Some(1))]);
        (0..4).for_each(|group| tree.set_wants(group, true));
        tree.charge(0, Span::ZERO, Span::from_ms(2));
        assert_eq!(tree.behind_by(0), None);
        tree.set_wants(2, false);
        tree.set_wants(3, false);
        assert_eq!(tree.behind_by(2), None, "the tasks of group 1 are no further");
        tree.charge(1, Span::ZERO, Span::from_ms(1));
        // Group 2 is behind the tasks of group 1 by 1 ms; group 1 is behind group 0 by 5 ms.
        assert_eq!(tree.behind_by(2), Some(Span::from_ms(1)));
        assert_eq!(tree.behind_by(3), Some(Span::from_ms(2)));
        tree.charge(1, Span::ZERO, Span::from_ms(6));
        assert_eq!(tree.behind_by(2), None, "group 1 has had more than its share");
    }

    #[test]
    fn what_is_barred_gets_nothing_nor_what_lies_in_it() {
        let mut tree = tree(&[(100, None), (100, None), (100, Some(1))]);
        (0..3).for_each(|group| tree.set_wants(group, true));
        tree.set_barred(1, true);
        assert!(tree.is_barred(2));
        assert_eq!(served(&mut tree, 10), [10, 0, 0]);
        tree.set_barred(1, false);
        assert!(served(&mut tree, 10)[2] > 0);
    }

    #[test]
    fn groups_move_between_lines_and_never_in_a_circle() {
        let mut tree = tree(&[(100, None), (100, None), (100, Some(1))]);
        (0..3).for_each(|group| tree.set_wants(group, true));
        tree.set_parent(1, Some(2));
        assert_eq!(tree.path(2).collect::<Vec<_>>(), [2, 1], "it stays where it was");
        tree.set_parent(2, Some(0));
        assert_eq!(tree.path(2).collect::<Vec<_>>(), [2, 0]);
        let got = served(&mut tree, 400);
        assert!(got[1].abs_diff(200) <= 10 && got[0].abs_diff(100) <= 10, "{got:?}");
        for group in [0, 1, 2] {
            tree.set_wants(group, false);
        }
        assert_eq!(tree.first(), None);
    }
}
