//! Where finished cells are kept.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
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
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn put(&self, key: &str, text: &str) -> io::Result<()> {
        let file = self.file(key);
        let folder = file.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder)?;
        // Nobody ever finds half a file: whoever is killed leaves one of another name.
        let mut unfinished = tempfile::Builder::new()
            .suffix(".part")
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        unfinished.write_all(text.as_bytes())?;
        unfinished.persist(&file)?;
        Ok(())
    }
}

/// Whether there is no text: no file, or one that is damaged.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn threads_keep_the_same_text_at_once() {
        let place = tempfile::tempdir().expect("there is room");
        let folder = Folder::open(place.path()).expect("it can be made");
        let text = "text ".repeat(20_000);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        folder.put("abcdef", &text).expect("it can be written");
                        let found = folder.get("abcdef").expect("it can be read");
                        assert!(found.as_ref() == Some(&text), "half a text was found");
                    }
                });
            }
        });
        let files = fs::read_dir(place.path().join("ab")).expect("it is there");
        assert_eq!(files.count(), 1, "nothing unfinished is left");
    }
}
