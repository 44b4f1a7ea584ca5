//! Listing directories.

use crate::attributes::{attributes, kind};
use crate::nodes::ROOT;
use crate::tree::Tree;
use fuser::{FileAttr, FileType, Generation, INodeNo, ReplyDirectory, ReplyDirectoryPlus};
use std::ffi::OsStr;
use std::io;
use std::time::UNIX_EPOCH;

impl Tree {
    /// Names and types.
    pub(crate) fn list(
        &self,
        directory: u64,
        offset: u64,
        reply: &mut ReplyDirectory,
    ) -> io::Result<()> {
        let directory = self.directory(directory)?;
        directory.read(offset, |entry| {
            let inode = INodeNo(entry.inode);
            !reply.add(inode, entry.next, kind(entry.kind), &entry.name)
        })
    }

    /// Names and attributes. Every name listed counts as looked up.
    pub(crate) fn list_plus(
        &self,
        (node, directory): (u64, u64),
        offset: u64,
        reply: &mut ReplyDirectoryPlus,
    ) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let ttl = self.options.ttl;
        directory.read(offset, |entry| {
            if is_dots(&entry.name) {
                let nobody = bare(entry.inode, kind(entry.kind));
                let number = nobody.ino;
                return !reply.add(number, entry.next, &entry.name, &ttl, &nobody, Generation(0));
            }
            // Gone meanwhile: not there any more.
            let found = self.nodes.look_up_in(node, directory.fd(), &entry.name);
            let Ok(found) = found else { return true };
            let (number, generation) = (INodeNo(found.node), Generation(found.generation));
            let attributes = attributes(found.node, &found.stat);
            let full = reply.add(number, entry.next, &entry.name, &ttl, &attributes, generation);
            if full && found.node != ROOT {
                drop(self.forget(found.node, 1));
            }
            !full
        })
    }
}

fn is_dots(name: &OsStr) -> bool {
    name == "." || name == ".."
}

/// `.` and `..`: the kernel uses the number and the type, no more.
fn bare(inode: u64, kind: FileType) -> FileAttr {
    FileAttr {
        ino: INodeNo(inode),
        size: 0,
        blocks: 0,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm: 0,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 0,
        flags: 0,
    }
}
