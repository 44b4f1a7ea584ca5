//! Whether what the kernel has cached of a file is still what is in it.
//!
//! The kernel could look at modification times itself, but it would drop everything whenever the
//! mount's own writes change one. So the times after every change of ours are remembered, while a
//! file is open and for a while after; a file with other times was changed by somebody else, and
//! what the kernel has of it is dropped.

use crate::open_file::FileState;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Stat, fstat};
use std::collections::HashMap;

/// Closed files remembered at least; at most twice as many.
const REMEMBERED: usize = 8192;

/// When a file was last modified and changed, and how long it was then. Its modification time can
/// be set to what it was; the time of its last change is the system's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    size: i64,
}

impl Stamp {
    /// What `stat` says.
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |nanos: u64| i64::try_from(nanos).unwrap_or(0);
        Self {
            modified: (stat.st_mtime, nanos(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanos(stat.st_ctime_nsec)),
            size: stat.st_size,
        }
    }

    /// Whether what is in the file is the same as far as can be told when it was just given another
    /// name, say: whoever writes to it changes more than the time of its last change.
    fn has_data_of(self, other: Self) -> bool {
        (self.modified, self.size) == (other.modified, other.size)
    }
}

/// A file while it is open.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    stamp: Option<Stamp>,
    /// Writes of ours under way: its time may be anything.
    writing: usize,
    /// Somebody else had changed it when the first of them began.
    foreign: bool,
}

impl Freshness {
    /// As it was when it was closed.
    pub(crate) fn new(stamp: Option<Stamp>) -> Self {
        Self { stamp, writing: 0, foreign: false }
    }

    /// As it was last known.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// Whether the file is as it was last known, or a write of ours is under way.
    pub(crate) fn is_right(&self, now: Stamp) -> bool {
        self.writing > 0 || self.stamp == Some(now)
    }

    /// Looks at the file as it is `now`: a write of ours must not have ended since. Whether
    /// somebody else may have changed it is the answer.
    pub(crate) fn look(&mut self, now: Stamp) -> bool {
        if self.writing > 0 {
            return false;
        }
        self.stamp.replace(now) != Some(now)
    }

    /// We are about to write to what is like this `now`.
    pub(crate) fn begin(&mut self, now: Option<Stamp>) {
        // Afterwards its times are ours.
        self.foreign |= self.writing == 0 && self.stamp != now;
        self.writing += 1;
    }

    /// We have written.
    pub(crate) fn end(&mut self, now: Option<Stamp>) {
        self.writing -= 1;
        self.stamp = now.filter(|_| !self.foreign);
        self.foreign &= self.writing > 0;
    }

    /// Something of ours that changes no data has made of `before` what it is `after`.
    pub(crate) fn touched(&mut self, before: Stamp, after: Stamp) {
        if self.stamp == Some(before) && after.has_data_of(before) {
            self.stamp = Some(after);
        }
    }
}

/// While it lives, what becomes of a file's times is our doing.
pub(crate) struct Changing<'a> {
    state: &'a FileState,
    fd: BorrowedFd<'a>,
}

impl<'a> Changing<'a> {
    /// We are about to change the file, which is `fd`.
    pub(crate) fn begin(state: &'a FileState, fd: BorrowedFd<'a>) -> Self {
        // No other write of ours ends between the two.
        let mut freshness = state.freshness();
        freshness.begin(stamp(fd));
        drop(freshness);
        Self { state, fd }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut freshness = self.state.freshness();
        freshness.end(stamp(self.fd));
    }
}

/// Looks at the file, which is `fd`. Whether somebody else may have changed it is the answer.
pub(crate) fn look(state: &FileState, fd: impl AsFd) -> bool {
    let mut freshness = state.freshness();
    stamp(fd.as_fd()).is_none_or(|now| freshness.look(now))
}

/// What a file is like now.
fn stamp(fd: BorrowedFd<'_>) -> Option<Stamp> {
    fstat(fd).ok().map(|stat| Stamp::of(&stat))
}

/// Files that are closed, for a while.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    recent: HashMap<u64, Stamp>,
    older: HashMap<u64, Stamp>,
}

impl Closed {
    /// Remembers a file.
    pub(crate) fn remember(&mut self, node: u64, stamp: Stamp) {
        if self.recent.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(node, stamp);
    }

    /// Something of ours that changes no data has made of `before` what it is `after`.
    pub(crate) fn touched(&mut self, node: u64, before: Stamp, after: Stamp) {
        let known = self.recent.get_mut(&node).or_else(|| self.older.get_mut(&node));
        if let Some(stamp) = known.filter(|stamp| **stamp == before && after.has_data_of(before)) {
            *stamp = after;
        }
    }

    /// What a file was like when it was closed.
    pub(crate) fn take(&mut self, node: u64) -> Option<Stamp> {
        let older = self.older.remove(&node);
        self.recent.remove(&node).or(older)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn stamp(seconds: i64) -> Stamp {
        Stamp { modified: (0, 0), changed: (seconds, 0), size: 0 }
    }

    #[test]
    fn only_changes_of_others_count() {
        let mut freshness = Freshness::new(Some(stamp(1)));
        assert!(!freshness.look(stamp(1)));
        freshness.begin(Some(stamp(1)));
        freshness.begin(Some(stamp(7)));
        assert!(!freshness.look(stamp(2)));
        freshness.end(Some(stamp(2)));
        assert!(!freshness.look(stamp(3)));
        freshness.end(Some(stamp(3)));
        assert!(!freshness.look(stamp(3)));
        assert!(freshness.look(stamp(4)));
        assert!(!freshness.look(stamp(4)));
        assert!(Freshness::new(None).look(stamp(1)), "never seen");
        freshness.begin(Some(stamp(5)));
        freshness.end(Some(stamp(6)));
        assert!(freshness.look(stamp(6)), "somebody was there before we wrote");
        freshness.begin(Some(stamp(6)));
        freshness.end(Some(stamp(7)));
        assert!(!freshness.look(stamp(7)));
    }

    #[test]
    fn what_changes_no_data_is_told_from_what_others_do() {
        let written = Stamp { modified: (9, 0), ..stamp(9) };
        let mut closed = Closed::default();
        for (before, after, expected) in [
            (stamp(1), stamp(2), stamp(2)),
            (stamp(3), stamp(4), stamp(1)), // changed before
            (stamp(1), written, stamp(1)),  // changed meanwhile
        ] {
            let mut open = Freshness::new(Some(stamp(1)));
            open.touched(before, after);
            assert_eq!(open.stamp(), Some(expected));
            closed.remember(7, stamp(1));
            closed.touched(7, before, after);
            assert_eq!(closed.take(7), Some(expected));
        }
    }

    #[test]
    fn closed_files_are_remembered_for_a_while() {
        let mut closed = Closed::default();
        (0..3 * REMEMBERED as u64).for_each(|node| closed.remember(node, stamp(1)));
        assert!(closed.recent.len() + closed.older.len() <= 2 * REMEMBERED);
        let last = 3 * REMEMBERED as u64 - 1;
        assert_eq!((closed.take(last), closed.take(last)), (Some(stamp(1)), None));
        assert_eq!(closed.take(0), None);
    }
}
