//! Making a target file, and making one of ours larger.

use super::FileNeeds;
use super::data::{lock, open_file};
use super::error::{TargetError, TargetProblem};
use super::mark::{MARK_BYTES, Mark};
use super::stale::scratch_path;
use crate::buffer::Buffer;
use rustix::fs::{Advice, CWD, FallocateFlags, OFlags, RenameFlags, fadvise, fallocate};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How much is written between two looks at the watch.
const STEP: u64 = 1 << 20;

/// How far the writing out has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocated {
    /// Bytes written.
    pub done: u64,
    /// Bytes to write.
    pub total: u64,
}

/// What the caller wants after hearing about progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Go on.
    Continue,
    /// Give up; what was made is removed.
    Stop,
}

/// Makes a file with its mark. It appears under its name complete, or not at all.
pub(super) fn create(
    path: &Path,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<Mark, TargetError> {
    let need = needs.bytes();
    let mut mark = Mark::for_bytes(need)
        .ok_or_else(|| TargetError::new(path, TargetProblem::TooLarge { need }))?;
    if path.is_symlink() {
        return Err(TargetError::new(path, TargetProblem::DanglingLink));
    }
    let (scratch, file) = Scratch::make(path)?;
    lock(path, &file, true)?;
    let growing = |to, error: &io::Error| TargetError::growing(path, to, error, need);
    file.set_len(mark.file_bytes()).map_err(|error| growing("make", &error))?;
    // First of all: if we are killed, a later run knows by the mark that the file is ours.
    mark.write(&file).map_err(|error| growing("write", &error))?;
    if needs.allocate {
        write_out(path, &file, 0, mark.data_bytes, watch)?;
        mark.allocated = true;
        mark.write(&file).map_err(|error| growing("write", &error))?;
    }
    file.sync_all().map_err(|error| growing("write", &error))?;
    scratch.publish(path)?;
    Ok(mark)
}

/// Makes a file of ours large enough and writes it out if that is wanted.
pub(super) fn adapt(
    path: &Path,
    mark: Mark,
    needs: &FileNeeds,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<Mark, TargetError> {
    let file = open_file(path, true, OFlags::empty())?;
    lock(path, &file, true)?;
    let mut mark = mark;
    if mark.data_bytes < needs.bytes() {
        mark = grow(path, &file, mark, needs)?;
    }
    if needs.allocate && !mark.allocated {
        write_out(path, &file, 0, mark.data_bytes, watch)?;
        mark.allocated = true;
        mark.write(&file)
            .and_then(|()| file.sync_all())
            .map_err(|error| TargetError::growing(path, "write", &error, needs.bytes()))?;
    }
    Ok(mark)
}

/// The new mark is in place before the old one goes, so the file is ours at every moment but the
/// one between the two calls that lengthen and mark it.
fn grow(path: &Path, file: &File, old: Mark, needs: &FileNeeds) -> Result<Mark, TargetError> {
    let need = needs.bytes();
    let new = Mark::for_bytes(need)
        .ok_or_else(|| TargetError::new(path, TargetProblem::TooLarge { need }))?;
    let lengthen = || {
        file.set_len(new.file_bytes())?;
        new.write(file)?;
        file.sync_all()
    };
    if let Err(error) = lengthen() {
        // Back to what it was; if that fails too, the first error is the one to tell.
        let _ = file.set_len(old.file_bytes());
        return Err(TargetError::growing(path, "lengthen", &error, need));
    }
    clear(file, old.data_bytes).map_err(|error| TargetError::os(path, "write", &error))?;
    Ok(new)
}

/// The old mark becomes data; a hole like the rest.
fn clear(file: &File, at: u64) -> io::Result<()> {
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match fallocate(file, punch, at, MARK_BYTES) {
        Ok(()) => Ok(()),
        Err(_) => file.write_all_at(&[0; MARK_BYTES as usize], at),
    }
}

/// Writes bytes that do not compress over the data area, so that every read reaches the disk.
fn write_out(
    path: &Path,
    file: &File,
    from: u64,
    to: u64,
    watch: &mut dyn FnMut(Allocated) -> Watch,
) -> Result<(), TargetError> {
    let total = to - from;
    let mut done = 0;
    while done < total {
        let len = STEP.min(total - done);
        let noise = Buffer::noise(len as usize, from + done);
        file.write_all_at(noise.bytes(), from + done)
            .map_err(|error| full(path, file, &error, total))?;
        done += len;
        if watch(Allocated { done, total }) == Watch::Stop {
            return Err(TargetError::new(path, TargetProblem::Stopped));
        }
    }
    file.sync_all().map_err(|error| full(path, file, &error, total))?;
    // What was just written should not be served from memory later. Only advice.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}

fn full(path: &Path, file: &File, error: &io::Error, need: u64) -> TargetError {
    let mut error = TargetError::growing(path, "write", error, need);
    if let TargetProblem::DiskFull { free, .. } = &mut error.problem {
        // What this file has taken so far is given back with it.
        let taken =
            file.metadata().map_or(0, |found| std::os::unix::fs::MetadataExt::blocks(&found) * 512);
        *free = rustix::fs::fstatvfs(file).ok().map(|fs| fs.f_bavail * fs.f_frsize + taken);
    }
    error
}

/// A file under a temporary name, removed unless it is published.
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
            .map_err(|error| TargetError::growing(target, "make", &error, 0))?;
        Ok((Self { path, published: false }, file))
    }

    /// Gives the file its name, unless somebody else has taken it meanwhile.
    fn publish(mut self, target: &Path) -> Result<(), TargetError> {
        let no_replace =
            rustix::fs::renameat_with(CWD, &self.path, CWD, target, RenameFlags::NOREPLACE);
        let renamed = match no_replace {
            // The file system cannot do it in one step.
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
            // Nothing more can be done about it here.
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

/// Makes the name durable. Not every file system can; the data does not depend on it.
fn sync_directory(target: &Path) {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all());
}
