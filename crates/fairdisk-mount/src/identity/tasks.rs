//! The threads that were heard of lately.

use super::{RECHECK, SWEEP, Who, ioprio};
use fairdisk_core::{Change, Instant, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A thread, found by a descriptor that stays with it: once it has ended, reading says so, even if
/// another has its number by now.
#[derive(Debug)]
pub(super) struct Known {
    cgroup: File,
    pub(super) who: Who,
    /// Until when what is known is believed.
    believed: Instant,
    heard: Instant,
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
    /// Those that have ended, and when that was found: they may have something on its way.
    leaving: Vec<(TaskId, Instant)>,
    free: Vec<TaskId>,
    next: u32,
}

impl Tasks {
    pub(super) const fn new() -> Self {
        // Task 0 is nobody.
        Self { known: BTreeMap::new(), leaving: Vec::new(), free: Vec::new(), next: 1 }
    }

    pub(super) fn look_at(&mut self, now: Instant, tid: u32) -> Look<'_> {
        let mut last = Who::NOBODY;
        if let Some(known) = self.known.get_mut(&tid) {
            known.heard = now;
            if now < known.believed {
                return Look::Known(known.who);
            }
            last = known.who;
            if known.read().is_none() {
                self.ended(now, tid);
            }
        }
        if !self.known.contains_key(&tid) && !self.meet(now, tid) {
            return Look::Known(Who { task: TaskId(0), ..last });
        }
        let Some(known) = self.known.get_mut(&tid) else { return Look::Known(last) };
        known.believed = now + RECHECK;
        known.who.ioprio = ioprio::of(tid).unwrap_or_else(|| ioprio::from_nice(tid));
        match known.read() {
            Some(text) => Look::Read(known, text),
            None => Look::Known(known.who),
        }
    }

    /// Nothing is believed any longer: the groups have changed.
    pub(super) fn look_again(&mut self) {
        self.known.values_mut().for_each(|known| known.believed = Instant::ZERO);
    }

    /// Gets to know a thread; not if it is gone.
    fn meet(&mut self, now: Instant, tid: u32) -> bool {
        let Ok(cgroup) = File::open(format!("/proc/{tid}/cgroup")) else { return false };
        let task = self.free.pop().unwrap_or(TaskId(self.next));
        self.next = self.next.max(task.0 + 1);
        let who = Who { task, ..Who::NOBODY };
        self.known.insert(tid, Known { cgroup, who, believed: now, heard: now });
        true
    }

    fn ended(&mut self, now: Instant, tid: u32) {
        if let Some(known) = self.known.remove(&tid) {
            self.leaving.push((known.who.task, now));
        }
    }

    /// Whether there are some that have ended and were not forgotten.
    pub(super) const fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Forgets those that have ended: what they asked for has had the time to get to the scheduler
    /// since that was found, and is finished. Finds those that have ended without a word.
    pub(super) fn sweep(
        &mut self,
        now: Instant,
        unfinished: &BTreeSet<TaskId>,
        changes: &mut Vec<Change>,
    ) {
        self.leaving.retain(|(task, found)| {
            let stays = now < *found + SWEEP || unfinished.contains(task);
            if !stays {
                changes.push(Change::TaskExited { task: *task });
                self.free.push(*task);
            }
            stays
        });
        let silent = self.known.iter().filter(|(_, known)| now >= known.heard + SWEEP);
        let gone: Vec<u32> =
            silent.filter(|(_, known)| known.read().is_none()).map(|(tid, _)| *tid).collect();
        gone.into_iter().for_each(|tid| self.ended(now, tid));
    }
}

impl Known {
    /// What `/proc/TID/cgroup` says; nothing once the thread has ended.
    fn read(&self) -> Option<String> {
        // A line for each hierarchy; paths of cgroups can be as long as any.
        let mut text = vec![0; 4096];
        let mut filled = 0;
        loop {
            match self.cgroup.read_at(&mut text[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(_) => return None,
            }
            if filled == text.len() {
                text.resize(2 * filled, 0);
            }
        }
        text.truncate(filled);
        if filled == 0 { None } else { Some(String::from_utf8_lossy(&text).into_owned()) }
    }
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
            tasks.sweep(at(time), unfinished, &mut changes);
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
}
