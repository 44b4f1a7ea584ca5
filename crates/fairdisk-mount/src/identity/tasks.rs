//! The threads that were heard of lately.

use super::{RECHECK, SWEEP, Who, ioprio};
use crate::shortage::is_shortage;
use crate::trouble::Seldom;
use fairdisk_core::{Change, Instant, TaskId};
use rustix::process::{Resource, getrlimit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Descriptors kept of threads at most: whoever has many threads takes them from nobody. Where a
/// process may have few, an eighth of those.
const KEPT_MAX: usize = 4096;

/// How many may make room for one that there is none for.
const SPARED_MAX: usize = 8;

/// All who are silent are looked after in so many passes, and in each at least so many: nobody who
/// asks for something waits for thousands of threads to be found.
const PASSES: u64 = 512;
const PASS_MIN: usize = 16;

/// Of those that were due while nobody asked for anything so many are made up for at once.
const PASSES_AT_ONCE: u64 = 8;

static UNKNOWN: Seldom = Seldom::new();

/// Tells a thread from all others there ever were: their numbers, and those the scheduler knows
/// them by, are given anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meeting(u64);

/// A thread that has ended.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    task: TaskId,
    /// When something was asked for in its name last, or it was found to have ended.
    heard: Instant,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Known {
    /// A descriptor that stays with it: once it has ended, reading says so, even if another has its
    /// number by now. Those that there was no room for are known by their numbers alone.
    cgroup: Option<File>,
    pub(super) who: Who,
    meeting: Meeting,
    /// Until when what is known is believed.
    believed: Instant,
    heard: Instant,
}

/// Why it is not known what `/proc/TID/cgroup` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unread {
    /// The thread is gone.
    Ended,
    /// The system lacks something.
    Lacking,
}

/// What looking at a thread comes to.
pub(super) enum Look<'a> {
    /// It was looked at a moment ago, or cannot be any more.
    Known(Who),
    /// What its `/proc/TID/cgroup` says now.
    Read(&'a mut Known, String),
}

/// All of them, and the numbers the scheduler knows them by.
#[derive(Debug)]
pub(super) struct Tasks {
    known: BTreeMap<u32, Known>,
    /// How many of them have a descriptor.
    kept: usize,
    /// Where the next pass begins.
    from: u32,
    /// Passes that are due.
    due: u64,
    /// Those that have ended and may have something on its way.
    leaving: BTreeMap<Meeting, Leaving>,
    /// Those of them that have nothing, and that the scheduler has not been told of.
    over: BTreeSet<TaskId>,
    free: Vec<TaskId>,
    next: u32,
    /// How many were met so far.
    met: u64,
}

/// How many of `all` are so many passes.
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
            // Task 0 is nobody.
            next: 1,
            met: 0,
        }
    }

    pub(super) fn look_at(&mut self, now: Instant, tid: u32) -> Look<'_> {
        let (mut last, mut read) = (Who::NOBODY, Err(Unread::Ended));
        if let Some(known) = self.known.get_mut(&tid) {
            known.heard = now;
            if now < known.believed {
                return Look::Known(known.who);
            }
            known.believed = now + RECHECK;
            last = known.who;
            read = self.read(tid);
            match read {
                Err(Unread::Ended) => self.ended(now, tid),
                Err(Unread::Lacking) => return Look::Known(last),
                Ok(_) => {}
            }
        }
        let Ok(text) = read.or_else(|_| self.meet(now, tid)) else {
            return Look::Known(Who { task: TaskId(0), ..last });
        };
        let Some(known) = self.known.get_mut(&tid) else { return Look::Known(last) };
        known.who.ioprio = ioprio::of(tid).unwrap_or_else(|| ioprio::from_cpu(tid));
        Look::Read(known, text)
    }

    /// Which thread has the number `tid`, as far as is known.
    pub(super) fn meeting(&self, tid: u32) -> Option<Meeting> {
        self.known.get(&tid).map(|known| known.meeting)
    }

    /// Whether something can still be asked for in the name of a thread that has ended, as it is at
    /// `now`: it keeps its number meanwhile.
    pub(super) fn is_leaving(&mut self, now: Instant, meeting: Meeting) -> bool {
        self.leaving.get_mut(&meeting).map(|leaving| leaving.heard = now).is_some()
    }

    /// Nothing is believed any longer: the groups have changed.
    pub(super) fn look_again(&mut self) {
        self.known.values_mut().for_each(|known| known.believed = Instant::ZERO);
    }

    /// Gets to know a thread, and what is said of it; not if it is gone.
    fn meet(&mut self, now: Instant, tid: u32) -> Result<String, Unread> {
        let cgroup = self.open(tid)?;
        let text = read(&cgroup)?;
        let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let room = usize::try_from(most / 8).map_or(KEPT_MAX, |room| room.min(KEPT_MAX));
        let cgroup = (self.kept < room).then_some(cgroup);
        self.kept += usize::from(cgroup.is_some());
        let task = self.free.pop().unwrap_or(TaskId(self.next));
        self.next = self.next.max(task.0 + 1);
        let who = Who { task, ..Who::NOBODY };
        self.met += 1;
        let (meeting, believed) = (Meeting(self.met), now + RECHECK);
        self.known.insert(tid, Known { cgroup, who, meeting, believed, heard: now });
        Ok(text)
    }

    /// What is said of a thread that is known.
    fn read(&mut self, tid: u32) -> Result<String, Unread> {
        match self.known.get(&tid).and_then(|known| known.cgroup.as_ref()) {
            Some(cgroup) => read(cgroup),
            None => read(&self.open(tid)?),
        }
    }

    /// Opens what is said of a thread. Where there is no room for one more descriptor, those make
    /// some that have been silent longest: who takes all others is still known.
    fn open(&mut self, tid: u32) -> Result<File, Unread> {
        for _ in 0..=SPARED_MAX {
            match File::open(format!("/proc/{tid}/cgroup")) {
                Ok(file) => return Ok(file),
                Err(error) if why(&error) == Unread::Ended => return Err(Unread::Ended),
                Err(_) => {}
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

    /// Closes a descriptor of a thread, if there is one.
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

    /// Whether there are some that have ended and may have something on its way.
    pub(super) fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Those that have ended are over unless they have something `unfinished`: what they asked for
    /// has had the time to get to the scheduler since.
    pub(super) fn finish(&mut self, now: Instant, unfinished: &BTreeSet<TaskId>) {
        self.leaving.retain(|_, Leaving { task, heard }| {
            let stays = now < *heard + SWEEP || unfinished.contains(task);
            if !stays {
                self.over.insert(*task);
            }
            stays
        });
    }

    /// Forgets some of those that are over. Finds some of those that have ended without a word. So
    /// many passes have become due since the last time.
    pub(super) fn pass(&mut self, now: Instant, due: u64, changes: &mut Vec<Change>) {
        self.due = (self.due + due).min(PASSES);
        let passes = self.due.min(PASSES_AT_ONCE);
        self.due -= passes;
        for _ in 0..part(self.over.len(), passes) {
            let Some(task) = self.over.pop_first() else { break };
            changes.push(Change::TaskExited { task });
            self.free.push(task);
        }
        let most = part(self.known.len(), passes);
        let is_gone = |tid, known: &Known| now >= known.heard + SWEEP && known.has_ended(tid);
        let some = self.known.range(self.from..).take(most);
        let some: Vec<_> = some.map(|(tid, known)| (*tid, is_gone(*tid, known))).collect();
        let last = some.last().filter(|_| some.len() == most);
        self.from = last.map_or(0, |(tid, _)| tid.saturating_add(1));
        some.iter().filter(|(_, gone)| *gone).for_each(|(tid, _)| self.ended(now, *tid));
    }
}

impl Known {
    fn has_ended(&self, tid: u32) -> bool {
        match &self.cgroup {
            Some(cgroup) => read(cgroup) == Err(Unread::Ended),
            None => !Path::new(&format!("/proc/{tid}")).exists(),
        }
    }
}

/// What `/proc/TID/cgroup` says.
fn read(cgroup: &File) -> Result<String, Unread> {
    // A line for each hierarchy; paths of cgroups can be as long as any.
    let mut text = vec![0; 4096];
    let mut filled = 0;
    loop {
        match cgroup.read_at(&mut text[filled..], filled as u64).map_err(|error| why(&error))? {
            0 => break,
            read => filled += read,
        }
        if filled == text.len() {
            text.resize(2 * filled, 0);
        }
    }
    text.truncate(filled);
    if filled == 0 { Err(Unread::Ended) } else { Ok(String::from_utf8_lossy(&text).into_owned()) }
}

fn why(error: &io::Error) -> Unread {
    if is_shortage(error) { Unread::Lacking } else { Unread::Ended }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Span;
    use std::process::{Command, Stdio};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_thread_is_read_now_and_then_and_forgotten_when_it_has_ended() {
        let mut tasks = Tasks::new();
        let mut changes = Vec::new();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let tid = child.id();
        assert!(matches!(tasks.look_at(at(0), tid), Look::Read(..)));
        let Look::Known(who) = tasks.look_at(at(50), tid) else { panic!("read again too soon") };
        assert_eq!(who.task, TaskId(1));
        assert!(matches!(tasks.look_at(at(150), tid), Look::Read(..)));
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
            tasks.pass(at(time), 1, &mut changes);
            assert_eq!(std::mem::take(&mut changes), Vec::from_iter(told), "{time}");
            assert_eq!(tasks.has_leaving(), (3000..7000).contains(&time), "{time}");
        }
        let own = std::process::id();
        let Look::Read(known, text) = tasks.look_at(at(9000), own) else { panic!("we are alive") };
        assert_eq!(known.who.task, TaskId(1), "the number is free again");
        assert!(text.contains(":/"), "{text}");
    }

    #[test]
    fn a_thread_that_never_was_is_nobody() {
        let mut tasks = Tasks::new();
        let look = tasks.look_at(at(0), u32::MAX);
        assert!(matches!(look, Look::Known(Who::NOBODY)));
    }

    /// Whoever has many threads, or none of whose descriptors is to be had, takes none from others.
    #[test]
    fn threads_are_known_without_descriptors_too() {
        let mut tasks = Tasks::new();
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let tid = child.id();
        assert!(matches!(tasks.look_at(at(0), tid), Look::Read(..)));
        assert_eq!(tasks.kept, 1);
        tasks.spare();
        assert_eq!(tasks.kept, 0);
        let Look::Read(known, text) = tasks.look_at(at(150), tid) else { panic!("it is alive") };
        assert!(known.who.task == TaskId(1) && text.contains(":/"), "{text}");
        drop(child.stdin.take());
        child.wait().expect("it ends");
        tasks.pass(at(3000), 1, &mut Vec::new());
        assert!(tasks.has_leaving() && tasks.known.is_empty());
    }

    /// So many that have ended without a word.
    fn silent(threads: u32) -> Tasks {
        let mut tasks = Tasks::new();
        for number in 1..=threads {
            let who = Who { task: TaskId(number), ..Who::NOBODY };
            let (meeting, believed, heard) = (Meeting(u64::from(number)), at(0), at(0));
            let known = Known { cgroup: None, who, meeting, believed, heard };
            // No thread has such a number.
            tasks.known.insert(u32::MAX - number, known);
        }
        tasks
    }

    /// Whoever asks next does the looking, and waits for it.
    #[test]
    fn many_threads_that_say_nothing_are_looked_after_a_few_at_a_time() {
        const THREADS: u32 = 25_000;
        let mut tasks = silent(THREADS);
        let (few, mut found, mut told) = (THREADS as usize / 512 + 1, 0, 0);
        for pass in 0..20_000 {
            let mut changes = Vec::new();
            let before = tasks.known.len();
            tasks.finish(at(3000 + 20 * pass), &BTreeSet::new());
            tasks.pass(at(3000 + 20 * pass), 1, &mut changes);
            assert!(changes.len() <= few && before - tasks.known.len() <= few, "pass {pass}");
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
            tasks.pass(at(600_000 + 20 * passes), due, &mut vec![]);
            assert!(before - tasks.known.len() <= 8 * (25_000 / 512 + 1), "pass {passes}");
            (due, passes) = (0, passes + 1);
        }
        assert_eq!(passes, 64);
        // A part of those that are left each time.
        assert!(tasks.known.len() < 25_000 / 2, "{}", tasks.known.len());
    }
}
