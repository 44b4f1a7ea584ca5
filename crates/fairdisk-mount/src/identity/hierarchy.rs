//! The tree of cgroups that groups are taken from, and the settings kept in its directories.

use fairdisk_core::{Share, Span, Weight};
use rustix::fs::{XattrFlags, getxattr, removexattr, setxattr};
use rustix::io::Errno;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of the hierarchy without controllers that is preferred where it is mounted.
pub(crate) const OWN: &str = "fairdisk";

/// What the tree of version 2 is called.
pub(crate) const VERSION2: &str = "v2";

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

/// What a group can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A weight, 1 to 10000.
    Weight(Weight),
    /// A group priority, 0 (high) to 7.
    Priority(u8),
    /// How long the disk is kept for the group when it has nothing queued, up to a second; zero is
    /// not at all, `None` as the scheduler sees fit.
    Idle(Option<Span>),
}

/// What a group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asks {
    /// Its share.
    pub share: Share,
    /// How long the disk is kept for it, if it does not leave that to the scheduler.
    pub idle: Option<Span>,
}

impl Asks {
    /// Nothing in particular.
    pub const DEFAULT: Self = Self { share: Share::DEFAULT, idle: None };
}

impl Setting {
    const WEIGHT: &str = "weight";
    const PRIORITY: &str = "ioprio";
    const IDLE: &str = "idle";
    const IDLE_DEFAULT: &str = "default";

    /// Reads `weight=200`, `ioprio=2`, `idle=20` (milliseconds) or `idle=default`.
    ///
    /// # Errors
    /// Another key, or a value out of range.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        Self::of(key.trim(), value.trim())
    }

    fn of(key: &str, value: &str) -> Result<Self, SettingError> {
        let error = || SettingError::Value { key: key.to_owned(), value: value.to_owned() };
        let number = || value.parse::<u32>().map_err(|_| error());
        match key {
            Self::WEIGHT => Weight::new(number()?).map(Self::Weight).ok_or_else(error),
            Self::PRIORITY => match number()? {
                priority @ 0..=7 => Ok(Self::Priority(priority as u8)),
                _ => Err(error()),
            },
            Self::IDLE if value == Self::IDLE_DEFAULT => Ok(Self::Idle(None)),
            Self::IDLE => match number()? {
                ms @ 0..=1000 => Ok(Self::Idle(Some(Span::from_ms(ms.into())))),
                _ => Err(error()),
            },
            _ => Err(SettingError::Key(key.to_owned())),
        }
    }

    /// The key, and the value if one is kept.
    const fn parts(self) -> (&'static str, Option<u64>) {
        match self {
            Self::Weight(weight) => (Self::WEIGHT, Some(weight.get() as u64)),
            Self::Priority(priority) => (Self::PRIORITY, Some(priority as u64)),
            Self::Idle(Some(idle)) => (Self::IDLE, Some(idle.as_ms())),
            Self::Idle(None) => (Self::IDLE, None),
        }
    }

    /// The setting that this one takes the place of.
    const fn instead_of(self) -> Option<&'static str> {
        match self {
            Self::Weight(_) => Some(Self::PRIORITY),
            Self::Priority(_) => Some(Self::WEIGHT),
            Self::Idle(_) => None,
        }
    }
}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.share {
            Share::Weight(weight) => write!(f, "weight={}", weight.get())?,
            Share::Priority(priority) => write!(f, "ioprio={priority}")?,
        }
        match self.idle {
            Some(idle) => write!(f, " idle={}", idle.as_ms()),
            None => Ok(()),
        }
    }
}

/// Why a setting cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is no such setting.
    Key(String),
    /// The value is none of the setting's.
    Value {
        /// The setting.
        key: String,
        /// What was given.
        value: String,
    },
    /// There is no such group.
    NoGroup(String),
    /// The system refuses.
    Refused {
        /// The group.
        group: String,
        /// What it said.
        why: String,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(f, "unknown setting `{key}` (known: weight, ioprio, idle)"),
            Self::Value { key, value } if key == Setting::WEIGHT => {
                write!(f, "weight={value}: a weight is a number from 1 to 10000")
            }
            Self::Value { key, value } if key == Setting::IDLE => {
                write!(
                    f,
                    "idle={value}: how long to wait is a number of ms from 0 to 1000, or default"
                )
            }
            Self::Value { key, value } => {
                write!(f, "{key}={value}: a group priority is a number from 0 (high) to 7")
            }
            Self::NoGroup(group) => write!(f, "no group `{group}`: its directory does not exist"),
            Self::Refused { group, why } => {
                write!(f, "the settings of group `{group}` cannot be changed: {why}")
            }
        }
    }
}

impl std::error::Error for SettingError {}

/// Why there is no hierarchy to take groups from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HierarchyError {
    /// The one asked for is not mounted.
    NotMounted(String),
    /// The list of mounts cannot be read.
    Unreadable(String),
}

impl fmt::Display for HierarchyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted(name) => write!(
                f,
                "cgroup hierarchy `{name}` is not mounted (known: v2, or the name or a controller \
                 of a version 1 hierarchy)"
            ),
            Self::Unreadable(why) => write!(f, "/proc/self/mountinfo cannot be read: {why}"),
        }
    }
}

impl std::error::Error for HierarchyError {}

impl Hierarchy {
    /// The hierarchy called `wanted` (`v2`, a name or a controller), or the best there is: our own,
    /// version 2, `blkio`. None may be mounted.
    ///
    /// # Errors
    /// The one asked for is not mounted.
    pub fn find(wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let text = std::fs::read_to_string("/proc/self/mountinfo")
            .map_err(|error| HierarchyError::Unreadable(error.to_string()))?;
        Self::choose(&text, wanted)
    }

    fn choose(mountinfo: &str, wanted: Option<&str>) -> Result<Option<Self>, HierarchyError> {
        let find = |name: &str| mountinfo.lines().find_map(|line| Self::of_mount(line, name));
        match wanted {
            Some(name) => {
                find(name).map(Some).ok_or_else(|| HierarchyError::NotMounted(name.to_owned()))
            }
            None => Ok([OWN, VERSION2, "blkio"].into_iter().find_map(find)),
        }
    }

    /// The hierarchy `name`, if this line of mountinfo is its mount.
    fn of_mount(line: &str, name: &str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, at) = (mount.next()?, mount.next()?);
        let mut system = system.split(' ');
        let (kind, options) = (system.next()?, system.nth(1)?);
        let named = format!("name={name}");
        let v1 = match (kind, name) {
            ("cgroup2", VERSION2) => None,
            ("cgroup", _) => {
                Some(options.split(',').find(|option| *option == name || *option == named)?)
            }
            _ => return None,
        };
        Some(Self { v1: v1.map(str::to_owned), mount: unescape(at), root: root.to_owned() })
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

    /// The cgroup of a task, from the text of its `/proc/PID/cgroup`, as seen from the mount.
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
        if below.is_empty() { Some("/") } else { below.starts_with('/').then_some(below) }
    }

    /// The directory of a group.
    pub(super) fn directory(&self, group: &str) -> PathBuf {
        self.mount.join(group.trim_start_matches('/'))
    }

    /// Version 1 has no user attributes.
    fn attribute(&self, key: &str) -> String {
        let space = if self.v1.is_some() { "trusted" } else { "user" };
        format!("{space}.fairdisk.{key}")
    }

    /// What the group's directory says it asks for, if anything; a weight before a priority. What
    /// makes no sense counts as unset.
    fn asks_of(&self, group: &str) -> Option<Asks> {
        let directory = self.directory(group);
        let mut asks = None;
        for key in [Setting::PRIORITY, Setting::WEIGHT, Setting::IDLE] {
            let mut value = [0; 16];
            let kept = getxattr(&directory, self.attribute(key), &mut value[..]).ok();
            let text = kept.and_then(|length| std::str::from_utf8(&value[..length]).ok());
            let Some(setting) = text.and_then(|text| Setting::of(key, text.trim()).ok()) else {
                continue;
            };
            let asks = asks.get_or_insert(Asks::DEFAULT);
            match setting {
                Setting::Weight(weight) => asks.share = Share::Weight(weight),
                Setting::Priority(priority) => asks.share = Share::Priority(priority),
                Setting::Idle(idle) => asks.idle = idle,
            }
        }
        asks
    }

    /// The group that tasks in `cgroup` belong to, and what it asks for. A cgroup without settings
    /// of its own belongs to the nearest one above that has some; if there is none it is a group by
    /// itself.
    #[must_use]
    pub fn effective<'a>(&self, cgroup: &'a str) -> (&'a str, Asks) {
        let own = above(cgroup).find_map(|path| Some((path, self.asks_of(path)?)));
        own.unwrap_or((cgroup, Asks::DEFAULT))
    }

    /// Keeps a setting with the group's directory, instead of any other.
    ///
    /// # Errors
    /// There is no such group, or the system refuses.
    pub fn set(&self, group: &str, setting: Setting) -> Result<(), SettingError> {
        let directory = self.directory(group);
        if group.split('/').any(|part| part == "..") || !directory.is_dir() {
            return Err(SettingError::NoGroup(group.to_owned()));
        }
        let refused = |why: Errno| SettingError::Refused {
            group: group.to_owned(),
            why: std::io::Error::from(why).to_string(),
        };
        let (key, value) = setting.parts();
        let mut gone = setting.instead_of();
        match value {
            Some(value) => {
                let (name, value) = (self.attribute(key), value.to_string());
                setxattr(&directory, name, value.as_bytes(), XattrFlags::empty())
                    .map_err(refused)?;
            }
            None => gone = Some(key),
        }
        match gone.map(|gone| removexattr(&directory, self.attribute(gone))) {
            None | Some(Ok(()) | Err(Errno::NODATA)) => Ok(()),
            Some(Err(why)) => Err(refused(why)),
        }
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

/// Undoes mountinfo's octal escapes.
pub(crate) fn unescape(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok());
        match code {
            Some(code) => {
                path.push(char::from(code));
                path.push_str(&part[3..]);
            }
            None => {
                path.push('\\');
                path.push_str(part);
            }
        }
    }
    PathBuf::from(path)
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

    fn named(name: &str) -> Hierarchy {
        Hierarchy::choose(MOUNTS, Some(name)).unwrap().unwrap()
    }

    #[test]
    fn our_own_hierarchy_comes_first_then_version_2() {
        assert_eq!(Hierarchy::choose(MOUNTS, None).unwrap().unwrap(), named("fairdisk"));
        let without: String =
            MOUNTS.lines().filter(|line| !line.contains("name=")).collect::<Vec<_>>().join("\n");
        assert_eq!(Hierarchy::choose(&without, None).unwrap().unwrap(), named("v2"));
        assert_eq!(Hierarchy::choose("", None), Ok(None));
        let error = Hierarchy::choose(MOUNTS, Some("memory")).unwrap_err().to_string();
        assert!(error.contains("`memory` is not mounted"), "{error}");
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

    #[test]
    fn the_way_up_ends_below_the_root() {
        assert_eq!(above("/a/b c/d").collect::<Vec<_>>(), ["/a/b c/d", "/a/b c", "/a"]);
        assert_eq!(above("/").collect::<Vec<_>>(), ["/"]);
    }

    #[test]
    fn settings_are_read_as_they_are_written() {
        assert_eq!(Setting::parse("ioprio=2"), Ok(Setting::Priority(2)));
        assert_eq!(Setting::parse("weight = 10000").unwrap().parts(), ("weight", Some(10_000)));
        assert_eq!(Setting::parse("idle=0"), Ok(Setting::Idle(Some(Span::ZERO))));
        assert_eq!(Setting::parse("idle=default").unwrap().parts(), ("idle", None));
        for (text, says) in [
            ("weight=0", "1 to 10000"),
            ("weight=many", "1 to 10000"),
            ("ioprio=8", "0 (high) to 7"),
            ("idle=1001", "from 0 to 1000, or default"),
            ("prio=1", "unknown setting `prio`"),
        ] {
            let error = Setting::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
