//! The tree of cgroups that groups are taken from, and the settings kept in its directories.

use super::kept::{self, Kept, NotKept};
use super::setting::{Said, Setting, SettingError};
use crate::mountinfo::{Line, Mountinfo};
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The name of the hierarchy without controllers that is preferred where it is mounted.
pub(crate) const OWN: &str = "fairdisk";

/// What the tree of version 2 is called.
pub(crate) const VERSION2: &str = "v2";

/// What mounts one where there is none.
pub(super) const MOUNTS: &str = "fairdisk cgroup mount DIRECTORY mounts";

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// A controller or `name=` of a version 1 hierarchy; nothing for version 2.
    v1: Option<String>,
    /// Where it is mounted.
    mount: PathBuf,
    /// The cgroup that is mounted there.
    root: String,
}

/// Why there is no hierarchy to take groups from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HierarchyError {
    /// The one asked for is not mounted.
    NotMounted(String),
    /// None is mounted.
    NoneMounted,
    /// The list of mounts cannot be read.
    Unreadable(String),
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted(name) => {
                write!(
                    f,
                    "cgroup hierarchy `{name}` is not mounted (known: v2, or the name or a \
                     controller of a version 1 hierarchy)"
                )?;
                if name == OWN { write!(f, "; {MOUNTS} it") } else { Ok(()) }
            }
            Self::NoneMounted => {
                write!(f, "there are no groups: no cgroup hierarchy is mounted; {MOUNTS} one")
            }
            Self::Unreadable(why) => write!(f, "/proc/self/mountinfo cannot be read: {why}"),
        }
    }
}

impl std::error::Error for HierarchyError {}

impl HierarchyError {
    /// Whether what was asked for is wrong. Anything else may work the next time.
    #[must_use]
    pub const fn is_bad_input(&self) -> bool {
        matches!(self, Self::NotMounted(_))
    }
}

impl Hierarchy {
    /// The hierarchy called `wanted` (`v2`, a name or a controller), or the best there is: our own,
    /// version 2, `blkio`. None may be mounted.
    ///
    /// # Errors
    /// The one asked for is not mounted.
    pub fn find(wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let table =
            Mountinfo::read().map_err(|error| HierarchyError::Unreadable(error.to_string()))?;
        Self::choose(&table, wanted)
    }

    /// The one that a mount takes which is not told another.
    ///
    /// # Errors
    /// None is mounted, or that cannot be told.
    pub fn best() -> Result<Self, HierarchyError> {
        Self::find(None)?.ok_or(HierarchyError::NoneMounted)
    }

    fn choose(mountinfo: &Mountinfo, wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let find = |name: &str| {
            let mut all = mountinfo.lines().filter_map(|line| Self::of_mount(&line, name));
            // What is mounted from outside our cgroup namespace does not tell where we are in it.
            all.clone().find(|it| !leads_up(&it.root)).or_else(|| all.next())
        };
        match wanted {
            Some(name) => {
                find(name).map(Some).ok_or_else(|| HierarchyError::NotMounted(name.to_owned()))
            }
            None => Ok([OWN, VERSION2, "blkio"].into_iter().find_map(find)),
        }
    }

    /// The hierarchy `name`, if this line of mountinfo is its mount.
    fn of_mount(line: &Line<'_>, name: &str) -> Option<Self> {
        let v1 = match (line.kind, name) {
            (b"cgroup2", VERSION2) => None,
            (b"cgroup", _) => {
                let (options, named) = (str::from_utf8(line.options).ok()?, format!("name={name}"));
                Some(options.split(',').find(|option| *option == name || *option == named)?)
            }
            _ => return None,
        };
        let (mount, root) = (line.place.to_path_buf(), line.root.to_string_lossy().into_owned());
        Some(Self { v1: v1.map(str::to_owned), mount, root })
    }

    /// One whose groups are the directories in `mount`.
    #[cfg(test)]
    pub(super) fn in_directory(mount: &Path) -> Self {
        Self { v1: None, mount: mount.to_owned(), root: "/".to_owned() }
    }

    /// Whether it is the tree of version 2.
    #[must_use]
    pub const fn is_version2(&self) -> bool {
        self.v1.is_none()
    }

    /// Where it is mounted.
    #[must_use]
    pub fn mount(&self) -> &Path {
        &self.mount
    }

    /// Its name, as [`find`](Self::find) knows it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.v1.as_deref().map_or(VERSION2, |name| name.strip_prefix("name=").unwrap_or(name))
    }

    /// The cgroup of a task, from the text of its `/proc/PID/cgroup`, as seen from the mount. None
    /// if it is not below the mount, as that of a task outside our cgroup namespace: a path that
    /// leads up, `/../a`, names no directory there.
    #[must_use]
    pub fn path_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        let path = text.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let ours = match &self.v1 {
                None => controllers.is_empty(),
                Some(name) => controllers.split(',').any(|one| one == name),
            };
            ours.then_some(path)
        })?;
        let below = path.strip_prefix(self.root.trim_end_matches('/'))?;
        if below.is_empty() {
            return Some("/");
        }
        (below.starts_with('/') && !leads_up(below)).then_some(below)
    }

    /// The directory of a group.
    pub(super) fn directory(&self, group: &str) -> PathBuf {
        self.mount.join(group.trim_start_matches('/'))
    }

    /// The number of the group's directory, if it is there. Another one in its place has another.
    pub(super) fn inode(&self, group: &str) -> Option<u64> {
        let found = std::fs::metadata(self.directory(group)).ok()?;
        found.is_dir().then(|| found.ino())
    }

    /// What the group's directory says, if anything.
    pub(super) fn said_of(&self, group: &str) -> Option<Said> {
        kept::read(&self.directory(group), group)
    }

    /// The group that tasks in `cgroup` belong to, and what it asks for. A cgroup without settings
    /// of its own belongs to the nearest one above that has some; if there is none it is a group by
    /// itself.
    #[must_use]
    pub fn effective<'a>(&self, cgroup: &'a str) -> (&'a str, Said) {
        let own = above(cgroup).find_map(|path| Some((path, self.said_of(path)?)));
        own.unwrap_or((cgroup, Said::NOTHING))
    }

    /// The nearest cgroup above the group that has settings: the group lies in it.
    pub(crate) fn outer<'a>(&self, group: &'a str) -> Option<(&'a str, Said)> {
        above(group).skip(1).find_map(|path| Some((path, self.said_of(path)?)))
    }

    /// Keeps settings with the group's directory, instead of what they take the place of: all of
    /// them or none.
    ///
    /// # Errors
    /// There is no such group, the settings cannot be meant together, or the system refuses.
    pub fn set(&self, group: &str, settings: &[Setting]) -> Result<Changed, SettingError> {
        let path = self.group(group)?;
        let directory = self.directory(&path);
        match kept::change(&directory, settings) {
            Ok(before) => Ok(Changed { group: path, directory, before }),
            Err(NotKept::Contradicts(why)) => Err(SettingError::Contradicts(why)),
            Err(NotKept::System(why)) => Err(SettingError::Refused {
                group: group.to_owned(),
                why: std::io::Error::from(why).to_string(),
            }),
        }
    }

    /// What makes no sense of the settings of a cgroup and those above it, and counts as unset.
    pub fn refused<'a>(&self, cgroup: &'a str) -> impl Iterator<Item = (&'a str, SettingError)> {
        above(cgroup).flat_map(|path| {
            let refused = kept::refused(&self.directory(path));
            refused.into_iter().map(move |why| (path, why))
        })
    }

    /// Where somebody else could change what whoever runs us has set for the group: that does not
    /// count.
    #[must_use]
    pub fn unsafe_directory(&self, group: &str) -> Option<PathBuf> {
        let directory = self.directory(&group_path(group));
        (!kept::heeds(&directory)).then_some(directory)
    }

    /// The path of the group that somebody calls `name`.
    ///
    /// # Errors
    /// There is no such group, or the path given leads up.
    pub fn group(&self, name: &str) -> Result<String, SettingError> {
        let path = group_path(name);
        if leads_up(&path) {
            return Err(SettingError::LeadsUp { group: name.to_owned() });
        }
        let directory = self.directory(&path);
        if !directory.is_dir() {
            return Err(SettingError::NoGroup { group: name.to_owned(), directory });
        }
        Ok(path)
    }
}

/// The path of a group, from the root on, whatever slashes it is written with.
#[must_use]
pub fn group_path(name: &str) -> String {
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    format!("/{}", parts.collect::<Vec<_>>().join("/"))
}

/// Whether a path may lead out of where it begins.
fn leads_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Settings of a group that have just been changed.
#[derive(Debug)]
pub struct Changed {
    /// Its cgroup.
    pub group: String,
    directory: PathBuf,
    before: Kept,
}

impl Changed {
    /// Takes the change back.
    pub fn undo(self) {
        kept::put_back(&self.directory, &self.before);
    }
}

/// A cgroup and those above it, nearest first. The root is above nobody: what it asks for is for
/// its own tasks.
fn above(cgroup: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(cgroup), |path| match path.rfind('/') {
        Some(at) if at > 0 => Some(&path[..at]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio
27 25 0:24 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
28 25 0:25 /box /mnt/a\\040b rw - cgroup none rw,name=fairdisk
";

    fn choose(table: &str, wanted: Option<&str>) -> Result<Option<Hierarchy>, HierarchyError> {
        Hierarchy::choose(&Mountinfo::of(table), wanted)
    }

    fn named(name: &str) -> Hierarchy {
        choose(MOUNTS, Some(name)).unwrap().unwrap()
    }

    #[test]
    fn our_own_hierarchy_comes_first_then_version_2() {
        assert_eq!(choose(MOUNTS, None).unwrap().unwrap(), named("fairdisk"));
        let without: String =
            MOUNTS.lines().filter(|line| !line.contains("name=")).collect::<Vec<_>>().join("\n");
        assert_eq!(choose(&without, None).unwrap().unwrap(), named("v2"));
        assert_eq!(choose("", None), Ok(None));
        let error = choose(MOUNTS, Some("memory")).unwrap_err().to_string();
        assert!(error.contains("`memory` is not mounted"), "{error}");
        let error = choose("", Some(OWN)).unwrap_err().to_string();
        assert!(
            error.ends_with("hierarchy); fairdisk cgroup mount DIRECTORY mounts it"),
            "{error}"
        );
    }

    #[test]
    fn a_cgroup_is_told_from_the_mount() {
        let text = "5:blkio:/a/b\n4:name=fairdisk:/box/c d\n0::/user.slice\n";
        assert_eq!(named("v2").path_in(text), Some("/user.slice"));
        assert_eq!(named("blkio").path_in(text), Some("/a/b"));
        assert_eq!(named("fairdisk").path_in(text), Some("/c d"));
        assert_eq!(named("fairdisk").path_in("4:name=fairdisk:/box\n"), Some("/"));
        assert_eq!(named("fairdisk").path_in("4:name=fairdisk:/boxer\n"), None);
        assert_eq!(named("fairdisk").mount(), Path::new("/mnt/a b"));
    }

    /// Of tasks outside our cgroup namespace the kernel says how to get there from its root.
    #[test]
    fn a_cgroup_outside_of_the_namespace_is_none_of_the_mount() {
        let rooted = |root: &str| {
            let line = format!("27 25 0:24 {root} /cg rw - cgroup2 cgroup2 rw");
            choose(&line, Some("v2")).unwrap().unwrap()
        };
        let both = "1 0 0:24 /.. /cg rw - cgroup2 a rw\n2 0 0:24 / /own rw - cgroup2 b rw";
        let chosen = choose(both, None).unwrap().unwrap();
        assert_eq!(chosen.mount(), Path::new("/own"));
        for (root, path, expected) in [
            ("/", "/a/b", Some("/a/b")),
            ("/", "/..", None),
            ("/", "/../a", None),
            ("/", "/../../a/b", None),
            ("/", "/..a/b", Some("/..a/b")),
            // Mounted from further out than our namespace's root.
            ("/..", "/../a", Some("/a")),
            ("/..", "/..", Some("/")),
            ("/..", "/../../a", None),
            ("/..", "/a", None),
            ("/../..", "/../a", None),
            ("/a\\040b", "/a b/c", Some("/c")),
        ] {
            let text = format!("0::{path}\n");
            assert_eq!(rooted(root).path_in(&text), expected, "{path} from {root}");
        }
    }

    #[test]
    fn a_group_is_below_the_root_whatever_slashes_it_is_called_with() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("a/..b")).unwrap();
        let hierarchy = Hierarchy::in_directory(place.path());
        assert_eq!(hierarchy.group("a//./..b/"), Ok("/a/..b".to_owned()));
        let why = |name: &str| hierarchy.group(name).unwrap_err().to_string();
        for name in ["..", "/../..", "a/../a"] {
            assert!(why(name).ends_with("leads down from the root, without `..`"), "{}", why(name));
        }
        assert!(why("/b").ends_with("/b; mkdir makes one"), "{}", why("/b"));
    }

    #[test]
    fn the_way_up_ends_below_the_root() {
        assert_eq!(above("/a/b c/d").collect::<Vec<_>>(), ["/a/b c/d", "/a/b c", "/a"]);
        assert_eq!(above("/").collect::<Vec<_>>(), ["/"]);
    }
}
