//! Removes the unfinished files of runs that were killed.
//!
//! The name of an unfinished file contains the number of the process that makes it, and the file is
//! locked while that process works on it. The first thing written to it is the mark, so a file that
//! is ours is either marked or empty.

use super::data::lock;
use super::mark::Mark;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = ".";
const SUFFIX: &str = ".part";
/// The most bytes of the target's name that go into the temporary name, which then stays within the
/// limit of 255 bytes that file systems have.
const NAME_BYTES: usize = 200;

/// The temporary name for file number `count` of process `pid`, which will become `target`.
pub(super) fn scratch_path(target: &Path, pid: u32, count: u32) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name = &name[..name.floor_char_boundary(NAME_BYTES)];
    target.with_file_name(format!("{PREFIX}{name}.{pid}-{count}{SUFFIX}"))
}

/// The number of the process that made a file of this name, if it is a temporary name of ours.
fn maker(name: &OsStr) -> Option<u32> {
    let name = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (pid, count) = name.rsplit_once('.')?.1.split_once('-')?;
    count.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Removes the unfinished files beside `target` whose processes are gone. Errors are ignored.
pub(super) fn sweep(target: &Path) {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(parent.unwrap_or(Path::new("."))) else { return };
    for entry in entries.flatten() {
        let is_dead = maker(&entry.file_name()).is_some_and(|pid| !is_alive(pid));
        if is_dead && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            remove_abandoned(&entry.path());
        }
    }
}

/// Whether the process exists. Without `/proc` no process seems to, and the lock alone decides.
fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn remove_abandoned(path: &Path) {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    // A process in another container may be alive and have no number here, but it holds the lock.
    if (is_marked(&file) || is_hollow(&file)) && lock(path, &file, true).is_ok() {
        let _ = fs::remove_file(path);
    }
}

/// Whether the file occupies no space, so that nothing was ever written to it.
fn is_hollow(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.blocks() == 0)
}

fn is_marked(file: &File) -> bool {
    Mark::read(file).is_ok_and(|mark| mark.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_letters_to_what_file_systems_allow() {
        for letter in ["x", "ß", "語"] {
            let target = letter.repeat(255 / letter.len());
            let path = scratch_path(Path::new(&target), u32::MAX, u32::MAX);
            let name = path.file_name().unwrap_or_default();
            assert!((200..=255).contains(&name.len()), "{}: {}", name.len(), path.display());
            assert_eq!(maker(name), Some(u32::MAX));
        }
    }

    #[test]
    fn only_names_of_ours_have_a_maker() {
        let path = scratch_path(Path::new("d/x.y"), 12, 3);
        assert_eq!(path, Path::new("d/.x.y.12-3.part"));
        assert_eq!(maker(path.file_name().unwrap_or_default()), Some(12));
        for other in ["x.12-3.part", ".x.12.part", ".x.a-3.part", ".x.12-3", ".12-3.part"] {
            assert_eq!(maker(OsStr::new(other)), None, "{other}");
        }
    }
}
