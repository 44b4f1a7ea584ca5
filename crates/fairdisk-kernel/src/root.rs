//! The files of a system, below `/` or below a directory that has a copy of them.

use crate::ioprio::Ioprio;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

/// Where the files of a system are.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
    /// The files and directories that are there and could not be read.
    unread: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Root {
    /// The system that this program runs on.
    pub fn of_system() -> Self {
        Self::at("/")
    }

    /// A system whose files lie below a directory: `sys/…` and `proc/…`. The I/O priority of a
    /// thread, which no file of the kernel tells, is the number in `proc/PID/task/TID/ioprio`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), unread: Arc::default() }
    }

    /// The place of a path of the system.
    pub fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let below = path.as_ref().components().filter(|part| matches!(part, Component::Normal(_)));
        below.fold(self.path.clone(), |place, part| place.join(part))
    }

    /// A file's text without the newline at its end, if it can be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.kept(path.as_ref(), fs::read(self.place(&path)))?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The names in a directory, in order; none if it cannot be read.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = self.kept(path.as_ref(), fs::read_dir(self.place(&path)));
        let entries = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The files and directories that are there and could not be read until now.
    pub fn unread(&self) -> Vec<PathBuf> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// What was read; that something is there and cannot be read is kept in mind.
    fn kept<T>(&self, path: &Path, read: io::Result<T>) -> Option<T> {
        let is_there = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory)
                || error.raw_os_error() == Some(libc::EIO)
        };
        if read.as_ref().err().is_some_and(is_there) {
            let path = Path::new("/").join(path);
            self.unread.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
        }
        read.ok()
    }

    pub(crate) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).exists()
    }

    pub(crate) fn is_dir(&self, path: impl AsRef<Path>) -> bool {
        self.place(path).is_dir()
    }

    /// The path that a symbolic link, or a chain of them, leads to; the path itself if it is none.
    pub(crate) fn followed(&self, path: &Path) -> PathBuf {
        let mut path = path.to_owned();
        for _ in 0..8 {
            let Ok(target) = fs::read_link(self.place(&path)) else { break };
            path = resolved(&path.parent().unwrap_or(Path::new("/")).join(target));
        }
        path
    }

    /// The I/O priority of a thread, if it has one of its own.
    pub(crate) fn ioprio(&self, pid: u32, tid: u32) -> Option<Ioprio> {
        if self.path == Path::new("/") {
            return Ioprio::of_thread(tid);
        }
        let text = self.text(format!("proc/{pid}/task/{tid}/ioprio"))?;
        Ioprio::from_raw(text.parse().ok()?)
    }
}

/// The path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            _ => clean.push(part),
        }
    }
    clean
}
