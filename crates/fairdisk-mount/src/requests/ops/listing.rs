//! Listing of directories.

use crate::files::nodes::ROOT;
use crate::requests::attributes::{attributes, kind};
use crate::requests::tree::Tree;
use crate::shortage::is_shortage;
use fuser::{FileAttr, FileType, Generation, INodeNo, ReplyDirectory, ReplyDirectoryPlus};
use std::ffi::OsStr;
use std::io;
use std::time::{Duration, UNIX_EPOCH};

impl Tree {
    /// Lists names and types.
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

    /// Lists names with attributes. Every name listed counts as a lookup.
    pub(crate) fn list_plus(
        &self,
        (node, directory): (u64, u64),
        offset: u64,
        reply: &mut ReplyDirectoryPlus,
    ) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let ttl = self.options.ttl;
        let (mut any, mut short_of) = (false, None);
        directory.read(offset, |entry| {
            if is_dots(&entry.name) {
                let nobody = bare(entry.inode, kind(entry.kind));
                let number = nobody.ino;
                return !reply.add(number, entry.next, &entry.name, &ttl, &nobody, Generation(0));
            }
            let found = self.nodes.look_up_in(node, directory.fd(), &entry.name);
            let (found, ttl, generation) = match found {
                Ok(found) => (attributes(found.node, &found.stat), ttl, found.generation),
                // The file has been removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
                // A temporary shortage: the entries so far are valid, and the kernel will ask for
                // the rest.
                Err(error) if is_shortage(&error) => {
                    short_of = Some(error);
                    return false;
                }
                // The file exists but cannot be inspected. The kernel gets its name only; whoever
                // wants its attributes makes another request and receives the error.
                Err(_) => {
                    let number = self.nodes.unseen(entry.inode);
                    (bare(number, kind(entry.kind)), Duration::ZERO, 0)
                }
            };
            let (number, generation) = (found.ino, Generation(generation));
            let full = reply.add(number, entry.next, &entry.name, &ttl, &found, generation);
            if full && number.0 != ROOT {
                drop(self.forget(number.0, 1));
            }
            any |= !full;
            !full
        })?;
        short_of.filter(|_| !any).map_or(Ok(()), Err)
    }
}

fn is_dots(name: &OsStr) -> bool {
    name == "." || name == ".."
}

/// Attributes with only the number and the type, of which alone the kernel makes use here.
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
