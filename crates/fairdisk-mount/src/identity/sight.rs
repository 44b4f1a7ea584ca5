//! What `/proc` shows of a thread. Looking needs no lock, so that other requests go on meanwhile.

use super::ioprio;
use super::tasks::Meeting;
use crate::shortage::is_shortage;
use fairdisk_core::{Instant, IoPrio};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// Why `/proc/TID/cgroup` could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The thread has ended.
    Ended,
    /// The system has run out of descriptors or memory.
    Lacking,
}

/// A look at a thread that is due.
#[derive(Debug)]
pub(crate) struct DueLook {
    pub(super) tid: u32,
    pub(super) at: Instant,
    pub(super) meeting: Option<Meeting>,
    /// The open `/proc/TID/cgroup`, if it is.
    pub(super) cgroup: Option<Arc<File>>,
}

/// What a look at a thread has shown.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(super) tid: u32,
    /// When the look began, or earlier.
    pub(super) at: Instant,
    /// Which thread of this number was known at that time.
    pub(super) meeting: Option<Meeting>,
    pub(super) sight: Result<Sight, Unread>,
}

/// A thread that was alive.
#[derive(Debug)]
pub(super) struct Sight {
    /// The open `/proc/TID/cgroup`.
    pub(super) cgroup: Arc<File>,
    /// Its contents.
    pub(super) text: String,
    pub(super) ioprio: IoPrio,
}

impl DueLook {
    /// Looks at the thread.
    pub(crate) fn look(self) -> Seen {
        let Self { tid, at, meeting, cgroup } = self;
        let cgroup = cgroup.map_or_else(|| open(tid), Ok);
        Seen { tid, at, meeting, sight: cgroup.and_then(|cgroup| Sight::of(tid, cgroup)) }
    }
}

impl Sight {
    /// The thread `tid`, whose `/proc/TID/cgroup` is open.
    pub(super) fn of(tid: u32, cgroup: Arc<File>) -> Result<Self, Unread> {
        // Before the cgroup is read, since that fails if the number may be another thread's by now.
        let ioprio = ioprio::of(tid).unwrap_or_else(|| ioprio::from_cpu(tid));
        let text = read(&cgroup)?;
        Ok(Self { cgroup, text, ioprio })
    }
}

/// A silent thread that may have ended.
#[derive(Debug)]
pub(crate) struct Silent {
    pub(super) tid: u32,
    pub(super) meeting: Meeting,
    /// The open `/proc/TID/cgroup`, if it is.
    pub(super) cgroup: Option<Arc<File>>,
}

impl Silent {
    pub(crate) fn has_ended(&self) -> bool {
        match &self.cgroup {
            Some(cgroup) => read(cgroup) == Err(Unread::Ended),
            None => !Path::new(&format!("/proc/{}", self.tid)).exists(),
        }
    }
}

/// Opens the `/proc/TID/cgroup` of a thread.
pub(super) fn open(tid: u32) -> Result<Arc<File>, Unread> {
    File::open(format!("/proc/{tid}/cgroup")).map(Arc::new).map_err(|error| why(&error))
}

/// Reads a `/proc/TID/cgroup`.
fn read(cgroup: &File) -> Result<String, Unread> {
    // It has one line for each hierarchy, and the paths of cgroups have no limit.
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
