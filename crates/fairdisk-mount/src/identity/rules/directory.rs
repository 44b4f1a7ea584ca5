//! The directory of rules: `groups.toml` first, then `groups.d/*.toml` by name, then what
//! `ctl set --keep` wrote.

use super::{Problem, Rules, read};
use rustix::process::geteuid;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The variable in the environment that names another directory.
const VARIABLE: &str = "FAIRDISK_RULES";
/// The directory of root's rules.
const OF_ROOT: &str = "/etc/fairdisk";
/// The file that is read last, whatever the names of the others.
const KEPT: &str = "ctl.toml";

/// A directory of rules.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    seen: Option<Vec<Look>>,
}

/// What rules there are.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The rules of the files without errors.
    pub rules: Rules,
    /// The number of files.
    pub files: usize,
    /// What is wrong with the others.
    pub problems: Vec<Problem>,
}

/// What tells a file from what it was: its inode, length, and time of change in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    path: PathBuf,
    is: Option<(u64, u64, i64, i64)>,
}

impl Look {
    fn at(path: PathBuf) -> Self {
        let is = fs::metadata(&path).ok();
        let is = is.map(|it| (it.ino(), it.len(), it.mtime(), it.mtime_nsec()));
        Self { path, is }
    }
}

impl Directory {
    /// The directory at `path`.
    #[must_use]
    pub const fn at(path: PathBuf) -> Self {
        Self { path, seen: None }
    }

    /// The directory that `FAIRDISK_RULES` names; otherwise `/etc/fairdisk` for root and, for
    /// others, `fairdisk` below the directory of their configuration.
    #[must_use]
    pub fn of_user() -> Self {
        let named = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
        let own = || {
            // With sudo and su the home may be that of somebody else.
            let is_own =
                |home: &PathBuf| fs::metadata(home).is_ok_and(|it| it.uid() == geteuid().as_raw());
            let home = || Some(PathBuf::from(named("HOME")?)).filter(is_own);
            let home = || Some(home()?.join(".config"));
            let place = named("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home)?;
            (!geteuid().is_root()).then(|| place.join("fairdisk"))
        };
        let path = named(VARIABLE).map(PathBuf::from).or_else(own);
        let path = path.unwrap_or_else(|| PathBuf::from(OF_ROOT));
        // A daemon has another working directory.
        Self::at(std::path::absolute(&path).unwrap_or(path))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of further files.
    pub(super) fn further(&self) -> PathBuf {
        self.path.join("groups.d")
    }

    /// The file that `ctl set --keep` writes.
    #[must_use]
    pub fn kept(&self) -> PathBuf {
        self.further().join(KEPT)
    }

    /// The files, in the order in which they count.
    ///
    /// # Errors
    /// The directory of further files is there, but cannot be read.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(self.further()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries?),
        };
        let further = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut further: Vec<_> =
            further.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
        further.sort_by_key(|path| (path.ends_with(KEPT), path.clone()));
        Ok([self.path.join("groups.toml")].into_iter().chain(further).collect())
    }

    /// Reads all files.
    #[must_use]
    pub fn load(&self) -> Loaded {
        let mut loaded = Loaded::default();
        let files = self.files().unwrap_or_else(|error| {
            let (file, text) = (self.further(), format!("cannot be read: {error}"));
            loaded.problems.push(Problem { file, place: None, text });
            Vec::new()
        });
        for file in files {
            let text = match fs::read_to_string(&file) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    let text = format!("cannot be read: {error}");
                    loaded.problems.push(Problem { file, place: None, text });
                    continue;
                }
            };
            loaded.files += 1;
            match read(&file, &text) {
                Ok(Rules { all, kernel_weights }) => {
                    loaded.rules.all.extend(all);
                    loaded.rules.kernel_weights = kernel_weights.or(loaded.rules.kernel_weights);
                }
                Err(problems) => loaded.problems.extend(problems),
            }
        }
        loaded
    }

    /// The rules, if any file has changed since the last call, or at the first one.
    pub fn changed(&mut self) -> Option<Loaded> {
        let files = self.files().unwrap_or_else(|_| vec![self.further()]);
        let now = Some(files.into_iter().map(Look::at).collect());
        if self.seen == now {
            return None;
        }
        self.seen = now;
        Some(self.load())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_order_and_again_when_they_change() {
        let place = tempfile::tempdir().unwrap();
        let mut directory = Directory::at(place.path().to_owned());
        assert!(directory.changed().is_some_and(|loaded| loaded.files == 0), "at first");
        assert!(directory.changed().is_none());
        let further = place.path().join("groups.d");
        fs::create_dir(&further).unwrap();
        let rule = |weight| format!("[[group]]\nmatch = \"/a\"\nweight = {weight}\n");
        for (file, weight) in [("ctl.toml", 4), ("zz.toml", 3), ("10.toml", 2), ("no", 9)] {
            fs::write(further.join(file), rule(weight)).unwrap();
        }
        fs::write(place.path().join("groups.toml"), "weights = \"io.weight\"\n").unwrap();
        let loaded = directory.changed().expect("they are there");
        let weights: Vec<_> =
            loaded.rules.of("/a", None, false).map(|(setting, _)| setting.in_words()).collect();
        assert_eq!(weights, ["weight=2", "weight=3", "weight=4"]);
        assert_eq!((loaded.files, loaded.problems.len()), (4, 0));
        assert!(loaded.rules.kernel_weights.is_some());
        fs::write(further.join("10.toml"), "[[group]]\n").unwrap();
        let loaded = directory.changed().expect("one has changed");
        assert_eq!((loaded.rules.all.len(), loaded.problems.len()), (2, 1));
        fs::remove_file(further.join("10.toml")).unwrap();
        assert_eq!(directory.changed().map(|loaded| loaded.files), Some(3));
    }
}
