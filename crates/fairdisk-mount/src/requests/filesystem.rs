//! The FUSE operations. Each request is decoded here and carried out by the [`Tree`].

use super::answers::{
    answer, answer_attributes, answer_data, answer_entry, answer_flags, answer_offset, answer_open,
    answer_space, answer_value, errno,
};
use super::attributes::attributes;
use super::caller::{Caller, User};
use super::ops::{Changes, Written};
use super::tree::Tree;
use super::wanted;
use crate::ending::ends;
use crate::sys::inode_flags;
use fuser::{
    BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation,
    INodeNo, IoctlFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek,
    ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The file system as the kernel calls it.
pub(crate) struct PassThrough {
    tree: Arc<Tree>,
    /// Whether the kernel checks who may change inode flags before it sends such a request.
    flags_are_checked: bool,
}

impl PassThrough {
    /// A file system that serves `tree`.
    pub(crate) fn new(tree: Arc<Tree>) -> Self {
        Self { tree, flags_are_checked: false }
    }

    /// Carries out a request on the tree, on this thread or on a worker.
    fn run(&self, task: impl FnOnce(&Arc<Tree>) + Send + 'static) {
        let tree = Arc::clone(&self.tree);
        self.tree.readers.run(move || task(&tree));
    }

    /// Carries out a request that the file system below may block for an unlimited time.
    fn change(&self, task: impl FnOnce(&Arc<Tree>) + Send + 'static) {
        let tree = Arc::clone(&self.tree);
        self.tree.readers.run_change(move || task(&tree));
    }
}

impl Filesystem for PassThrough {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        wanted::ask_for(config);
        self.flags_are_checked = wanted::checks_flags(config);
        Ok(())
    }

    fn destroy(&mut self) {
        ends::one_ended();
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.to_owned();
        self.run(move |tree| answer_entry(tree, reply, tree.look_up(parent.0, &name)));
    }

    fn forget(&self, _: &Request, node: INodeNo, count: u64) {
        let last = self.tree.forget(node.0, count);
        if !last.is_empty() {
            self.run(move |_| drop(last));
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, file: Option<FileHandle>, reply: ReplyAttr) {
        let file = file.map(|file| file.0);
        self.run(move |tree| answer_attributes(tree, reply, node.0, tree.stat(node.0, file)));
    }

    fn setattr(
        &self,
        request: &Request,
        node: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        file: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let changes = Changes { mode, uid, gid, size, atime, mtime };
        let (file, caller) = (file.map(|file| file.0), Caller::of(request));
        self.change(move |tree| {
            let changed = tree.change(node.0, file, &changes, caller);
            answer_attributes(tree, reply, node.0, changed);
        });
    }

    fn readlink(&self, _: &Request, node: INodeNo, reply: ReplyData) {
        self.run(move |tree| answer_data(reply, tree.read_symlink(node.0)));
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let (name, caller) = (name.to_owned(), Caller::of(request).with_umask(umask));
        self.change(move |tree| {
            let made = tree.make_node(parent.0, &name, (mode, device), caller);
            answer_entry(tree, reply, made);
        });
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
        let (name, caller) = (name.to_owned(), Caller::of(request).with_umask(umask));
        self.change(move |tree| {
            answer_entry(tree, reply, tree.make_directory(parent.0, &name, mode, caller));
        });
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (name, caller) = (name.to_owned(), Caller::of(request));
        self.change(move |tree| answer(reply, tree.remove(parent.0, &name, false, caller)));
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (name, caller) = (name.to_owned(), Caller::of(request));
        self.change(move |tree| answer(reply, tree.remove(parent.0, &name, true, caller)));
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let (name, target) = (name.to_owned(), target.to_owned());
        let caller = Caller::of(request);
        self.change(move |tree| {
            answer_entry(tree, reply, tree.make_symlink(parent.0, &name, &target, caller));
        });
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (name, new_name) = (name.to_owned(), new_name.to_owned());
        let caller = Caller::of(request);
        self.change(move |tree| {
            let (from, to) = ((parent.0, name.as_os_str()), (new_parent.0, new_name.as_os_str()));
            answer(reply, tree.rename(from, to, flags.bits(), caller));
        });
    }

    fn link(
        &self,
        request: &Request,
        node: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let (name, caller) = (name.to_owned(), Caller::of(request));
        self.change(move |tree| {
            answer_entry(tree, reply, tree.link(node.0, parent.0, &name, caller));
        });
    }

    fn open(&self, request: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let by = (request.pid(), User::of(request));
        let open = move |tree: &Arc<Tree>| answer_open(reply, tree.open(node.0, flags.0, by));
        match flags.0 & libc::O_ACCMODE {
            libc::O_RDONLY => self.run(open),
            _ => self.change(open),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let (name, caller) = (name.to_owned(), Caller::of(request).with_umask(umask));
        self.change(move |tree| match tree.create((parent.0, &name), mode, flags, caller) {
            Ok((found, number, how)) => {
                let attributes = attributes(found.node, &found.stat);
                let generation = Generation(found.generation);
                reply.created(&tree.options.ttl, &attributes, generation, FileHandle(number), how);
            }
            Err(error) => reply.error(errno(error)),
        });
    }

    fn read(
        &self,
        request: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let file = match self.tree.file(file.0) {
            Ok(file) => file,
            Err(error) => return reply.error(errno(error)),
        };
        if owner.is_none() {
            // The kernel names the owner of what goes past its page cache. This goes into it.
            file.state.cached().fill(offset..offset + u64::from(size));
        }
        let (by, stretch) = ((request.pid(), flags.0), (offset, size as usize));
        match self.tree.readers.sit() {
            Some(_seat) => self.tree.read(file, by, stretch, true, reply),
            None if self.tree.submits_at_once(&file, offset) => {
                self.tree.read(file, by, stretch, false, reply);
            }
            None => self.run(move |tree| tree.read(file, by, stretch, true, reply)),
        }
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        data: &[u8],
        how: WriteFlags,
        flags: OpenFlags,
        owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let file = match self.tree.file(file.0) {
            Ok(file) => file,
            Err(error) => return reply.error(errno(error)),
        };
        let written = Written::of(request, &file, (how, flags.0, owner), offset);
        if !written.past_cache {
            file.state.cached().fill(offset..offset + data.len() as u64);
        }
        if !written.is_buffered() {
            let write = self.tree.write_through(file, written, data);
            return self.tree.readers.run(move || write(reply));
        }
        match self.tree.readers.sit() {
            Some(_seat) => self.tree.write_buffered(&file, written, data, reply),
            None => {
                let (tree, mut data) = (Arc::clone(&self.tree), self.tree.held(written, data));
                self.tree.readers.hand_over_write(Box::new(move || match data.load() {
                    Ok(()) => tree.write_buffered(&file, written, data.bytes(), reply),
                    Err(error) => reply.error(errno(error)),
                }));
            }
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, file: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        answer(reply, self.tree.close(file.0));
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
        // Closing the last descriptor of a removed file frees its blocks, which may take a while.
        self.run(move |tree| {
            drop(tree.files.remove(file.0));
            reply.ok();
        });
    }

    fn fsync(
        &self,
        request: &Request,
        _: INodeNo,
        file: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let caller = request.pid();
        self.run(move |tree| match tree.file(file.0) {
            Ok(file) => tree.flush(file, caller, data_only, reply),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn opendir(&self, request: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let user = User::of(request);
        self.run(move |tree| {
            let opened = tree.open_directory(node.0, user);
            answer_open(reply, opened.map(|number| (number, FopenFlags::empty())));
        });
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        directory: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.run(move |tree| match tree.list(directory.0, offset, &mut reply) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn readdirplus(
        &self,
        _: &Request,
        node: INodeNo,
        directory: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let directory = (node.0, directory.0);
        self.run(move |tree| match tree.list_plus(directory, offset, &mut reply) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        directory: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        drop(self.tree.directories.remove(directory.0));
        reply.ok();
    }

    fn fsyncdir(
        &self,
        request: &Request,
        _: INodeNo,
        directory: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let caller = request.pid();
        self.run(move |tree| tree.flush_directory(directory.0, caller, data_only, reply));
    }

    fn statfs(&self, _: &Request, node: INodeNo, reply: ReplyStatfs) {
        self.run(move |tree| answer_space(reply, tree.space(node.0)));
    }

    fn setxattr(
        &self,
        request: &Request,
        node: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let (name, value, caller) = (name.to_owned(), value.to_vec(), Caller::of(request));
        self.change(move |tree| {
            answer(reply, tree.set_xattr(node.0, &name, &value, flags, caller));
        });
    }

    fn getxattr(&self, _: &Request, node: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let name = name.to_owned();
        self.run(move |tree| answer_value(reply, size, tree.xattr(node.0, &name)));
    }

    fn listxattr(&self, request: &Request, node: INodeNo, size: u32, reply: ReplyXattr) {
        let caller = Caller::of(request);
        self.run(move |tree| answer_value(reply, size, tree.xattr_names(node.0, caller)));
    }

    fn removexattr(&self, request: &Request, node: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (name, caller) = (name.to_owned(), Caller::of(request));
        self.change(move |tree| answer(reply, tree.remove_xattr(node.0, &name, caller)));
    }

    fn fallocate(
        &self,
        request: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: u64,
        len: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let user = User::of(request);
        self.change(move |tree| answer(reply, tree.allocate(file.0, (offset, len), mode, user)));
    }

    fn ioctl(
        &self,
        request: &Request,
        node: INodeNo,
        file: FileHandle,
        flags: IoctlFlags,
        command: u32,
        data: &[u8],
        room: u32,
        reply: ReplyIoctl,
    ) {
        let file = (node.0, file.0, flags.contains(IoctlFlags::FUSE_IOCTL_DIR));
        let (data, caller) = (data.to_owned(), Caller::of(request));
        let changes = inode_flags::changes(command);
        if changes && !self.flags_are_checked {
            return reply.error(Errno::ENOTTY);
        }
        let answer = move |tree: &Arc<Tree>| {
            answer_flags(reply, room, tree.inode_flags(file, (command, &data), caller));
        };
        if changes { self.change(answer) } else { self.run(answer) }
    }

    fn lseek(
        &self,
        _: &Request,
        _: INodeNo,
        file: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        self.run(move |tree| answer_offset(reply, tree.seek(file.0, offset, whence)));
    }

    fn copy_file_range(
        &self,
        request: &Request,
        _: INodeNo,
        from: FileHandle,
        from_offset: u64,
        _: INodeNo,
        to: FileHandle,
        offset: u64,
        len: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        let written = Written::by_copying(request, offset);
        self.change(move |tree| match (tree.file(from.0), tree.file(to.0)) {
            (Ok(from), Ok(to)) => tree.copy((from, from_offset), to, written, len, reply),
            (Err(error), _) | (_, Err(error)) => reply.error(errno(error)),
        });
    }
}
