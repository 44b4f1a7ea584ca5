//! The cgroup hierarchy that groups are taken from, and the settings stored with its directories.

use super::kept::{self, Kept, NotKept, View};
use super::rules::{Origin, Shared};
use super::setting::{Said, Setting, SettingError};
use crate::mounting::mountinfo::{Line, Mountinfo};
use fairdisk_core::Weight;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The name of the hierarchy without controllers that is preferred where it is mounted.
pub(crate) const OWN: &str = "fairdisk";

/// The name by which users refer to the tree of version 2.
pub(crate) const VERSION2: &str = "v2";

/// The advice on how to mount a hierarchy.
pub(super) const MOUNTS: &str = "fairdisk cgroup mount DIRECTORY mounts";

/// A mounted cgroup hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// For version 1, a controller or `name=…` that identifies the hierarchy; `None` for version 2.
    v1: Option<String>,
    /// The path of the mount point.
    mount: PathBuf,
    /// The cgroup that appears at the mount point.
    root: String,
    /// The disk whose own settings count; `None` for those for all disks.
    disk: Option<String>,
    rules: Shared,
}

/// The disks for which settings are made. A share is the same for all of them in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disks {
    /// Those that have no own value.
    All,
    /// The one that the hierarchy [is for](Hierarchy::for_disk).
    This,
}

/// Why there is no hierarchy to take groups from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HierarchyError {
    /// The hierarchy that was asked for is not mounted.
    NotMounted(String),
    /// No hierarchy is mounted.
    NoneMounted,
    /// The mount table cannot be read.
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
    /// Whether the request was wrong. Any other error may be temporary.
    #[must_use]
    pub const fn is_bad_input(&self) -> bool {
        matches!(self, Self::NotMounted(_))
    }
}

impl Hierarchy {
    /// The hierarchy called `wanted` (`v2`, a name or a controller) or, without that, the preferred
    /// one: our own, else version 2, else `blkio`. `None` if no hierarchy is mounted.
    ///
    /// # Errors
    /// The hierarchy that was asked for is not mounted.
    pub fn find(wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let table =
            Mountinfo::read().map_err(|error| HierarchyError::Unreadable(error.to_string()))?;
        Self::choose(&table, wanted)
    }

    /// The hierarchy that a mount uses by default.
    ///
    /// # Errors
    /// None is mounted, or the mount table cannot be read.
    pub fn best() -> Result<Self, HierarchyError> {
        Self::find(None)?.ok_or(HierarchyError::NoneMounted)
    }

    /// The hierarchy by which the kernel tells groups apart: `blkio`, else version 2.
    ///
    /// # Errors
    /// Neither is mounted, or the mount table cannot be read.
    pub fn of_kernel() -> Result<Self, HierarchyError> {
        let found = Self::find(Some("blkio")).or_else(|_| Self::find(Some(VERSION2)));
        found?.ok_or(HierarchyError::NoneMounted)
    }

    fn choose(mountinfo: &Mountinfo, wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let find = |name: &str| {
            let mut all = mountinfo.lines().filter_map(|line| Self::of_mount(&line, name));
            // Preferably a mount from within our cgroup namespace, since others do not show where
            // we are.
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
        Some(Self { v1: v1.map(str::to_owned), mount, root, disk: None, rules: Shared::default() })
    }

    /// A hierarchy whose groups are the directories in `mount`.
    #[cfg(test)]
    pub(crate) fn in_directory(mount: &Path) -> Self {
        let (mount, root) = (mount.to_owned(), "/".to_owned());
        Self { v1: None, mount, root, disk: None, rules: Shared::default() }
    }

    /// The hierarchy with the settings for this disk.
    #[must_use]
    pub fn for_disk(self, disk: &str) -> Self {
        Self { disk: Some(disk.to_owned()), ..self }
    }

    /// The hierarchy whose groups have what these rules say.
    #[must_use]
    pub fn with_rules(self, rules: Shared) -> Self {
        Self { rules, ..self }
    }

    /// The rules for groups.
    #[must_use]
    pub const fn rules(&self) -> &Shared {
        &self.rules
    }

    /// By whom the settings of a group are read.
    fn view(&self, group: &str) -> View<'_> {
        let disk = self.disk.as_deref();
        let below: Vec<Setting> =
            self.ruled(group).into_iter().map(|(setting, _)| setting).collect();
        let rules = self.rules.get();
        let anywhere = rules.anywhere(group).chain(below.iter().copied());
        let ruled = anywhere.filter(|it| it.word().is_some()).map(Setting::key).collect();
        View { disk, below, ruled }
    }

    /// What the rules say of a group, and where; what counts more comes later.
    fn ruled(&self, group: &str) -> Vec<(Setting, Origin)> {
        let rules = self.rules.get();
        if rules.are_none() {
            return Vec::new();
        }
        let others = self.is_named_by_others(group);
        let kernels = rules.kernel_weights.as_ref().filter(|_| !others);
        let kernels = kernels.and_then(|says| {
            let weight = self.kernel_weight(group)?;
            Some((Setting::Weight(Some(weight)), says.clone()))
        });
        let ruled = rules.of(group, self.disk.as_deref(), others);
        let ruled = ruled.map(|(setting, origin)| (setting, origin.clone()));
        kernels.into_iter().chain(ruled).collect()
    }

    /// Whether somebody but root and the user who runs us could have made the group, and so chosen
    /// its name and its kernel weight.
    fn is_named_by_others(&self, group: &str) -> bool {
        let directory = self.directory(group);
        directory.parent().is_some_and(|outer| !kept::is_only_ours(outer))
    }

    /// The weight that the kernel goes by, if somebody has said one.
    fn kernel_weight(&self, group: &str) -> Option<Weight> {
        let text = fs::read_to_string(self.directory(group).join("io.weight")).ok()?;
        let default = text.lines().find_map(|line| line.strip_prefix("default "))?;
        Weight::new(default.trim().parse().ok()?).filter(|weight| *weight != Weight::DEFAULT)
    }

    /// The weight by which the kernel's own schedulers go: BFQ, or what reads `io.weight`; `None`
    /// if the group has none, or is gone.
    #[must_use]
    pub fn weight_under_kernel(&self, group: &str, is_bfq: bool) -> Option<u32> {
        let files: &[&str] =
            if is_bfq { &["io.bfq.weight", "blkio.bfq.weight"] } else { &["io.weight"] };
        let directory = self.directory(group);
        let text = files.iter().find_map(|file| fs::read_to_string(directory.join(file)).ok())?;
        let line = text.lines().next()?;
        line.strip_prefix("default ").unwrap_or(line).trim().parse().ok()
    }

    /// Where those of a group's settings come from that its directory does not state.
    #[must_use]
    pub fn origins(&self, group: &str) -> BTreeMap<String, String> {
        let stated = kept::stated(&self.directory(group), &self.view(group));
        let states_share = Setting::keys_of_share().iter().any(|key| stated.contains(key));
        let mut origins = BTreeMap::new();
        for (setting, origin) in self.ruled(group) {
            let replaced = setting.instead_of();
            replaced.iter().for_each(|key| drop(origins.remove(*key)));
            if !(stated.contains(setting.key()) || setting.is_of_share() && states_share) {
                origins.insert(setting.key().to_owned(), origin.to_string());
            }
        }
        origins
    }

    /// The cgroups of the hierarchy, by path.
    #[must_use]
    pub fn cgroups(&self) -> Vec<String> {
        let mut all = vec!["/".to_owned()];
        let mut next = 0;
        while let Some(path) = all.get(next).cloned() {
            next += 1;
            let entries = fs::read_dir(self.directory(&path)).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let outer = path.trim_end_matches('/');
            all.extend(inner.map(|it| format!("{outer}/{}", it.file_name().to_string_lossy())));
        }
        all.sort();
        all
    }

    /// The settings stored with a group that hold for one disk alone, by that disk, and those for
    /// all disks that do not count on this one, both in the syntax of [`Setting::parse`].
    #[must_use]
    pub fn own(&self, group: &str) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
        let (by_disk, replaced) = kept::own(&self.directory(group), self.disk.as_deref());
        let words = |all: Vec<Setting>| all.into_iter().map(Setting::in_words).collect();
        (by_disk.into_iter().map(|(disk, all)| (disk, words(all))).collect(), words(replaced))
    }

    /// Whether this is the tree of version 2.
    #[must_use]
    pub const fn is_version2(&self) -> bool {
        self.v1.is_none()
    }

    /// The path of the mount point.
    #[must_use]
    pub fn mount(&self) -> &Path {
        &self.mount
    }

    /// The name, as [`find`](Self::find) takes it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.v1.as_deref().map_or(VERSION2, |name| name.strip_prefix("name=").unwrap_or(name))
    }

    /// The path, relative to the mount, of the cgroup of a task whose `/proc/PID/cgroup` is `text`.
    /// `None` if the cgroup is not below the mount, as for a task outside our cgroup namespace: its
    /// path begins with `/..` and names no directory there.
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

    /// The least number in a file of a cgroup and of those around it, if any of them has one.
    pub(crate) fn least(&self, cgroup: &str, file: &str) -> Option<u64> {
        let number = |group| {
            let text = fs::read_to_string(self.directory(group).join(file)).ok()?;
            text.trim().parse().ok()
        };
        above(cgroup).chain(["/"]).filter_map(number).min()
    }

    /// The inode number of the group's directory, if it exists. A directory that replaces it has
    /// another number.
    #[must_use]
    pub fn inode(&self, group: &str) -> Option<u64> {
        let found = fs::metadata(self.directory(group)).ok()?;
        found.is_dir().then(|| found.ino())
    }

    /// The settings stored with the group's directory, if any.
    pub(super) fn said_of(&self, group: &str) -> Option<Said> {
        kept::read(&self.directory(group), group, &self.view(group))
    }

    /// The group to which tasks in `cgroup` belong, and its settings. A cgroup without settings
    /// belongs to the nearest enclosing one that has some; without one it is a group itself.
    #[must_use]
    pub fn effective<'a>(&self, cgroup: &'a str) -> (&'a str, Said) {
        let own = above(cgroup).find_map(|path| Some((path, self.said_of(path)?)));
        own.unwrap_or((cgroup, Said::NOTHING))
    }

    /// The enclosing group: the nearest cgroup above the group that has settings.
    pub(crate) fn outer<'a>(&self, group: &'a str) -> Option<(&'a str, Said)> {
        above(group).skip(1).find_map(|path| Some((path, self.said_of(path)?)))
    }

    /// Stores several settings with the group's directory, in place of those that they replace: all
    /// of them or none.
    ///
    /// # Errors
    /// The group does not exist, the settings contradict one another, or the system refuses.
    pub fn set(
        &self,
        group: &str,
        settings: &[Setting],
        disks: Disks,
    ) -> Result<Changed, SettingError> {
        let path = self.group(group)?;
        let directory = self.directory(&path);
        match kept::change(&directory, settings, (&self.view(&path), disks == Disks::This)) {
            Ok(before) => Ok(Changed { group: path, directory, before }),
            Err(NotKept::Contradicts(why)) => Err(SettingError::Contradicts(why)),
            Err(NotKept::System(why)) => Err(SettingError::Refused {
                group: group.to_owned(),
                why: std::io::Error::from(why).to_string(),
            }),
        }
    }

    /// The invalid settings of a cgroup and of those above it, which count as unset.
    pub fn refused<'a>(&self, cgroup: &'a str) -> impl Iterator<Item = (&'a str, SettingError)> {
        above(cgroup).flat_map(|path| {
            let refused = kept::refused(&self.directory(path), &self.view(path));
            refused.into_iter().map(move |why| (path, why))
        })
    }

    /// The group's directory, if others than root and the current user could change the settings
    /// that the current user stores there. Then these settings do not count.
    #[must_use]
    pub fn unsafe_directory(&self, group: &str) -> Option<PathBuf> {
        let directory = self.directory(&group_path(group));
        (!kept::heeds(&directory)).then_some(directory)
    }

    /// The path of the group that the user calls `name`, which may be the path of its directory.
    ///
    /// # Errors
    /// The group does not exist, or the path contains `..`.
    pub fn group(&self, name: &str) -> Result<String, SettingError> {
        let below = Path::new(name).strip_prefix(&self.mount).ok().and_then(Path::to_str);
        let path = group_path(below.unwrap_or(name));
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

/// The normalised absolute path of a group.
#[must_use]
pub fn group_path(name: &str) -> String {
    let parts = name.split('/').filter(|part| !matches!(*part, "" | "."));
    format!("/{}", parts.collect::<Vec<_>>().join("/"))
}

/// Whether a path contains `..`, and so may lead out of where it begins.
fn leads_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// The record of changed settings, by which the change can be undone.
#[derive(Debug)]
pub struct Changed {
    /// The path of the group.
    pub group: String,
    directory: PathBuf,
    before: Kept,
}

impl Changed {
    /// Undoes the change.
    pub fn undo(self) {
        kept::put_back(&self.directory, &self.before);
    }
}

/// A cgroup and those above it, the nearest first. The root is not above any other: its settings
/// are for its own tasks.
fn above(cgroup: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(cgroup), |path| match path.rfind('/') {
        Some(at) if at > 0 => Some(&path[..at]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::Directory;
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

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

    /// Whoever may make cgroups somewhere gives them names as it likes.
    #[test]
    fn a_group_that_others_have_named_has_only_rules_for_whole_paths() {
        let place = tempfile::tempdir().unwrap();
        let (files, groups) = (place.path().join("rules"), place.path().join("groups"));
        fs::create_dir_all(groups.join("theirs/db.service")).unwrap();
        fs::create_dir_all(groups.join("ours/db.service")).unwrap();
        fs::create_dir(&files).unwrap();
        let text = "[[group]]\nunit = \"db\"\nweight = 400\n\
                    [[group]]\nmatch = \"/*/db.service\"\nmax_iops = 10\n";
        fs::write(files.join("groups.toml"), text).unwrap();
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(groups.join("theirs"), open).unwrap();
        let (rules, loaded) = Shared::of(Directory::at(files));
        assert!(loaded.problems.is_empty());
        let hierarchy = Hierarchy::in_directory(&groups).with_rules(rules);
        let keys = |group| hierarchy.origins(group).into_keys().collect::<Vec<_>>();
        assert_eq!(keys("/ours/db.service"), ["max_iops", "weight"]);
        assert_eq!(keys("/theirs/db.service"), ["max_iops"]);
    }

    #[test]
    fn every_cgroup_is_found_with_the_number_of_its_directory() {
        let scratch = tempfile::tempdir().unwrap();
        let inner = scratch.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let hierarchy = Hierarchy::in_directory(scratch.path());
        assert_eq!(hierarchy.cgroups(), ["/", "/a", "/a/b"]);
        assert_eq!(hierarchy.inode("/a/b"), Some(inner.metadata().unwrap().ino()));
        assert_eq!(hierarchy.inode("/c"), None);
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

    /// The kernel shows the cgroup of a task outside our cgroup namespace relative to our root.
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
            // Mounted from above the root of our namespace.
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
        fs::create_dir_all(place.path().join("a/..b")).unwrap();
        let hierarchy = Hierarchy::in_directory(place.path());
        assert_eq!(hierarchy.group("a//./..b/"), Ok("/a/..b".to_owned()));
        let directory = place.path().join("a");
        assert_eq!(hierarchy.group(directory.to_str().unwrap()), Ok("/a".to_owned()));
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

    /// As systemd's `IOWeight=` says it; what the kernel has by itself says nothing.
    #[test]
    fn the_kernels_weight_is_the_weight_where_the_rules_say_so() {
        let place = tempfile::tempdir().unwrap();
        let rules = place.path().join("rules");
        fs::create_dir(&rules).unwrap();
        let text = "weights = \"io.weight\"\n[[group]]\nmatch = \"/c\"\nweight = 7\n";
        fs::write(rules.join("groups.toml"), text).unwrap();
        let (rules, _) = Shared::of(Directory::at(rules));
        let hierarchy = Hierarchy::in_directory(place.path()).with_rules(rules);
        for (group, kernels) in
            [("a", "default 400\n8:0 200\n"), ("b", "default 100\n"), ("c", "default 300\n")]
        {
            fs::create_dir(place.path().join(group)).unwrap();
            fs::write(place.path().join(group).join("io.weight"), kernels).unwrap();
        }
        let asks = |group| hierarchy.said_of(group).map(|said| said.asks.to_string());
        let is = ["/a", "/b", "/c"].map(asks);
        assert_eq!(is, [Some("weight=400".to_owned()), None, Some("weight=7".to_owned())]);
        let origin = |group| hierarchy.origins(group).remove("weight").unwrap_or_default();
        assert!(origin("/a").ends_with("groups.toml:1") && origin("/c").ends_with("groups.toml:2"));
    }
}
