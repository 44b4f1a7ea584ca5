//! The groups, their settings, and their changes over time.

use super::standing::Standing;
use super::{Asks, Hierarchy, RECHECK, SWEEP, Said, Setting};
use fairdisk_core::{Change, Contradiction, GroupId, Instant, Rates};
use std::collections::{BTreeMap, BTreeSet};

/// The most groups whose directories are checked in one sweep. With more groups, a removed one may
/// be noticed only after several sweeps; in return, no request waits while thousands of directories
/// are looked up.
const LOOKED_FOR: usize = 256;

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
    /// When the directory was found to be gone. Requests of the group may still be in flight.
    gone: Option<Instant>,
}

impl Group {
    fn new(path: &str, asks: Asks, inode: Option<u64>) -> Self {
        let (path, standing) = (path.to_owned(), Standing::new(asks));
        Self { path, standing, parent: None, inode, gone: None }
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
    group: u32,
    at: Instant,
}

/// All groups of a disk.
#[derive(Debug)]
pub(super) struct Groups {
    /// The groups by number. The root group has number 0.
    list: Vec<Option<Group>>,
    numbers: BTreeMap<String, u32>,
    found: BTreeMap<String, Found>,
    /// For each removed group, the group that inherits its dirty data, until its number is reused.
    gone: BTreeMap<u32, GroupId>,
    /// Removed groups that the scheduler does not know to be removed yet.
    leaving: Vec<u32>,
    /// The former settings of groups whose change has not been logged yet.
    untold: BTreeMap<u32, Asks>,
    /// Groups of which the scheduler refused a floor, and has not been told what holds instead.
    unsettled: Vec<u32>,
    /// Whether a floor is in force that the scheduler could not examine.
    pub(super) unexamined: bool,
    /// The number of the group at which the next sweep begins.
    next: usize,
}

impl Groups {
    pub(super) fn new() -> Self {
        let root = Group::new("/", Asks::DEFAULT, None);
        let numbers = BTreeMap::from([("/".to_owned(), GroupId::ROOT.0)]);
        Self {
            list: vec![Some(root)],
            numbers,
            found: BTreeMap::new(),
            gone: BTreeMap::new(),
            leaving: Vec::new(),
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
            return GroupId(found.group);
        }
        let (path, said) = hierarchy.effective(cgroup);
        let told = changes.len();
        let group = self.number(now, hierarchy, path, said, changes);
        self.nest(now, hierarchy, group, path, changes);
        nest_first(&mut changes[told..]);
        self.found.insert(cgroup.to_owned(), Found { group, at: now });
        GroupId(group)
    }

    /// Reads a group's settings and its place again. If its directory is gone, so are its settings.
    pub(super) fn look_again(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        group: GroupId,
        changes: &mut Vec<Change>,
    ) {
        let Some(known) = self.get(group.0).filter(|known| known.gone.is_none()) else { return };
        let (path, is_there) = (known.path.clone(), known.is_there(hierarchy));
        if !is_there {
            return self.leave(now, group.0, changes);
        }
        let said = hierarchy.said_of(&path).unwrap_or(Said::NOTHING);
        let told = changes.len();
        self.ask(group.0, said, changes);
        self.nest(now, hierarchy, group.0, &path, changes);
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
                && let Some(known) = known.and_then(|number| self.get_mut(number))
            {
                known.standing.forgive();
            }
            let number = self.number(now, hierarchy, path, said, changes);
            if known.is_none() && !set.is_empty() {
                self.untold.insert(number, Asks::DEFAULT);
            }
        }
        let known = self.iter().filter(|group| inside(group.path)).map(|group| group.id);
        for group in known.collect::<Vec<_>>() {
            self.look_again(now, hierarchy, group, changes);
        }
        nest_first(&mut changes[told..]);
    }

    /// Notes that the scheduler refused a group's floor.
    pub(super) fn refuse(&mut self, group: GroupId) {
        if let Some(known) = self.get_mut(group.0) {
            known.standing.refuse();
            self.unsettled.push(group.0);
        }
    }

    /// Has the scheduler told what holds in place of the floors that it refused.
    pub(super) fn settle(&mut self, changes: &mut Vec<Change>) {
        for number in std::mem::take(&mut self.unsettled) {
            let Some(known) = self.get_mut(number) else { continue };
            known.standing.settle(GroupId(number), changes);
        }
    }

    /// Looks for the directories of all groups that have a floor. Returns whether one is gone, and
    /// its floor with it.
    pub(super) fn free_floors(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        changes: &mut Vec<Change>,
    ) -> bool {
        let gone = (0..).zip(&self.list).filter_map(|(number, group)| {
            let known = group.as_ref().filter(|known| known.gone.is_none())?;
            let has_floor = !known.standing.asks().qos.floor.is_none();
            (has_floor && !known.is_there(hierarchy)).then_some(number)
        });
        let gone: Vec<u32> = gone.collect();
        gone.iter().for_each(|number| self.leave(now, *number, changes));
        !gone.is_empty()
    }

    /// Submits all floors, one after the other, including refused ones: to a new scheduler, or to
    /// one that can examine them now.
    pub(super) fn ask_anew(&mut self, changes: &mut Vec<Change>) {
        self.unexamined = false;
        let mut floors = Vec::new();
        for (number, known) in (0..).zip(&mut self.list) {
            let anew = known.as_mut().and_then(|known| known.standing.ask_anew());
            let Some([without, with]) = anew else { continue };
            let group = GroupId(number);
            changes.push(Change::GroupQos { group, qos: without });
            floors.push(Change::GroupQos { group, qos: with });
        }
        changes.append(&mut floors);
    }

    fn get(&self, number: u32) -> Option<&Group> {
        self.list.get(number as usize)?.as_ref()
    }

    fn get_mut(&mut self, number: u32) -> Option<&mut Group> {
        self.list.get_mut(number as usize)?.as_mut()
    }

    /// Sets the parents of a group and of the groups around it from their directories.
    fn nest(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        group: u32,
        path: &str,
        changes: &mut Vec<Change>,
    ) {
        let (mut group, mut path) = (group, path);
        loop {
            let outer = hierarchy.outer(path);
            let parent = outer.map(|(path, said)| self.number(now, hierarchy, path, said, changes));
            self.set_parent(group, parent.map(GroupId), changes);
            let (Some(parent), Some((outer, _))) = (parent, outer) else { return };
            (group, path) = (parent, outer);
        }
    }

    fn set_parent(&mut self, group: u32, parent: Option<GroupId>, changes: &mut Vec<Change>) {
        let Some(known) = self.get_mut(group) else { return };
        if known.parent != parent {
            known.parent = parent;
            changes.push(Change::GroupParent { group: GroupId(group), parent });
        }
    }

    /// The number of the group at `path`, if there is one. Another directory that has taken its
    /// place is another group.
    fn known(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        path: &str,
        changes: &mut Vec<Change>,
    ) -> Option<u32> {
        let number = self.numbers.get(path).copied()?;
        if self.get(number).is_some_and(|known| known.is_replaced(hierarchy)) {
            self.leave(now, number, changes);
            return None;
        }
        Some(number)
    }

    /// The number of the group at `path`, which begins if there is none.
    fn number(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        path: &str,
        said: Said,
        changes: &mut Vec<Change>,
    ) -> u32 {
        if let Some(number) = self.known(now, hierarchy, path, changes) {
            self.ask(number, said, changes);
            return number;
        }
        let free = self.list.iter().position(Option::is_none);
        let number = free.unwrap_or(self.list.len());
        if free.is_none() {
            self.list.push(None);
        }
        self.gone.remove(&(number as u32));
        let Said { asks, refused } = said;
        let mut group =
            Group::new(path, Asks { share: asks.share, ..Asks::DEFAULT }, hierarchy.inode(path));
        let id = GroupId(number as u32);
        changes.push(Change::GroupAdded { group: id, share: asks.share });
        tracing::debug!(group = path, %asks, "group begins");
        group.standing.ask(id, asks, changes);
        self.list[number] = Some(group);
        self.numbers.insert(path.to_owned(), id.0);
        self.tell_refused(id.0, refused);
        id.0
    }

    /// Logs, once, a contradiction among the settings of a group's directory.
    fn tell_refused(&mut self, number: u32, refused: Option<Contradiction>) {
        let Some(known) = self.get_mut(number) else { return };
        if let Some(why) = known.standing.contradicts(refused) {
            tracing::warn!(group = known.path, %why, "setting refused");
        }
    }

    fn ask(&mut self, number: u32, said: Said, changes: &mut Vec<Change>) {
        self.tell_refused(number, said.refused);
        let Some(known) = self.get_mut(number) else { return };
        let before = known.standing.asks();
        known.standing.ask(GroupId(number), said.asks, changes);
        if known.standing.asks() != before {
            self.untold.entry(number).or_insert(before);
        }
    }

    /// Logs changed settings, once it is known what the scheduler accepts of them.
    pub(super) fn tell_changed(&mut self) {
        while let Some((number, old)) = self.untold.pop_first() {
            let known = self.get(number).map(|known| (&known.path, known.standing.asks()));
            if let Some((path, asks)) = known.filter(|(_, asks)| *asks != old) {
                tracing::info!(group = path, %old, new = %asks, "setting changed");
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = GroupName<'_>> {
        self.list.iter().enumerate().filter_map(|(number, group)| {
            let id = GroupId(number as u32);
            let known = group.as_ref().filter(|known| known.gone.is_none());
            let Group { path, standing, parent, .. } = known?;
            let (asks, refused) = (standing.asks(), standing.refused_floor());
            Some(GroupName { id, path, asks, parent: *parent, refused })
        })
    }

    /// Whether the directory of a group was found to be gone.
    pub(super) fn is_gone(&self, group: GroupId) -> bool {
        self.get(group.0).is_some_and(|known| known.gone.is_some())
    }

    /// Whether `group` is the number of the existing group at `path`.
    pub(super) fn is_called(&self, group: GroupId, path: &str) -> bool {
        self.get(group.0).is_some_and(|known| known.gone.is_none() && known.path == path)
    }

    /// The group that pays for the dirty data of `group`: itself, or the closest enclosing group
    /// that still exists.
    pub(super) fn heir(&self, group: GroupId) -> GroupId {
        self.gone.get(&group.0).copied().unwrap_or(group)
    }

    /// Whether there are removed groups that have not been forgotten.
    pub(super) const fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Forgets removed groups that have nothing `unfinished`, and looks for further removed ones.
    pub(super) fn sweep(
        &mut self,
        now: Instant,
        hierarchy: &Hierarchy,
        unfinished: &BTreeSet<GroupId>,
        changes: &mut Vec<Change>,
    ) {
        self.found.retain(|_, found| now < found.at + SWEEP);
        self.forget(now, unfinished, changes);
        let (groups, looked_for) = (self.list.len(), self.list.len().min(LOOKED_FOR));
        let first = self.next;
        let mut gone = Vec::new();
        for number in (first..first + looked_for).map(|number| (number % groups) as u32) {
            let known = self.get(number).filter(|known| known.gone.is_none());
            if let Some(known) = known.filter(|known| !known.is_there(hierarchy)) {
                gone.push(known.path.clone());
                self.leave(now, number, changes);
            }
        }
        // Other directories may have taken their places, with their own settings. Their floors have
        // the room that all of those left.
        for path in gone.iter().filter(|path| hierarchy.said_of(path).is_some()) {
            self.changed(now, hierarchy, (path, &[]), changes);
        }
        self.next = (first + looked_for) % groups;
    }

    /// Notes that a group's directory is gone, and its settings with it. What it has queued is
    /// served as that of a group of which nobody said anything, inside its parent; what is written
    /// out from now on is charged to its heir.
    fn leave(&mut self, now: Instant, number: u32, changes: &mut Vec<Change>) {
        let Some(group) = self.get_mut(number) else { return };
        tracing::debug!(group = group.path, "group is gone");
        group.gone = Some(now);
        group.standing.end(GroupId(number), changes);
        let (path, outer) = (group.path.clone(), group.parent.unwrap_or(GroupId::ROOT));
        let outer = self.heir(outer);
        let heirs = self.gone.values_mut().filter(|heir| heir.0 == number);
        heirs.for_each(|heir| *heir = outer);
        self.gone.insert(number, outer);
        self.numbers.remove(&path);
        self.untold.remove(&number);
        self.found.retain(|_, found| found.group != number);
        self.leaving.push(number);
    }

    /// Removes groups that are gone and unused, inner ones first. They must have been gone for a
    /// while, so that their last requests have reached the scheduler.
    fn forget(&mut self, now: Instant, unfinished: &BTreeSet<GroupId>, changes: &mut Vec<Change>) {
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.sort_by_key(|number| {
            std::cmp::Reverse(self.get(*number).map_or(0, |group| group.path.len()))
        });
        let parents = self.list.iter().flatten().filter_map(|group| group.parent);
        let mut inside: BTreeMap<GroupId, u32> = BTreeMap::new();
        parents.for_each(|parent| *inside.entry(parent).or_default() += 1);
        leaving.retain(|number| {
            let id = GroupId(*number);
            let Some(Group { gone: Some(found), parent, .. }) = self.get(*number) else {
                return false;
            };
            let is_outer = inside.get(&id).is_some_and(|inner| *inner > 0);
            if is_outer || now < *found + SWEEP || unfinished.contains(&id) {
                return true;
            }
            parent.iter().for_each(|parent| *inside.entry(*parent).or_default() -= 1);
            self.list[*number as usize] = None;
            changes.push(Change::GroupRemoved { group: id });
            false
        });
        self.leaving = leaving;
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
    use super::*;
    use crate::identity::Setting;
    use fairdisk_core::{Cost, CostModel, Elevator as _, Qos, Share, Span};
    use fairdisk_sched::SchedulerSpec;
    use std::num::NonZeroU64;

    /// A hierarchy with one group, `/a`, and its known state.
    struct Tree {
        place: tempfile::TempDir,
        hierarchy: Hierarchy,
        groups: Groups,
        group: GroupId,
    }

    impl Tree {
        fn new() -> Self {
            let place = tempfile::tempdir().expect("a directory");
            std::fs::create_dir(place.path().join("a")).expect("a group");
            let hierarchy = Hierarchy::in_directory(place.path());
            let (mut groups, mut changes) = (Groups::new(), Vec::new());
            let group = groups.find(Instant::ZERO, &hierarchy, "/a", &mut changes);
            assert_eq!(changes, [Change::GroupAdded { group, share: Share::DEFAULT }]);
            Self { place, hierarchy, groups, group }
        }

        fn set(&mut self, setting: &str) -> Vec<Change> {
            let setting = Setting::parse(setting).expect("a setting");
            self.hierarchy.set("/a", &[setting]).expect("attributes can be kept");
            let mut changes = Vec::new();
            let set = ("/a", &[setting][..]);
            self.groups.changed(Instant::ZERO, &self.hierarchy, set, &mut changes);
            changes
        }

        fn look_again(&mut self) -> Vec<Change> {
            let mut changes = Vec::new();
            self.groups.look_again(Instant::ZERO, &self.hierarchy, self.group, &mut changes);
            changes
        }

        fn shown(&self) -> Option<(String, Rates)> {
            let known = self.groups.iter().find(|known| known.path == "/a");
            known.map(|known| (known.asks.to_string(), known.refused))
        }
    }

    #[test]
    fn what_is_refused_is_asked_for_again_only_if_it_is_set_again() {
        let mut tree = Tree::new();
        let group = tree.group;
        let first = tree.set("min_iops=5");
        assert!(matches!(first[..], [Change::GroupQos { group: told, .. }] if told == group));
        tree.groups.refuse(group);
        let asks = tree.groups.iter().find(|known| known.id == group).map(|known| known.asks);
        assert_eq!(asks, Some(Asks::DEFAULT), "what is shown is what is in effect");
        assert_eq!(tree.look_again(), []);
        assert_eq!(tree.set("min_iops=5"), first);
    }

    /// Three fifths of a disk are promised to a group, and the same to one inside it.
    #[test]
    fn a_scheduler_knows_what_lies_in_what_before_it_examines_floors() {
        let tree = Tree::new();
        std::fs::create_dir(tree.place.path().join("a/b")).expect("a group");
        let floor = Setting::parse("min_iops=60").expect("a setting");
        for path in ["/a", "/a/b"] {
            tree.hierarchy.set(path, &[floor]).expect("attributes can be kept");
        }
        let mut groups = Groups::new();
        let mut fair = SchedulerSpec::named("fair").expect("it is known").build();
        let place = Span::from_ms(10);
        let cost = Cost { random: place, ..Cost::default() };
        let costs =
            CostModel { depth: 1, saturation: place, alone: place, read: cost, write: cost };
        fair.configure(Instant::ZERO, &Change::Costs(costs));
        let mut tell = |changes: &mut Vec<Change>| {
            for change in changes.drain(..) {
                assert_eq!(fair.accepts(&change), Ok(()), "{change:?}");
                fair.configure(Instant::ZERO, &change);
            }
        };
        let mut changes = Vec::new();
        groups.find(Instant::ZERO, &tree.hierarchy, "/a/b", &mut changes);
        tell(&mut changes);
        // The outer one has no settings for a while, and the inner one is by itself.
        for setting in ["min_iops=none", "min_iops=60"] {
            let setting = Setting::parse(setting).expect("a setting");
            tree.hierarchy.set("/a", &[setting]).expect("attributes can be kept");
            groups.changed(Instant::ZERO, &tree.hierarchy, ("/a", &[setting]), &mut changes);
            assert!(changes.len() > 1, "a floor and a place: {changes:?}");
            tell(&mut changes);
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
            let mut changes = Vec::new();
            tree.groups.ask_anew(&mut changes);
            assert_eq!(changes, [without, floor[0]]);
            assert_eq!(asks(&tree), with);
            // After a refusal, the next scheduler is asked again.
            tree.groups.refuse(group);
            assert_eq!(asks(&tree), Some(Asks::DEFAULT));
        }
    }

    /// A ceiling and a target hold whatever becomes of the floor beside them.
    #[test]
    fn only_the_floor_of_a_group_is_refused() {
        let tree = Tree::new();
        let settings = ["min_iops=1000", "max_bps=64K", "latency_p99_ms=50"];
        let settings = settings.map(|text| Setting::parse(text).expect("a setting"));
        tree.hierarchy.set("/a", &settings).expect("attributes can be kept");
        let mut tree = Tree { groups: Groups::new(), ..tree };
        let (mut changes, floor) =
            (Vec::new(), Rates { iops: NonZeroU64::new(1000), ..Rates::NONE });
        let group = tree.groups.find(Instant::ZERO, &tree.hierarchy, "/a", &mut changes);
        let Some(Change::GroupQos { qos: asked, .. }) = changes.last().copied() else {
            panic!("no floor: {changes:?}");
        };
        assert_eq!(asked.floor, floor);
        let settled = |tree: &mut Tree| {
            let mut changes = Vec::new();
            tree.groups.settle(&mut changes);
            changes
        };
        tree.groups.refuse(group);
        let rest = Change::GroupQos { group, qos: Qos { floor: Rates::NONE, ..asked } };
        assert_eq!(settled(&mut tree), [rest]);
        let (rest, settings) = ("max_bps=65536 latency_p99_ms=50", settings.map(Setting::key));
        assert_eq!(settings[0], "min_iops");
        assert_eq!(tree.shown(), Some((format!("weight=100 {rest}"), floor)));
        // Everything else can be changed.
        let share = Share::Weight(fairdisk_core::Weight::new(120).expect("a weight"));
        assert_eq!(tree.set("weight=120"), [Change::GroupShare { group, share }]);
        let higher = tree.set("max_bps=128K");
        let is_ceiling =
            |it: &Change| matches!(it, Change::GroupQos { qos, .. } if qos.floor.is_none());
        assert!(higher.len() == 1 && higher.iter().all(is_ceiling), "{higher:?}");
        let shown = "weight=120 max_bps=131072 latency_p99_ms=50".to_owned();
        assert_eq!(tree.shown(), Some((shown.clone(), floor)));
        // Another scheduler may keep it, or refuse it like the first one.
        let mut changes = Vec::new();
        tree.groups.ask_anew(&mut changes);
        assert_eq!(changes.len(), 2);
        tree.groups.refuse(group);
        assert_eq!(settled(&mut tree), [], "it was told so before");
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
            let settings = settings.map(|text| Setting::parse(text).expect("a setting"));
            tree.hierarchy.set("/a", &settings).expect("attributes can be kept");
            assert_eq!(tree.look_again().len(), 1);
            tree.groups.refuse(tree.group);
            let mut changes = Vec::new();
            tree.groups.settle(&mut changes);
            assert_eq!(changes.len(), 1, "{left}");
            assert_eq!(tree.shown().map(|shown| shown.0), Some(format!("weight=100 {left}")));
        }
        // It may turn out to be too much as well.
        let mut tree = Tree::new();
        tree.set("min_iops=50");
        tree.set("min_iops=1000");
        for left in ["weight=100 min_iops=50", "weight=100"] {
            tree.groups.refuse(tree.group);
            tree.groups.settle(&mut Vec::new());
            let shown = tree.shown().expect("it is there");
            assert_eq!((&*shown.0, shown.1.iops), (left, NonZeroU64::new(1000)));
        }
    }

    #[test]
    fn the_settings_of_a_group_go_with_it() {
        let mut tree = Tree::new();
        let group = tree.group;
        for setting in ["ioprio=0", "idle=20", "min_iops=5", "max_bps=1"] {
            assert_eq!(tree.set(setting).len(), 1);
        }
        std::fs::remove_dir(tree.place.path().join("a")).expect("it is empty");
        let ends = [
            Change::GroupShare { group, share: Share::DEFAULT },
            Change::GroupIdle { group, idle: None },
            Change::GroupQos { group, qos: Qos::NONE },
        ];
        assert_eq!(tree.look_again(), ends);
        assert_eq!((tree.look_again(), tree.shown()), (Vec::new(), None));
        assert_eq!(tree.groups.heir(group), GroupId::ROOT);
        let mut changes = Vec::new();
        tree.groups.ask_anew(&mut changes);
        assert_eq!(changes, []);
    }

    /// The floor of a group that is gone is in nobody's way, even of a group in its place.
    #[test]
    fn a_group_made_again_has_the_room_that_the_former_one_left() {
        let mut tree = Tree::new();
        tree.set("min_iops=60");
        let (old, successor) = (tree.place.path().join("a"), tree.place.path().join("b"));
        let again = |successor: &std::path::Path, old: &std::path::Path| {
            std::fs::create_dir(successor).expect("beside it, so that it has another number");
            std::fs::remove_dir(old).expect("it is empty");
            std::fs::rename(successor, old).expect("its place is free");
        };
        again(&successor, &old);
        let changes = tree.set("min_iops=60");
        let end = Change::GroupQos { group: tree.group, qos: Qos::NONE };
        let added = |it: &&Change| matches!(it, Change::GroupAdded { .. });
        let Some(Change::GroupAdded { group, .. }) = changes.iter().find(added).copied() else {
            panic!("no other group: {changes:?}");
        };
        assert_ne!(group, tree.group);
        let floors = changes.iter().filter(|it| matches!(it, Change::GroupQos { .. }));
        let floors: Vec<&Change> = floors.collect();
        assert_eq!((floors.len(), floors[0]), (2, &end), "{changes:?}");
        assert!(matches!(floors[1], Change::GroupQos { group: new, .. } if *new == group));
        // Nothing was asked for in its place: whoever needs the room looks for it.
        let mut changes = Vec::new();
        assert!(!tree.groups.free_floors(at(10), &tree.hierarchy, &mut changes));
        std::fs::remove_dir(&old).expect("it is empty");
        assert!(tree.groups.free_floors(at(10), &tree.hierarchy, &mut changes));
        assert_eq!(changes, [Change::GroupQos { group, qos: Qos::NONE }]);
    }

    /// All that are gone leave room before any of those in their places asks for some.
    #[test]
    fn a_sweep_takes_floors_away_before_it_gives_any() {
        let mut tree = Tree::new();
        tree.set("min_iops=30");
        let of = |name: &str| tree.place.path().join(name);
        let floor = Setting::parse("min_iops=60").expect("a setting");
        std::fs::create_dir(of("z")).expect("a group");
        tree.hierarchy.set("/z", &[floor]).expect("attributes can be kept");
        let mut changes = Vec::new();
        let z = tree.groups.find(at(1000), &tree.hierarchy, "/z", &mut changes);
        std::fs::create_dir(of("new")).expect("a group");
        tree.hierarchy.set("/new", &[floor]).expect("attributes can be kept");
        std::fs::remove_dir(of("a")).expect("it is empty");
        std::fs::remove_dir(of("z")).expect("it is empty");
        std::fs::rename(of("new"), of("a")).expect("its place is free");
        changes.clear();
        tree.groups.sweep(at(2000), &tree.hierarchy, &BTreeSet::new(), &mut changes);
        let floors = changes.iter().filter_map(|change| match change {
            Change::GroupQos { group, qos } => Some((*group, qos.floor.is_none())),
            _ => None,
        });
        let floors: Vec<(GroupId, bool)> = floors.collect();
        assert_eq!(floors[..2], [(tree.group, true), (z, true)]);
        assert!(floors.len() == 3 && !floors[2].1, "{changes:?}");
    }

    /// Also the first setting of a group, and none of the one that was there before.
    #[test]
    fn what_was_set_is_told_with_what_was_there_before() {
        let mut tree = Tree::new();
        let a = tree.place.path().join("a");
        let untold = |tree: &mut Tree| std::mem::take(&mut tree.groups.untold);
        std::fs::create_dir(a.join("b")).expect("a group");
        let weight = Setting::parse("weight=7").expect("a setting");
        tree.hierarchy.set("/a/b", &[weight]).expect("attributes can be kept");
        let mut changes = Vec::new();
        let set = ("/a/b", &[weight][..]);
        tree.groups.changed(at(0), &tree.hierarchy, set, &mut changes);
        let b = tree.groups.numbers["/a/b"];
        assert_eq!(untold(&mut tree), BTreeMap::from([(b, Asks::DEFAULT)]));
        std::fs::create_dir(a.join("c")).expect("beside it, so that it has another number");
        std::fs::remove_dir(a.join("b")).expect("it is empty");
        std::fs::rename(a.join("c"), a.join("b")).expect("its place is free");
        tree.hierarchy.set("/a/b", &[weight]).expect("attributes can be kept");
        tree.groups.changed(at(0), &tree.hierarchy, set, &mut changes);
        let new = tree.groups.numbers["/a/b"];
        assert_ne!(new, b);
        assert_eq!(untold(&mut tree), BTreeMap::from([(new, Asks::DEFAULT)]));
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_number_of_a_group_is_free_when_nothing_of_it_is_on_its_way() {
        let mut tree = Tree::new();
        let a = tree.group;
        let find = |tree: &mut Tree, time: u64, path: &str| {
            let mut changes = Vec::new();
            tree.groups.find(at(time), &tree.hierarchy, path, &mut changes)
        };
        std::fs::remove_dir(tree.place.path().join("a")).expect("it is empty");
        for (time, busy, told) in [
            (2000, false, false), // missed
            (3999, false, false), // may have asked for something just now
            (4000, true, false),
            (6000, true, false),
            (8000, false, true),
        ] {
            let unfinished = if busy { BTreeSet::from([a]) } else { BTreeSet::new() };
            let mut changes = Vec::new();
            tree.groups.sweep(at(time), &tree.hierarchy, &unfinished, &mut changes);
            let removed = told.then_some(Change::GroupRemoved { group: a });
            assert_eq!(changes, Vec::from_iter(removed), "{time}");
            assert_eq!(tree.groups.heir(a), GroupId::ROOT, "{time}");
            assert_eq!(tree.groups.iter().count(), 1, "it is shown no more");
            let other = format!("/{time}");
            std::fs::create_dir(tree.place.path().join(&other[1..])).expect("a group");
            assert_eq!(find(&mut tree, time, &other) == a, told, "{time}");
            tree.groups.leave(at(100_000), tree.groups.numbers[&other], &mut changes);
        }
    }

    /// The settings of a removed cgroup are not shown for a new one of the same name.
    #[test]
    fn another_group_of_the_same_name_begins_with_nothing() {
        let mut tree = Tree::new();
        tree.set("weight=7");
        let (a, successor) = (tree.place.path().join("a"), tree.place.path().join("b"));
        std::fs::create_dir(&successor).expect("beside it, so that it has another number");
        std::fs::remove_dir(&a).expect("it is empty");
        std::fs::rename(&successor, &a).expect("its place is free");
        let (mut changes, nobody) = (Vec::new(), BTreeSet::new());
        tree.groups.sweep(at(2000), &tree.hierarchy, &nobody, &mut changes);
        assert_eq!(tree.groups.iter().count(), 1, "nobody has asked for anything there");
        let new = tree.groups.find(at(2001), &tree.hierarchy, "/a", &mut changes);
        assert_ne!(new, tree.group);
        let share = Share::DEFAULT;
        let changed = Change::GroupShare { group: tree.group, share };
        assert_eq!(changes, [changed, Change::GroupAdded { group: new, share }]);
        tree.groups.sweep(at(4001), &tree.hierarchy, &nobody, &mut changes);
        assert_eq!(tree.groups.iter().count(), 2, "it is that one from now on");
        // One more group, which has settings.
        std::fs::create_dir(&successor).expect("beside it");
        let weight = Setting::parse("weight=9").expect("a setting");
        tree.hierarchy.set("/b", &[weight]).expect("attributes can be kept");
        std::fs::remove_dir(&a).expect("it is empty");
        std::fs::rename(&successor, &a).expect("its place is free");
        tree.groups.sweep(at(6001), &tree.hierarchy, &nobody, &mut changes);
        let asks = tree.groups.iter().map(|group| group.asks.to_string()).collect::<Vec<_>>();
        assert_eq!(asks, ["weight=100", "weight=9"]);
    }

    #[test]
    fn an_outer_group_is_forgotten_after_those_in_it() {
        let mut tree = Tree::new();
        let (outer, inner) = (tree.place.path().join("a"), tree.place.path().join("a/b"));
        std::fs::create_dir(&inner).expect("a group");
        let setting = Setting::parse("weight=5").expect("a setting");
        for path in ["/a", "/a/b"] {
            tree.hierarchy.set(path, &[setting]).expect("attributes can be kept");
        }
        let (mut changes, a) = (Vec::new(), tree.group);
        let b = tree.groups.find(at(1000), &tree.hierarchy, "/a/b", &mut changes);
        [inner, outer].iter().for_each(|path| std::fs::remove_dir(path).expect("it is empty"));
        let mut sweep = |time, unfinished: &[GroupId]| {
            let (mut changes, unfinished) = (Vec::new(), unfinished.iter().copied().collect());
            tree.groups.sweep(at(time), &tree.hierarchy, &unfinished, &mut changes);
            assert_eq!(tree.groups.heir(b), GroupId::ROOT);
            changes
        };
        let share = Share::DEFAULT;
        assert_eq!(sweep(2000, &[]), [a, b].map(|group| Change::GroupShare { group, share }));
        assert_eq!(sweep(4000, &[b]), []);
        let removed = [b, a].map(|group| Change::GroupRemoved { group });
        assert_eq!(sweep(6000, &[]), removed);
    }

    #[test]
    fn of_many_groups_a_few_are_looked_for_at_a_time_and_all_in_turn() {
        let mut tree = Tree::new();
        let mut changes = Vec::new();
        let many = 4 * LOOKED_FOR;
        for number in 0..many {
            // Without a directory, as if it had just been removed.
            let path = format!("/{number}");
            tree.groups.number(at(0), &tree.hierarchy, &path, Said::NOTHING, &mut changes);
        }
        for pass in 1..=5 {
            let nobody = BTreeSet::new();
            tree.groups.sweep(at(pass as u64), &tree.hierarchy, &nobody, &mut changes);
            let left = tree.groups.iter().count();
            assert!(left >= (2 + many).saturating_sub(pass * LOOKED_FOR), "{pass}: {left}");
        }
        assert_eq!(tree.groups.iter().count(), 2, "those that are there");
    }
}
