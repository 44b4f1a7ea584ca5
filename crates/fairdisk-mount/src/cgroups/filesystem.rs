//! The FUSE operations of the directory of groups.

use super::nodes::{Node, Nodes, ROOT, TASKS, is_shown};
use super::open_file::OpenFile;
use super::own_file::OwnFile;
use super::user::User;
use crate::files::descriptor::Descriptor;
use crate::files::directory::OpenDirectory;
use crate::identity::Hierarchy;
use crate::requests::answers::answer;
use crate::requests::attributes::kind;
use crate::requests::caller::{Caller, Privileges};
use crate::sys::proc_fd::ProcFd;
use fuser::{
    BsdFileFlags, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RawMode, Uid, chmod, chown, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// How long the kernel may cache names and attributes. Groups are created and removed behind our
/// back, so not at all.
const TTL: Duration = Duration::ZERO;

/// A directory entry: its name and type.
type Name = (OsString, FileType);

#[derive(Debug)]
enum Handle {
    File(OpenFile),
    Directory(Vec<Name>),
}

#[derive(Debug, Default)]
struct Handles {
    open: BTreeMap<u64, Arc<Handle>>,
    last: u64,
}

/// The file system as the kernel calls it.
#[derive(Debug)]
pub(super) struct Groups {
    hierarchy: Hierarchy,
    nodes: Nodes,
    handles: Mutex<Handles>,
    privileges: Privileges,
    proc_fd: ProcFd,
}

impl Groups {
    pub(super) fn new(hierarchy: Hierarchy) -> io::Result<Self> {
        let nodes = Nodes::new(hierarchy.mount(), hierarchy.is_version2())?;
        let (handles, privileges) = (Mutex::default(), Privileges::find());
        Ok(Self { hierarchy, nodes, handles, privileges, proc_fd: ProcFd::new()? })
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, handle: Handle) -> FileHandle {
        let mut handles = self.handles();
        handles.last += 1;
        let number = handles.last;
        handles.open.insert(number, Arc::new(handle));
        FileHandle(number)
    }

    fn handle(&self, number: FileHandle) -> io::Result<Arc<Handle>> {
        Ok(self.handles().open.get(&number.0).map(Arc::clone).ok_or(Errno::BADF)?)
    }

    fn entry(&self, parent: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let (number, node) = self.nodes.look_up(parent.0, name)?;
        node.attributes(number).inspect_err(|_| self.nodes.forget(number, 1))
    }

    fn make(
        &self,
        caller: Caller,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
    ) -> io::Result<FileAttr> {
        check_new(name)?;
        let node = self.nodes.get(parent.0)?;
        let acting = self.privileges.act_as(caller)?;
        mkdirat(node.directory()?, name, Mode::from_raw_mode(mode as RawMode))?;
        drop(acting);
        self.entry(parent, name)
    }

    fn rename(&self, from: (INodeNo, &OsStr), to: (INodeNo, &OsStr)) -> io::Result<()> {
        check_new(to.1)?;
        let (old, new) = (self.nodes.get(from.0.0)?, self.nodes.get(to.0.0)?);
        if !is_shown(from.1) || OwnFile::named(from.1).is_some() {
            return Err(Errno::PERM.into());
        }
        Ok(renameat(old.directory()?, from.1, new.directory()?, to.1)?)
    }

    /// Changes mode and owner, which the kernel supports for its own files and directories only.
    fn change(
        &self,
        node: INodeNo,
        mode: Option<u32>,
        owner: (Option<u32>, Option<u32>),
    ) -> io::Result<FileAttr> {
        let number = node.0;
        let node = self.nodes.get(number)?;
        if mode.is_some() || owner != (None, None) {
            if node.own.is_some() {
                return Err(Errno::PERM.into());
            }
            let path = ProcFd::path(&*node.fd);
            if owner != (None, None) {
                chown(&path, owner.0.map(Uid::from_raw), owner.1.map(Gid::from_raw))?;
            }
            if let Some(mode) = mode {
                chmod(&path, Mode::from_raw_mode((mode & 0o7777) as RawMode))?;
            }
        }
        node.attributes(number)
    }

    fn open_file(&self, request: &Request, node: Arc<Node>, mode: OFlags) -> io::Result<OpenFile> {
        let user = User::of(request);
        if self.hierarchy.is_version2() && mode != OFlags::RDONLY && !user.sees_our_tree() {
            return Err(Errno::PERM.into());
        }
        OpenFile::open(&self.proc_fd, node, user, mode)
    }

    fn list(&self, node: &Node) -> io::Result<Vec<Name>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = openat(node.directory()?, ".", flags, Mode::empty())?;
        let open = OpenDirectory::new(Descriptor::uncounted(open));
        let mut names: Vec<Name> =
            vec![(".".into(), FileType::Directory), ("..".into(), FileType::Directory)];
        open.read(0, |entry| {
            if is_shown(&entry.name) && OwnFile::named(&entry.name).is_none() {
                names.push((entry.name.clone(), kind(entry.kind)));
            }
            true
        })?;
        let own = OwnFile::ALL.into_iter().map(|own| (own.name().into(), FileType::RegularFile));
        names.extend(own);
        if self.hierarchy.is_version2() {
            names.push((TASKS.into(), FileType::RegularFile));
        }
        Ok(names)
    }
}

/// Checks the name of a new group: it must be UTF-8, and not the name of one of our files.
fn check_new(name: &OsStr) -> io::Result<()> {
    if name.to_str().is_none() {
        return Err(Errno::INVAL.into());
    }
    if OwnFile::named(name).is_some() { Err(Errno::EXIST.into()) } else { Ok(()) }
}

fn answer_entry(reply: ReplyEntry, found: io::Result<FileAttr>) {
    match found {
        Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
        Err(error) => reply.error(error.into()),
    }
}

fn answer_attributes(reply: ReplyAttr, found: io::Result<FileAttr>) {
    match found {
        Ok(attributes) => reply.attr(&TTL, &attributes),
        Err(error) => reply.error(error.into()),
    }
}

impl Filesystem for Groups {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer_entry(reply, self.entry(parent, name));
    }

    fn forget(&self, _: &Request, node: INodeNo, count: u64) {
        if node.0 != ROOT {
            self.nodes.forget(node.0, count);
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        answer_attributes(reply, self.nodes.get(node.0).and_then(|it| it.attributes(node.0)));
    }

    fn setattr(
        &self,
        _: &Request,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        answer_attributes(reply, self.change(node, mode, (uid, gid)));
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let caller = Caller::of(request).with_umask(umask);
        answer_entry(reply, self.make(caller, parent, name, mode));
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(fuser::Errno::EACCES);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(fuser::Errno::EPERM);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self
            .nodes
            .get(parent.0)
            .and_then(|parent| Ok(unlinkat(parent.directory()?, name, AtFlags::REMOVEDIR)?));
        answer(reply, removed);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if flags.is_empty() {
            answer(reply, self.rename((parent, name), (new_parent, new_name)));
        } else {
            reply.error(fuser::Errno::EINVAL);
        }
    }

    fn open(&self, request: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let mode = match flags.acc_mode() {
            OpenAccMode::O_RDONLY => OFlags::RDONLY,
            OpenAccMode::O_WRONLY => OFlags::WRONLY,
            OpenAccMode::O_RDWR => OFlags::RDWR,
        };
        match self.nodes.get(node.0).and_then(|node| self.open_file(request, node, mode)) {
            // Direct I/O passes every read and write to us, with its caller, and the result to the
            // caller.
            Ok(file) => reply.opened(self.keep(Handle::File(file)), FopenFlags::FOPEN_DIRECT_IO),
            Err(error) => reply.error(error.into()),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.handle(file).and_then(|handle| match &*handle {
            Handle::File(file) => file.read(&self.hierarchy, offset, size as usize),
            Handle::Directory(_) => Err(Errno::ISDIR.into()),
        });
        match read {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        file: FileHandle,
        _: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self.handle(file).and_then(|handle| match &*handle {
            Handle::File(file) => file.write(&self.hierarchy, request.pid(), data),
            Handle::Directory(_) => Err(Errno::ISDIR.into()),
        });
        match written {
            Ok(length) => reply.written(length as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let closed = self.handles().open.remove(&file.0);
        drop(closed);
        reply.ok();
    }

    fn opendir(&self, _: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.nodes.get(node.0).and_then(|node| self.list(&node)) {
            Ok(names) => reply.opened(self.keep(Handle::Directory(names)), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        node: INodeNo,
        file: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        match self.handle(file).as_deref() {
            Ok(Handle::Directory(names)) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                for (at, (name, kind)) in names.iter().enumerate().skip(from) {
                    // Inode numbers are assigned on lookup; here any number but 0 will do.
                    let inode = INodeNo(if name == "." { node.0 } else { u64::from(u32::MAX) });
                    if reply.add(inode, at as u64 + 1, *kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Ok(Handle::File(_)) => reply.error(fuser::Errno::ENOTDIR),
            Err(_) => reply.error(fuser::Errno::EBADF),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        let closed = self.handles().open.remove(&file.0);
        drop(closed);
        reply.ok();
    }
}
