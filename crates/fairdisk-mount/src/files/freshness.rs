//! Detects whether a file has been changed other than through the mount, so that the kernel's
//! cached data of it is stale.
//!
//! The kernel could compare modification times itself, but then the mount's own writes would
//! invalidate the cache, too. So the file's times are recorded after every change of ours, while it
//! is open and for some time after. If they differ later, somebody else has changed the file, and
//! the kernel is told to drop its cached data.
//!
//! A write of others sets the times before it changes the data. Who reads in between caches old
//! data under the new times. So for some time after a change of others nothing is trusted.

use super::open_file::FileState;
use fairdisk_plane::wall_time;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{Stat, fstat};
use std::collections::HashMap;
use std::time::SystemTime;

/// The least number of closed files that are remembered; the most is twice as many.
const REMEMBERED: usize = 8192;

/// For how many seconds after a change of others cached data is not trusted: longer than one write
/// takes, also a direct one on a busy disk.
const SETTLING_S: i64 = 10;

/// The modification time, change time and size of a file. The modification time can be set back by
/// a program, the change time cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    size: i64,
}

impl Stamp {
    /// The stamp in the result of stat(2).
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |nanos: u64| i64::try_from(nanos).unwrap_or(0);
        Self {
            modified: (stat.st_mtime, nanos(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanos(stat.st_ctime_nsec)),
            size: stat.st_size,
        }
    }

    /// Whether the contents are probably the same, so that only metadata such as the name has
    /// changed: a write changes the modification time or the size as well.
    fn has_data_of(self, other: Self) -> bool {
        (self.modified, self.size) == (other.modified, other.size)
    }
}

/// The freshness of an open file's cached data.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    stamp: Option<Stamp>,
    /// The number of our writes in progress, during which the file's times are unpredictable.
    writing: usize,
    /// Whether somebody else had changed the file when the first of these writes began.
    foreign: bool,
    /// Until when data cached since the last change of others may be older than that, in seconds
    /// since 1970.
    settled_at: Option<i64>,
}

impl Freshness {
    /// The state of a file with the stamp that it had when it was last closed, if that is known.
    pub(crate) fn new(stamp: Option<Stamp>) -> Self {
        Self { stamp, ..Self::default() }
    }

    /// The stamp after our last change.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// Whether the file has the stamp last known, or a write of ours is in progress, and all that
    /// is cached of it is newer than the last change of others.
    pub(crate) fn is_right(&self, now: Stamp) -> bool {
        self.settled_at.is_none() && (self.writing > 0 || self.stamp == Some(now))
    }

    /// Compares with the stamp the file has `now`, which must have been read under the lock, and
    /// records it; `now_s` is the time in seconds since 1970. Returns whether cached data may be
    /// stale because of somebody else.
    pub(crate) fn look(&mut self, now: Stamp, now_s: i64) -> bool {
        let was_unsettled = self.settled_at.is_some();
        self.settled_at = self.settled_at.filter(|end| now_s < *end);
        if self.writing > 0 {
            return was_unsettled;
        }
        let changed = self.stamp.replace(now) != Some(now);
        // The clock of a remote file system may be wrong.
        let is_recent = (now_s - now.changed.0).abs() < SETTLING_S;
        if changed && is_recent {
            self.settled_at = Some(now.changed.0 + SETTLING_S);
        }
        changed || was_unsettled
    }

    /// Notes that we have just made the file, with the stamp `now`.
    pub(crate) fn made(&mut self, now: Stamp) {
        self.stamp = Some(now);
    }

    /// Begins a write of ours to a file that has the stamp `now`.
    pub(crate) fn begin(&mut self, now: Option<Stamp>) {
        // After the write, a change by others can no longer be told from ours.
        self.foreign |= self.writing == 0 && self.stamp != now;
        self.writing += 1;
    }

    /// Ends a write of ours, after which the file has the stamp `now`.
    pub(crate) fn end(&mut self, now: Option<Stamp>) {
        self.writing -= 1;
        self.stamp = now.filter(|_| !self.foreign);
        self.foreign &= self.writing > 0;
    }

    /// Notes that a metadata change of ours has changed the stamp from `before` to `after`.
    pub(crate) fn touched(&mut self, before: Stamp, after: Stamp) {
        if self.stamp == Some(before) && after.has_data_of(before) {
            self.stamp = Some(after);
        }
    }
}

/// Guards a change of ours to a file, so that the resulting change of its times counts as ours. If
/// it changes the mode as well, as a write clears set-user-id bits, the kernel learns that.
pub(crate) struct Changing<'a> {
    state: &'a FileState,
    fd: BorrowedFd<'a>,
    mode: Option<u32>,
}

impl<'a> Changing<'a> {
    /// Begins a change of the file, which is open as `fd`.
    pub(crate) fn begin(state: &'a FileState, fd: BorrowedFd<'a>) -> Self {
        // The lock is held so that no other write of ours ends between reading the stamp and
        // `begin`.
        let mut freshness = state.freshness();
        let before = fstat(fd).ok();
        freshness.begin(before.as_ref().map(Stamp::of));
        drop(freshness);
        Self { state, fd, mode: before.map(|before| before.st_mode) }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut freshness = self.state.freshness();
        let after = fstat(self.fd).ok();
        freshness.end(after.as_ref().map(Stamp::of));
        drop(freshness);
        if self.mode != after.map(|after| after.st_mode) {
            self.state.attributes_changed();
        }
    }
}

/// Checks the file, which is open as `fd`. Returns whether somebody else may have changed it.
pub(crate) fn look(state: &FileState, fd: impl AsFd) -> bool {
    let mut freshness = state.freshness();
    stamp(fd.as_fd()).is_none_or(|now| freshness.look(now, now_s()))
}

/// The time in seconds since 1970.
fn now_s() -> i64 {
    let since = wall_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs() as i64
}

/// The current stamp of a file.
fn stamp(fd: BorrowedFd<'_>) -> Option<Stamp> {
    fstat(fd).ok().map(|stat| Stamp::of(&stat))
}

/// The stamps of recently closed files, in two generations.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    recent: HashMap<u64, Stamp>,
    older: HashMap<u64, Stamp>,
}

impl Closed {
    /// Records the stamp of a file that is being closed.
    pub(crate) fn remember(&mut self, node: u64, stamp: Stamp) {
        if self.recent.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(node, stamp);
    }

    /// Notes that a metadata change of ours has changed the stamp from `before` to `after`.
    pub(crate) fn touched(&mut self, node: u64, before: Stamp, after: Stamp) {
        let known = self.recent.get_mut(&node).or_else(|| self.older.get_mut(&node));
        if let Some(stamp) = known.filter(|stamp| **stamp == before && after.has_data_of(before)) {
            *stamp = after;
        }
    }

    /// Removes and returns the stamp of a file that is being opened.
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

    /// Long after all stamps of these tests.
    const LATE: i64 = 1_000_000;

    #[test]
    fn for_some_time_after_a_change_of_others_nothing_is_trusted() {
        let mut freshness = Freshness::new(Some(stamp(1)));
        let changed = 500;
        assert!(freshness.look(stamp(changed), changed + 1), "changed just now");
        for (at, is_stale) in [(2, true), (9, true), (10, true), (11, false), (12, false)] {
            assert_eq!(!freshness.is_right(stamp(changed)), is_stale, "{at}");
            assert_eq!(freshness.look(stamp(changed), changed + at), is_stale, "{at}");
        }
        assert!(freshness.look(stamp(LATE + 60), LATE), "the clock there is wrong");
        assert!(!freshness.look(stamp(LATE + 60), LATE));
        let mut made = Freshness::new(None);
        made.made(stamp(LATE));
        assert!(!made.look(stamp(LATE), LATE), "our own");
    }

    #[test]
    fn only_changes_of_others_count() {
        let mut freshness = Freshness::new(Some(stamp(1)));
        assert!(!freshness.look(stamp(1), LATE));
        freshness.begin(Some(stamp(1)));
        freshness.begin(Some(stamp(7)));
        assert!(!freshness.look(stamp(2), LATE));
        freshness.end(Some(stamp(2)));
        assert!(!freshness.look(stamp(3), LATE));
        freshness.end(Some(stamp(3)));
        assert!(!freshness.look(stamp(3), LATE));
        assert!(freshness.look(stamp(4), LATE));
        assert!(!freshness.look(stamp(4), LATE));
        assert!(Freshness::new(None).look(stamp(1), LATE), "never seen");
        freshness.begin(Some(stamp(5)));
        freshness.end(Some(stamp(6)));
        assert!(freshness.look(stamp(6), LATE), "somebody was there before we wrote");
        freshness.begin(Some(stamp(6)));
        freshness.end(Some(stamp(7)));
        assert!(!freshness.look(stamp(7), LATE));
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
