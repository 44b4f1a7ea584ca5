//! The nodes of the directory of groups: directories and files of the hierarchy, and our own files.

use super::own_file::OwnFile;
use crate::requests::attributes::attributes;
use crate::sys::proc_fd::ProcFd;
use fuser::{FileAttr, FileType};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType as Kind, Mode, OFlags, fstat, open, openat, stat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The node number of the top directory.
pub(super) const ROOT: u64 = 1;

/// A file that makes the kernel run a program as root when a group becomes empty. It is hidden,
/// because whoever may write to a mount must not get that power.
const HIDDEN: &str = "release_agent";

/// The files to which the number of a task is written to move it, or 0 for the writer itself.
const MEMBERSHIP: [&str; 3] = ["tasks", "cgroup.procs", "cgroup.threads"];

/// The membership file of version 1, which version 2 does not have.
pub(super) const TASKS: &str = "tasks";

/// A directory or file that the kernel knows.
#[derive(Debug)]
pub(super) struct Node {
    /// An O_PATH descriptor of the file or directory; for one of our own files, of its directory.
    pub(super) fd: Arc<OwnedFd>,
    pub(super) own: Option<OwnFile>,
    /// Whether writing to the file moves tasks.
    pub(super) is_membership: bool,
}

/// Identifies a node for as long as its file exists: the inode number and, for one of our own
/// files, which one.
type Key = (u64, Option<OwnFile>);

#[derive(Debug)]
struct Entry {
    node: Arc<Node>,
    key: Key,
    lookups: u64,
}

#[derive(Debug, Default)]
struct Table {
    entries: BTreeMap<u64, Entry>,
    numbers: BTreeMap<Key, u64>,
    last: u64,
}

/// All nodes that the kernel knows.
#[derive(Debug)]
pub(super) struct Nodes {
    root: Arc<Node>,
    /// Whether the hierarchy is of version 2, which has no file `tasks`.
    version2: bool,
    table: Mutex<Table>,
}

/// Whether a directory entry of this name is shown.
pub(super) fn is_shown(name: &OsStr) -> bool {
    name != HIDDEN && name != "." && name != ".." && !name.as_bytes().contains(&b'/')
}

impl Node {
    /// The attributes of the node, under the node number `number`.
    pub(super) fn attributes(&self, number: u64) -> io::Result<FileAttr> {
        let there = attributes(number, &fstat(&*self.fd)?);
        let Some(own) = self.own else { return Ok(there) };
        let kind = FileType::RegularFile;
        Ok(FileAttr { kind, perm: own.mode(), nlink: 1, uid: 0, gid: 0, ..there })
    }

    /// The descriptor of the node, which must be a directory of the hierarchy.
    pub(super) fn directory(&self) -> io::Result<&OwnedFd> {
        match self.own {
            None => Ok(&self.fd),
            Some(_) => Err(Errno::NOTDIR.into()),
        }
    }

    /// The path of the group whose directory this is, or is in. `mount` is where the hierarchy is
    /// mounted.
    pub(super) fn group(&self, mount: &Path) -> io::Result<String> {
        let path = std::fs::read_link(ProcFd::path(&*self.fd))?;
        // A removed group does not count, even if there is a new one of the same name.
        if fstat(&*self.fd)?.st_ino != stat(&path).map_err(|_| Errno::NODEV)?.st_ino {
            return Err(Errno::NODEV.into());
        }
        let below = path.strip_prefix(mount).map_err(|_| Errno::NODEV)?;
        let below = below.to_str().ok_or(Errno::INVAL)?;
        Ok(format!("/{below}"))
    }
}

impl Nodes {
    /// A table with the root alone, which is at `mount`.
    pub(super) fn new(mount: &Path, version2: bool) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = Arc::new(open(mount, flags, Mode::empty())?);
        let root = Arc::new(Node { fd, own: None, is_membership: false });
        let table = Table { last: ROOT, ..Table::default() };
        Ok(Self { root, version2, table: Mutex::new(table) })
    }

    pub(super) fn get(&self, number: u64) -> io::Result<Arc<Node>> {
        if number == ROOT {
            return Ok(Arc::clone(&self.root));
        }
        let table = self.table();
        let entry = table.entries.get(&number).ok_or(Errno::STALE)?;
        Ok(Arc::clone(&entry.node))
    }

    /// Looks up `name` in a directory, and counts the lookup.
    pub(super) fn look_up(&self, parent: u64, name: &OsStr) -> io::Result<(u64, Arc<Node>)> {
        let parent = self.get(parent)?;
        let directory = parent.directory()?;
        if !is_shown(name) {
            return Err(Errno::NOENT.into());
        }
        let (node, inode) = match OwnFile::named(name) {
            Some(own) => {
                let fd = Arc::clone(&parent.fd);
                let inode = fstat(&*fd)?.st_ino;
                (Node { fd, own: Some(own), is_membership: false }, inode)
            }
            None => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let name = self.kernels(directory, name);
                let fd = openat(directory, name, flags, Mode::empty())?;
                let stat = fstat(&fd)?;
                let is_membership = Kind::from_raw_mode(stat.st_mode) == Kind::RegularFile
                    && MEMBERSHIP.iter().any(|known| name == *known);
                (Node { fd: Arc::new(fd), own: None, is_membership }, stat.st_ino)
            }
        };
        Ok(self.enter((inode, node.own), node))
    }

    /// The kernel's name of a file. For version 2, `tasks` stands for the group's processes or, in
    /// a threaded group, for its threads.
    fn kernels<'a>(&self, directory: &OwnedFd, name: &'a OsStr) -> &'a OsStr {
        if !self.version2 || name != TASKS {
            return name;
        }
        let kind = std::fs::read_to_string(format!("{}/cgroup.type", ProcFd::path(directory)));
        let threaded = kind.is_ok_and(|kind| kind.trim() == "threaded");
        OsStr::new(if threaded { "cgroup.threads" } else { "cgroup.procs" })
    }

    fn enter(&self, key: Key, node: Node) -> (u64, Arc<Node>) {
        let mut table = self.table();
        if let Some(number) = table.numbers.get(&key).copied()
            && let Some(entry) = table.entries.get_mut(&number)
        {
            entry.lookups += 1;
            return (number, Arc::clone(&entry.node));
        }
        table.last += 1;
        let (number, node) = (table.last, Arc::new(node));
        table.numbers.insert(key, number);
        table.entries.insert(number, Entry { node: Arc::clone(&node), key, lookups: 1 });
        (number, node)
    }

    /// Subtracts `lookups` that the kernel has forgotten.
    pub(super) fn forget(&self, number: u64, lookups: u64) {
        let mut table = self.table();
        let Some(entry) = table.entries.get_mut(&number) else { return };
        entry.lookups = entry.lookups.saturating_sub(lookups);
        if entry.lookups == 0
            && let Some(entry) = table.entries.remove(&number)
        {
            table.numbers.remove(&entry.key);
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_until_they_are_forgotten() {
        let scratch = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(scratch.path().join("test1")).expect("a group");
        let nodes = Nodes::new(scratch.path(), false).expect("nodes");
        let look = |parent, name: &str| nodes.look_up(parent, OsStr::new(name));
        let (number, node) = look(ROOT, "test1").expect("there");
        assert_eq!(look(ROOT, "test1").expect("there").0, number);
        let (file, own) = look(number, "cfq.ioprio").expect("there");
        assert_ne!(file, number);
        assert_eq!(own.group(scratch.path()).expect("a path"), "/test1");
        assert!(own.directory().is_err() && node.directory().is_ok());
        assert_eq!(own.attributes(file).expect("attributes").perm, 0o644);
        nodes.forget(number, 1);
        assert!(nodes.get(number).is_ok());
        nodes.forget(number, 1);
        assert!(nodes.get(number).is_err());
        for name in ["..", ".", "a/b", "release_agent", "no"] {
            assert!(look(ROOT, name).is_err(), "{name}");
        }
    }
}
