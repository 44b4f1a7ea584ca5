//! The positions of a file's blocks on its device (FIEMAP).

use crate::data::extents::Extent;
use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// The most extents in one query.
const EXTENTS_MAX: usize = 64;
/// `FS_IOC_FIEMAP`, `_IOWR('f', 11, struct fiemap)` with a header of 32 bytes.
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
/// The flag of the last extent of a file.
const LAST: u32 = 0x1;
/// The flags of extents without a meaningful position: unknown, delayed, encoded, not aligned,
/// inline, tail.
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

/// The part of a file's mapping that one query returns.
pub(crate) struct Mapped {
    /// The extents that have positions, in order.
    pub(crate) extents: Vec<Extent>,
    /// The offset up to which the mapping is known; `u64::MAX` if there are no extents after it.
    pub(crate) end: u64,
}

/// Queries the extents of a file from `offset` on, as many as fit into one query.
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
