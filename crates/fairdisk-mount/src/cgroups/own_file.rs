//! The `cfq.*` files that every group's directory has in addition to the kernel's files.

use super::stat;
use crate::identity::{Asks, Disks, Hierarchy, Said, Setting, SettingError};
use fairdisk_core::Share;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;

/// The most bytes of a value; a longer text is not a number.
const VALUE_BYTES_MAX: usize = 64;

/// One of the `cfq.*` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OwnFile {
    /// `cfq.ioprio`: the group's priority.
    Priority,
    /// `cfq.weight`: the weight that the group's share amounts to.
    Weight,
    /// `cfq.idle`: how long, in ms, the disk is kept idle for the group when it has nothing queued.
    Idle,
    /// `cfq.stat`: what the group got.
    Stat,
}

impl OwnFile {
    pub(super) const ALL: [Self; 4] = [Self::Priority, Self::Weight, Self::Idle, Self::Stat];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Priority => "cfq.ioprio",
            Self::Weight => "cfq.weight",
            Self::Idle => "cfq.idle",
            Self::Stat => "cfq.stat",
        }
    }

    pub(super) fn named(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|file| file.name() == name)
    }

    /// The permissions: everybody may read, root may write.
    pub(super) const fn mode(self) -> u16 {
        match self {
            Self::Priority | Self::Weight | Self::Idle => 0o644,
            Self::Stat => 0o444,
        }
    }

    /// The contents of the file for a group.
    pub(super) fn text(self, hierarchy: &Hierarchy, group: &str) -> String {
        let (owner, Said { asks, .. }) = hierarchy.effective(group);
        match self {
            Self::Priority => priority_text(asks.share),
            Self::Idle => match asks.idle {
                Some(idle) => format!("{}\n", idle.as_ms()),
                None => "default\n".to_owned(),
            },
            Self::Weight => format!("{}\n", asks.share.weight(Asks::WEIGHTS).get()),
            Self::Stat => stat::text(hierarchy, owner),
        }
    }

    /// Applies a value that was written to the file.
    pub(super) fn take(self, hierarchy: &Hierarchy, group: &str, data: &[u8]) -> io::Result<()> {
        let setting = match self {
            Self::Priority => Setting::Priority(None),
            Self::Weight => Setting::Weight(None),
            Self::Idle => Setting::Idle(None),
            Self::Stat => return Err(Errno::ACCESS.into()),
        };
        let text = std::str::from_utf8(data).ok().filter(|text| text.len() <= VALUE_BYTES_MAX);
        let setting = text
            .and_then(|text| Setting::of(setting.key(), text.trim()).ok())
            .ok_or(Errno::INVAL)?;
        let set = hierarchy.set(group, &[setting], Disks::All).map(drop);
        set.map_err(|error| match error {
            SettingError::NoHierarchy
            | SettingError::LeadsUp { .. }
            | SettingError::NoGroup { .. } => Errno::NODEV.into(),
            SettingError::NoValue(_)
            | SettingError::Twice(_)
            | SettingError::Key(_)
            | SettingError::Value { .. }
            | SettingError::Contradicts(_) => Errno::INVAL.into(),
            SettingError::Refused { .. } | SettingError::NotKept { .. } => Errno::ACCESS.into(),
        })
    }
}

/// The priority, or that which corresponds to the weight. Other weights correspond to none.
fn priority_text(share: Share) -> String {
    let weight = share.weight(Asks::WEIGHTS);
    match (0..8).find(|priority| Asks::WEIGHTS.weight(*priority) == weight) {
        Some(priority) => format!("{priority}\n"),
        None => "none\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Weight;

    #[test]
    fn a_weight_between_two_priorities_is_none() {
        assert_eq!(priority_text(Share::DEFAULT), "4\n");
        assert_eq!(priority_text(Share::Priority(0)), "0\n");
        let weight = |weight| Share::Weight(Weight::new(weight).expect("in range"));
        assert_eq!(priority_text(weight(150)), "2\n");
        assert_eq!(priority_text(weight(151)), "none\n");
    }

    #[test]
    fn files_are_found_by_name() {
        for file in OwnFile::ALL {
            assert_eq!(OwnFile::named(OsStr::new(file.name())), Some(file));
        }
        assert_eq!(OwnFile::named(OsStr::new("tasks")), None);
    }
}
