//! A hierarchy of cgroups in which scenarios take place.

use super::{Groups, Hierarchy};
use crate::identity::{Disks, Setting};
use fairdisk_core::{Change, GroupId, Instant, Qos, Rates, Share, Span};
use std::fs;

/// A directory with one cgroup, `/a`, that is known as a group.
pub(super) struct Tree {
    /// Removed with the tree.
    _place: tempfile::TempDir,
    pub(super) hierarchy: Hierarchy,
    pub(super) groups: Groups,
    /// The group at `/a`.
    pub(super) group: GroupId,
    /// The floors, ceilings and targets to which the scheduler has not answered yet.
    told: Vec<(GroupId, Qos)>,
}

pub(super) fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

impl Tree {
    pub(super) fn new() -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let hierarchy = Hierarchy::in_directory(place.path());
        let (groups, group, told) = (Groups::new(), GroupId::ROOT, Vec::new());
        let mut tree = Self { _place: place, hierarchy, groups, group, told };
        tree.make("/a");
        let (group, changes) = tree.find(at(0), "/a");
        assert_eq!(changes, [Change::GroupAdded { group, share: Share::DEFAULT }]);
        Self { group, ..tree }
    }

    /// Makes the cgroup.
    pub(super) fn make(&self, path: &str) {
        fs::create_dir(self.hierarchy.directory(path)).expect("it is not there yet");
    }

    /// Removes the cgroup.
    pub(super) fn remove(&self, path: &str) {
        fs::remove_dir(self.hierarchy.directory(path)).expect("it is empty");
    }

    /// Puts another cgroup, which has these settings, in the place of the one at `path`.
    pub(super) fn replace(&self, path: &str, settings: &[&str]) {
        // Made beside it while it is there, so that it has another inode.
        self.make("/successor");
        self.keep("/successor", settings);
        self.remove(path);
        let [from, to] = ["/successor", path].map(|path| self.hierarchy.directory(path));
        fs::rename(from, to).expect("its place is free");
    }

    /// Stores settings with the cgroup, of which the groups are not told.
    pub(super) fn keep(&self, path: &str, settings: &[&str]) -> Vec<Setting> {
        let settings = settings.iter().map(|text| Setting::parse(text).expect("a setting"));
        let settings: Vec<Setting> = settings.collect();
        self.hierarchy.set(path, &settings, Disks::All).expect("attributes can be kept");
        settings
    }

    /// Changes settings of the cgroup. Returns what the scheduler is to be told.
    pub(super) fn set_at(&mut self, path: &str, settings: &[&str]) -> Vec<Change> {
        let set = self.keep(path, settings);
        let mut changes = Vec::new();
        self.groups.changed(at(0), &self.hierarchy, (path, &set), &mut changes);
        self.note(changes)
    }

    /// Changes a setting of `/a`. Returns what the scheduler is to be told.
    pub(super) fn set(&mut self, setting: &str) -> Vec<Change> {
        self.set_at("/a", &[setting])
    }

    /// The group of the tasks in the cgroup, and what the scheduler is to be told.
    pub(super) fn find(&mut self, now: Instant, path: &str) -> (GroupId, Vec<Change>) {
        let mut changes = Vec::new();
        let group = self.groups.find(now, &self.hierarchy, path, &mut changes);
        (group, self.note(changes))
    }

    pub(super) fn look_again(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.groups.look_again(at(0), &self.hierarchy, self.group, &mut changes);
        self.note(changes)
    }

    /// Sweeps while these groups have something unfinished.
    pub(super) fn sweep(&mut self, now: Instant, unfinished: &[GroupId]) -> Vec<Change> {
        let (mut changes, unfinished) = (Vec::new(), unfinished.iter().copied().collect());
        self.groups.sweep(now, &self.hierarchy, &unfinished, &mut changes);
        self.note(changes)
    }

    pub(super) fn settle(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.groups.settle(&mut changes);
        self.note(changes)
    }

    pub(super) fn ask_anew(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.groups.ask_anew(&mut changes);
        self.note(changes)
    }

    fn note(&mut self, changes: Vec<Change>) -> Vec<Change> {
        let told = changes.iter().filter_map(|change| match *change {
            Change::GroupQos { group, qos } => Some((group, qos)),
            _ => None,
        });
        self.told.extend(told);
        changes
    }

    /// Has the scheduler answer to what it was told: it refuses what `refuses` says, of which the
    /// number counts, and accepts the rest. Returns how many of the refusals matter.
    pub(super) fn answer(&mut self, mut refuses: impl FnMut(usize, &Qos) -> bool) -> usize {
        let mut matter = 0;
        for (at, (group, qos)) in self.told.drain(..).enumerate() {
            match refuses(at, &qos) {
                true => matter += usize::from(self.groups.refuse(group, qos)),
                false => self.groups.accept(group, qos),
            }
        }
        matter
    }

    /// Has the scheduler refuse the last floor that it was told, and accept everything else.
    pub(super) fn refuse(&mut self) {
        let last = self.told.len() - 1;
        assert!(!self.told[last].1.floor.is_none(), "there is a floor to refuse");
        assert_eq!(self.answer(|at, _| at == last), 1);
    }

    /// The settings of `/a` that are shown, and its floor that was refused.
    pub(super) fn shown(&self) -> Option<(String, Rates)> {
        let known = self.groups.iter().find(|known| known.path == "/a");
        known.map(|known| (known.asks.to_string(), known.refused))
    }
}
