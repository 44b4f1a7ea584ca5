//! The domains into which dirty pages are divided. Each has its limits and its flusher.

/// A part of the dirty pages that is written back by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Domain {
    pub(crate) disk: u32,
    /// The number of the group, or 0 if all groups are in one.
    pub(crate) group: u32,
}

/// What makes two dirty pages of a disk belong to different domains.
#[derive(Debug)]
pub(crate) enum Division {
    /// Nothing.
    Undivided,
    /// The group of the task that dirtied the page; the groups of all tasks, and how many there
    /// are.
    ByDirtier(Vec<u32>, u32),
    /// The group that owns the file; how many groups there are.
    ByFile(u32),
}

impl Division {
    /// The number of domains of a disk.
    pub(crate) const fn parts(&self) -> u32 {
        match self {
            Self::Undivided => 1,
            Self::ByDirtier(_, parts) | Self::ByFile(parts) => *parts,
        }
    }

    /// The group of the domain of pages of a file of `file_group` that the task `owner` dirtied.
    pub(crate) fn group(&self, file_group: u32, owner: u32) -> u32 {
        match self {
            Self::Undivided => 0,
            Self::ByDirtier(groups, _) => groups[owner as usize],
            Self::ByFile(_) => file_group,
        }
    }
}
