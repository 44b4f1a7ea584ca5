//! A file that was not there before, for whoever may have to take it away again.

use super::data::identity;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file that was made when it was opened.
#[derive(Debug)]
pub struct Made {
    path: PathBuf,
    identity: (u64, u64),
}

impl Made {
    pub(super) fn new(path: &Path, file: &File) -> Option<Self> {
        let found = file.metadata().ok()?;
        Some(Self { path: path.to_owned(), identity: identity(&found) })
    }

    /// Where it was made.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it; whether it was still there. What somebody else has put in its place stays.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self) -> io::Result<bool> {
        let is_it = match self.path.symlink_metadata() {
            Ok(found) => identity(&found) == self.identity,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_it {
            fs::remove_file(&self.path)?;
        }
        Ok(is_it)
    }
}
