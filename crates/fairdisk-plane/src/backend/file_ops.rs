//! Serves one request on a file with ordinary blocking system calls.

use crate::buffer::Buffer;
use crate::failure::Failure;
use crate::file::TargetFile;
use fairdisk_core::{Flags, Op, Request, SECTOR_BYTES};
use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::{Errno, ReadWriteFlags, pread, pwritev2};
use std::fs::File;
use std::io::IoSlice;

/// The size in bytes of the writes that zero a range where the file system cannot do it itself.
const ZERO_STEP: usize = 256 * 1024;

/// The mode of fallocate(2) for a discard: the range becomes a hole.
pub(super) const DISCARD: FallocateFlags =
    FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// The mode of fallocate(2) for write-zeroes: the range reads as zeroes and stays allocated.
pub(super) const ZERO: FallocateFlags = FallocateFlags::ZERO_RANGE.union(FallocateFlags::KEEP_SIZE);

/// The byte offset of a request.
pub(super) const fn offset_of(request: &Request) -> u64 {
    request.start.0 * SECTOR_BYTES
}

/// Whether the request must be durable before it completes (`FUA`).
pub(super) const fn is_durable(request: &Request) -> bool {
    request.flags.contains(Flags::FUA)
}

/// Serves `request`, which must be within `target`.
pub(super) fn perform(
    target: &TargetFile,
    request: &Request,
    data: &mut Buffer,
) -> Result<(), Failure> {
    let (offset, len) = (offset_of(request), request.sectors.bytes());
    let file = target.fd_for(offset, len);
    match request.op {
        Op::Read => read_all(file, data.bytes_mut(), offset),
        Op::Write => write_all(file, data.bytes(), offset, sync_flag(request)),
        Op::Flush => Ok(retry(|| fdatasync(target.fd()))?),
        Op::Discard => discard(target.fd(), offset, len),
        Op::WriteZeroes => write_zeroes(target, request, offset, len),
    }
}

const fn sync_flag(request: &Request) -> ReadWriteFlags {
    if is_durable(request) { ReadWriteFlags::DSYNC } else { ReadWriteFlags::empty() }
}

fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    rustix::io::retry_on_intr(&mut call)
}

fn read_all(file: &File, mut bytes: &mut [u8], mut offset: u64) -> Result<(), Failure> {
    while !bytes.is_empty() {
        let read = retry(|| pread(file, &mut *bytes, offset))?;
        if read == 0 {
            return Err(Failure::Short);
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

fn write_all(
    file: &File,
    mut bytes: &[u8],
    mut offset: u64,
    flags: ReadWriteFlags,
) -> Result<(), Failure> {
    while !bytes.is_empty() {
        let written = retry(|| pwritev2(file, &[IoSlice::new(bytes)], offset, flags))?;
        if written == 0 {
            return Err(Failure::Short);
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Discards a range. A discard is a hint, so a file system that does not support it is no failure.
fn discard(file: &File, offset: u64, len: u64) -> Result<(), Failure> {
    match retry(|| fallocate(file, DISCARD, offset, len)) {
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn write_zeroes(
    target: &TargetFile,
    request: &Request,
    offset: u64,
    len: u64,
) -> Result<(), Failure> {
    match retry(|| fallocate(target.fd(), ZERO, offset, len)) {
        Ok(()) if is_durable(request) => Ok(retry(|| fdatasync(target.fd()))?),
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP) => write_zeroes_out(target, request, offset, len),
        Err(errno) => Err(errno.into()),
    }
}

fn write_zeroes_out(
    target: &TargetFile,
    request: &Request,
    offset: u64,
    len: u64,
) -> Result<(), Failure> {
    let zeroes = Buffer::zeroed(ZERO_STEP.min(len as usize));
    let mut done = 0;
    while done < len {
        let bytes = &zeroes.bytes()[..ZERO_STEP.min((len - done) as usize)];
        let file = target.fd_for(offset + done, bytes.len() as u64);
        write_all(file, bytes, offset + done, sync_flag(request))?;
        done += bytes.len() as u64;
    }
    Ok(())
}
