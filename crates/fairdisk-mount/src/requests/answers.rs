//! Replies to the kernel, one function for each kind of result.

use super::attributes::attributes;
use super::tree::Tree;
use crate::files::nodes::Found;
use crate::trouble::Seldom;
use fuser::{
    Errno, FileHandle, FopenFlags, Generation, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyIoctl, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyXattr,
};
use rustix::fs::{Stat, StatVfs};
use std::io;

static OUT_OF_DESCRIPTORS: Seldom = Seldom::new();

/// The error as the caller gets it. EMFILE would tell it that its own limit on open files is
/// reached, of which the kernel above has seen to itself.
pub(crate) fn errno(error: io::Error) -> Errno {
    if error.raw_os_error() != Some(libc::EMFILE) {
        return error.into();
    }
    if let Some(unsaid) = OUT_OF_DESCRIPTORS.pass() {
        tracing::warn!(unsaid, "out of descriptors");
    }
    Errno::ENFILE
}

/// Replies with a file that was looked up or created.
pub(crate) fn answer_entry(tree: &Tree, reply: ReplyEntry, found: io::Result<Found>) {
    match found {
        Ok(found) => {
            let attributes = attributes(found.node, &found.stat);
            reply.entry(&tree.options.ttl, &attributes, Generation(found.generation));
        }
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with success or an error.
pub(crate) fn answer(reply: ReplyEmpty, done: io::Result<()>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the handle of an opened file or directory.
pub(crate) fn answer_open(reply: ReplyOpen, opened: io::Result<(u64, FopenFlags)>) {
    match opened {
        Ok((number, flags)) => reply.opened(FileHandle(number), flags),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the data read.
pub(crate) fn answer_data(reply: ReplyData, data: io::Result<Vec<u8>>) {
    match data {
        Ok(data) => reply.data(&data),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the offset that lseek(2) found.
pub(crate) fn answer_offset(reply: ReplyLseek, found: io::Result<i64>) {
    match found {
        Ok(found) => reply.offset(found),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the value of an extended attribute, or only with its length if `size` is 0. A value
/// longer than `size` is ERANGE.
pub(crate) fn answer_value(reply: ReplyXattr, size: u32, value: io::Result<Vec<u8>>) {
    match value {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the inode flags of a file, truncated to `room` bytes.
pub(crate) fn answer_flags(reply: ReplyIoctl, room: u32, said: io::Result<Vec<u8>>) {
    match said {
        Ok(said) => reply.ioctl(0, &said[..said.len().min(room as usize)]),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the attributes of a file.
pub(crate) fn answer_attributes(tree: &Tree, reply: ReplyAttr, node: u64, stat: io::Result<Stat>) {
    match stat {
        Ok(stat) => reply.attr(&tree.options.ttl, &attributes(node, &stat)),
        Err(error) => reply.error(errno(error)),
    }
}

/// Replies with the size and free space of the file system.
pub(crate) fn answer_space(reply: ReplyStatfs, space: io::Result<StatVfs>) {
    match space {
        Ok(space) => reply.statfs(
            space.f_blocks,
            space.f_bfree,
            space.f_bavail,
            space.f_files,
            space.f_ffree,
            space.f_bsize as u32,
            space.f_namemax as u32,
            space.f_frsize as u32,
        ),
        Err(error) => reply.error(errno(error)),
    }
}
