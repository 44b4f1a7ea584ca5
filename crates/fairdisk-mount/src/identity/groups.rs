//! The groups: which one a cgroup belongs to, what it asks for, and where it is.

mod register;
mod sweep;
#[cfg(test)]
mod tree;

use super::standing::Standing;
use super::{Asks, Hierarchy, RECHECK, Said, Setting};
use fairdisk_core::{Change, Contradiction, GroupId, Instant, Qos, Rates};
use register::Register;
use std::collections::BTreeMap;

/// A group as reported to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupName<'a> {
    /// The number by which the scheduler knows the group.
    pub id: GroupId,
    /// The path of the group's cgroup.
    pub path: &'a str,
    /// The group's settings in force.
    pub asks: Asks,
    /// The enclosing group.
    pub parent: Option<GroupId>,
    /// The floor that the group asks for and the scheduler refused.
    pub refused: Rates,
}

#[derive(Debug)]
struct Group {
    path: String,
    standing: Standing,
    parent: Option<GroupId>,
    /// The inode of the group's directory. A directory made later under the same name is another
    /// group.
    inode: Option<u64>,
}

impl Group {
    fn new(path: &str, asks: Asks, inode: Option<u64>) -> Self {
        let (path, standing) = (path.to_owned(), Standing::new(asks));
        Self { path, standing, parent: None, inode }
    }

    /// Whether the directory still exists and has not been replaced by another.
    fn is_there(&self, hierarchy: &Hierarchy) -> bool {
        hierarchy.inode(&self.path).is_some_and(|there| self.inode.is_none_or(|is| is == there))
    }

    /// Whether another directory has taken the place of the group's.
    fn is_replaced(&self, hierarchy: &Hierarchy) -> bool {
        self.inode.is_some_and(|was| hierarchy.inode(&self.path).is_some_and(|is| is != was))
    }
}

/// The group to which the tasks of a cgroup belong, and when that was determined.
#[derive(Clone, Copy, Debug)]
struct Found {
    group: GroupId,
    at: Instant,
}

/// All groups of a disk.
#[derive(Debug)]
pub(super) struct Groups {
    register: Register,
    found: BTreeMap<String, Found>,
    /// The former settings of groups whose change has not been logged yet.
    untold: BTreeMap<GroupId, Asks>,
    /// Groups of which the scheduler refused a floor, and has not been told what holds instead.
    unsettled: Vec<GroupId>,
    /// Whether a floor is in force that the scheduler could not examine.
    pub(super) unexamined: bool,
    /// The number of the group at which the next sweep begins.
    next: usize,
}

impl Groups {
    pub(super) fn new() -> Self {
        Self {
            register: Register::new(Group::new("/", Asks::DEFAULT, None)),
            found: BTreeMap::new(),
            untold: BTreeMap::new(),
            unsettled: Vec::new(),
            unexamined: false,
            next: 0,
        }
    }

    /// The group of the tasks in `cgroup`. Appends what the scheduler must be told to `changes`.
    pub(super) fn find(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        cgroup: &str,
        changes: &mut Vec<Change>,
    ) -> GroupId {
        if let Some(found) = self.found.get(cgroup)
            && now < found.at + RECHECK
        {
            return found.group;
        }
        let (path, said) = hierarchy.effective(cgroup);
        let told = changes.len();
        let group = self.group_at(now, hierarchy, path, said, changes);
        self.nest(now, hierarchy, group, path, changes);
        nest_first(&mut changes[told..]);
        self.found.insert(cgroup.to_owned(), Found { group, at: now });
        group
    }

    /// Reads a group's settings and its place again. If its directory is gone, so are its settings.
    pub(super) fn look_again(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        group: GroupId,
        changes: &mut Vec<Change>,
    ) {
        let Some(known) = self.register.get(group) else { return };
        let (path, is_there) = (known.path.clone(), known.is_there(hierarchy));
        if !is_there {
            return self.leave(now, group, changes);
        }
        let said = hierarchy.said_of(&path).unwrap_or(Said::NOTHING);
        let told = changes.len();
        self.ask(group, said, changes);
        self.nest(now, hierarchy, group, &path, changes);
        nest_first(&mut changes[told..]);
    }

    /// Notes that the settings of `path` have changed: those that were `set`, or any if none is
    /// named. A floor that was set is examined, even if it was refused before. The cgroup becomes a
    /// group if it was none, and the cgroups inside it are assigned again.
    pub(super) fn changed(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        (path, set): (&str, &[Setting]),
        changes: &mut Vec<Change>,
    ) {
        let inside = |other: &str| {
            other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.found.retain(|cgroup, _| !inside(cgroup));
        let told = changes.len();
        if let (owner, said) = hierarchy.effective(path)
            && owner == path
        {
            let known = self.known(now, hierarchy, path, changes);
            if set.iter().any(Setting::is_of_floor)
                && let Some(known) = known.and_then(|group| self.register.get_mut(group))
            {
                known.standing.note_refused(Rates::NONE);
            }
            let group = self.group_at(now, hierarchy, path, said, changes);
            if known.is_none() && !set.is_empty() {
                self.untold.insert(group, Asks::DEFAULT);
            }
        }
        let known = self.iter().filter(|group| inside(group.path)).map(|group| group.id);
        for group in known.collect::<Vec<_>>() {
            self.look_again(now, hierarchy, group, changes);
        }
        nest_first(&mut changes[told..]);
    }

    /// Notes that the group at `path` asks again for what it asked for when this floor, or none,
    /// had been refused. It is not examined once more.
    pub(super) fn undone(&mut self, path: &str, refused: Rates) {
        let group = self.register.at(path);
        if let Some(known) = group.and_then(|group| self.register.get_mut(group)) {
            known.standing.note_refused(refused);
        }
    }

    /// Notes that the scheduler has accepted a group's floor, ceiling and target.
    pub(super) fn accept(&mut self, group: GroupId, qos: Qos) {
        if let Some(known) = self.register.get_mut(group) {
            known.standing.accept(qos);
        }
    }

    /// Notes that the scheduler refused a group's floor. Returns false if the group has asked for
    /// something else since, so that it does not matter.
    pub(super) fn refuse(&mut self, group: GroupId, qos: Qos) -> bool {
        let known = self.register.get_mut(group);
        let matters = known.is_some_and(|known| known.standing.refuse(qos));
        if matters {
            self.unsettled.push(group);
        }
        matters
    }

    /// Has the scheduler told what holds in place of the floors that it refused.
    pub(super) fn settle(&mut self, changes: &mut Vec<Change>) {
        for group in std::mem::take(&mut self.unsettled) {
            let Some(known) = self.register.get_mut(group) else { continue };
            known.standing.settle(group, changes);
        }
    }

    /// Submits all floors, one after the other, including refused ones: to a new scheduler, or to
    /// one that can examine them now.
    pub(super) fn ask_anew(&mut self, changes: &mut Vec<Change>) {
        self.unexamined = false;
        let mut floors = Vec::new();
        for (group, known) in self.register.iter_mut() {
            let Some([without, with]) = known.standing.ask_anew() else { continue };
            changes.push(Change::GroupQos { group, qos: without });
            floors.push(Change::GroupQos { group, qos: with });
        }
        changes.append(&mut floors);
    }

    /// Sets the parents of a group and of the groups around it from their directories.
    fn nest(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        group: GroupId,
        path: &str,
        changes: &mut Vec<Change>,
    ) {
        let (mut group, mut path) = (group, path);
        loop {
            let outer = hierarchy.outer(path);
            let parent =
                outer.map(|(path, said)| self.group_at(now, hierarchy, path, said, changes));
            self.set_parent(group, parent, changes);
            let (Some(parent), Some((outer, _))) = (parent, outer) else { return };
            (group, path) = (parent, outer);
        }
    }

    fn set_parent(&mut self, group: GroupId, parent: Option<GroupId>, changes: &mut Vec<Change>) {
        let Some(known) = self.register.get_mut(group) else { return };
        if known.parent != parent {
            known.parent = parent;
            changes.push(Change::GroupParent { group, parent });
        }
    }

    /// The group at `path`, if there is one. Another directory that has taken its place is another
    /// group.
    fn known(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        path: &str,
        changes: &mut Vec<Change>,
    ) -> Option<GroupId> {
        let group = self.register.at(path)?;
        if self.register.get(group).is_some_and(|known| known.is_replaced(hierarchy)) {
            self.leave(now, group, changes);
            return None;
        }
        Some(group)
    }

    /// The group at `path`, which appears if there is none.
    fn group_at(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        path: &str,
        said: Said,
        changes: &mut Vec<Change>,
    ) -> GroupId {
        if let Some(group) = self.known(now, hierarchy, path, changes) {
            self.ask(group, said, changes);
            return group;
        }
        let Said { asks, refused } = said;
        let with_share = Asks { share: asks.share, ..Asks::DEFAULT };
        let appears = Group::new(path, with_share, hierarchy.inode(path));
        let (group, known) = self.register.appear(appears);
        changes.push(Change::GroupAdded { group, share: asks.share });
        tracing::debug!(group = path, %asks, "group begins");
        known.standing.ask(group, asks, changes);
        self.tell_refused(group, refused);
        group
    }

    /// Logs, once, a contradiction among the settings of a group's directory.
    fn tell_refused(&mut self, group: GroupId, refused: Option<Contradiction>) {
        let Some(known) = self.register.get_mut(group) else { return };
        if let Some(why) = known.standing.contradicts(refused) {
            tracing::warn!(group = known.path, %why, "setting refused");
        }
    }

    fn ask(&mut self, group: GroupId, said: Said, changes: &mut Vec<Change>) {
        self.tell_refused(group, said.refused);
        let Some(known) = self.register.get_mut(group) else { return };
        let before = known.standing.asks();
        known.standing.ask(group, said.asks, changes);
        if known.standing.asks() != before {
            self.untold.entry(group).or_insert(before);
        }
    }

    /// Logs changed settings, once it is known what the scheduler accepts of them.
    pub(super) fn tell_changed(&mut self) {
        while let Some((group, old)) = self.untold.pop_first() {
            let known = self.register.get(group).map(|known| (&known.path, known.standing.asks()));
            if let Some((path, asks)) = known.filter(|(_, asks)| *asks != old) {
                tracing::info!(group = path, %old, new = %asks, "setting changed");
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = GroupName<'_>> {
        self.register.iter().map(|(id, group)| {
            let Group { path, standing, parent, .. } = group;
            let (asks, refused) = (standing.asks(), standing.refused_floor());
            GroupName { id, path, asks, parent: *parent, refused }
        })
    }

    /// Whether the directory of a group was found to be gone.
    pub(super) fn is_gone(&self, group: GroupId) -> bool {
        self.register.is_leaving(group)
    }

    /// Whether `group` is the number of the existing group at `path`.
    pub(super) fn is_called(&self, group: GroupId, path: &str) -> bool {
        self.register.at(path) == Some(group)
    }

    /// The group that pays for the dirty data of `group`: itself, or the closest enclosing group
    /// that still exists.
    pub(super) fn heir(&self, group: GroupId) -> GroupId {
        self.register.heir(group)
    }
}

/// Moves the floors of groups behind the places of all, without changing the order otherwise: a
/// floor inside a group that has one is part of that group's promise, and of its own it might not
/// fit. None of the groups may have been removed meanwhile.
fn nest_first(changes: &mut [Change]) {
    changes.sort_by_key(|change| matches!(change, Change::GroupQos { .. }));
}

#[cfg(test)]
mod tests {
    use super::tree::{Tree, at};
    use super::*;
    use fairdisk_core::{Cost, CostModel, Elevator as _, Promising as _, Share, Span, Weight};
    use fairdisk_sched::SchedulerSpec;
    use std::num::NonZeroU64;

    #[test]
    fn what_is_refused_is_asked_for_again_only_if_it_is_set_again() {
        let mut tree = Tree::new();
        let group = tree.group;
        let first = tree.set("min_iops=5");
        assert!(matches!(first[..], [Change::GroupQos { group: told, .. }] if told == group));
        tree.refuse();
        let asks = tree.groups.iter().find(|known| known.id == group).map(|known| known.asks);
        assert_eq!(asks, Some(Asks::DEFAULT), "what is shown is what is in effect");
        assert_eq!(tree.look_again(), []);
        assert_eq!(tree.set("min_iops=5"), first);
        // The next one is refused as well, and taken back.
        tree.refuse();
        let refused = tree.shown().expect("it is there").1;
        tree.set("min_iops=6");
        tree.refuse();
        tree.keep("/a", &["min_iops=5"]);
        tree.groups.undone("/a", refused);
        assert_eq!(tree.look_again(), []);
        assert_eq!(tree.shown(), Some(("weight=100".to_owned(), refused)));
    }

    /// Three fifths of a disk are promised to a group, and the same to one inside it.
    #[test]
    fn a_scheduler_knows_what_lies_in_what_before_it_examines_floors() {
        let mut tree = Tree::new();
        tree.make("/a/b");
        for path in ["/a", "/a/b"] {
            tree.keep(path, &["min_iops=60"]);
        }
        tree.groups = Groups::new();
        let mut fair = SchedulerSpec::named("fair").expect("it is known").build();
        let place = Span::from_ms(10);
        let cost = Cost { random: place, ..Cost::default() };
        let costs =
            CostModel { depth: 1, saturation: place, alone: place, read: cost, write: cost };
        fair.configure(at(0), &Change::Costs(costs));
        let mut tell = |changes: &[Change]| {
            for change in changes {
                assert_eq!(fair.accepts(change), Ok(()), "{change:?}");
                fair.configure(at(0), change);
            }
        };
        tell(&tree.find(at(0), "/a/b").1);
        // The outer one has no settings for a while, and the inner one is by itself.
        for setting in ["min_iops=none", "min_iops=60"] {
            let changes = tree.set(setting);
            assert!(changes.len() > 1, "a floor and a place: {changes:?}");
            tell(&changes);
        }
    }

    #[test]
    fn another_scheduler_is_asked_for_all_floors() {
        let mut tree = Tree::new();
        let group = tree.group;
        let floor = tree.set("min_iops=5");
        let asks = |tree: &Tree| {
            let known = tree.groups.iter().find(|known| known.id == group);
            known.map(|known| known.asks)
        };
        let with = asks(&tree);
        let without = Change::GroupQos { group, qos: Qos::NONE };
        for _ in 0..2 {
            assert_eq!(tree.ask_anew(), [without, floor[0]]);
            assert_eq!(asks(&tree), with);
            // After a refusal, the next scheduler is asked again.
            tree.refuse();
            assert_eq!(asks(&tree), Some(Asks::DEFAULT));
        }
    }

    /// A ceiling and a target hold whatever becomes of the floor beside them.
    #[test]
    fn only_the_floor_of_a_group_is_refused() {
        let mut tree = Tree::new();
        tree.keep("/a", &["min_iops=1000", "max_bps=64K", "latency_p99_ms=50"]);
        tree.groups = Groups::new();
        let floor = Rates { iops: NonZeroU64::new(1000), ..Rates::NONE };
        let (group, changes) = tree.find(at(0), "/a");
        let Some(Change::GroupQos { qos: asked, .. }) = changes.last().copied() else {
            panic!("no floor: {changes:?}");
        };
        assert_eq!(asked.floor, floor);
        tree.refuse();
        let rest = Change::GroupQos { group, qos: Qos { floor: Rates::NONE, ..asked } };
        assert_eq!(tree.settle(), [rest]);
        let shown = "weight=100 max_bps=65536 latency_p99_ms=50".to_owned();
        assert_eq!(tree.shown(), Some((shown, floor)));
        // Everything else can be changed.
        let share = Share::Weight(Weight::new(120).expect("a weight"));
        assert_eq!(tree.set("weight=120"), [Change::GroupShare { group, share }]);
        let higher = tree.set("max_bps=128K");
        let is_ceiling =
            |it: &Change| matches!(it, Change::GroupQos { qos, .. } if qos.floor.is_none());
        assert!(higher.len() == 1 && higher.iter().all(is_ceiling), "{higher:?}");
        let shown = "weight=120 max_bps=131072 latency_p99_ms=50".to_owned();
        assert_eq!(tree.shown(), Some((shown.clone(), floor)));
        // Another scheduler may keep it, or refuse it like the first one.
        assert_eq!(tree.ask_anew().len(), 2);
        tree.refuse();
        assert_eq!(tree.settle(), [], "it was told so before");
        assert_eq!(tree.shown(), Some((shown, floor)));
    }

    /// The former floor stays, beside the ceiling that came with the one that is refused.
    #[test]
    fn a_former_floor_stays_where_the_new_ceiling_has_room_for_it() {
        let mut tree = Tree::new();
        tree.set("min_iops=50");
        for (settings, left) in [
            (["min_iops=1000", "min_bps=none", "max_iops=2000"], "min_iops=50 max_iops=2000"),
            (["min_iops=none", "min_bps=4000M", "max_iops=20"], "max_iops=20"),
        ] {
            tree.keep("/a", &settings);
            assert_eq!(tree.look_again().len(), 1);
            tree.refuse();
            assert_eq!(tree.settle().len(), 1, "{left}");
            assert_eq!(tree.shown().map(|shown| shown.0), Some(format!("weight=100 {left}")));
        }
        // It may turn out to be too much as well.
        let mut tree = Tree::new();
        tree.set("min_iops=50");
        tree.keep("/a", &["min_iops=1000", "max_iops=2000"]);
        tree.look_again();
        for left in ["weight=100 min_iops=50 max_iops=2000", "weight=100 max_iops=2000"] {
            tree.refuse();
            assert_eq!(tree.settle().len(), 1, "{left}");
            let shown = tree.shown().expect("it is there");
            assert_eq!((&*shown.0, shown.1.iops), (left, NonZeroU64::new(1000)));
        }
    }

    /// Of several floors that a scheduler is told at once, only what becomes of the last one
    /// counts, and what was refused never comes back.
    #[test]
    fn a_floor_that_was_refused_is_not_fallen_back_to() {
        let floor = |iops| Rates { iops: NonZeroU64::new(iops), ..Rates::NONE };
        for (refused, matter, shown) in [
            (&[1000][..], 0, ("weight=100 min_iops=20", Rates::NONE)),
            (&[20], 1, ("weight=100 min_iops=1000", floor(20))),
            (&[1000, 20], 1, ("weight=100 min_iops=5", floor(20))),
        ] {
            let mut tree = Tree::new();
            for setting in ["min_iops=5", "min_iops=1000", "min_iops=20"] {
                assert_eq!(tree.set(setting).len(), 1);
            }
            let is_refused = |qos: &Qos| refused.iter().any(|iops| qos.floor == floor(*iops));
            assert_eq!(tree.answer(|_, qos| is_refused(qos)), matter, "{refused:?}");
            assert_eq!(tree.settle(), [], "the scheduler keeps to that: {refused:?}");
            assert_eq!(tree.shown(), Some((shown.0.to_owned(), shown.1)));
            tree.set("min_iops=2000");
            tree.refuse();
            assert_eq!(tree.settle(), [], "{refused:?}");
            assert_eq!(tree.shown(), Some((shown.0.to_owned(), floor(2000))));
        }
        // Asked for twice, and refused at first: the scheduler keeps to what lies between.
        let mut tree = Tree::new();
        for setting in ["min_iops=5", "min_iops=1000", "min_iops=20", "min_iops=1000"] {
            assert_eq!(tree.set(setting).len(), 1);
        }
        assert_eq!(tree.answer(|_, qos| qos.floor == floor(1000)), 1);
        let group = tree.group;
        let back = Change::GroupQos { group, qos: Qos { floor: floor(5), ..Qos::NONE } };
        assert_eq!(tree.settle(), [back]);
        assert_eq!(tree.shown(), Some(("weight=100 min_iops=5".to_owned(), floor(1000))));
    }

    #[test]
    fn the_settings_of_a_group_go_with_it() {
        let mut tree = Tree::new();
        let group = tree.group;
        for setting in ["ioprio=0", "idle=20", "min_iops=5", "max_bps=1"] {
            assert_eq!(tree.set(setting).len(), 1);
        }
        tree.remove("/a");
        let ends = [
            Change::GroupShare { group, share: Share::DEFAULT },
            Change::GroupIdle { group, idle: None },
            Change::GroupQos { group, qos: Qos::NONE },
        ];
        assert_eq!(tree.look_again(), ends);
        assert_eq!((tree.look_again(), tree.shown()), (Vec::new(), None));
        assert_eq!(tree.groups.heir(group), GroupId::ROOT);
        assert_eq!(tree.ask_anew(), []);
    }

    /// Also the first setting of a group, and none of the one that was there before.
    #[test]
    fn what_was_set_is_told_with_what_was_there_before() {
        let mut tree = Tree::new();
        let untold = |tree: &mut Tree| std::mem::take(&mut tree.groups.untold);
        let number = |tree: &Tree| tree.groups.register.at("/a/b").expect("it is there");
        tree.make("/a/b");
        tree.set_at("/a/b", &["weight=7"]);
        let former = number(&tree);
        assert_eq!(untold(&mut tree), BTreeMap::from([(former, Asks::DEFAULT)]));
        tree.replace("/a/b", &[]);
        tree.set_at("/a/b", &["weight=7"]);
        let new = number(&tree);
        assert_ne!(new, former);
        assert_eq!(untold(&mut tree), BTreeMap::from([(new, Asks::DEFAULT)]));
    }
}
