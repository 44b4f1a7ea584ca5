//! The identity of who makes a request: from a thread to the task, group and I/O priority by which
//! the scheduler knows it.

mod groups;
mod hierarchy;
pub(crate) mod ioprio;
mod kept;
pub mod rules;
mod setting;
mod sight;
mod standing;
mod tasks;

pub use groups::GroupName;
pub use hierarchy::{Changed, Disks, Hierarchy, HierarchyError, group_path};
pub(crate) use hierarchy::{OWN, VERSION2};
pub use setting::{Asks, Said, Setting, SettingError};
pub(crate) use sight::Silent;

use fairdisk_core::{Change, GroupId, Instant, IoPrio, Rates, Span, TaskId};
use fairdisk_plane::disk::Unfinished;
use groups::Groups;
use sight::{DueLook, Seen};
use std::collections::{BTreeSet, HashMap};
use tasks::{Look, Meeting, Tasks};

/// How long the identity of a thread or the settings of a group are cached.
pub(crate) const RECHECK: Span = Span::from_ms(100);

/// How long a thread must be silent before it is checked, and the longest time a request takes to
/// become known to the scheduler.
const SWEEP: Span = Span::from_s(2);

/// The interval at which a part of the silent threads is checked.
const PASS: Span = Span::from_ms(20);

/// An identity as the scheduler knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The task.
    pub task: TaskId,
    /// The group of the task.
    pub group: GroupId,
    /// The I/O priority: the one set by `ionice`, or the one derived from the CPU scheduling.
    pub ioprio: IoPrio,
}

impl Who {
    /// The identity of everybody about whom nothing is known.
    pub const NOBODY: Self = Self { task: TaskId(0), group: GroupId::ROOT, ioprio: IoPrio::UNSET };
}

/// Identifies a file among all mounts on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The number of the mount.
    pub mount: u32,
    /// The node number of the file within the mount.
    pub node: u64,
}

/// The last user of a file, as of the last check.
#[derive(Clone, Copy, Debug)]
struct User {
    tid: u32,
    /// Identifies the thread uniquely; `None` if it had ended before it was looked at.
    meeting: Option<Meeting>,
    who: Who,
}

/// The known threads, groups and users of files.
#[derive(Debug)]
pub struct Identity {
    hierarchy: Option<Hierarchy>,
    groups: Groups,
    tasks: Tasks,
    /// What was seen of the thread of the request at hand, before it was identified.
    seen: Option<Seen>,
    /// The last user of each file, to whom the kernel's I/O without a caller is attributed.
    users: HashMap<FileId, User>,
    swept: Instant,
    passed: Instant,
    changes: Vec<Change>,
    /// Whether a task whose cgroup is not below the hierarchy's mount has been logged.
    outsiders_told: bool,
}

impl Identity {
    /// An identity table without entries. Groups are the cgroups of `hierarchy`; without one,
    /// everybody is in the root group.
    #[must_use]
    pub fn new(hierarchy: Option<Hierarchy>) -> Self {
        Self {
            hierarchy,
            groups: Groups::new(),
            tasks: Tasks::new(),
            seen: None,
            users: HashMap::new(),
            swept: Instant::ZERO,
            passed: Instant::ZERO,
            changes: Vec::new(),
            outsiders_told: false,
        }
    }

    /// The look at a thread that is due before a request can be identified, if any: at the thread
    /// `caller` or, if that is 0, at the last user of `file`.
    pub(crate) fn due(&self, now: Instant, caller: u32, file: FileId) -> Option<DueLook> {
        let tid = match caller {
            0 => {
                let User { tid, meeting, .. } = self.users.get(&file)?;
                (meeting.is_some() && self.tasks.meeting(*tid) == *meeting).then_some(*tid)?
            }
            tid => tid,
        };
        (tid != 0).then(|| self.tasks.due(now, tid))?
    }

    /// Identifies a request with what was `seen` of its thread.
    pub(crate) fn identify(
        &mut self,
        seen: Option<Seen>,
        with: impl FnOnce(&mut Self) -> Who,
    ) -> Who {
        self.seen = seen;
        let who = with(self);
        self.seen = None;
        who
    }

    /// The identity of the thread `tid` at `now`. A thread that has ended keeps its last known
    /// identity.
    pub fn classify(&mut self, now: Instant, tid: u32) -> Who {
        if tid == 0 {
            return Who::NOBODY;
        }
        match self.tasks.look_at(now, tid, self.seen.take()) {
            Look::Known(who) => who,
            Look::Read(known, text) => {
                let group = match &self.hierarchy {
                    Some(hierarchy) => {
                        let path = hierarchy.path_in(&text);
                        if path.is_none() && !std::mem::replace(&mut self.outsiders_told, true) {
                            let at = hierarchy.mount().display();
                            tracing::warn!(tid, %at, "cgroup out of sight, root group taken");
                        }
                        let path = path.unwrap_or("/");
                        self.groups.find(now, hierarchy, path, &mut self.changes)
                    }
                    None => GroupId::ROOT,
                };
                if known.who.group != group {
                    known.who.group = group;
                    self.changes.push(Change::TaskMoved { task: known.who.task, group });
                }
                known.who
            }
        }
    }

    /// The identity for the write-back of data that the thread `tid`, or the last user of `file` if
    /// that is 0, has written as a member of `group`. The thread may have ended or moved since, but
    /// the group that pays stays the same.
    pub fn writer(&mut self, now: Instant, tid: u32, file: FileId, group: GroupId) -> Who {
        let who = match tid {
            0 => self.user_of(now, file),
            tid => self.classify(now, tid),
        };
        let group = self.groups.heir(group);
        if who.group == group { who } else { Who { task: TaskId(0), group, ..who } }
    }

    /// The changes that the scheduler has to be told since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Whether there is anything that the scheduler has to be told.
    #[must_use]
    pub const fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Logs groups whose settings have changed since the last call.
    pub fn tell_changed(&mut self) {
        self.groups.tell_changed();
    }

    /// Notes at `now` that settings of the cgroup `path` were `set`, or that any of them have
    /// changed if none is named. This affects groups at once, and the identity of threads at their
    /// next requests.
    pub fn settings_changed(&mut self, now: Instant, path: &str, set: &[Setting]) {
        if let Some(hierarchy) = &self.hierarchy {
            self.groups.changed(now, hierarchy, (path, set), &mut self.changes);
            self.tasks.look_again(now);
        }
    }

    /// Notes at `now` that the settings of the cgroup `path` are what they were before a change
    /// that was refused. This floor, or none, had been refused already.
    pub fn undone(&mut self, now: Instant, path: &str, refused: Rates) {
        self.groups.undone(path, refused);
        self.settings_changed(now, path, &[]);
    }

    /// Reads a group's settings again. A group whose tasks all wait for the disk makes no requests,
    /// at which this would happen otherwise.
    pub fn look_again(&mut self, now: Instant, group: GroupId) {
        if let Some(hierarchy) = &self.hierarchy {
            self.groups.look_again(now, hierarchy, group, &mut self.changes);
        }
    }

    /// Notes that a floor is in force that the scheduler could not examine.
    pub fn note_unexamined(&mut self) {
        self.groups.unexamined = true;
    }

    /// Whether there may be such a floor.
    #[must_use]
    pub const fn has_unexamined(&self) -> bool {
        self.groups.unexamined
    }

    /// Submits the floors to a new scheduler, or to one that can examine them now. It may refuse
    /// them.
    pub fn ask_anew(&mut self) {
        self.groups.ask_anew(&mut self.changes);
    }

    /// Notes that the scheduler has accepted a change.
    pub fn accept(&mut self, change: &Change) {
        if let Change::GroupQos { group, qos } = *change {
            self.groups.accept(group, qos);
        }
    }

    /// Notes that the scheduler refused a change for the floor that it gives a group. The former
    /// one stays in force, if it can. Returns false if the group has asked for something else
    /// since, so that it does not matter.
    pub fn refuse(&mut self, change: &Change) -> bool {
        match *change {
            Change::GroupQos { group, qos } => self.groups.refuse(group, qos),
            _ => false,
        }
    }

    /// Has the scheduler told what holds in place of the floors that it refused.
    pub fn settle(&mut self) {
        self.groups.settle(&mut self.changes);
    }

    /// Looks for groups with a floor that were removed. Returns whether there are any: the changes
    /// to tell then end their floors.
    pub(crate) fn free_floors(&mut self, now: Instant) -> bool {
        let Some(hierarchy) = &self.hierarchy else { return false };
        self.groups.free_floors(now, hierarchy, &mut self.changes)
    }

    /// Whether the group was removed, so that nothing it asks for counts.
    pub(crate) fn is_gone(&self, group: GroupId) -> bool {
        self.groups.is_gone(group)
    }

    /// The group that is charged for what is left of `group`: itself, or the closest enclosing one
    /// that still exists.
    pub(crate) fn heir(&self, group: GroupId) -> GroupId {
        self.groups.heir(group)
    }

    /// The groups, with the numbers by which the scheduler knows them.
    pub fn groups(&self) -> impl Iterator<Item = GroupName<'_>> {
        self.groups.iter()
    }

    /// Whether `group` is the number of the existing group at `path`.
    #[must_use]
    pub fn is_called(&self, group: GroupId, path: &str) -> bool {
        self.groups.is_called(group, path)
    }

    /// The number of the thread that the scheduler knows as `task`, unless it has ended.
    pub(crate) fn thread(&self, task: TaskId) -> Option<u32> {
        self.tasks.thread(task)
    }

    /// Notes that the thread `tid` uses `file`, and returns its identity.
    pub fn uses(&mut self, now: Instant, tid: u32, file: FileId) -> Who {
        let who = self.classify(now, tid);
        let meeting = self.tasks.meeting(tid);
        self.users.insert(file, User { tid, meeting, who });
        who
    }

    /// The identity at `now` of the last user of `file`, who may have moved since. A user that has
    /// ended keeps its identity until its task number is reused.
    pub fn user_of(&mut self, now: Instant, file: FileId) -> Who {
        let Some(User { tid, meeting, mut who }) = self.users.get(&file).copied() else {
            return Who::NOBODY;
        };
        if meeting.is_some() && self.tasks.meeting(tid) == meeting {
            let is = self.classify(now, tid);
            // Its thread number may have been reused meanwhile.
            if self.tasks.meeting(tid) == meeting {
                who = is;
                self.users.insert(file, User { tid, meeting, who });
            }
        } else if !meeting.is_some_and(|meeting| self.tasks.note_leaving(now, meeting)) {
            who.task = Who::NOBODY.task;
        }
        Who { group: self.groups.heir(who.group), ..who }
    }

    /// Forgets the last user of `file`, which is no longer in use.
    pub fn done_with(&mut self, file: FileId) {
        self.users.remove(&file);
    }

    /// Whether a sweep of silent threads is due.
    #[must_use]
    pub fn is_to_be_swept(&self, now: Instant) -> bool {
        now >= self.passed + PASS
    }

    /// Forgets ended threads and removed groups once they have nothing `unfinished`, before which
    /// their numbers must not be reused. Each call handles a part of them, and returns silent
    /// threads, of which those that have ended are to be [noted](Self::have_ended).
    pub(crate) fn sweep(
        &mut self,
        now: Instant,
        unfinished: impl FnOnce() -> Unfinished,
    ) -> Vec<Silent> {
        let due = now.since(self.passed).as_ns() / PASS.as_ns();
        self.passed = now;
        if now >= self.swept + SWEEP {
            self.swept = now;
            let last = self.tasks.has_leaving() || self.groups.has_leaving();
            let unfinished = if last { unfinished() } else { Unfinished::default() };
            self.tasks.finish(now, &unfinished.tasks);
            self.sweep_groups(now, &unfinished.groups);
        }
        self.tasks.pass(now, due, &mut self.changes)
    }

    /// Notes that silent threads have ended.
    pub(crate) fn have_ended(&mut self, now: Instant, ended: &[Silent]) {
        self.tasks.have_ended(now, ended);
    }

    fn sweep_groups(&mut self, now: Instant, unfinished: &BTreeSet<GroupId>) {
        let Some(hierarchy) = &self.hierarchy else { return };
        let told = self.changes.len();
        self.groups.sweep(now, hierarchy, unfinished, &mut self.changes);
        let is_end = |change: &Change| matches!(change, Change::GroupRemoved { .. });
        if self.changes[told..].iter().any(is_end) {
            // The numbers will be reused.
            self.users.values_mut().for_each(|User { who, .. }| {
                who.group = self.groups.heir(who.group);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn who_pays_for_what_was_written_stays_the_same_when_the_writer_is_gone() {
        let mut identity = Identity::new(None);
        let (now, file) = (Instant::ZERO, FileId { mount: 0, node: 1 });
        let group = GroupId(3);
        for tid in [0, u32::MAX] {
            assert_eq!(identity.writer(now, tid, file, group), Who { group, ..Who::NOBODY });
        }
        let own = std::process::id();
        let who = identity.classify(now, own);
        assert_eq!(identity.writer(now, own, file, who.group), who);
        let moved = identity.writer(now, own, file, group);
        assert_eq!((moved.group, moved.task, moved.ioprio), (group, TaskId(0), who.ioprio));
    }

    /// After a thread number is reused, the former thread's use of files is not attributed to the
    /// new one.
    #[test]
    fn who_used_a_file_is_nobody_else_later() {
        let place = tempfile::tempdir().unwrap();
        let mut identity = Identity::new(Some(Hierarchy::in_directory(place.path())));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (tid, file) = (child.id(), FileId { mount: 0, node: 1 });
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let find = |identity: &mut Identity, time: u64, path: &str| {
            std::fs::create_dir(place.path().join(path)).unwrap();
            let Identity { groups, hierarchy: Some(hierarchy), changes, .. } = identity else {
                unreachable!("it has one");
            };
            groups.find(at(time), hierarchy, &format!("/{path}"), changes)
        };
        let group = find(&mut identity, 0, "a");
        let who = Who { group, ..identity.uses(at(0), tid, file) };
        identity.users.get_mut(&file).unwrap().who = who;
        drop(child.stdin.take());
        child.wait().unwrap();
        std::fs::remove_dir(place.path().join("a")).unwrap();
        assert_eq!(identity.user_of(at(200), file), who, "it has ended a moment ago");
        (1..=6).for_each(|round| drop(identity.sweep(at(2000 * round), Unfinished::default)));
        let own = identity.classify(at(13_000), std::process::id());
        assert_eq!(own.task, who.task, "the number is another's");
        assert_eq!(find(&mut identity, 13_000, "b"), group, "so is that of the group");
        let nobody = Who { task: TaskId(0), group: GroupId::ROOT, ..who };
        assert_eq!(identity.user_of(at(13_000), file), nobody);
    }

    /// No request is attributed to an ended thread whose task number the scheduler is about to be
    /// told is free, and a new thread with the same number is another one.
    #[test]
    fn who_is_over_asks_for_nothing() {
        let mut identity = Identity::new(None);
        let (one, other) = (FileId { mount: 0, node: 1 }, FileId { mount: 0, node: 2 });
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let use_and_end = |identity: &mut Identity, time: u64, file| {
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let who = identity.uses(at(time), child.id(), file);
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(identity.user_of(at(time + 200), file), who);
            who.task
        };
        let task = use_and_end(&mut identity, 0, one);
        identity.tasks.finish(at(2100), &BTreeSet::new());
        assert_eq!(identity.user_of(at(2100), one).task, task, "was heard of at 200");
        identity.tasks.finish(at(4100), &BTreeSet::new());
        assert_eq!(identity.user_of(at(4100), one).task, Who::NOBODY.task);
        identity.sweep(at(4100), Unfinished::default);
        assert_eq!(use_and_end(&mut identity, 5000, other), task, "the number is given anew");
        assert_eq!(identity.user_of(at(5200), one).task, Who::NOBODY.task);
    }
}
