//! The nodes: the files that the kernel knows, by their node numbers.
//!
//! A node takes only a few words: its number is the inode number, and what is needed to reach the
//! file again is its file handle, which for common file systems amounts to a 32-bit generation. A
//! handle becomes invalid with its file, so it never leads to another file. Where handles are not
//! available (no permission, no support, another mount below the source), a node is a name in the
//! node of its directory, and the file found there must have the right mark. Nodes that were
//! recently used keep an O_PATH descriptor of their file, as do nodes whose last name is removed.
//!
//! Lookups are counted as the kernel counts them, and a node is dropped when the kernel forgets it.

mod dense;
mod named;
mod place;
mod table;

use super::descriptor::Descriptor;
use crate::mounting::own_devices::OwnDevice;
use crate::sys::handle::{handle_of, open_path};
pub(crate) use named::Mark;
use named::{Named, Step};
use place::Place;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, openat};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use table::Table;

/// The node number of the source directory.
pub(crate) const ROOT: u64 = 1;
/// The flags that open a file only as a reference (O_PATH), without following symbolic links.
const REFER: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A device number that does not exist, used for files that cannot be inspected.
const NO_DEVICE: u64 = u64::MAX;

/// The most descriptors kept for nodes that are reached by name. Each takes a kilobyte or two of
/// kernel memory.
const DESCRIPTORS_MAX: usize = 1 << 14;

/// The part of the process's limit that these take at most. Half of it is for open files.
const DESCRIPTORS_PART: u64 = 8;

/// The result of a lookup.
#[derive(Debug)]
pub(crate) struct Found {
    /// The node number.
    pub(crate) node: u64,
    /// Distinguishes the file from earlier ones with the same number.
    pub(crate) generation: u64,
    /// The attributes of the file.
    pub(crate) stat: Stat,
}

/// A node with an O_PATH descriptor of its file.
#[derive(Debug)]
pub(crate) struct Referred {
    node: u64,
    fd: Fd,
}

#[derive(Debug)]
enum Fd {
    /// A descriptor opened for this use.
    Fresh(OwnedFd),
    /// The descriptor kept with the node.
    Held(Arc<Descriptor>),
}

impl AsFd for Referred {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.fd {
            Fd::Fresh(fd) => fd.as_fd(),
            Fd::Held(fd) => fd.as_fd(),
        }
    }
}

/// A node of which a name is about to be removed.
#[derive(Debug)]
pub(crate) struct Going {
    pub(crate) node: u64,
    pub(crate) fd: Arc<Descriptor>,
    /// Whether it is the last name of a file other than a directory, so that its space becomes free
    /// once it is closed.
    pub(crate) frees: bool,
}

/// A node that is about to be renamed.
#[derive(Debug)]
pub(crate) struct Moving {
    node: u64,
    fd: Arc<Descriptor>,
}

/// All nodes that the kernel knows.
#[derive(Debug)]
pub(crate) struct Nodes {
    root: Arc<Descriptor>,
    root_stat: Stat,
    /// An open file on the source's mount and the mount's id, if handles can be used.
    mount: Option<(OwnedFd, i32)>,
    table: Mutex<Table>,
}

impl Nodes {
    /// A table with the source alone.
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
        let room = usize::try_from(most / DESCRIPTORS_PART)
            .map_or(DESCRIPTORS_MAX, |it| it.min(DESCRIPTORS_MAX));
        let table = Mutex::new(Table::new(root_stat.st_dev, room));
        let root = Arc::new(Descriptor::uncounted(root));
        Ok(Self { root, root_stat, mount, table })
    }

    /// The descriptor of the source directory.
    pub(crate) fn root(&self) -> &Descriptor {
        &self.root
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether the kernel knows a node.
    pub(crate) fn knows(&self, node: u64) -> bool {
        self.table().knows(node)
    }

    /// A reference to a node, which is found again by name if necessary.
    pub(crate) fn refer(&self, node: u64) -> io::Result<Referred> {
        let fd = match self.at_hand(node)? {
            Some(fd) => fd,
            None => Fd::Held(self.find_again(node)?),
        };
        Ok(Referred { node, fd })
    }

    /// A reference to a node that is kept open or can be opened by its handle.
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

    /// Finds a node again by the names that lead to it.
    fn find_again(&self, node: u64) -> io::Result<Arc<Descriptor>> {
        let way = self.table().way(node);
        if way.steps.is_empty() {
            return Err(stale());
        }
        let mut at = self.refer(way.start)?.fd;
        for step in way.steps.iter().rev() {
            at = Fd::Held(match at {
                Fd::Fresh(fd) => self.step(fd, step)?,
                Fd::Held(fd) => self.step(&fd, step)?,
            });
        }
        match at {
            Fd::Held(fd) => Ok(fd),
            Fd::Fresh(fd) => Ok(Arc::new(Descriptor::uncounted(fd))),
        }
    }

    /// Opens one name on the way to a node, which must be the file with the right mark.
    fn step(&self, parent: impl AsFd, step: &Step) -> io::Result<Arc<Descriptor>> {
        let fd = openat(parent, &step.name, REFER, Mode::empty()).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => stale(),
            error => error.into(),
        })?;
        if Mark::of(&fd, &fstat(&fd)?) != step.mark {
            return Err(stale());
        }
        let fd = Arc::new(Descriptor::uncounted(fd));
        self.change(|table| table.opened(step, &fd));
        Ok(fd)
    }

    /// Closes the descriptors that have not been used since the last call, so that file systems
    /// below the source can be unmounted. Does nothing where handles are not available, since all
    /// nodes then depend on descriptors.
    pub(crate) fn close_unused(&self) {
        if self.mount.is_some() {
            self.change(Table::close_unused);
        }
    }

    /// Changes the table, and closes the descriptors that were dropped from it.
    fn change<T>(&self, with: impl FnOnce(&mut Table) -> T) -> T {
        let (done, closed) = {
            let mut table = self.table();
            (with(&mut table), table.closed())
        };
        drop(closed);
        done
    }

    /// Looks up a name in a directory, and counts the lookup.
    pub(crate) fn look_up(&self, parent: &Referred, name: &OsStr) -> io::Result<Found> {
        self.look_up_in(parent.node, parent, name)
    }

    /// Looks up a name in the directory `parent`, which is open as `open`, and counts the lookup.
    pub(crate) fn look_up_in(
        &self,
        parent: u64,
        open: impl AsFd,
        name: &OsStr,
    ) -> io::Result<Found> {
        demand_name(name)?;
        self.know(parent, name, openat(open, name, REFER, Mode::empty())?)
    }

    /// Makes a node of the file that `fd` refers to, and counts the lookup.
    pub(crate) fn know(&self, parent: u64, name: &OsStr, fd: OwnedFd) -> io::Result<Found> {
        // Checked before anything is requested from its file system, which may be served by us.
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

    /// A node number for a directory entry whose file cannot be inspected. References to it fail.
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
                let fd = Arc::new(Descriptor::uncounted(fd));
                Place::Named(Box::new(Named::new(parent, name, mark, fd)))
            }
        }
    }

    /// Subtracts `count` lookups of a node. Returns descriptors that are no longer needed; closing
    /// one may free a large file, which takes a while.
    pub(crate) fn forget(&self, node: u64, count: u64) -> Vec<Arc<Descriptor>> {
        let mut table = self.table();
        table.forget(node, count);
        table.closed()
    }

    /// The node of a name, with a descriptor, if the kernel knows it.
    pub(crate) fn find(&self, parent: &Referred, name: &OsStr) -> Option<(u64, OwnedFd)> {
        let (fd, stat) = found(parent, name)?;
        let table = self.table();
        let node = table.find(stat.st_dev, stat.st_ino).filter(|node| table.knows(*node))?;
        Some((node, fd))
    }

    /// Prepares the removal of a name. If it is the last one, the node's file is kept open for
    /// those who still use it, until the kernel forgets the node: by what `keep` makes of the node
    /// and an O_PATH descriptor. If that fails, they can use it only as long as it is open.
    pub(crate) fn hold(
        &self,
        parent: &Referred,
        name: &OsStr,
        keep: impl FnOnce(u64, OwnedFd) -> io::Result<Arc<Descriptor>>,
    ) -> Option<Going> {
        let (fd, stat) = found(parent, name)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let last = is_directory || stat.st_nlink == 1;
        let node = self.table().to_hold(stat.st_dev, stat.st_ino, last)?;
        let fd = keep(node, fd).ok()?;
        self.change(|table| table.hold(node, &fd)).then(|| Going {
            node,
            fd,
            frees: last && !is_directory,
        })
    }

    /// Undoes [`hold`](Self::hold) after a removal that failed, so that the node needs no
    /// descriptor.
    pub(crate) fn stays(&self, going: Going, parent: &Referred, name: &OsStr) {
        let Going { node, fd, .. } = going;
        let Some((again, stat)) = found(parent, name) else { return };
        // Somebody else may have removed or replaced the name meanwhile.
        let is_same = |held: Stat| (held.st_dev, held.st_ino) == (stat.st_dev, stat.st_ino);
        if fstat(&fd).is_ok_and(is_same) {
            let place = self.place_of(parent.node, name, again, &stat);
            self.change(|table| table.let_go(node, &fd, place));
        }
    }

    /// Prepares a rename. A node that is reached by the name is kept open meanwhile.
    pub(crate) fn moving(&self, parent: &Referred, name: &OsStr) -> Option<Moving> {
        if !self.table().has_names() {
            return None;
        }
        let (fd, stat) = found(parent, name)?;
        let fd = Arc::new(Descriptor::uncounted(fd));
        let node = self.change(|table| table.moving(stat.st_dev, stat.st_ino, &fd))?;
        Some(Moving { node, fd })
    }

    /// Records the new name of a node.
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

/// Checks that `name` is a single name, which does not lead out of its directory.
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
