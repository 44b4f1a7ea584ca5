//! Who asks: from a thread to its task, group and I/O priority, as the scheduler knows them.

mod groups;
mod hierarchy;
pub(crate) mod ioprio;
mod kept;
mod setting;
mod tasks;

pub use groups::GroupName;
pub use hierarchy::{Changed, Hierarchy, HierarchyError, group_path};
pub(crate) use hierarchy::{OWN, VERSION2};
pub use setting::{Asks, Said, Setting, SettingError};

use fairdisk_core::{Change, GroupId, Instant, IoPrio, Span, TaskId};
use fairdisk_plane::disk::Unfinished;
use groups::Groups;
use std::collections::{BTreeSet, HashMap};
use tasks::{Look, Meeting, Tasks};

/// How long an answer about a thread or a group is believed.
pub(crate) const RECHECK: Span = Span::from_ms(100);

/// How long somebody is silent before being looked after, and how long what was asked for takes at
/// most until the scheduler knows of it.
const SWEEP: Span = Span::from_s(2);

/// How often some of those are looked after.
const PASS: Span = Span::from_ms(20);

/// Whoever asks, as the scheduler knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    /// The task.
    pub task: TaskId,
    /// Its group.
    pub group: GroupId,
    /// Its priority: what `ionice` has set, or what follows from `nice`.
    pub ioprio: IoPrio,
}

impl Who {
    /// Who stands for all whom nothing is known about.
    pub const NOBODY: Self = Self { task: TaskId(0), group: GroupId::ROOT, ioprio: IoPrio::UNSET };
}

/// A file of one of the mounts on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The mount.
    pub mount: u32,
    /// The number the kernel knows the file by there.
    pub node: u64,
}

/// A thread that used a file, and who that was when it was last looked at.
#[derive(Clone, Copy, Debug)]
struct User {
    tid: u32,
    /// If it was still there then.
    meeting: Option<Meeting>,
    who: Who,
}

/// Everybody who was heard of lately.
#[derive(Debug)]
pub struct Identity {
    hierarchy: Option<Hierarchy>,
    groups: Groups,
    tasks: Tasks,
    /// Who used a file last, for what nobody asks for.
    users: HashMap<FileId, User>,
    swept: Instant,
    passed: Instant,
    changes: Vec<Change>,
    /// Whether the log was told of somebody whose cgroup is not below the mount of the hierarchy.
    outsiders_told: bool,
}

impl Identity {
    /// Nobody yet. Groups are the directories of `hierarchy`; without one everybody is in the root
    /// group.
    #[must_use]
    pub fn new(hierarchy: Option<Hierarchy>) -> Self {
        Self {
            hierarchy,
            groups: Groups::new(),
            tasks: Tasks::new(),
            users: HashMap::new(),
            swept: Instant::ZERO,
            passed: Instant::ZERO,
            changes: Vec::new(),
            outsiders_told: false,
        }
    }

    /// Who the thread `tid` is at `now`. A thread that is gone is what it was when last heard of.
    pub fn classify(&mut self, now: Instant, tid: u32) -> Who {
        if tid == 0 {
            return Who::NOBODY;
        }
        match self.tasks.look_at(now, tid) {
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

    /// Who is meant by a write-out of what `tid`, or whoever used `file` last if that is 0, has
    /// written as one of `group`. The thread may have ended or moved since; who pays stays the
    /// same.
    pub fn writer(&mut self, now: Instant, tid: u32, file: FileId, group: GroupId) -> Who {
        let who = match tid {
            0 => self.user_of(now, file),
            tid => self.classify(now, tid),
        };
        let group = self.groups.heir(group);
        if who.group == group { who } else { Who { task: TaskId(0), group, ..who } }
    }

    /// What the scheduler has to be told since it was asked last.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Tells the log which groups ask for something else than when it was told last.
    pub fn tell_changed(&mut self) {
        self.groups.tell_changed();
    }

    /// The settings of the cgroup `path` have changed: what that means for groups is known at once,
    /// and what it means for threads when they next ask for something.
    pub fn settings_changed(&mut self, path: &str) {
        if let Some(hierarchy) = &self.hierarchy {
            self.groups.changed(hierarchy, path, &mut self.changes);
            self.tasks.look_again();
        }
    }

    /// Finds out anew what a group asks for: one that waits for the disk asks for nothing
    /// meanwhile, and is not looked at.
    pub fn look_again(&mut self, group: GroupId) {
        if let Some(hierarchy) = &self.hierarchy {
            self.groups.look_again(hierarchy, group, &mut self.changes);
        }
    }

    /// Another scheduler is in charge: it is to be asked for the floors, and may refuse them.
    pub fn ask_anew(&mut self) {
        self.groups.ask_anew(&mut self.changes);
    }

    /// What a group asks for beside its share is refused: what it had stays.
    pub fn refuse(&mut self, group: GroupId) {
        self.groups.refuse(group);
    }

    /// The groups, by the numbers the scheduler knows them by.
    pub fn groups(&self) -> impl Iterator<Item = GroupName<'_>> {
        self.groups.iter()
    }

    /// Whether a number is that of the group at `path`, and it is still there.
    #[must_use]
    pub fn is_called(&self, group: GroupId, path: &str) -> bool {
        self.groups.is_called(group, path)
    }

    /// The thread `tid` uses `file`.
    pub fn uses(&mut self, now: Instant, tid: u32, file: FileId) -> Who {
        let who = self.classify(now, tid);
        let meeting = self.tasks.meeting(tid);
        self.users.insert(file, User { tid, meeting, who });
        who
    }

    /// Who used `file` last, as that one is at `now`: it may have moved since. One that has ended
    /// stays what it was until another has its number.
    pub fn user_of(&mut self, now: Instant, file: FileId) -> Who {
        let Some(User { tid, meeting, mut who }) = self.users.get(&file).copied() else {
            return Who::NOBODY;
        };
        if meeting.is_some() && self.tasks.meeting(tid) == meeting {
            let is = self.classify(now, tid);
            // Another thread may have its number by now.
            if self.tasks.meeting(tid) == meeting {
                who = is;
                self.users.insert(file, User { tid, meeting, who });
            }
        } else if !meeting.is_some_and(|meeting| self.tasks.note_leaving(now, meeting)) {
            who.task = Who::NOBODY.task;
        }
        Who { group: self.groups.heir(who.group), ..who }
    }

    /// `file` is not in use any more.
    pub fn done_with(&mut self, file: FileId) {
        self.users.remove(&file);
    }

    /// Whether some of those nobody has heard of for a while are to be looked after again.
    #[must_use]
    pub fn is_to_be_swept(&self, now: Instant) -> bool {
        now >= self.passed + PASS
    }

    /// Threads that have ended and groups that were removed are forgotten, once they have nothing
    /// `unfinished`: nobody else gets their numbers before. A few of them at a time.
    pub fn sweep(&mut self, now: Instant, unfinished: impl FnOnce() -> Unfinished) {
        let due = now.since(self.passed).as_ns() / PASS.as_ns();
        self.passed = now;
        if now >= self.swept + SWEEP {
            self.swept = now;
            let last = self.tasks.has_leaving() || self.groups.has_leaving();
            let unfinished = if last { unfinished() } else { Unfinished::default() };
            self.tasks.finish(now, &unfinished.tasks);
            self.sweep_groups(now, &unfinished.groups);
        }
        self.tasks.pass(now, due, &mut self.changes);
    }

    fn sweep_groups(&mut self, now: Instant, unfinished: &BTreeSet<GroupId>) {
        let Some(hierarchy) = &self.hierarchy else { return };
        let told = self.changes.len();
        self.groups.sweep(now, hierarchy, unfinished, &mut self.changes);
        let is_end = |change: &Change| matches!(change, Change::GroupRemoved { .. });
        if self.changes[told..].iter().any(is_end) {
            // Others will have their numbers.
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

    /// Numbers are given anew: who used a file under one of them before is not whoever has it now.
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
        (1..=6).for_each(|round| identity.sweep(at(2000 * round), Unfinished::default));
        let own = identity.classify(at(13_000), std::process::id());
        assert_eq!(own.task, who.task, "the number is another's");
        assert_eq!(find(&mut identity, 13_000, "b"), group, "so is that of the group");
        let nobody = Who { task: TaskId(0), group: GroupId::ROOT, ..who };
        assert_eq!(identity.user_of(at(13_000), file), nobody);
    }

    /// Nothing is asked for in the name of a thread that the scheduler is about to be told is over,
    /// and another that has ended with the same number is another.
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
        assert_eq!(identity.user_of(at(4100), one), Who::NOBODY);
        identity.sweep(at(4100), Unfinished::default);
        assert_eq!(use_and_end(&mut identity, 5000, other), task, "the number is given anew");
        assert_eq!(identity.user_of(at(5200), one), Who::NOBODY);
    }
}
