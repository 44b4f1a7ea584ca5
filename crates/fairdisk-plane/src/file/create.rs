//! Creates target files, extends them and writes them out.

use super::FileNeeds;
use super::data::{free_bytes, lock, open_file, taken_bytes};
use super::error::{TargetError, TargetProblem};
use super::mark::{MARK_BYTES, Mark};
use super::stale::scratch_path;
use crate::buffer::Buffer;
use rustix::fs::{Advice, CWD, FallocateFlags, OFlags, RenameFlags, fadvise, fallocate};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of bytes written between two calls of the watch.
const STEP: u64 = 1 << 20;

const PUNCH: FallocateFlags = FallocateFlags::PUNCH_HOLE.union(FallocateFlags::KEEP_SIZE);

/// The progress of writing out a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The number of bytes written so far.
    pub done: u64,
    /// The number of bytes to write in total.
    pub total: u64,
}

/// The answer of a caller to a progress report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Continue writing.
    Continue,
    /// Stop: a new file is removed; in an existing one the space just written is released.
    Stop,
}

/// Creates a file with its mark, and locks it. It appears under its name only once it is complete.
pub(super) fn create(
    path: &Path,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(File, Mark), TargetError> {
    let mark = mark_for(path, needs)?;
    if path.is_symlink() {
        return Err(TargetError::new(path, TargetProblem::DanglingLink));
    }
    let (scratch, file) = Scratch::make(path)?;
    lock(path, &file, true)?;
    let mark = fill(path, &file, mark, needs, watch)?;
    scratch.publish(path)?;
    Ok((file, mark))
}

/// Creates a file without a name in a directory; it is gone as soon as nobody has it open.
pub(super) fn create_unnamed(
    directory: &Path,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(File, Mark), TargetError> {
    let mark = mark_for(directory, needs)?;
    let file = unnamed(directory)?;
    let mark = fill(directory, &file, mark, needs, watch)?;
    Ok((file, mark))
}

/// Gives a new file its size, its mark and what is to be written out. Returns the mark it has then.
fn fill(
    path: &Path,
    file: &File,
    mut mark: Mark,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<Mark, TargetError> {
    let growing = |to, error: &io::Error| TargetError::growing(path, to, error, needs.bytes());
    let missing = missing(path, mark, needs)?;
    demand_room(path, file, &missing)?;
    file.set_len(mark.file_bytes()).map_err(|error| growing("make", &error))?;
    // The mark comes first: if we are killed, a later run recognises the file as ours and removes
    // it.
    mark.write(file).map_err(|error| growing("write", &error))?;
    write_out(path, file, &mut mark, missing, watch)?;
    file.sync_all().map_err(|error| growing("write", &error))?;
    Ok(mark)
}

/// Opens a new file without a name.
fn unnamed(directory: &Path) -> Result<File, TargetError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.custom_flags(OFlags::TMPFILE.bits() as i32).open(directory) {
        Ok(file) => Ok(file),
        // The file system knows no such files.
        Err(error)
            if matches!(
                Errno::from_io_error(&error),
                Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS)
            ) =>
        {
            // The caller named the directory, and not the file in it.
            let (scratch, file) = Scratch::make(&directory.join("fairdisk"))
                .map_err(|error| TargetError { path: directory.to_owned(), ..error })?;
            let path = scratch.path.clone();
            drop(scratch);
            match path.symlink_metadata() {
                Ok(_) => Err(TargetError::new(&path, TargetProblem::NoPermission { to: "remove" })),
                Err(_) => Ok(file),
            }
        }
        Err(error) => Err(TargetError::os(directory, "make a file in", &error)),
    }
}

/// Locks a file of ours, extends it to the size needed and writes it out if required.
pub(super) fn adapt(
    path: &Path,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(File, Mark), TargetError> {
    let file = open_file(path, true, OFlags::empty())?;
    lock(path, &file, true)?;
    // Read again, because another run may have changed the file before it was locked.
    let mark = Mark::read(&file).map_err(|error| TargetError::os(path, "read", &error))?;
    let mut mark = mark.ok_or_else(|| TargetError::new(path, TargetProblem::Appeared))?;
    let missing = missing(path, mark, needs)?;
    demand_room(path, &file, &missing)?;
    if mark.data_bytes < needs.bytes() {
        mark = grow(path, &file, mark, needs)?;
    }
    write_out(path, &file, &mut mark, missing, watch)?;
    Ok((file, mark))
}

/// The mark of a new file of the size needed.
fn mark_for(path: &Path, needs: &FileNeeds) -> Result<Mark, TargetError> {
    let need = needs.bytes();
    Mark::for_bytes(need).ok_or_else(|| TargetError::new(path, TargetProblem::TooLarge { need }))
}

/// The range of bytes still to be written out, within what the run reaches.
fn missing(path: &Path, mark: Mark, needs: &FileNeeds) -> Result<Range<u64>, TargetError> {
    let end = if needs.allocate { mark_for(path, needs)?.data_bytes } else { 0 };
    Ok(mark.written_bytes..end.max(mark.written_bytes))
}

/// Extends a file of ours. The new mark is written before the old one is cleared, so that the file
/// is recognisable as ours at every moment, except between the calls that extend and mark it.
fn grow(path: &Path, file: &File, old: Mark, needs: &FileNeeds) -> Result<Mark, TargetError> {
    let new = Mark { written_bytes: old.written_bytes, ..mark_for(path, needs)? };
    let lengthen = || {
        file.set_len(new.file_bytes())?;
        new.write(file)?;
        file.sync_all()
    };
    if let Err(error) = lengthen() {
        // Restores the old length. If that fails too, the first error is the one to report.
        let _ = file.set_len(old.file_bytes());
        return Err(TargetError::growing(path, "lengthen", &error, needs.bytes()));
    }
    clear(file, old.data_bytes).map_err(|error| TargetError::os(path, "write", &error))?;
    Ok(new)
}

/// Turns the old mark into a part of the data area that reads as zeroes: a hole where possible.
fn clear(file: &File, at: u64) -> io::Result<()> {
    match fallocate(file, PUNCH, at, MARK_BYTES) {
        Ok(()) => Ok(()),
        Err(_) => file.write_all_at(&[0; MARK_BYTES as usize], at),
    }
}

/// Writes out `missing` and records that in the mark. On failure the space is released.
fn write_out(
    path: &Path,
    file: &File,
    mark: &mut Mark,
    missing: Range<u64>,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(), TargetError> {
    if missing.is_empty() {
        return Ok(());
    }
    let marked = Mark { written_bytes: missing.end, ..*mark };
    let mut at = missing.start;
    let written = write_noise(path, file, &missing, &mut at, watch).and_then(|()| {
        let durable = file.sync_all().and_then(|()| marked.write(file));
        let durable = durable.and_then(|()| file.sync_all());
        durable.map_err(|error| full(path, file, &error, &missing))
    });
    if written.is_ok() {
        *mark = marked;
        // Later reads should not be served from the page cache. This is only advice.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
    } else {
        // If the file system cannot punch holes, the write error is still the one to report.
        let _ = fallocate(file, PUNCH, missing.start, at - missing.start);
    }
    written
}

/// Fills `missing` with incompressible bytes, so that every read reaches the disk. `at` is set to
/// the end of what may have been written.
fn write_noise(
    path: &Path,
    file: &File,
    missing: &Range<u64>,
    at: &mut u64,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(), TargetError> {
    let total = missing.end - missing.start;
    while *at < missing.end {
        let start = *at;
        let noise = Buffer::noise(STEP.min(missing.end - start) as usize, start);
        *at += noise.bytes().len() as u64;
        file.write_all_at(noise.bytes(), start)
            .map_err(|error| full(path, file, &error, missing))?;
        if watch(Allocated { done: *at - missing.start, total }) == Watch::Stop {
            return Err(TargetError::new(path, TargetProblem::Stopped));
        }
    }
    Ok(())
}

/// Checks, before anything is written, that the disk has room for `missing`.
fn demand_room(path: &Path, file: &File, missing: &Range<u64>) -> Result<(), TargetError> {
    let need = missing.end - missing.start;
    match too_little(room(file, missing), need) {
        None => Ok(()),
        free => Err(TargetError::new(path, TargetProblem::DiskFull { free, need })),
    }
}

/// An upper bound on the bytes of `missing` that the disk has room for: the free space plus what
/// the file already occupies beyond the start of `missing`. `None` if the file system does not
/// tell.
fn room(file: &File, missing: &Range<u64>) -> Option<u64> {
    let taken = taken_bytes(file).saturating_sub(missing.start);
    Some(free_bytes(file)?.saturating_add(taken))
}

fn full(path: &Path, file: &File, error: &io::Error, missing: &Range<u64>) -> TargetError {
    let need = missing.end - missing.start;
    let mut error = TargetError::growing(path, "write", error, need);
    if let TargetProblem::DiskFull { free, .. } = &mut error.problem {
        *free = too_little(room(file, missing), need);
    }
    error
}

/// How much is free, where that is why it did not fit. A quota, or a disk that is smaller than its
/// file system, has other reasons.
fn too_little(free: Option<u64>, need: u64) -> Option<u64> {
    free.filter(|free| *free < need)
}

/// A file under a temporary name, which is removed unless it is published.
struct Scratch {
    path: PathBuf,
    published: bool,
}

impl Scratch {
    fn make(target: &Path) -> Result<(Self, File), TargetError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = scratch_path(target, std::process::id(), count);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| TargetError::making(target, &error))?;
        Ok((Self { path, published: false }, file))
    }

    /// Gives the file its final name, unless that name has been taken meanwhile.
    fn publish(mut self, target: &Path) -> Result<(), TargetError> {
        let no_replace =
            rustix::fs::renameat_with(CWD, &self.path, CWD, target, RenameFlags::NOREPLACE);
        let renamed = match no_replace {
            // The file system does not support RENAME_NOREPLACE.
            Err(Errno::INVAL | Errno::NOSYS) => rename_if_absent(&self.path, target),
            other => other,
        };
        match renamed {
            Ok(()) => {
                self.published = true;
                sync_directory(target);
                Ok(())
            }
            Err(Errno::EXIST) => Err(TargetError::new(target, TargetProblem::Appeared)),
            Err(errno) => Err(TargetError::os(target, "make", &errno.into())),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.published {
            // Nothing can be done about a failure here.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn rename_if_absent(from: &Path, to: &Path) -> Result<(), Errno> {
    if to.symlink_metadata().is_ok() {
        return Err(Errno::EXIST);
    }
    rustix::fs::rename(from, to)
}

/// Makes the file's name durable. Errors are ignored: not every file system supports this, and the
/// data does not depend on it.
fn sync_directory(target: &Path) {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_not_said_to_have_room() {
        assert_eq!(too_little(Some(59), 100), Some(59));
        assert_eq!(too_little(Some(100), 100), None, "a quota, for example");
        assert_eq!(too_little(None, 100), None);
    }
}
