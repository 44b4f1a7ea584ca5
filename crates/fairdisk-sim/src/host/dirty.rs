//! Dirty pages: which pages of files hold data that is not on the disk, since when, and which of
//! them are being written back (spec: memory, section 7.1).
//!
//! A page that is written several times while it is dirty goes to the disk once. A page that is
//! written while it is being written back is dirty at the same time, and goes to the disk once
//! more. Files due for write-back are visited in turn, a slice at a time. A visit continues where
//! the file's last one stopped and wraps around once.

use super::page_set::PageSet;
use fairdisk_core::Instant;
use std::collections::VecDeque;
use std::ops::Range;

/// The most pages that one visit writes back.
const SLICE_PAGES: u64 = 1024;

/// Pages of a file that are written back together: contiguous, and dirtied by the same task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) file: u32,
    pub(crate) start: u64,
    pub(crate) pages: u64,
    /// The task that dirtied the pages.
    pub(crate) owner: u32,
}

/// A point in the sequence in which pages become dirty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DirtyMark(u32);

impl DirtyMark {
    /// After every page that can become dirty.
    const END: Self = Self(u32::MAX);
}

/// A visit that writes back a slice of a file.
#[derive(Debug)]
pub(crate) struct Visit {
    disk: u32,
    file: u32,
    /// Pages left in the slice.
    left: u64,
    /// The page at which the visit began.
    from: u64,
    has_come_round: bool,
}

#[derive(Debug, Default)]
struct DirtyFile {
    /// The disk on which the file is.
    disk: u32,
    dirty: PageSet,
    /// Pages being written back.
    written_back: PageSet,
    /// The task that dirtied each page. Zero-filled memory, of which the system allocates only what
    /// is written to.
    owners: Vec<u32>,
    /// For each dirty page, the last mark before it became dirty; and for each page being written
    /// back, the last mark before the data on its way became dirty. Zero-filled memory as well.
    dirty_after: Vec<DirtyMark>,
    on_the_way_after: Vec<DirtyMark>,
    /// Dirty pages that are not being written back.
    waiting: u64,
    /// When the first of the dirty pages became dirty.
    since: Instant,
    is_due: bool,
    /// The page at which the next visit continues.
    next: u64,
}

impl DirtyFile {
    fn is_waiting(&self, page: u64) -> bool {
        self.dirty.contains(page) && !self.written_back.contains(page)
    }

    /// The first page in `from..end` that is dirty and not being written back.
    fn next_waiting(&self, from: u64, end: u64) -> Option<u64> {
        let mut page = self.dirty.next(from)?;
        while page < end && self.written_back.contains(page) {
            page = self.dirty.next(page + 1)?;
        }
        (page < end).then_some(page)
    }

    /// Whether the page holds data, dirty or being written back, from before the mark.
    fn is_older(&self, page: u64, mark: DirtyMark) -> bool {
        self.dirty.contains(page) && self.dirty_after[page as usize] < mark
            || self.written_back.contains(page) && self.on_the_way_after[page as usize] < mark
    }

    /// Starts to write back pages from `start` on: as many as are contiguous, have the same owner
    /// and became dirty before the mark.
    fn take(&mut self, file: u32, start: u64, pages_max: u64, mark: DirtyMark) -> Stretch {
        let owner = self.owners[start as usize];
        let mut pages = 0;
        while pages < pages_max
            && self.is_waiting(start + pages)
            && self.owners[(start + pages) as usize] == owner
            && self.dirty_after[(start + pages) as usize] < mark
        {
            let page = start + pages;
            self.dirty.remove(page);
            self.written_back.insert(page);
            self.on_the_way_after[page as usize] = self.dirty_after[page as usize];
            pages += 1;
        }
        self.waiting -= pages;
        Stretch { file, start, pages, owner }
    }
}

/// The dirty pages of one disk.
#[derive(Debug, Default)]
struct DirtyDisk {
    /// Files that wait to be visited, in order.
    due: VecDeque<u32>,
    /// Dirty pages that are not being written back.
    waiting: u64,
    /// Pages being written back.
    written_back: u64,
}

/// The dirty pages of all files.
#[derive(Debug)]
pub(crate) struct DirtyPages {
    files: Vec<DirtyFile>,
    disks: Vec<DirtyDisk>,
    last_mark: DirtyMark,
}

impl DirtyPages {
    /// No dirty pages of this many disks; `files` gives the disk and the size in pages of every
    /// file.
    pub(crate) fn new(disks: usize, files: impl Iterator<Item = (u32, u64)>) -> Self {
        let file = |(disk, pages): (u32, u64)| DirtyFile {
            disk,
            dirty: PageSet::new(pages),
            written_back: PageSet::new(pages),
            owners: vec![0; pages as usize],
            dirty_after: vec![DirtyMark(0); pages as usize],
            on_the_way_after: vec![DirtyMark(0); pages as usize],
            ..DirtyFile::default()
        };
        let files: Vec<DirtyFile> = files.map(file).collect();
        let mut disks: Vec<DirtyDisk> = (0..disks).map(|_| DirtyDisk::default()).collect();
        for (at, disk) in (0..).zip(&mut disks) {
            disk.due.reserve(files.iter().filter(|file| file.disk == at).count());
        }
        Self { files, disks, last_mark: DirtyMark::default() }
    }

    /// Dirty pages that are not being written back.
    pub(crate) fn waiting(&self) -> u64 {
        self.disks.iter().map(|disk| disk.waiting).sum()
    }

    /// Those of one disk.
    pub(crate) fn waiting_of(&self, disk: u32) -> u64 {
        self.disks[disk as usize].waiting
    }

    /// Pages that are dirty or being written back; a page that is both counts once.
    pub(crate) fn held(&self) -> u64 {
        self.disks.iter().map(|disk| disk.waiting + disk.written_back).sum()
    }

    /// Those of one disk.
    pub(crate) fn held_of(&self, disk: u32) -> u64 {
        let disk = &self.disks[disk as usize];
        disk.waiting + disk.written_back
    }

    /// Whether memory must keep the page because its data is not on the disk.
    pub(crate) fn holds(&self, file: u32, page: u64) -> bool {
        let file = &self.files[file as usize];
        file.dirty.contains(page) || file.written_back.contains(page)
    }

    /// Marks pages as dirtied by the task `owner`. Returns how many of them were clean.
    pub(crate) fn dirtied(
        &mut self,
        now: Instant,
        file: u32,
        pages: Range<u64>,
        owner: u32,
    ) -> u64 {
        let file = &mut self.files[file as usize];
        let is_clean = file.dirty.next(0).is_none();
        let (mut new, mut waiting) = (0, 0);
        for page in pages.filter(|page| file.dirty.insert(*page)) {
            file.owners[page as usize] = owner;
            file.dirty_after[page as usize] = self.last_mark;
            waiting += u64::from(!file.written_back.contains(page));
            new += 1;
        }
        if is_clean {
            file.since = now;
        }
        file.waiting += waiting;
        self.disks[file.disk as usize].waiting += waiting;
        new
    }

    /// Marks pages as clean because they were wholly overwritten past the page cache or trimmed.
    pub(crate) fn superseded(&mut self, file: u32, pages: Range<u64>) {
        let file = &mut self.files[file as usize];
        let mut at = pages.start;
        while let Some(page) = file.dirty.next(at).filter(|page| *page < pages.end) {
            if !file.written_back.contains(page) {
                file.waiting -= 1;
                self.disks[file.disk as usize].waiting -= 1;
            }
            file.dirty.remove(page);
            at = page + 1;
        }
    }

    // ---- what is written back ------------------------------------------------------------

    /// Whether a file of the disk waits to be visited.
    pub(crate) fn has_due(&self, disk: u32) -> bool {
        !self.disks[disk as usize].due.is_empty()
    }

    /// Makes the files of the disk that became dirty by `until` due, oldest first.
    pub(crate) fn make_due(&mut self, disk: u32, until: Instant) {
        let DirtyDisk { due, waiting, .. } = &mut self.disks[disk as usize];
        if *waiting == 0 {
            return;
        }
        let before = due.len();
        for (number, file) in (0..).zip(&mut self.files) {
            if file.disk == disk && file.waiting > 0 && !file.is_due && file.since <= until {
                file.is_due = true;
                due.push_back(number);
            }
        }
        let files = &self.files;
        let new = &mut due.make_contiguous()[before..];
        new.sort_unstable_by_key(|file| (files[*file as usize].since, *file));
    }

    /// Cancels all outstanding visits of the disk.
    pub(crate) fn none_due(&mut self, disk: u32) {
        for file in self.disks[disk as usize].due.drain(..) {
            self.files[file as usize].is_due = false;
        }
    }

    /// Starts a visit of the disk's next due file, to write back up to `pages_max` pages.
    pub(crate) fn visit(&mut self, disk: u32, pages_max: u64) -> Option<Visit> {
        let file = self.disks[disk as usize].due.pop_front()?;
        let from = self.files[file as usize].next;
        let left = pages_max.min(SLICE_PAGES);
        Some(Visit { disk, file, left, from, has_come_round: false })
    }

    /// The next pages to write in this visit; they count as being written back from now on.
    pub(crate) fn next_stretch(&mut self, visit: &mut Visit) -> Option<Stretch> {
        let file = &mut self.files[visit.file as usize];
        if visit.left == 0 {
            return None;
        }
        let end = if visit.has_come_round { visit.from } else { u64::MAX };
        let mut start = file.next_waiting(file.next, end);
        if start.is_none() && !visit.has_come_round {
            visit.has_come_round = true;
            start = file.next_waiting(0, visit.from);
        }
        let start = start?;
        let stretch = file.take(visit.file, start, visit.left, DirtyMark::END);
        file.next = start + stretch.pages;
        self.taken(visit.disk, stretch.pages);
        visit.left -= stretch.pages;
        Some(stretch)
    }

    /// Ends a visit. A file that may have more to write is due again after the others. In a file
    /// that was visited completely, pages that became dirty meanwhile start to age.
    pub(crate) fn leave(&mut self, now: Instant, visit: &Visit) {
        let file = &mut self.files[visit.file as usize];
        file.is_due = visit.left == 0 && file.waiting > 0;
        if file.is_due {
            self.disks[visit.disk as usize].due.push_back(visit.file);
        } else {
            file.since = now;
        }
    }

    /// Separates the pages that are dirty now from those that become dirty later.
    pub(crate) const fn mark(&mut self) -> DirtyMark {
        self.last_mark.0 += 1;
        self.last_mark
    }

    /// The next pages in a range that became dirty before the mark, for a task that wants them
    /// written. They count as being written back from now on.
    pub(crate) fn take_older(
        &mut self,
        file: u32,
        pages: Range<u64>,
        mark: DirtyMark,
    ) -> Option<Stretch> {
        let dirty = &mut self.files[file as usize];
        let mut start = dirty.next_waiting(pages.start, pages.end)?;
        while dirty.dirty_after[start as usize] >= mark {
            start = dirty.next_waiting(start + 1, pages.end)?;
        }
        let stretch = dirty.take(file, start, pages.end - start, mark);
        let disk = dirty.disk;
        self.taken(disk, stretch.pages);
        Some(stretch)
    }

    /// The first page in the range that holds data, dirty or being written back, from before the
    /// mark.
    pub(crate) fn next_older(&self, file: u32, pages: Range<u64>, mark: DirtyMark) -> Option<u64> {
        let mut from = pages.start;
        loop {
            let page = self.next_held(file, from).filter(|page| *page < pages.end)?;
            if self.files[file as usize].is_older(page, mark) {
                return Some(page);
            }
            from = page + 1;
        }
    }

    /// The first page of the file from `from` on that is dirty or being written back.
    pub(crate) fn next_held(&self, file: u32, from: u64) -> Option<u64> {
        let file = &self.files[file as usize];
        [file.dirty.next(from), file.written_back.next(from)].into_iter().flatten().min()
    }

    fn taken(&mut self, disk: u32, pages: u64) {
        let disk = &mut self.disks[disk as usize];
        disk.waiting -= pages;
        disk.written_back += pages;
    }

    /// Whether the page is dirty and not being written back.
    pub(crate) fn is_waiting(&self, file: u32, page: u64) -> bool {
        self.files[file as usize].is_waiting(page)
    }

    /// Marks the pages as written back.
    pub(crate) fn written(&mut self, file: u32, pages: Range<u64>) {
        let file = &mut self.files[file as usize];
        let disk = &mut self.disks[file.disk as usize];
        disk.written_back -= pages.end - pages.start;
        for page in pages {
            file.written_back.remove(page);
            let is_dirty = u64::from(file.dirty.contains(page));
            file.waiting += is_dirty;
            disk.waiting += is_dirty;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Prng, Span};
    use std::collections::{BTreeMap, BTreeSet};

    fn s(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_s(seconds)
    }

    /// No dirty pages of files of these sizes.
    fn of_one_disk(file_pages: &[u64]) -> DirtyPages {
        DirtyPages::new(1, file_pages.iter().map(|pages| (0, *pages)))
    }

    /// Visits the next file and returns what is written back: file, start and number of pages.
    fn visit(pages: &mut DirtyPages, now: Instant, pages_max: u64) -> Vec<(u32, u64, u64)> {
        let Some(mut visit) = pages.visit(0, pages_max) else { return Vec::new() };
        let stretch = || pages.next_stretch(&mut visit);
        let stretches = std::iter::from_fn(stretch).map(|it| (it.file, it.start, it.pages));
        let stretches = stretches.collect();
        pages.leave(now, &visit);
        stretches
    }

    #[test]
    fn the_oldest_file_is_first_and_what_is_young_waits() {
        let mut pages = of_one_disk(&[100, 100, 100]);
        for (file, at) in [(2, 1), (0, 2), (1, 9)] {
            pages.dirtied(s(at), file, 0..2, 7);
            pages.dirtied(s(20), file, 50..51, 7);
        }
        pages.make_due(0, s(5));
        assert_eq!(visit(&mut pages, s(30), u64::MAX), [(2, 0, 2), (2, 50, 1)], "all of the file");
        assert_eq!(visit(&mut pages, s(30), u64::MAX), [(0, 0, 2), (0, 50, 1)]);
        assert!(!pages.has_due(0));
        assert_eq!((pages.waiting(), pages.held()), (3, 9));
    }

    #[test]
    fn files_take_turns_by_slices_and_a_visit_goes_on_where_the_last_one_stopped() {
        let mut pages = of_one_disk(&[5000, 5000]);
        pages.dirtied(s(0), 0, 0..1500, 0);
        pages.dirtied(s(0), 1, 0..10, 0);
        pages.make_due(0, s(0));
        assert_eq!(visit(&mut pages, s(1), u64::MAX), [(0, 0, 1024)]);
        assert_eq!(visit(&mut pages, s(1), u64::MAX), [(1, 0, 10)]);
        pages.written(0, 0..1024);
        pages.dirtied(s(1), 0, 3..4, 0);
        assert_eq!(visit(&mut pages, s(1), u64::MAX), [(0, 1024, 476), (0, 3, 1)]);
        assert_eq!(visit(&mut pages, s(1), u64::MAX), []);
    }

    #[test]
    fn what_tasks_wrote_next_to_each_other_is_told_apart() {
        let mut pages = of_one_disk(&[100]);
        pages.dirtied(s(0), 0, 0..4, 1);
        assert_eq!(pages.dirtied(s(0), 0, 2..8, 2), 4);
        let mut take = |from| pages.take_older(0, from..100, DirtyMark::END);
        let stretch = take(0).expect("dirty");
        assert_eq!((stretch.start, stretch.pages, stretch.owner), (0, 4, 1), "who was first");
        let stretch = take(4).expect("dirty");
        assert_eq!((stretch.start, stretch.pages, stretch.owner), (4, 4, 2));
        assert_eq!(take(0), None);
    }

    #[test]
    fn a_page_written_again_on_its_way_goes_once_more() {
        let mut pages = of_one_disk(&[100]);
        pages.dirtied(s(0), 0, 5..6, 0);
        assert!(pages.take_older(0, 0..100, DirtyMark::END).is_some());
        pages.dirtied(s(1), 0, 5..6, 0);
        assert_eq!((pages.waiting(), pages.held()), (0, 1), "not before it has arrived");
        assert_eq!(pages.take_older(0, 0..100, DirtyMark::END), None);
        pages.written(0, 5..6);
        assert_eq!((pages.waiting(), pages.held()), (1, 1));
        assert!(pages.holds(0, 5) && pages.take_older(0, 0..100, DirtyMark::END).is_some());
    }

    #[test]
    fn what_became_dirty_later_is_told_apart() {
        let mut pages = of_one_disk(&[100]);
        pages.dirtied(s(0), 0, 0..4, 0);
        let sent = pages.take_older(0, 0..2, DirtyMark::END).expect("dirty");
        assert_eq!((sent.start, sent.pages), (0, 2), "no further than asked for");
        pages.dirtied(s(0), 0, 1..2, 0);
        let mark = pages.mark();
        pages.dirtied(s(0), 0, 0..5, 0);
        assert_eq!(pages.next_older(0, 0..100, mark), Some(0), "on the way");
        let sent = pages.take_older(0, 0..100, mark).expect("dirty");
        assert_eq!((sent.start, sent.pages), (2, 2), "not the page that is new");
        assert_eq!(pages.take_older(0, 0..100, mark), None);
        pages.written(0, 0..2);
        assert_eq!(pages.next_older(0, 0..100, mark), Some(1), "dirty again before the mark");
        assert_eq!(pages.take_older(0, 0..100, mark).map(|it| (it.start, it.pages)), Some((1, 1)));
        pages.written(0, 1..4);
        assert_eq!(pages.next_older(0, 0..100, mark), None);
        assert_eq!(pages.waiting(), 2, "written to since");
    }

    /// Every page that became dirty is written, superseded or still dirty, and only dirty pages are
    /// written back.
    #[test]
    fn no_dirty_page_is_lost_or_made_up() {
        const PAGES: u64 = 3000;
        for seed in 0..8 {
            let mut prng = Prng::new(seed);
            let mut pages = of_one_disk(&[PAGES, PAGES]);
            let mut dirty: BTreeMap<(u32, u64), u32> = BTreeMap::new();
            let mut on_the_way: BTreeSet<(u32, u64)> = BTreeSet::new();
            let (mut dirtied, mut written, mut superseded) = (0, 0, 0);
            for step in 0..4_000 {
                let (file, start) = (prng.below(2) as u32, prng.below(PAGES));
                let end = (start + 1 + prng.below(40)).min(PAGES);
                let range = (file, start)..(file, end);
                match prng.below(6) {
                    0 | 1 => {
                        let owner = prng.below(3) as u32;
                        let new = pages.dirtied(s(step), file, start..end, owner);
                        let before = dirty.len() as u64;
                        for page in start..end {
                            dirty.entry((file, page)).or_insert(owner);
                        }
                        assert_eq!(new, dirty.len() as u64 - before);
                        dirtied += new;
                    }
                    2 => {
                        pages.superseded(file, start..end);
                        let gone = dirty.range(range).map(|(page, _)| *page);
                        let gone: Vec<_> = gone.collect();
                        superseded += gone.len() as u64;
                        dirty.retain(|page, _| !gone.contains(page));
                    }
                    3 => {
                        pages.make_due(0, s(step - prng.below(step + 1)));
                        let Some(mut visit) = pages.visit(0, prng.below(100)) else { continue };
                        while let Some(stretch) = pages.next_stretch(&mut visit) {
                            for page in stretch.start..stretch.start + stretch.pages {
                                let page = (stretch.file, page);
                                assert_eq!(dirty.remove(&page), Some(stretch.owner));
                                assert!(on_the_way.insert(page));
                                written += 1;
                            }
                        }
                        pages.leave(s(step), &visit);
                    }
                    _ => {
                        for page in on_the_way.clone().range(range) {
                            pages.written(page.0, page.1..page.1 + 1);
                            on_the_way.remove(page);
                        }
                    }
                }
                let waiting = dirty.keys().filter(|page| !on_the_way.contains(page)).count();
                assert_eq!(pages.waiting(), waiting as u64);
                assert_eq!(pages.held(), (waiting + on_the_way.len()) as u64);
                let held =
                    dirty.contains_key(&(file, start)) || on_the_way.contains(&(file, start));
                assert_eq!(pages.holds(file, start), held);
            }
            assert_eq!(dirtied, written + superseded + dirty.len() as u64);
            assert!(written > 1000 && superseded > 1000, "{written}, {superseded}");
        }
    }

    #[test]
    fn each_disk_has_its_own_visits_and_counts() {
        let mut pages = DirtyPages::new(2, [(0, 100), (1, 100), (0, 100)].into_iter());
        for (file, count) in [(0, 5), (1, 7), (2, 9)] {
            pages.dirtied(s(1), file, 0..count, 0);
        }
        pages.make_due(0, s(2));
        assert!(pages.has_due(0) && !pages.has_due(1));
        assert_eq!(visit(&mut pages, s(2), u64::MAX), [(0, 0, 5)]);
        assert_eq!(visit(&mut pages, s(2), u64::MAX), [(2, 0, 9)], "the other file of that disk");
        assert_eq!(([0, 1].map(|disk| pages.waiting_of(disk)), pages.waiting()), ([0, 7], 7));
        assert_eq!(([0, 1].map(|disk| pages.held_of(disk)), pages.held()), ([14, 7], 21));
    }
}
