//! The files the kernel knows, by the numbers it knows them by.
//!
//! A node costs a few words: the number is the inode number, and what else is needed to reach the
//! file again is its file handle, which for the common file systems is one 32-bit generation. A
//! file handle dies with its file, so it can never lead to another one. Where handles are not to
//! be had (no permission, no support, another mount below the source) a node is its name in the
//! node of its directory; what is found there has to be the file that was meant. Those that were
//! of use lately have a descriptor that refers to the file, and those whose last name goes keep it.
//!
//! Nodes are counted as the kernel counts them, and gone when it forgets them.

mod dense;
mod named;
mod place;
mod table;

use crate::own_devices::OwnDevice;
use crate::sys::handle::{handle_of, open_path};
pub(crate) use named::Mark;
use named::{Named, Step};
use place::Place;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat, fstat, open, openat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
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

/// Files that cannot be looked at have the numbers of a device that there is not.
const NO_DEVICE: u64 = u64::MAX;

/// Descriptors kept of nodes that are reached by name, at most: each takes a kilobyte or two of the
/// kernel's memory. Where a process may have few, half of them are for files that are open.
const DESCRIPTORS_MAX: usize = 1 << 14;

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
pub(crate) struct Referred {
    node: u64,
    fd: Fd,
}

#[derive(Debug)]
enum Fd {
    /// Made for the occasion.
    Fresh(OwnedFd),
    /// Held by the node.
    Held(Arc<OwnedFd>),
}

impl AsFd for Referred {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.fd {
            Fd::Fresh(fd) => fd.as_fd(),
            Fd::Held(fd) => fd.as_fd(),
        }
    }
}

/// A node whose last name is about to go.
#[derive(Debug)]
pub(crate) struct Going {
    node: u64,
    fd: Arc<OwnedFd>,
}

/// A node whose name is about to change.
#[derive(Debug)]
pub(crate) struct Moving {
    node: u64,
    fd: Arc<OwnedFd>,
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
        let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let room = usize::try_from(most / 2).map_or(DESCRIPTORS_MAX, |it| it.min(DESCRIPTORS_MAX));
        let table = Mutex::new(Table::new(root_stat.st_dev, room));
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
        self.table().knows(node)
    }

    /// Refers to a node.
    pub(crate) fn refer(&self, node: u64) -> io::Result<Referred> {
        let fd = match self.at_hand(node)? {
            Some(fd) => fd,
            None => Fd::Held(self.find_again(node)?),
        };
        Ok(Referred { node, fd })
    }

    /// Refers to a node that needs no way.
    fn at_hand(&self, node: u64) -> io::Result<Option<Fd>> {
        if node == ROOT {
            return Ok(Some(Fd::Held(Arc::clone(&self.root))));
        }
        let mut table = self.table();
        if let Some(fd) = table.descriptor(node) {
            return Ok(Some(Fd::Held(fd)));
        }
        let Some((kind, bytes)) = table.handle(node) else { return Ok(None) };
        drop(table);
        let (mount, _) = self.mount.as_ref().ok_or_else(stale)?;
        open_path(mount.as_fd(), kind, &bytes).map(|fd| Some(Fd::Fresh(fd)))
    }

    /// Goes the way to a node once more.
    fn find_again(&self, node: u64) -> io::Result<Arc<OwnedFd>> {
        let way = self.table().way(node);
        if way.steps.is_empty() {
            return Err(stale());
        }
        let mut at = self.refer(way.start)?.fd;
        for step in way.steps.iter().rev() {
            at = Fd::Held(match at {
                Fd::Fresh(fd) => self.step(fd, step)?,
                Fd::Held(fd) => self.step(fd, step)?,
            });
        }
        match at {
            Fd::Held(fd) => Ok(fd),
            Fd::Fresh(fd) => Ok(Arc::new(fd)),
        }
    }

    /// Finds what has to be the file that was meant.
    fn step(&self, parent: impl AsFd, step: &Step) -> io::Result<Arc<OwnedFd>> {
        let fd = openat(parent, &step.name, REFER, Mode::empty()).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => stale(),
            error => error.into(),
        })?;
        if Mark::of(&fd, &fstat(&fd)?) != step.mark {
            return Err(stale());
        }
        let fd = Arc::new(fd);
        self.change(|table| table.opened(step, &fd));
        Ok(fd)
    }

    /// Closes descriptors that were of no use since this was called last, where only files in other
    /// file systems below the source have any: those can be unmounted then.
    pub(crate) fn close_unused(&self) {
        if self.mount.is_some() {
            self.change(Table::close_unused);
        }
    }

    /// Changes the table; what has no place there any longer is closed.
    fn change<T>(&self, with: impl FnOnce(&mut Table) -> T) -> T {
        let (done, closed) = {
            let mut table = self.table();
            (with(&mut table), table.closed())
        };
        drop(closed);
        done
    }

    /// Finds a name in a directory. The kernel will know the file from now on.
    pub(crate) fn look_up(&self, parent: &Referred, name: &OsStr) -> io::Result<Found> {
        self.look_up_in(parent.node, parent, name)
    }

    /// The same, in an open directory.
    pub(crate) fn look_up_in(
        &self,
        parent: u64,
        open: impl AsFd,
        name: &OsStr,
    ) -> io::Result<Found> {
        demand_name(name)?;
        self.know(parent, name, openat(open, name, REFER, Mode::empty())?)
    }

    /// The kernel will know the file `fd` refers to from now on.
    pub(crate) fn know(&self, parent: u64, name: &OsStr, fd: OwnedFd) -> io::Result<Found> {
        // Looked at before anything is asked of its file system, which may be served by us.
        if OwnDevice::has(&fd, self.root_stat.st_dev)? {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        let stat = fstat(&fd)?;
        if (stat.st_dev, stat.st_ino) == (self.root_stat.st_dev, self.root_stat.st_ino) {
            return Ok(Found { node: ROOT, generation: 0, stat });
        }
        let place = self.place_of(parent, name, fd, &stat);
        let generation = place.generation();
        let node = self.change(|table| table.know(stat.st_dev, stat.st_ino, place));
        Ok(Found { node, generation, stat })
    }

    /// A number for a name whose file cannot be looked at: it leads nowhere.
    pub(crate) fn unseen(&self, inode: u64) -> u64 {
        self.change(|table| table.know(NO_DEVICE, inode, Place::nowhere()))
    }

    fn place_of(&self, parent: u64, name: &OsStr, fd: OwnedFd, stat: &Stat) -> Place {
        let handle = self.mount.as_ref().and_then(|(_, mount)| {
            let (handle, through) = handle_of(&fd).ok()?;
            (through == *mount && stat.st_dev == self.root_stat.st_dev).then_some(handle)
        });
        match handle {
            Some(handle) => Place::of(handle, stat.st_ino),
            None => {
                let mark = Mark::of(&fd, stat);
                Place::Named(Box::new(Named::new(parent, name, mark, Arc::new(fd))))
            }
        }
    }

    /// The kernel knows a node `count` times less. Descriptors that are no longer needed are the
    /// answer: closing one may free a large file, which takes a while.
    pub(crate) fn forget(&self, node: u64, count: u64) -> Vec<Arc<OwnedFd>> {
        let mut table = self.table();
        table.forget(node, count);
        table.closed()
    }

    /// What the kernel knows by a name, if it knows that.
    pub(crate) fn find(&self, parent: &Referred, name: &OsStr) -> Option<(u64, OwnedFd)> {
        let (fd, stat) = found(parent, name)?;
        let table = self.table();
        let node = table.find(stat.st_dev, stat.st_ino).filter(|node| table.knows(*node))?;
        Some((node, fd))
    }

    /// A name is about to go. A node whose file goes with it stays reachable for those who still
    /// have it, until the kernel forgets it.
    pub(crate) fn hold(&self, parent: &Referred, name: &OsStr) -> Option<Going> {
        let (fd, stat) = found(parent, name)?;
        let (fd, is_directory) = (Arc::new(fd), stat.st_mode & 0o170_000 == 0o040_000);
        let last = is_directory || stat.st_nlink == 1;
        let node = self.change(|table| table.hold(stat.st_dev, stat.st_ino, &fd, last))?;
        Some(Going { node, fd })
    }

    /// The name did not go: its node is reached as before, and needs no descriptor.
    pub(crate) fn stays(&self, going: Going, parent: &Referred, name: &OsStr) {
        let Going { node, fd } = going;
        let Some((again, stat)) = found(parent, name) else { return };
        // Somebody else may have taken the name away meanwhile.
        let is_same = |held: Stat| (held.st_dev, held.st_ino) == (stat.st_dev, stat.st_ino);
        if fstat(&fd).is_ok_and(is_same) {
            let place = self.place_of(parent.node, name, again, &stat);
            self.change(|table| table.let_go(node, &fd, place));
        }
    }

    /// A name is about to change. What is reached by it is held meanwhile.
    pub(crate) fn moving(&self, parent: &Referred, name: &OsStr) -> Option<Moving> {
        if !self.table().has_names() {
            return None;
        }
        let (fd, stat) = found(parent, name)?;
        let fd = Arc::new(fd);
        let node = self.change(|table| table.moving(stat.st_dev, stat.st_ino, &fd))?;
        Some(Moving { node, fd })
    }

    /// The name it has now.
    pub(crate) fn moved(&self, moving: Moving, parent: &Referred, name: &OsStr) {
        let Moving { node, fd } = moving;
        let Ok(stat) = fstat(&fd) else { return };
        let mark = Mark::of(&fd, &stat);
        let place = Place::Named(Box::new(Named::new(parent.node, name, mark, fd)));
        self.change(|table| table.lead(node, place));
    }
}

fn found(parent: &Referred, name: &OsStr) -> Option<(OwnedFd, Stat)> {
    let fd = openat(parent, name, REFER, Mode::empty()).ok()?;
    let stat = fstat(&fd).ok()?;
    Some((fd, stat))
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
