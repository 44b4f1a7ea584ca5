//! Rules for groups: settings by patterns of cgroup names, from files in which they survive the
//! cgroups. A rule's settings hold wherever a matching cgroup's directory states nothing else.

mod directory;
mod file;
mod keep;
mod pattern;

pub use directory::{Directory, Loaded};
pub use file::{Problem, read};

use super::Setting;
use pattern::Pattern;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The place of a table in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: Arc<PathBuf>,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A pattern and the settings of the cgroups that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pattern: Pattern,
    /// The settings, each with the disk for which alone it holds, if any.
    settings: Vec<(Option<String>, Setting)>,
    /// Where the rule begins.
    pub origin: Origin,
}

impl Rule {
    /// Whether the rule is for the cgroup `path`.
    #[must_use]
    pub fn is_for(&self, path: &str) -> bool {
        self.pattern.matches(path)
    }

    /// Whether it is about whole paths.
    fn is_for_paths(&self) -> bool {
        self.pattern.is_for_paths()
    }

    /// The settings on `disk`; those for that disk alone come last.
    fn on<'a>(&'a self, disk: Option<&'a str>) -> impl Iterator<Item = Setting> + 'a {
        let of = |own: bool| {
            let is_its = move |of: &Option<String>| match of {
                None => !own,
                Some(of) => own && disk == Some(of),
            };
            self.settings.iter().filter(move |(of, _)| is_its(of)).map(|(_, setting)| *setting)
        };
        of(false).chain(of(true))
    }
}

/// The pattern and the settings, as in `unit "postgresql@*.service": weight=400, max_bps=9 on sda`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.pattern)?;
        let mut between = " ";
        for (disk, setting) in &self.settings {
            f.write_str(between)?;
            f.write_str(&setting.in_words())?;
            disk.as_ref().map_or(Ok(()), |disk| write!(f, " on {disk}"))?;
            between = ", ";
        }
        Ok(())
    }
}

/// All rules, in the order in which they count: the last one that sets a key wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The rules.
    pub all: Vec<Rule>,
    /// Whether the kernel's `io.weight` is the weight of groups without another, and the file that
    /// says so.
    pub kernel_weights: Option<Origin>,
}

impl Rules {
    /// The rules of all files but one.
    fn without(self, file: &Path) -> Self {
        let all = self.all.into_iter().filter(|rule| *rule.origin.file != file).collect();
        Self { all, ..self }
    }

    /// Whether nothing is said of any cgroup.
    pub(super) const fn are_none(&self) -> bool {
        self.all.is_empty() && self.kernel_weights.is_none()
    }

    /// What rules say of the cgroup `path`, on whichever disk.
    pub(super) fn anywhere<'a>(&'a self, path: &'a str) -> impl Iterator<Item = Setting> + 'a {
        let matching = self.all.iter().filter(move |rule| rule.is_for(path));
        matching.flat_map(|rule| rule.settings.iter().map(|(_, setting)| *setting))
    }

    /// The settings of the cgroup `path` on `disk`, with their places, the ones that win last. Of a
    /// cgroup to which `others` gave its name, only rules for whole paths count.
    pub(super) fn of<'a>(
        &'a self,
        path: &'a str,
        disk: Option<&'a str>,
        others: bool,
    ) -> impl Iterator<Item = (Setting, &'a Origin)> {
        let counts = move |rule: &&Rule| rule.is_for(path) && (!others || rule.is_for_paths());
        let matching = self.all.iter().filter(counts);
        matching.flat_map(move |rule| rule.on(disk).map(|setting| (setting, &rule.origin)))
    }
}

/// The rules of all users of a [`Hierarchy`](super::Hierarchy), which follow their files.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Followed>);

#[derive(Debug, Default)]
struct Followed {
    rules: RwLock<Arc<Rules>>,
    directory: Option<Mutex<Directory>>,
}

impl Shared {
    /// The rules in a directory, as of now, and what is wrong with them.
    #[must_use]
    pub fn of(mut directory: Directory) -> (Self, Loaded) {
        let loaded = directory.changed().unwrap_or_default();
        let rules = RwLock::new(Arc::new(loaded.rules.clone()));
        (Self(Arc::new(Followed { rules, directory: Some(Mutex::new(directory)) })), loaded)
    }

    /// The current rules.
    pub(super) fn get(&self) -> Arc<Rules> {
        Arc::clone(&self.0.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks whether files have changed, and if so, returns what is in them now. While something
    /// is wrong with them, the former rules hold.
    #[must_use]
    pub fn follow(&self) -> Option<Loaded> {
        let directory = self.0.directory.as_ref()?;
        let loaded = directory.lock().unwrap_or_else(PoisonError::into_inner).changed()?;
        if loaded.problems.is_empty() {
            let rules = Arc::new(loaded.rules.clone());
            *self.0.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
        }
        Some(loaded)
    }

    /// The path of the directory.
    pub(crate) fn directory(&self) -> Option<String> {
        let directory = self.0.directory.as_ref()?;
        let directory = directory.lock().unwrap_or_else(PoisonError::into_inner);
        Some(directory.path().display().to_string())
    }
}

/// Those of one hierarchy are those of another that has the same ones.
impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.get() == other.get()
    }
}

impl Eq for Shared {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_sets_a_key_wins_and_a_disk_has_its_own() {
        let text = "[[group]]\nmatch = \"/a/*\"\nweight = 200\nmax_bps = \"10M\"\n\
                    [group.disk.sda]\nmax_bps = \"20M\"\n\
                    [[group]]\nmatch = \"/a/b\"\nweight = 300\n";
        let rules = read(Path::new("groups.toml"), text).expect("it is right");
        let of = |path, disk| -> Vec<String> {
            let all = rules.of(path, disk, false);
            all.map(|(setting, origin)| format!("{}@{}", setting.in_words(), origin.line)).collect()
        };
        assert_eq!(of("/a/c", None), ["weight=200@1", "max_bps=10485760@1"]);
        assert_eq!(of("/a/c", Some("sda")).last().map(|it| &**it), Some("max_bps=20971520@1"));
        assert_eq!(of("/a/b", None).last().map(|it| &**it), Some("weight=300@7"));
        assert_eq!(of("/b", Some("sda")), [""; 0]);
    }
}
