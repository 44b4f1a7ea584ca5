//! Where the blocks of a file are on its device.

use crate::extents::Extent;
use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// Extents asked for at once.
const EXTENTS_MAX: usize = 64;
/// `FS_IOC_FIEMAP`, `_IOWR('f', 11, struct fiemap)` with a header of 32 bytes.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// The last extent of the file.
const LAST: u32 = 0x1;
/// Flags of extents whose position means nothing: unknown, delayed, encoded, not aligned, inline,
/// tail.
const NOWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// `struct fiemap` with room for its extents.
#[repr(C)]
struct Wire {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [WireExtent; EXTENTS_MAX],
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct WireExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

/// What a file system said about a file from some offset on.
pub(crate) struct Mapped {
    /// Extents with a position, in order.
    pub(crate) extents: Vec<Extent>,
    /// Where the answer ends; `u64::MAX` if there is nothing after it.
    pub(crate) end: u64,
}

/// The extents of a file from `offset` on, as far as they fit into one answer.
pub(crate) fn extents_from(fd: impl AsFd, offset: u64) -> io::Result<Mapped> {
    let mut wire = Wire {
        start: offset,
        length: u64::MAX - offset,
        flags: 0,
        mapped: 0,
        count: EXTENTS_MAX as u32,
        reserved: 0,
        extents: [WireExtent::default(); EXTENTS_MAX],
    };
    // SAFETY: `wire` has the layout of `struct fiemap` followed by as many extents as `count`
    // says, and outlives the call.
    let done = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), FS_IOC_FIEMAP, &raw mut wire) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let found = &wire.extents[..(wire.mapped as usize).min(EXTENTS_MAX)];
    let complete = found.last().is_none_or(|last| last.flags & LAST != 0);
    let end = found.last().map_or(u64::MAX, |last| last.logical.saturating_add(last.length));
    let extents = found
        .iter()
        .filter(|extent| extent.flags & NOWHERE == 0)
        .map(|extent| Extent {
            logical: extent.logical,
            physical: extent.physical,
            len: extent.length,
        })
        .collect();
    Ok(Mapped { extents, end: if complete { u64::MAX } else { end } })
}
