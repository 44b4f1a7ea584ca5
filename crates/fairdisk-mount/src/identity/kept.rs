//! Settings stored as extended attributes of a group's directory: `fairdisk.KEY` holds for every
//! disk that has no own value, `fairdisk.KEY@DISK` for one disk.
//!
//! Attributes in the namespace `trusted.` can be seen and changed by root only. Those in the
//! namespace `user.` can be changed by whoever may write to the directory, so the owner of a
//! subtree could give it any share. They count only where nobody but root and the user who runs us
//! may write.

use super::setting::{Asks, Said, Setting, SettingError};
use fairdisk_core::{Contradiction, QosKey};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Mode, OFlags, Stat, XattrFlags, fgetxattr, flistxattr, fstat, listxattr, open, removexattr,
    setxattr, stat,
};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is between a key and the disk for which alone a setting holds.
const OF_DISK: char = '@';

/// The value of a setting that a disk alone does not have, though one is made for all.
const NONE: &str = "none";

const TRUSTED: &str = "trusted.fairdisk.";
const USER: &str = "user.fairdisk.";

/// The kernel's limit for the names of all attributes of a file, in bytes.
const NAMES_BYTES_MAX: usize = 64 << 10;

const TWO_SHARES: Contradiction = Contradiction::Shares { priority: "ioprio" };

/// The most bytes of a value of ours.
const VALUE_BYTES_MAX: usize = 64;

/// The most invalid values that are remembered as logged.
const TOLD_MAX: usize = 1024;

/// The directories with invalid values, and the messages that were logged.
static TOLD: Mutex<BTreeSet<(PathBuf, String)>> = Mutex::new(BTreeSet::new());

/// By whom a directory's settings are read.
#[derive(Clone, Debug, Default)]
pub(super) struct View<'a> {
    /// The disk whose own settings count.
    pub(super) disk: Option<&'a str>,
    /// The settings that hold where the directory states no others.
    pub(super) below: Vec<Setting>,
    /// The keys for which a rule has a value, be it on another disk.
    pub(super) ruled: BTreeSet<&'static str>,
}

/// The stored settings of a directory, as names and values of attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept(Vec<(String, Vec<u8>)>);

/// Why settings were not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotKept {
    /// They contradict one another, or stored ones.
    Contradicts(Contradiction),
    /// The system refuses.
    System(Errno),
}

impl From<Errno> for NotKept {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

/// The settings of a directory, if it has any. A weight takes precedence over a priority,
/// root's settings over those of others, and a disk's own over those for all. Invalid settings
/// count as unset and are logged once for `group`.
pub(super) fn read(directory: &Path, group: &str, view: &View<'_>) -> Option<Said> {
    // Most directories have none, and need not be opened.
    let mut some = [0; 256];
    match listxattr(directory, &mut some[..]) {
        Ok(length) if names(&some[..length]).next().is_none() => {
            return Kept::default().said(false, view);
        }
        Ok(_) | Err(Errno::RANGE) => {}
        Err(_) => return None,
    }
    let opened = open_directory(directory).ok()?;
    let (kept, user_too) = (all(&opened).ok()?, counts_users(&opened));
    for why in kept.senseless(user_too).filter(|why| is_new(directory, why)) {
        tracing::warn!(group, %why, "setting refused");
    }
    kept.said(user_too, view)
}

/// The keys of settings that the directory itself states for this disk.
pub(super) fn stated(directory: &Path, view: &View<'_>) -> BTreeSet<&'static str> {
    let Ok(opened) = open_directory(directory) else { return BTreeSet::new() };
    let kept = all(&opened).unwrap_or_default();
    let spaces = spaces(counts_users(&opened));
    let is_stated = |key: &&str| spaces.iter().any(|it| kept.setting(it, key, view.disk).is_some());
    Setting::keys().filter(is_stated).collect()
}

/// The settings of a directory that hold for one disk alone, by that disk, and those for all disks
/// that are not in force on `disk` for that reason.
pub(super) fn own(
    directory: &Path,
    disk: Option<&str>,
) -> (BTreeMap<String, Vec<Setting>>, Vec<Setting>) {
    let mut by_disk: BTreeMap<String, Vec<Setting>> = BTreeMap::new();
    let mut replaced = Vec::new();
    let Ok(opened) = open_directory(directory) else { return (by_disk, replaced) };
    let kept = all(&opened).unwrap_or_default();
    for space in spaces(counts_users(&opened)) {
        let names = kept.0.iter().filter_map(|(name, _)| name.strip_prefix(space));
        for (key, of) in names.filter_map(|name| name.split_once(OF_DISK)) {
            let Some(own) = kept.value(space, key, Some(of)) else { continue };
            by_disk.entry(of.to_owned()).or_default().push(own);
            let for_all = kept.value(space, key, None);
            replaced.extend(for_all.filter(|_| disk == Some(of)));
        }
    }
    (by_disk, replaced)
}

/// Why stored settings of a directory count as unset.
pub(super) fn refused(directory: &Path, view: &View<'_>) -> Vec<SettingError> {
    let Ok(opened) = open_directory(directory) else { return Vec::new() };
    let (kept, user_too) = (all(&opened).unwrap_or_default(), counts_users(&opened));
    let contradicts = kept.said(user_too, view).and_then(|said| said.refused);
    kept.senseless(user_too).chain(contradicts.map(SettingError::Contradicts)).collect()
}

/// Whether settings that we store with the directory count.
pub(super) fn heeds(directory: &Path) -> bool {
    geteuid().is_root() || open_directory(directory).is_ok_and(|opened| counts_users(&opened))
}

/// Whether the message has not been logged yet; records it as logged.
fn is_new(directory: &Path, why: &SettingError) -> bool {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() >= TOLD_MAX {
        told.clear();
    }
    told.insert((directory.to_owned(), why.to_string()))
}

/// Stores settings with a directory, in place of those that they replace: for all disks or, if it
/// is `own`, for the view's disk alone. Returns what was stored before, to be restored if
/// necessary; if not all settings can be stored, it has been restored already.
pub(super) fn change(
    directory: &Path,
    settings: &[Setting],
    (view, own): (&View<'_>, bool),
) -> Result<Kept, NotKept> {
    let opened = open_directory(directory)?;
    let before = all(&opened)?;
    let of = |setting: &Setting| view.disk.filter(|_| own && !setting.is_of_share());
    check(&before, settings, (counts_users(&opened), view), of).map_err(NotKept::Contradicts)?;
    let made = settings.iter().flat_map(|setting| before.changes(*setting, of(setting), view));
    match made.collect::<Vec<_>>().into_iter().try_for_each(|change| store(directory, &change)) {
        Ok(()) => Ok(before),
        Err(error) => {
            put_back(directory, &before);
            Err(error.into())
        }
    }
}

/// Checks that a directory would have no contradictory settings after these changes. Settings that
/// do not count are ignored. `of` says for which disk alone a setting is made.
fn check<'a>(
    kept: &Kept,
    settings: &[Setting],
    (user_too, view): (bool, &View<'_>),
    of: impl Fn(&Setting) -> Option<&'a str>,
) -> Result<(), Contradiction> {
    let is_made = |is: fn(&Setting) -> bool| settings.iter().any(is);
    if is_made(|it| matches!(it, Setting::Weight(Some(_))))
        && is_made(|it| matches!(it, Setting::Priority(Some(_))))
    {
        return Err(TWO_SHARES);
    }
    let mut kept = kept.clone();
    settings.iter().for_each(|setting| kept.make(*setting, of(setting), view));
    kept.said(user_too, view).and_then(|said| said.refused).map_or(Ok(()), Err)
}

/// Restores what was stored before.
pub(super) fn put_back(directory: &Path, before: &Kept) {
    let now = open_directory(directory).and_then(|directory| all(&directory)).unwrap_or_default();
    for (name, _) in now.0.iter().filter(|(name, _)| !before.0.iter().any(|(old, _)| old == name)) {
        // What cannot be restored could not be changed before either, or the directory is gone.
        let _ = removexattr(directory, name.as_str());
    }
    for (name, value) in before.0.iter().filter(|kept| !now.0.contains(kept)) {
        let _ = setxattr(directory, name.as_str(), value, XattrFlags::empty());
    }
}

impl Kept {
    /// The settings in force, if any, including those that users may have stored if `user_too`.
    fn said(&self, user_too: bool, view: &View<'_>) -> Option<Said> {
        let (spaces, disk) = (spaces(user_too), view.disk);
        let below = view.below.iter().fold(Asks::DEFAULT, |asks, setting| asks.with(*setting));
        let mut said = (!view.below.is_empty()).then_some(Said { asks: below, refused: None });
        for space in spaces {
            for setting in Setting::keys().filter_map(|key| self.setting(space, key, disk)) {
                let said = said.get_or_insert(Said::NOTHING);
                said.asks = said.asks.with(setting);
            }
        }
        let mut said = said?;
        let has = |space: &str, key| {
            self.setting(space, key, disk).is_some_and(|setting| setting.word().is_some())
        };
        let both = |space: &&str| has(space, "ioprio") && has(space, "weight");
        said.refused = spaces.iter().any(both).then_some(TWO_SHARES);
        let burst = QosKey::Burst.name();
        // That of a rule may be of a ceiling to come.
        let mut has_burst = spaces.iter().any(|space| has(space, burst));
        while let Err(why) = said.asks.qos.check(has_burst) {
            said.refused = said.refused.or(Some(why));
            has_burst &= why != Contradiction::Burst;
            if let Some(unset) = Setting::named(why.key()) {
                said.asks = said.asks.with(unset);
            }
        }
        Some(said)
    }

    /// The invalid settings among those stored, each considered by itself.
    fn senseless(&self, user_too: bool) -> impl Iterator<Item = SettingError> {
        self.0.iter().filter_map(move |(name, value)| {
            let key = spaces(user_too).iter().find_map(|space| name.strip_prefix(space))?;
            let key = key.split_once(OF_DISK).map_or(key, |(key, _)| key);
            Setting::of(key, String::from_utf8_lossy(value).trim()).err()
        })
    }

    /// Applies a setting to the record.
    fn make(&mut self, setting: Setting, of: Option<&str>, view: &View<'_>) {
        for change in self.changes(setting, of, view) {
            let called = [USER, TRUSTED].map(|space| format!("{space}{}", change.name));
            self.0.retain(|(name, _)| !called.contains(name));
            let [_, trusted] = called;
            self.0.extend(change.value.map(|value| (trusted, value.into_bytes())));
        }
    }

    /// The changes of attributes that make a setting for one disk alone, or for all: what it
    /// replaces goes.
    fn changes(&self, setting: Setting, of: Option<&str>, view: &View<'_>) -> Vec<Stored> {
        let (key, value) = setting.parts();
        // What is made for all is not to hold on this disk, nor what a rule says, whichever disk's
        // process is the last one to be told.
        let for_all = || [USER, TRUSTED].iter().any(|it| self.value(it, key, None).is_some());
        let otherwise = view.ruled.contains(key) || of.is_some() && for_all();
        let value = value.or_else(|| otherwise.then(|| NONE.to_owned()));
        let mut changes = vec![Stored { name: attribute(key, of), value }];
        let gone = |name: String| Stored { name, value: None };
        changes.extend(setting.instead_of().map(|key| gone(attribute(key, of))));
        if of.is_none() {
            // A new value for all holds on disks that did without the former one.
            let own = self.0.iter().filter(|(_, value)| value == NONE.as_bytes());
            let own = own.filter_map(|(name, _)| {
                [USER, TRUSTED].iter().find_map(|space| name.strip_prefix(space))
            });
            let of_key = own.filter(|name| name.split_once(OF_DISK).is_some_and(|it| it.0 == key));
            changes.extend(of_key.map(|name| gone(name.to_owned())));
        }
        changes
    }

    /// The setting in force on `disk`.
    fn setting(&self, space: &str, key: &str, disk: Option<&str>) -> Option<Setting> {
        let own = disk.and_then(|disk| self.value(space, key, Some(disk)));
        own.or_else(|| self.value(space, key, None))
    }

    /// The setting for one disk alone, or that for all.
    fn value(&self, space: &str, key: &str, of: Option<&str>) -> Option<Setting> {
        let called = format!("{space}{}", attribute(key, of));
        let (_, value) = self.0.iter().find(|(name, _)| *name == called)?;
        Setting::of(key, std::str::from_utf8(value).ok()?.trim()).ok()
    }
}

/// The namespaces that count, the one that takes precedence last.
const fn spaces(user_too: bool) -> &'static [&'static str] {
    if user_too { &[USER, TRUSTED] } else { &[TRUSTED] }
}

/// An attribute without its namespace, and the value that it is to have, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stored {
    name: String,
    value: Option<String>,
}

/// The name of the attribute for a setting of one disk alone, or of all.
fn attribute(key: &str, of: Option<&str>) -> String {
    match of {
        Some(disk) => format!("{key}{OF_DISK}{disk}"),
        None => key.to_owned(),
    }
}

/// Stores an attribute: where only root can change it if we are root, else in the user's namespace.
fn store(directory: &Path, Stored { name, value }: &Stored) -> Result<(), Errno> {
    let [user, trusted] = [USER, TRUSTED].map(|space| format!("{space}{name}"));
    let Some(value) = value else {
        return [user, trusted].iter().try_for_each(|name| remove(directory, name));
    };
    let write = |name| setxattr(directory, name, value.as_bytes(), XattrFlags::empty());
    match write(&trusted) {
        Ok(()) => remove(directory, &user),
        Err(Errno::PERM) => write(&user),
        Err(error) => Err(error),
    }
}

fn remove(directory: &Path, name: &str) -> Result<(), Errno> {
    match removexattr(directory, name) {
        // Cgroup hierarchies of version 1 have no user attributes.
        Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
        // Root's attributes are hidden from other users, whose request does not concern them.
        Err(Errno::PERM) if name.starts_with(TRUSTED) => Ok(()),
        Err(error) => Err(error),
    }
}

fn open_directory(directory: &Path) -> Result<OwnedFd, Errno> {
    open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn all(directory: &OwnedFd) -> Result<Kept, Errno> {
    let mut list = vec![0; NAMES_BYTES_MAX];
    let length = flistxattr(directory, &mut list[..])?;
    let mut kept = Kept::default();
    for name in names(&list[..length]) {
        let mut value = [0; VALUE_BYTES_MAX];
        if let Ok(length) = fgetxattr(directory, name, &mut value[..]) {
            kept.0.push((name.to_owned(), value[..length].to_vec()));
        }
    }
    Ok(kept)
}

/// The names of our attributes in a list of names.
fn names(list: &[u8]) -> impl Iterator<Item = &str> {
    let texts = list.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    texts.filter(|name| name.starts_with(USER) || name.starts_with(TRUSTED))
}

/// Whether settings in the user's namespace count.
fn counts_users(directory: &OwnedFd) -> bool {
    fstat(directory).is_ok_and(|stat| is_safe(&stat))
}

/// Whether nobody but root and the user who runs us may make anything in a directory.
pub(super) fn is_only_ours(directory: &Path) -> bool {
    stat(directory).is_ok_and(|stat| is_safe(&stat))
}

/// Whether nobody but root and the user who runs us may change attributes in the user's namespace.
fn is_safe(directory: &Stat) -> bool {
    let mode = Mode::from_raw_mode(directory.st_mode);
    let owner = directory.st_uid == 0 || directory.st_uid == geteuid().as_raw();
    let group = directory.st_gid == 0 || !mode.contains(Mode::WGRP);
    owner && group && !mode.contains(Mode::WOTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk without an own value takes that for all, however often another disk's is changed.
    #[test]
    fn a_disk_has_its_own_settings_or_those_for_all() {
        let mut kept = Kept::default();
        let mut make =
            |text: &str, of| kept.make(Setting::parse(text).unwrap(), of, &View::default());
        make("weight=300", None);
        make("max_bps=1M", None);
        make("max_bps=2M", Some("sda"));
        make("min_iops=5", Some("sdb"));
        let on = |kept: &Kept, disk| {
            let view = View { disk, ..View::default() };
            kept.said(false, &view).unwrap().asks.to_string()
        };
        assert_eq!(on(&kept, Some("sda")), "weight=300 max_bps=2097152");
        assert_eq!(on(&kept, Some("sdb")), "weight=300 min_iops=5 max_bps=1048576");
        assert_eq!(on(&kept, None), "weight=300 max_bps=1048576");
        let mut make =
            |text: &str, of| kept.make(Setting::parse(text).unwrap(), of, &View::default());
        make("max_bps=none", Some("sda"));
        make("min_iops=none", Some("sdb"));
        assert_eq!(on(&kept, Some("sda")), "weight=300", "not what holds for all");
        assert_eq!(on(&kept, Some("sdb")), "weight=300 max_bps=1048576");
        assert_eq!((kept.senseless(false).count(), kept.0.len()), (0, 3));
        let set = Setting::parse("max_bps=3M").unwrap();
        kept.make(set, None, &View::default());
        assert_eq!(on(&kept, Some("sda")), "weight=300 max_bps=3145728", "it is set again");
    }

    /// What a rule says holds until somebody says something else, be it that there is none.
    #[test]
    fn what_is_set_counts_more_than_what_a_rule_says() {
        let rule = ["weight=300", "max_bps=1M"].map(|text| Setting::parse(text).unwrap());
        let ruled = rule.iter().map(|setting| setting.key()).collect();
        let view = View { disk: Some("sda"), below: rule.to_vec(), ruled };
        let mut kept = Kept::default();
        let mut said = |text: &str, of| {
            kept.make(Setting::parse(text).unwrap(), of, &view);
            kept.said(false, &view).unwrap().asks.to_string()
        };
        assert_eq!(said("min_iops=5", None), "weight=300 min_iops=5 max_bps=1048576");
        assert_eq!(said("max_bps=none", Some("sda")), "weight=300 min_iops=5");
        assert_eq!(said("ioprio=2", None), "ioprio=2 min_iops=5");
        assert_eq!(said("ioprio=none", None), "weight=300 min_iops=5");
        assert_eq!(said("max_bps=2M", None), "weight=300 min_iops=5 max_bps=2097152");
    }

    /// Each disk's process is told, in any order, and only one of them knows the rule as its own.
    #[test]
    fn what_is_taken_back_for_all_is_no_rules_of_any_disk() {
        let rule = Setting::parse("max_bps=1M").unwrap();
        let ruled = BTreeSet::from([rule.key()]);
        let of = |disk, below: &[Setting]| View {
            disk: Some(disk),
            below: below.to_vec(),
            ruled: ruled.clone(),
        };
        let (with, without) = (of("sda", &[rule]), of("sdb", &[]));
        for order in [[&with, &without], [&without, &with]] {
            let mut kept = Kept::default();
            let none = Setting::parse("max_bps=none").unwrap();
            order.iter().for_each(|view| kept.make(none, None, view));
            assert_eq!(kept.said(false, &with).unwrap().asks, Asks::DEFAULT, "{kept:?}");
        }
    }

    /// It is of a ceiling that may come and go.
    #[test]
    fn a_burst_of_a_rule_needs_no_ceiling() {
        let rule = Setting::parse("burst_ms=500").unwrap();
        let view = View { below: vec![rule], ..View::default() };
        let mut kept = Kept::default();
        for (set, says) in [
            ("weight=5", "weight=5 burst_ms=500"),
            ("max_iops=9", "weight=5 max_iops=9 burst_ms=500"),
            ("max_iops=none", "weight=5 burst_ms=500"),
        ] {
            kept.make(Setting::parse(set).unwrap(), None, &view);
            let said = kept.said(false, &view).unwrap();
            assert_eq!((said.asks.to_string().as_str(), said.refused), (says, None));
        }
    }

    #[test]
    fn values_that_make_no_sense_are_named_once() {
        let value = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
        let kept = Kept(vec![
            value("trusted.fairdisk.weight", b"0"),
            value("trusted.fairdisk.wieght", b"7"),
            value("user.fairdisk.idle", b"5000"),
            value("trusted.fairdisk.max_iops", b" 10 "),
        ]);
        let why =
            |user_too| kept.senseless(user_too).map(|why| why.to_string()).collect::<Vec<_>>();
        let all = why(true);
        assert_eq!((all.len(), why(false).len()), (3, 2), "{all:?}");
        assert!(all[0].contains("1 to 10000") && all[1].contains("wieght"), "{all:?}");
        let at = Path::new("/no/such/group");
        let told = || kept.senseless(true).filter(|why| is_new(at, why)).count();
        assert_eq!((told(), told()), (3, 0));
    }
}
