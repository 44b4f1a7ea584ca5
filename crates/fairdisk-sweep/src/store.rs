//! Where finished cells are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Keeps texts under digests, for programs that may run at the same time.
pub trait Store: Sync {
    /// The text under `key`; `None` if there is none.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get(&self, key: &str) -> io::Result<Option<String>>;

    /// Keeps `text` under `key`. Who keeps the same twice keeps it once.
    ///
    /// # Errors
    /// The store cannot be written.
    fn put(&self, key: &str, text: &str) -> io::Result<()>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Store for Nothing {
    fn get(&self, _key: &str) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn put(&self, _key: &str, _text: &str) -> io::Result<()> {
        Ok(())
    }
}

/// A folder with a file for each text: `ab/cdef….json` for a key `abcdef…`.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self(path.to_owned()))
    }

    fn file(&self, key: &str) -> PathBuf {
        let (folder, name) = key.split_at(key.len().min(2));
        self.0.join(folder).join(format!("{name}.json"))
    }
}

impl Store for Folder {
    fn get(&self, key: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(self.file(key)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn put(&self, key: &str, text: &str) -> io::Result<()> {
        let file = self.file(key);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        // Nobody ever finds half a file: whoever is killed leaves one of another name.
        let unfinished = file.with_extension(format!("{}.part", std::process::id()));
        fs::write(&unfinished, text)?;
        fs::rename(&unfinished, &file)
    }
}
