//! The threads that have recently requested I/O.

use super::sight::{DueLook, Seen, Sight, Silent, Unread};
use super::{RECHECK, SWEEP, Who, sight};
use crate::trouble::Seldom;
use fairdisk_core::{Change, Instant, TaskId};
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

/// The most threads for which a descriptor is kept open, so that many threads do not use up the
/// descriptors. At most an eighth of the process's limit.
const KEPT_MAX: usize = 4096;

/// The most descriptors closed to make room for one.
const SPARED_MAX: usize = 8;

/// The number of passes in which all silent threads are checked. The work is divided so that no
/// request waits while thousands of threads are looked up.
const PASSES: u64 = 512;
/// The least number of threads checked in a pass.
const PASS_MIN: usize = 16;

/// The most passes made up for at once, if passes have become due without any request.
const PASSES_AT_ONCE: u64 = 8;

static UNKNOWN: Seldom = Seldom::new();

/// Identifies a thread uniquely for the life of this process, where thread numbers and the
/// scheduler's task numbers are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting(u64);

/// A thread that has ended.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    task: TaskId,
    /// When the last request in its name came, or when it was found to have ended.
    heard: Instant,
}

/// A thread whose identity is known.
#[derive(Debug)]
pub(super) struct Known {
    /// The open `/proc/TID/cgroup`. Reading it fails once the thread has ended, even if its number
    /// is reused. `None` if there was no room for a descriptor, so that the number alone identifies
    /// it.
    cgroup: Option<Arc<File>>,
    pub(super) who: Who,
    meeting: Meeting,
    /// When the last look at it began, or earlier.
    looked: Instant,
    heard: Instant,
}

/// The result of looking at a thread.
pub(super) enum Look<'a> {
    /// Its identity as known: it was checked recently, or cannot be checked any more.
    Known(Who),
    /// The current contents of its `/proc/TID/cgroup`, with the entry to update.
    Read(&'a mut Known, String),
}

/// All known threads, and the numbers by which the scheduler knows them.
#[derive(Debug)]
pub(super) struct Tasks {
    known: BTreeMap<u32, Known>,
    /// The number of threads with an open descriptor.
    kept: usize,
    /// The thread number at which the next pass begins.
    from: u32,
    /// The number of passes due.
    due: u64,
    /// Threads that have ended, but may still have requests in flight.
    leaving: BTreeMap<Meeting, Leaving>,
    /// Ended threads without requests, which the scheduler does not know to have ended yet.
    over: BTreeSet<TaskId>,
    free: Vec<TaskId>,
    next: u32,
    /// The number of threads seen so far.
    met: u64,
    /// When the groups last changed, if they have. Looks that began before do not count.
    changed: Option<Instant>,
}

/// How many of `all` entries to process in the given number of passes.
fn part(all: usize, passes: u64) -> usize {
    (all / PASSES as usize).max(PASS_MIN) * passes as usize
}

impl Tasks {
    pub(super) const fn new() -> Self {
        Self {
            known: BTreeMap::new(),
            kept: 0,
            from: 0,
            due: 0,
            leaving: BTreeMap::new(),
            over: BTreeSet::new(),
            free: Vec::new(),
            // Task 0 stands for no thread.
            next: 1,
            met: 0,
            changed: None,
        }
    }

    /// The look at a thread that is due, if any.
    pub(super) fn due(&self, now: Instant, tid: u32) -> Option<DueLook> {
        let known = self.known.get(&tid);
        let is_due = known.is_none_or(|known| known.is_due(now, self.changed));
        is_due.then(|| DueLook {
            tid,
            at: now,
            meeting: known.map(|known| known.meeting),
            cgroup: known.and_then(|known| known.cgroup.clone()),
        })
    }

    /// Looks at a thread, unless it has been looked at recently or was `seen` just now.
    pub(super) fn look_at(&mut self, now: Instant, tid: u32, seen: Option<Seen>) -> Look<'_> {
        let mut seen = seen.filter(|seen| self.counts(seen, tid));
        let (mut last, mut sight) = (Who::NOBODY, Err(Unread::Ended));
        if let Some(known) = self.known.get_mut(&tid) {
            known.heard = now;
            if !known.is_due(now, self.changed) {
                return Look::Known(known.who);
            }
            known.looked = seen.as_ref().map_or(now, |seen| seen.at);
            last = known.who;
            sight = seen.take().map_or_else(|| self.look(tid), |seen| seen.sight);
            match sight {
                Err(Unread::Ended) => self.ended(now, tid),
                Err(Unread::Lacking) => return Look::Known(last),
                Ok(_) => {}
            }
        }
        let Ok(sight) = sight.or_else(|_| self.meet(now, tid, seen)) else {
            return Look::Known(Who { task: TaskId(0), ..last });
        };
        let Some(known) = self.known.get_mut(&tid) else { return Look::Known(last) };
        known.who.ioprio = sight.ioprio;
        Look::Read(known, sight.text)
    }

    /// The number of the thread that the scheduler knows as `task`, as far as it is known.
    pub(super) fn thread(&self, task: TaskId) -> Option<u32> {
        let known = self.known.iter().find(|(_, known)| known.who.task == task);
        known.map(|(tid, _)| *tid)
    }

    /// The identity of the thread that has the number `tid`, as far as it is known.
    pub(super) fn meeting(&self, tid: u32) -> Option<Meeting> {
        self.known.get(&tid).map(|known| known.meeting)
    }

    /// Notes at `now` a request in the name of a thread that has ended, so that its task number is
    /// not reused yet. Returns false if that has been given up already.
    pub(super) fn note_leaving(&mut self, now: Instant, meeting: Meeting) -> bool {
        self.leaving.get_mut(&meeting).map(|leaving| leaving.heard = now).is_some()
    }

    /// Makes every thread be checked at its next request, because the groups have changed.
    pub(super) const fn look_again(&mut self, now: Instant) {
        self.changed = Some(now);
    }

    /// Whether what was seen is of this thread, no older than what is known of it, and of a time
    /// after the last change of groups. Another request may have had the thread looked at
    /// meanwhile. For lack of descriptors nothing was seen.
    fn counts(&self, seen: &Seen, tid: u32) -> bool {
        let known = self.known.get(&tid);
        seen.tid == tid
            && seen.meeting == known.map(|known| known.meeting)
            && known.is_none_or(|known| seen.at >= known.looked)
            && Some(seen.at) > self.changed
            && !matches!(seen.sight, Err(Unread::Lacking))
    }

    /// Registers a thread, as it was `seen` or else as it is; fails if the thread has ended.
    fn meet(&mut self, now: Instant, tid: u32, seen: Option<Seen>) -> Result<Sight, Unread> {
        let looked = seen.as_ref().map_or(now, |seen| seen.at);
        let sight = seen.map_or_else(|| self.look(tid), |seen| seen.sight)?;
        let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let room = usize::try_from(most / 8).map_or(KEPT_MAX, |room| room.min(KEPT_MAX));
        let cgroup = (self.kept < room).then(|| Arc::clone(&sight.cgroup));
        self.kept += usize::from(cgroup.is_some());
        let task = self.free.pop().unwrap_or(TaskId(self.next));
        self.next = self.next.max(task.0 + 1);
        let who = Who { task, ..Who::NOBODY };
        self.met += 1;
        let meeting = Meeting(self.met);
        self.known.insert(tid, Known { cgroup, who, meeting, looked, heard: now });
        Ok(sight)
    }

    /// Looks at a thread as it is.
    fn look(&mut self, tid: u32) -> Result<Sight, Unread> {
        let kept = self.known.get(&tid).and_then(|known| known.cgroup.clone());
        Sight::of(tid, kept.map_or_else(|| self.open(tid), Ok)?)
    }

    /// Opens the `/proc/TID/cgroup` of a thread. If there are no descriptors left, those of the
    /// longest silent threads are closed, since these remain known without.
    fn open(&mut self, tid: u32) -> Result<Arc<File>, Unread> {
        for _ in 0..=SPARED_MAX {
            match sight::open(tid) {
                Err(Unread::Lacking) => {}
                opened => return opened,
            }
            if !self.spare() {
                break;
            }
        }
        if let Some(unsaid) = UNKNOWN.pass() {
            tracing::warn!(unsaid, "no descriptor to find a thread's group with");
        }
        Err(Unread::Lacking)
    }

    /// Closes the descriptor of the longest silent thread. Returns false if none is open.
    fn spare(&mut self) -> bool {
        let kept = self.known.values_mut().filter(|known| known.cgroup.is_some());
        let Some(silent) = kept.min_by_key(|known| known.heard) else { return false };
        silent.cgroup = None;
        self.kept -= 1;
        true
    }

    fn ended(&mut self, now: Instant, tid: u32) {
        if let Some(known) = self.known.remove(&tid) {
            self.kept -= usize::from(known.cgroup.is_some());
            let leaving = Leaving { task: known.who.task, heard: now };
            self.leaving.insert(known.meeting, leaving);
        }
    }

    /// Whether there are ended threads that may have requests in flight.
    pub(super) fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Retires ended threads that have nothing `unfinished`. They must have been silent for a
    /// while, so that their last requests have reached the scheduler.
    pub(super) fn finish(&mut self, now: Instant, unfinished: &BTreeSet<TaskId>) {
        self.leaving.retain(|_, Leaving { task, heard }| {
            let stays = now < *heard + SWEEP || unfinished.contains(task);
            if !stays {
                self.over.insert(*task);
            }
            stays
        });
    }

    /// Reports a part of the retired threads to the scheduler, and returns a part of the silent
    /// threads, to be checked for ones that have ended. `due` is the number of passes that have
    /// become due since the last call.
    pub(super) fn pass(
        &mut self,
        now: Instant,
        due: u64,
        changes: &mut Vec<Change>,
    ) -> Vec<Silent> {
        self.due = (self.due + due).min(PASSES);
        let passes = self.due.min(PASSES_AT_ONCE);
        self.due -= passes;
        for _ in 0..part(self.over.len(), passes) {
            let Some(task) = self.over.pop_first() else { break };
            changes.push(Change::TaskExited { task });
            self.free.push(task);
        }
        let most = part(self.known.len(), passes);
        let some: Vec<_> = self.known.range(self.from..).take(most).collect();
        let last = some.last().filter(|_| some.len() == most);
        self.from = last.map_or(0, |(tid, _)| tid.saturating_add(1));
        let silent = some.into_iter().filter(|(_, known)| now >= known.heard + SWEEP);
        let silent = silent.map(|(tid, known)| Silent {
            tid: *tid,
            meeting: known.meeting,
            cgroup: known.cgroup.clone(),
        });
        silent.collect()
    }

    /// Notes that threads have been found to have ended, unless that is known already.
    pub(super) fn have_ended(&mut self, now: Instant, ended: &[Silent]) {
        for Silent { tid, meeting, .. } in ended {
            if self.meeting(*tid) == Some(*meeting) {
                self.ended(now, *tid);
            }
        }
    }
}

impl Known {
    /// Whether it must be looked at again, if the groups `changed` then.
    fn is_due(&self, now: Instant, changed: Option<Instant>) -> bool {
        now >= self.looked + RECHECK || Some(self.looked) <= changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{IoPrio, Span};
    use std::process::{Command, Stdio};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    fn pass(tasks: &mut Tasks, ms: u64, due: u64, changes: &mut Vec<Change>) {
        let silent = tasks.pass(at(ms), due, changes).into_iter();
        let ended: Vec<_> = silent.filter(Silent::has_ended).collect();
        tasks.have_ended(at(ms), &ended);
    }

    #[test]
    fn a_thread_is_read_now_and_then_and_forgotten_when_it_has_ended() {
        let mut tasks = Tasks::new();
        let mut changes = Vec::new();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let tid = child.id();
        assert!(matches!(tasks.look_at(at(0), tid, None), Look::Read(..)));
        let Look::Known(who) = tasks.look_at(at(50), tid, None) else {
            panic!("read again too soon")
        };
        assert_eq!(who.task, TaskId(1));
        assert!(matches!(tasks.look_at(at(150), tid, None), Look::Read(..)));
        drop(child.stdin.take());
        child.wait().expect("it ends");
        let task = TaskId(1);
        let (nothing, something) = (BTreeSet::new(), BTreeSet::from([task]));
        for (time, unfinished, told) in [
            (1000, &nothing, None), // heard of a moment ago
            (3000, &nothing, None), // found to be gone
            (4999, &nothing, None), // may have asked for something just now
            (5000, &something, None),
            (7000, &nothing, Some(Change::TaskExited { task })),
            (9000, &nothing, None),
        ] {
            tasks.finish(at(time), unfinished);
            pass(&mut tasks, time, 1, &mut changes);
            assert_eq!(std::mem::take(&mut changes), Vec::from_iter(told), "{time}");
            assert_eq!(tasks.has_leaving(), (3000..7000).contains(&time), "{time}");
        }
        let own = std::process::id();
        let Look::Read(known, text) = tasks.look_at(at(9000), own, None) else {
            panic!("we are alive")
        };
        assert_eq!(known.who.task, TaskId(1), "the number is free again");
        assert!(text.contains(":/"), "{text}");
    }

    /// Two requests may have the same thread looked at, and the first look may be reported last.
    #[test]
    fn no_look_replaces_a_newer_one() {
        let (mut tasks, own) = (Tasks::new(), std::process::id());
        let see = |tasks: &Tasks, ms, text: &str| {
            let mut seen = tasks.due(at(ms), own).expect("it is due").look();
            seen.sight = seen.sight.map(|sight| Sight { text: text.to_owned(), ..sight });
            Some(seen)
        };
        let answer = |tasks: &mut Tasks, ms, seen| match tasks.look_at(at(ms), own, seen) {
            Look::Read(_, text) => Some(text),
            Look::Known(_) => None,
        };
        let (one, other) = (see(&tasks, 0, "0::/a"), see(&tasks, 1, "0::/b"));
        assert_eq!(answer(&mut tasks, 2, other).as_deref(), Some("0::/b"), "met as it was seen");
        assert_eq!(answer(&mut tasks, 3, one), None, "it is known by now");
        assert!(tasks.due(at(50), own).is_none());
        let (old, older) = (see(&tasks, 110, "0::/c"), see(&tasks, 109, "0::/d"));
        assert_eq!(answer(&mut tasks, 120, old).as_deref(), Some("0::/c"));
        let text = answer(&mut tasks, 230, older).expect("it is looked at again");
        assert!(text != "0::/d" && text.contains(":/"), "{text}");
    }

    /// What is known of a thread is as old as the look, however late that is reported.
    #[test]
    fn a_look_counts_from_when_it_began_and_only_after_the_last_change_of_groups() {
        let (mut tasks, own) = (Tasks::new(), std::process::id());
        let see = |tasks: &Tasks, ms| tasks.due(at(ms), own).map(DueLook::look);
        for (asked, reported, is_due) in [
            (0, 60, [(99, false), (100, true)]), // met
            (100, 190, [(199, false), (200, true)]),
            (200, 350, [(350, true), (450, true)]),
        ] {
            let seen = see(&tasks, asked);
            assert!(seen.is_some());
            assert!(matches!(tasks.look_at(at(reported), own, seen), Look::Read(..)), "{asked}");
            assert_eq!(is_due.map(|(ms, _)| (ms, tasks.due(at(ms), own).is_some())), is_due);
        }
        let mut before = see(&tasks, 500).expect("it is due");
        before.sight = Err(Unread::Ended);
        tasks.look_again(at(510));
        assert!(matches!(tasks.look_at(at(520), own, Some(before)), Look::Read(..)));
        assert!(!tasks.has_leaving(), "it was looked at again");
        assert!(see(&tasks, 619).is_none());
        tasks.look_again(at(550));
        assert!(see(&tasks, 551).is_some(), "at once");
    }

    #[test]
    fn what_was_seen_of_a_thread_says_nothing_about_a_later_one_of_its_number() {
        let mut tasks = Tasks::new();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let tid = child.id();
        assert!(matches!(tasks.look_at(at(0), tid, None), Look::Read(..)));
        let seen = tasks.due(at(100), tid).expect("it is due").look();
        drop(child.stdin.take());
        child.wait().expect("it ends");
        tasks.ended(at(110), tid);
        assert!(seen.sight.is_ok());
        let look = tasks.look_at(at(120), tid, Some(seen));
        assert!(matches!(look, Look::Known(Who::NOBODY)), "there is none by now");
    }

    /// By the time of the report, the number may be another thread's.
    #[test]
    fn the_io_priority_is_the_one_seen() {
        let (mut tasks, own) = (Tasks::new(), std::process::id());
        for (ms, ioprio) in [(0, IoPrio::best_effort(1)), (100, IoPrio::best_effort(2))] {
            let mut seen = tasks.due(at(ms), own).expect("it is due").look();
            seen.sight = seen.sight.map(|sight| Sight { ioprio, ..sight });
            let Look::Read(known, _) = tasks.look_at(at(ms + 1), own, Some(seen)) else {
                panic!("it was seen")
            };
            assert_eq!(known.who.ioprio, ioprio);
        }
    }

    #[test]
    fn a_thread_that_never_was_is_nobody() {
        let mut tasks = Tasks::new();
        let look = tasks.look_at(at(0), u32::MAX, None);
        assert!(matches!(look, Look::Known(Who::NOBODY)));
    }

    /// A process with many threads, or without descriptors, takes none from others.
    #[test]
    fn threads_are_known_without_descriptors_too() {
        let mut tasks = Tasks::new();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let tid = child.id();
        assert!(matches!(tasks.look_at(at(0), tid, None), Look::Read(..)));
        assert_eq!(tasks.kept, 1);
        tasks.spare();
        assert_eq!(tasks.kept, 0);
        let Look::Read(known, text) = tasks.look_at(at(150), tid, None) else {
            panic!("it is alive")
        };
        assert!(known.who.task == TaskId(1) && text.contains(":/"), "{text}");
        drop(child.stdin.take());
        child.wait().expect("it ends");
        pass(&mut tasks, 3000, 1, &mut Vec::new());
        assert!(tasks.has_leaving() && tasks.known.is_empty());
    }

    #[test]
    fn a_thread_does_not_end_with_an_earlier_one_of_its_number() {
        let (mut tasks, own) = (Tasks::new(), std::process::id());
        assert!(matches!(tasks.look_at(at(0), own, None), Look::Read(..)));
        assert!(tasks.pass(at(1999), 1, &mut vec![]).is_empty(), "it was heard of");
        let silent = tasks.pass(at(2000), 1, &mut vec![]);
        assert!(silent.len() == 1 && !silent[0].has_ended());
        tasks.ended(at(2000), own);
        assert!(matches!(tasks.look_at(at(2000), own, None), Look::Read(..)));
        let meeting = tasks.meeting(own);
        tasks.have_ended(at(2000), &silent);
        assert!(meeting.is_some() && tasks.meeting(own) == meeting);
    }

    /// This many threads have ended unnoticed.
    fn silent(threads: u32) -> Tasks {
        let mut tasks = Tasks::new();
        for number in 1..=threads {
            let who = Who { task: TaskId(number), ..Who::NOBODY };
            let meeting = Meeting(u64::from(number));
            let known = Known { cgroup: None, who, meeting, looked: at(0), heard: at(0) };
            // No thread has such a number.
            tasks.known.insert(u32::MAX - number, known);
        }
        tasks
    }

    /// Whoever makes the next request pays for the check.
    #[test]
    fn many_threads_that_say_nothing_are_looked_after_a_few_at_a_time() {
        const THREADS: u32 = 25_000;
        let mut tasks = silent(THREADS);
        let (few, mut found, mut told) = (THREADS as usize / 512 + 1, 0, 0);
        for number in 0..20_000 {
            let mut changes = Vec::new();
            let before = tasks.known.len();
            tasks.finish(at(3000 + 20 * number), &BTreeSet::new());
            pass(&mut tasks, 3000 + 20 * number, 1, &mut changes);
            assert!(changes.len() <= few && before - tasks.known.len() <= few, "pass {number}");
            found += before - tasks.known.len();
            told += changes.len();
        }
        assert_eq!((found, told, tasks.free.len()), (25_000, 25_000, 25_000));
    }

    #[test]
    fn after_a_time_when_nobody_asked_for_anything_all_are_looked_after_soon() {
        let mut tasks = silent(25_000);
        let (mut due, mut passes) = (30_000, 0);
        while due > 0 || tasks.due > 0 {
            let before = tasks.known.len();
            pass(&mut tasks, 600_000 + 20 * passes, due, &mut vec![]);
            assert!(before - tasks.known.len() <= 8 * (25_000 / 512 + 1), "pass {passes}");
            (due, passes) = (0, passes + 1);
        }
        assert_eq!(passes, 64);
        // Each time, a part of those that are left.
        assert!(tasks.known.len() < 25_000 / 2, "{}", tasks.known.len());
    }
}
