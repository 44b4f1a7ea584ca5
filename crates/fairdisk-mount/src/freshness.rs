//! Whether what the kernel has cached of a file is still what is in it.
//!
//! The kernel could look at modification times itself, but it would drop everything whenever the
//! mount's own writes change one. So the times after every write of ours are remembered, while a
//! file is open and for a while after; a file with other times was changed by somebody else, or got
//! another name, and what the kernel has of it is dropped.

use rustix::fs::Stat;
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
}

/// A file while it is open.
#[derive(Debug, Default)]
pub(crate) struct Freshness {
    stamp: Option<Stamp>,
    /// Writes of ours under way: its time may be anything.
    writing: usize,
}

impl Freshness {
    /// As it was when it was closed.
    pub(crate) fn new(stamp: Option<Stamp>) -> Self {
        Self { stamp, writing: 0 }
    }

    /// As it was last known.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// Looks at the file. Whether somebody else may have changed it is the answer.
    pub(crate) fn look(&mut self, now: Stamp) -> bool {
        if self.writing > 0 {
            return false;
        }
        self.stamp.replace(now) != Some(now)
    }

    /// We are about to write.
    pub(crate) fn begin(&mut self) {
        self.writing += 1;
    }

    /// We have written.
    pub(crate) fn end(&mut self, now: Option<Stamp>) {
        self.writing -= 1;
        self.stamp = now;
    }
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
        freshness.begin();
        freshness.begin();
        assert!(!freshness.look(stamp(2)));
        freshness.end(Some(stamp(2)));
        assert!(!freshness.look(stamp(3)));
        freshness.end(Some(stamp(3)));
        assert!(!freshness.look(stamp(3)));
        assert!(freshness.look(stamp(4)));
        assert!(!freshness.look(stamp(4)));
        assert!(Freshness::new(None).look(stamp(1)), "never seen");
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
