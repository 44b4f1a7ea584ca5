//! The page cache of a host: which pages are in it, which of them are dirty, and what is written
//! back next.

use super::HostCacheParams;
use crate::device::DeviceIo;
use crate::device::hdd::FlushPolicy;
use fairdisk_core::GroupId;
use fairdisk_core::time::{Instant, Span};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Some pages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Pages {
    pub(super) const NONE: Self = Self { first: 0, count: 0 };
    /// Sectors of a page.
    pub(super) const SECTORS: u64 = 8;

    /// The pages that a request touches.
    pub(super) const fn of(io: &DeviceIo) -> Self {
        let first = io.start.0 / Self::SECTORS;
        let end = io.start.0.saturating_add(io.sectors.0 as u64).div_ceil(Self::SECTORS);
        Self { first, count: end.saturating_sub(first) }
    }

    fn each(self) -> impl Iterator<Item = u64> {
        self.first..self.first + self.count
    }
}

/// The most pages that are written back in one request: 512 KiB.
const OUT_MAX: u64 = 128;

/// A dirty page.
#[derive(Clone, Copy, Debug)]
struct Dirty {
    since: Instant,
    group: GroupId,
}

/// The page cache of a host.
#[derive(Clone, Debug)]
pub(super) struct HostCache {
    pages: u64,
    background: u64,
    limit: u64,
    age: Span,
    flush: FlushPolicy,
    /// Clean pages and when they were last used, as a count of uses; and the reverse.
    clean: BTreeMap<u64, u64>,
    by_use: BTreeMap<u64, u64>,
    uses: u64,
    dirty: BTreeMap<u64, Dirty>,
    /// Dirty pages, the oldest first.
    by_age: BTreeSet<(Instant, u64)>,
    /// Pages on their way to the disk, and since when they were dirty.
    out: BTreeMap<u64, Instant>,
    /// The page from which on the host writes back.
    cursor: u64,
}

impl HostCache {
    pub(super) fn new(params: &HostCacheParams) -> Self {
        let pages = u64::from(params.mib) * 256;
        let part = |percent: u32| pages * u64::from(percent) / 100;
        Self {
            pages,
            background: part(params.background_percent),
            limit: part(params.limit_percent).max(1),
            age: Span::from_ms(params.age_ms.into()),
            flush: params.flush,
            clean: BTreeMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            dirty: BTreeMap::new(),
            by_age: BTreeSet::new(),
            out: BTreeMap::new(),
            cursor: 0,
        }
    }

    pub(super) const fn flush_drains(&self) -> bool {
        matches!(self.flush, FlushPolicy::Drain)
    }

    fn unwritten(&self) -> u64 {
        (self.dirty.len() + self.out.len()) as u64
    }

    /// Those of these pages that are not in the cache, in rows; the others count as used.
    pub(super) fn missing(&mut self, pages: Pages) -> Vec<Pages> {
        let mut missing: Vec<Pages> = Vec::new();
        for page in pages.each() {
            if self.dirty.contains_key(&page) || self.out.contains_key(&page) {
                continue;
            }
            if self.clean.contains_key(&page) {
                self.keep(page);
                continue;
            }
            match missing.last_mut() {
                Some(row) if row.first + row.count == page => row.count += 1,
                _ => missing.push(Pages { first: page, count: 1 }),
            }
        }
        missing
    }

    /// Keeps a clean page, as the last one used.
    fn keep(&mut self, page: u64) {
        self.drop_clean(page);
        self.uses += 1;
        self.clean.insert(page, self.uses);
        self.by_use.insert(self.uses, page);
    }

    fn drop_clean(&mut self, page: u64) {
        if let Some(used) = self.clean.remove(&page) {
            self.by_use.remove(&used);
        }
    }

    /// Makes room for pages that are not clean, and keeps to the size.
    fn shrink(&mut self) {
        while self.clean.len() as u64 + self.unwritten() > self.pages {
            let Some((_, page)) = self.by_use.pop_first() else { return };
            self.clean.remove(&page);
        }
    }

    /// Takes pages that were read or written through.
    pub(super) fn fill(&mut self, pages: Pages) {
        for page in pages.each() {
            if !self.dirty.contains_key(&page) && !self.out.contains_key(&page) {
                self.keep(page);
            }
        }
        self.shrink();
    }

    /// Makes pages dirty, if there is room for that. A write larger than the limit has room once
    /// nothing else is dirty.
    pub(super) fn take(&mut self, now: Instant, pages: Pages, group: GroupId) -> bool {
        let new = pages.each().filter(|page| !self.dirty.contains_key(page)).count() as u64;
        if new > 0 && self.unwritten() > 0 && self.unwritten() + new > self.limit {
            return false;
        }
        for page in pages.each() {
            self.drop_clean(page);
            // Data that is dirty already keeps its age and its group.
            if let Entry::Vacant(vacant) = self.dirty.entry(page) {
                vacant.insert(Dirty { since: now, group });
                self.by_age.insert((now, page));
            }
        }
        self.shrink();
        true
    }

    /// Since when the oldest page that is not on the disk is dirty.
    pub(super) fn oldest(&self) -> Option<Instant> {
        let dirty = self.by_age.first().map(|(since, _)| *since);
        dirty.into_iter().chain(self.out.values().copied()).min()
    }

    /// When the oldest page becomes old enough to be written back; the past, if enough is dirty
    /// already.
    pub(super) fn due(&self) -> Option<Instant> {
        let (since, _) = *self.by_age.first()?;
        Some(if self.dirty.len() as u64 > self.background { since } else { since + self.age })
    }

    /// The pages that are written back next, with the group of the first of them: in the order of
    /// the disk, from where the last ones ended. Nothing, if it is not time yet and nobody waits.
    pub(super) fn next_out(&mut self, now: Instant, is_pressed: bool) -> Option<(Pages, GroupId)> {
        if !is_pressed && self.due().is_none_or(|due| due > now) {
            return None;
        }
        // A page that is on its way already is not sent again until it is there.
        let is_free = |page: &u64| !self.out.contains_key(page);
        let behind = self.dirty.range(self.cursor..);
        let mut from_cursor = behind.chain(self.dirty.range(..self.cursor));
        let (first, Dirty { group, .. }) =
            from_cursor.find(|(page, _)| is_free(page)).map(|(page, dirty)| (*page, *dirty))?;
        let row = (first..first + OUT_MAX)
            .take_while(|page| self.dirty.contains_key(page) && is_free(page));
        let pages = Pages { first, count: row.count() as u64 };
        for page in pages.each() {
            let Some(Dirty { since, .. }) = self.dirty.remove(&page) else { continue };
            self.by_age.remove(&(since, page));
            self.out.insert(page, since);
        }
        self.cursor = first + pages.count;
        Some((pages, group))
    }

    /// Notes that pages have reached the disk.
    pub(super) fn written(&mut self, pages: Pages) {
        for page in pages.each() {
            self.out.remove(&page);
        }
        self.fill(pages);
    }
}
