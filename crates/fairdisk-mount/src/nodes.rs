//! The files the kernel knows, by the numbers it knows them by.
//!
//! A node costs a few words: the number is the inode number, and what else is needed to reach the
//! file again is its file handle, which for the common file systems is one 32-bit generation. A
//! file handle dies with its file, so it can never lead to another one. Where handles are not to
//! be had (no permission, no support, another mount below the source) a node holds a descriptor
//! that only refers to its file.
//!
//! Nodes are counted as the kernel counts them, and gone when it forgets them.

mod dense;
mod place;
mod table;

use crate::sys::handle::{handle_of, open_path};
use place::Place;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat, fstat, open, openat};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use table::Table;

/// The number of the source itself.
pub(crate) const ROOT: u64 = 1;
/// How a file is referred to: not opened, not followed.
const REFER: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A file as it was just found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The number the kernel will know it by.
    pub(crate) node: u64,
    /// Tells it from other files that had the number before.
    pub(crate) generation: u64,
    /// What it is.
    pub(crate) stat: Stat,
}

/// A descriptor that refers to a node.
#[derive(Debug)]
pub(crate) enum Referred {
    /// Made for the occasion.
    Fresh(OwnedFd),
    /// Held by the node.
    Held(Arc<OwnedFd>),
}

impl AsFd for Referred {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Fresh(fd) => fd.as_fd(),
            Self::Held(fd) => fd.as_fd(),
        }
    }
}

/// Every node the kernel knows.
#[derive(Debug)]
pub(crate) struct Nodes {
    root: Arc<OwnedFd>,
    root_stat: Stat,
    /// An open file on the source's mount, and the mount's number, where handles can be used.
    mount: Option<(OwnedFd, i32)>,
    table: Mutex<Table>,
}

impl Nodes {
    /// Knows the source alone.
    pub(crate) fn new(source: &Path) -> io::Result<Self> {
        let root = open(source, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mount = openat(&root, ".", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok();
        let mount = mount.and_then(|fd| {
            let (handle, number) = handle_of(&fd).ok()?;
            open_path(fd.as_fd(), handle.kind, &handle.bytes).ok()?;
            Some((fd, number))
        });
        let root_stat = fstat(&root)?;
        let table = Mutex::new(Table::new(root_stat.st_dev));
        Ok(Self { root: Arc::new(root), root_stat, mount, table })
    }

    /// The source.
    pub(crate) fn root(&self) -> &OwnedFd {
        &self.root
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many the kernel knows.
    pub(crate) fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether the kernel knows a node.
    pub(crate) fn knows(&self, node: u64) -> bool {
        self.table().place(node).is_some()
    }

    /// Refers to a node.
    pub(crate) fn refer(&self, node: u64) -> io::Result<Referred> {
        if node == ROOT {
            return Ok(Referred::Held(Arc::clone(&self.root)));
        }
        let place = self.table().place(node).ok_or_else(stale)?;
        let (kind, bytes) = match place {
            Place::Held(fd) => return Ok(Referred::Held(fd)),
            Place::Short { generation } => (1, place::short_bytes(node, generation).to_vec()),
            Place::Long(handle) => (handle.kind, handle.bytes.clone()),
        };
        let (mount, _) = self.mount.as_ref().ok_or_else(stale)?;
        open_path(mount.as_fd(), kind, &bytes).map(Referred::Fresh)
    }

    /// Finds a name in a directory. The kernel will know the file from now on.
    pub(crate) fn look_up(&self, parent: impl AsFd, name: &OsStr) -> io::Result<Found> {
        demand_name(name)?;
        self.know(openat(parent, name, REFER, Mode::empty())?)
    }

    /// The kernel will know the file `fd` refers to from now on.
    pub(crate) fn know(&self, fd: OwnedFd) -> io::Result<Found> {
        let stat = fstat(&fd)?;
        if (stat.st_dev, stat.st_ino) == (self.root_stat.st_dev, self.root_stat.st_ino) {
            return Ok(Found { node: ROOT, generation: 0, stat });
        }
        let place = self.place_of(fd, &stat);
        let generation = place.generation();
        let node = self.table().know(stat.st_dev, stat.st_ino, place);
        Ok(Found { node, generation, stat })
    }

    fn place_of(&self, fd: OwnedFd, stat: &Stat) -> Place {
        let handle = self.mount.as_ref().and_then(|(_, mount)| {
            let (handle, through) = handle_of(&fd).ok()?;
            (through == *mount && stat.st_dev == self.root_stat.st_dev).then_some(handle)
        });
        match handle {
            Some(handle) => Place::of(handle, stat.st_ino),
            None => Place::Held(Arc::new(fd)),
        }
    }

    /// The kernel knows a node `count` times less. A descriptor that is no longer needed is the
    /// answer: closing it may free a large file, which takes a while.
    pub(crate) fn forget(&self, node: u64, count: u64) -> Option<Arc<OwnedFd>> {
        match self.table().forget(node, count) {
            Some(Place::Held(fd)) => Some(fd),
            _ => None,
        }
    }

    /// A name is about to go. A node whose file goes with it stays reachable for those who still
    /// have it, until the kernel forgets it.
    pub(crate) fn hold(&self, parent: impl AsFd, name: &OsStr) {
        if self.mount.is_none() {
            return;
        }
        let Ok(fd) = openat(parent, name, REFER, Mode::empty()) else { return };
        let Ok(stat) = fstat(&fd) else { return };
        let is_directory = stat.st_mode & 0o170_000 == 0o040_000;
        if stat.st_dev == self.root_stat.st_dev && (is_directory || stat.st_nlink == 1) {
            self.table().hold(stat.st_ino, Arc::new(fd));
        }
    }
}

/// One name, and one that stays in its directory.
pub(crate) fn demand_name(name: &OsStr) -> io::Result<()> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        bytes if bytes.contains(&b'/') => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        bytes if bytes.len() > 255 => Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG)),
        _ => Ok(()),
    }
}

fn stale() -> io::Error {
    io::Error::from_raw_os_error(libc::ESTALE)
}
