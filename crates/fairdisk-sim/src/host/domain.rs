//! The domains into which dirty pages are divided. Each has its limits and its flusher.

use std::ops::{Index, IndexMut};

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

/// Something that each domain has.
#[derive(Debug)]
pub(crate) struct Domains<T> {
    /// How many a disk has.
    parts: u32,
    /// Disk by disk.
    each: Vec<T>,
}

impl<T> Domains<T> {
    /// What the domains of so many disks have.
    pub(crate) fn new(disks: u32, division: &Division, of: impl Fn(Domain) -> T) -> Self {
        let parts = division.parts();
        let domains = (0..disks).flat_map(|disk| of_disk(disk, parts, 0));
        Self { parts, each: domains.map(of).collect() }
    }

    /// The domains of a disk in turn, from that of a group on.
    pub(crate) fn of_disk(&self, disk: u32, first: u32) -> impl Iterator<Item = Domain> + use<T> {
        of_disk(disk, self.parts, first)
    }

    /// What those of a disk have.
    pub(crate) fn on_disk(&self, disk: u32) -> &[T] {
        let parts = self.parts as usize;
        &self.each[disk as usize * parts..][..parts]
    }

    /// What all of them have.
    pub(crate) fn all(&self) -> &[T] {
        &self.each
    }

    const fn place(&self, domain: Domain) -> usize {
        (domain.disk * self.parts + domain.group) as usize
    }
}

fn of_disk(disk: u32, parts: u32, first: u32) -> impl Iterator<Item = Domain> {
    (first..first + parts).map(move |group| Domain { disk, group: group % parts })
}

impl<T> Index<Domain> for Domains<T> {
    type Output = T;

    fn index(&self, domain: Domain) -> &T {
        &self.each[self.place(domain)]
    }
}

impl<T> IndexMut<Domain> for Domains<T> {
    fn index_mut(&mut self, domain: Domain) -> &mut T {
        let place = self.place(domain);
        &mut self.each[place]
    }
}
