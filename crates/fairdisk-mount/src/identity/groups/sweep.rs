//! Which groups are there no more: their directories are looked for, all of them in turn, and at
//! once where somebody needs the room that a floor leaves.

use super::{Groups, Hierarchy};
use crate::identity::SWEEP;
use fairdisk_core::{Change, GroupId, Instant};
use std::collections::BTreeSet;

/// The most groups whose directories are checked in one sweep. With more groups, a removed one may
/// be noticed only after several sweeps; in return, no request waits while thousands of directories
/// are looked up.
const LOOKED_FOR: usize = 256;

impl Groups {
    /// Whether there are removed groups that have not been forgotten.
    pub(in crate::identity) fn has_leaving(&self) -> bool {
        self.register.has_leaving()
    }

    /// Forgets removed groups that have nothing `unfinished`, and looks for further removed ones.
    pub(in crate::identity) fn sweep(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        unfinished: &BTreeSet<GroupId>,
        changes: &mut Vec<Change>,
    ) {
        self.found.retain(|_, found| now < found.at + SWEEP);
        let removed = self.register.forget(now, unfinished);
        changes.extend(removed.into_iter().map(|group| Change::GroupRemoved { group }));
        let mut gone = Vec::new();
        for group in self.next_looked_for() {
            let known = self.register.get(group);
            if let Some(known) = known.filter(|known| !known.is_there(hierarchy)) {
                gone.push(known.path.clone());
                self.leave(now, group, changes);
            }
        }
        // Other directories may have taken their places, with their own settings. Their floors have
        // the room that all of those left.
        for path in gone.iter().filter(|path| hierarchy.said_of(path).is_some()) {
            self.changed(now, hierarchy, (path, &[]), changes);
        }
    }

    /// The numbers whose turn it is in this sweep.
    fn next_looked_for(&mut self) -> impl Iterator<Item = GroupId> + use<> {
        let (first, numbers) = (self.next, self.register.numbers());
        let end = first + numbers.min(LOOKED_FOR);
        self.next = end % numbers;
        (first..end).map(move |number| GroupId((number % numbers) as u32))
    }

    /// Looks for the directories of all groups that have a floor. Returns whether one is gone, and
    /// its floor with it.
    pub(in crate::identity) fn free_floors(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        changes: &mut Vec<Change>,
    ) -> bool {
        let with_floor =
            self.register.iter().filter(|(_, known)| !known.standing.asks().qos.floor.is_none());
        let gone = with_floor.filter(|(_, known)| !known.is_there(hierarchy));
        let gone: Vec<GroupId> = gone.map(|(group, _)| group).collect();
        gone.iter().for_each(|group| self.leave(now, *group, changes));
        !gone.is_empty()
    }

    /// Notes that a group's directory is gone, and its settings with it. What it has queued is
    /// served as that of a group of which nobody said anything, inside its parent; what is written
    /// out from now on is charged to its heir.
    pub(super) fn leave(&mut self, now: Instant, group: GroupId, changes: &mut Vec<Change>) {
        let Some(left) = self.register.leave(now, group) else { return };
        tracing::debug!(group = left.path, "group is gone");
        left.standing.end(group, changes);
        self.untold.remove(&group);
        self.found.retain(|_, found| found.group != group);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Tree, at};
    use super::*;
    use crate::identity::Said;
    use fairdisk_core::{Qos, Share};

    fn share(group: GroupId) -> Change {
        Change::GroupShare { group, share: Share::DEFAULT }
    }

    fn no_floor(group: GroupId) -> Change {
        Change::GroupQos { group, qos: Qos::NONE }
    }

    /// The groups whose floors these changes set or take away, and whether they take it.
    fn floors(changes: &[Change]) -> Vec<(GroupId, bool)> {
        let floors = changes.iter().filter_map(|change| match change {
            Change::GroupQos { group, qos } => Some((*group, qos.floor.is_none())),
            _ => None,
        });
        floors.collect()
    }

    /// The floor of a group that is gone is in nobody's way, even of a group in its place.
    #[test]
    fn a_group_made_again_has_the_room_that_the_former_one_left() {
        let mut tree = Tree::new();
        tree.set("min_iops=60");
        tree.replace("/a", &[]);
        let changes = tree.set("min_iops=60");
        let added = changes.iter().find_map(|change| match change {
            Change::GroupAdded { group, .. } => Some(*group),
            _ => None,
        });
        let group = added.expect("it is another group");
        assert_ne!(group, tree.group);
        assert!(changes.contains(&no_floor(tree.group)), "{changes:?}");
        assert_eq!(floors(&changes), [(tree.group, true), (group, false)]);
        // Nothing was asked for in its place: whoever needs the room looks for it.
        let free = |tree: &mut Tree| {
            let mut changes = Vec::new();
            (tree.groups.free_floors(at(10), &tree.hierarchy, &mut changes), changes)
        };
        assert_eq!(free(&mut tree), (false, vec![]));
        tree.remove("/a");
        assert_eq!(free(&mut tree), (true, vec![no_floor(group)]));
    }

    /// All that are gone leave room before any of those in their places asks for some.
    #[test]
    fn a_sweep_takes_floors_away_before_it_gives_any() {
        let mut tree = Tree::new();
        tree.set("min_iops=30");
        tree.make("/z");
        tree.keep("/z", &["min_iops=60"]);
        let z = tree.find(at(1000), "/z").0;
        tree.replace("/a", &["min_iops=60"]);
        tree.remove("/z");
        let floors = floors(&tree.sweep(at(2000), &[]));
        assert_eq!(floors[..2], [(tree.group, true), (z, true)]);
        assert!(floors.len() == 3 && !floors[2].1, "{floors:?}");
    }

    #[test]
    fn the_number_of_a_group_is_free_when_nothing_of_it_is_on_its_way() {
        let mut tree = Tree::new();
        let a = tree.group;
        tree.remove("/a");
        for (time, busy, told) in [
            (2000, false, false), // missed
            (3999, false, false), // may have asked for something just now
            (4000, true, false),
            (6000, true, false),
            (8000, false, true),
        ] {
            let unfinished: &[GroupId] = if busy { &[a] } else { &[] };
            let removed = told.then_some(Change::GroupRemoved { group: a });
            assert_eq!(tree.sweep(at(time), unfinished), Vec::from_iter(removed), "{time}");
            assert_eq!(tree.groups.heir(a), GroupId::ROOT, "{time}");
            assert_eq!(tree.groups.iter().count(), 1, "it is shown no more");
            let path = format!("/{time}");
            tree.make(&path);
            let other = tree.find(at(time), &path).0;
            assert_eq!(other == a, told, "{time}");
            tree.groups.leave(at(100_000), other, &mut Vec::new());
        }
    }

    /// The settings of a removed cgroup are not shown for a new one of the same name.
    #[test]
    fn another_group_of_the_same_name_begins_with_nothing() {
        let mut tree = Tree::new();
        tree.set("weight=7");
        tree.replace("/a", &[]);
        assert_eq!(tree.sweep(at(2000), &[]), [share(tree.group)]);
        assert_eq!(tree.groups.iter().count(), 1, "nobody has asked for anything there");
        let (new, changes) = tree.find(at(2001), "/a");
        assert_ne!(new, tree.group);
        assert_eq!(changes, [Change::GroupAdded { group: new, share: Share::DEFAULT }]);
        tree.sweep(at(4001), &[]);
        assert_eq!(tree.groups.iter().count(), 2, "it is that one from now on");
        // One more group, which has settings.
        tree.replace("/a", &["weight=9"]);
        tree.sweep(at(6001), &[]);
        let asks = tree.groups.iter().map(|group| group.asks.to_string()).collect::<Vec<_>>();
        assert_eq!(asks, ["weight=100", "weight=9"]);
    }

    #[test]
    fn an_outer_group_is_forgotten_after_those_in_it() {
        let mut tree = Tree::new();
        tree.make("/a/b");
        for path in ["/a", "/a/b"] {
            tree.keep(path, &["weight=5"]);
        }
        let (a, b) = (tree.group, tree.find(at(1000), "/a/b").0);
        ["/a/b", "/a"].iter().for_each(|path| tree.remove(path));
        let removed = [b, a].map(|group| Change::GroupRemoved { group });
        for (time, unfinished, changes) in
            [(2000, &[][..], &[a, b].map(share)[..]), (4000, &[b], &[]), (6000, &[], &removed)]
        {
            assert_eq!(tree.sweep(at(time), unfinished), changes, "{time}");
            assert_eq!(tree.groups.heir(b), GroupId::ROOT, "{time}");
        }
    }

    #[test]
    fn of_many_groups_a_few_are_looked_for_at_a_time_and_all_in_turn() {
        let mut tree = Tree::new();
        let mut changes = Vec::new();
        let many = 4 * LOOKED_FOR;
        for number in 0..many {
            // Without a directory, as if it had just been removed.
            let path = format!("/{number}");
            tree.groups.group_at(at(0), &tree.hierarchy, &path, Said::NOTHING, &mut changes);
        }
        for pass in 1..=5 {
            tree.sweep(at(pass as u64), &[]);
            let left = tree.groups.iter().count();
            assert!(left >= (2 + many).saturating_sub(pass * LOOKED_FOR), "{pass}: {left}");
        }
        assert_eq!(tree.groups.iter().count(), 2, "those that are there");
    }
}
