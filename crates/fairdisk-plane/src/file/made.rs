//! A file that did not exist before it was opened, for whoever may have to remove it again.

use super::data::identity;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file that was made when it was opened. It is kept open: as long as it is, no other file can
/// have its number.
#[derive(Debug)]
pub struct Made {
    path: PathBuf,
    file: File,
}

impl Made {
    pub(super) fn new(path: &Path, file: &File) -> Option<Self> {
        Some(Self { path: path.to_owned(), file: file.try_clone().ok()? })
    }

    /// The path at which it was made.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file and returns whether it was still there. Another file at its path stays, and
    /// so does the file itself while somebody else uses it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self) -> io::Result<bool> {
        if flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(false);
        }
        let is_it = match self.path.symlink_metadata() {
            Ok(found) => identity(&found) == identity(&self.file.metadata()?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_it {
            fs::remove_file(&self.path)?;
        }
        Ok(is_it)
    }
}

#[cfg(test)]
mod tests {
    use crate::file::{FileNeeds, TargetFile, Watch};
    use std::fs;
    use std::path::Path;

    fn open(path: &Path) -> TargetFile {
        TargetFile::open(path, &FileNeeds::scratch(8), &mut |_| Watch::Continue).unwrap()
    }

    #[test]
    fn what_was_there_before_or_came_later_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("target");
        let made = open(&path).made().unwrap();
        assert!(open(&path).made().is_none(), "it was there before");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another").unwrap();
        assert!(!made.remove().unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"another");
    }

    #[test]
    fn what_somebody_else_uses_by_now_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("target");
        let made = open(&path).made().unwrap();
        let other = open(&path);
        assert!(!made.remove().unwrap() && path.exists());
        drop(other);
        assert!(made.remove().unwrap() && !path.exists());
    }
}
