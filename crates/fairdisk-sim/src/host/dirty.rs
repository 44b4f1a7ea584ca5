//! Dirty pages: which pages of files hold data that is not on the disk, since when, and which of
//! them are being written back (spec: memory, section 7.1).
//!
//! A page that is written several times while it is dirty goes to the disk once. A page that is
//! written while it is being written back is dirty at the same time, and goes to the disk once
//! more. Files due for write-back are visited in turn, a slice at a time. A visit continues where
//! the file's last one stopped and wraps around once.
//!
//! What is dirty is counted, and visited, by domains: one for each disk, or one for each disk and
//! group if groups have limits of their own.

use super::domain::{Division, Domain, Domains};
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
    domain: Domain,
    pub(crate) file: u32,
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
    /// The task that wrote to each dirty page last; empty if nobody asks for it.
    last_writers: Vec<u32>,
    /// For each dirty page, the last mark before it became dirty; and for each page being written
    /// back, the last mark before the data on its way became dirty. Zero-filled memory as well, and
    /// so bare numbers: memory for a type of our own would be written to at once.
    dirty_after: Vec<u32>,
    on_the_way_after: Vec<u32>,
    /// The group that owns the file.
    group: u32,
    /// The file's part of the domains of its disk.
    parts: Vec<FilePart>,
    /// When the first of the dirty pages became dirty.
    since: Instant,
    /// The page at which the next visit continues.
    next: u64,
}

/// The part of a file that is in one domain.
#[derive(Clone, Copy, Debug, Default)]
struct FilePart {
    /// Dirty pages that are not being written back.
    waiting: u64,
    /// Whether the file waits to be visited.
    is_due: bool,
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

    /// The first such page whose part of the file is the one asked for.
    fn next_of(&self, division: &Division, group: u32, from: u64, end: u64) -> Option<u64> {
        let mut page = self.next_waiting(from, end)?;
        while division.group(self.group, self.owners[page as usize]) != group {
            page = self.next_waiting(page + 1, end)?;
        }
        Some(page)
    }

    /// Whether the page holds data, dirty or being written back, from before the mark.
    fn is_older(&self, page: u64, mark: DirtyMark) -> bool {
        self.dirty.contains(page) && self.dirty_after[page as usize] < mark.0
            || self.written_back.contains(page) && self.on_the_way_after[page as usize] < mark.0
    }

    /// Starts to write back pages from `start` on: as many as are contiguous, were dirtied and last
    /// written by the same tasks, and became dirty before the mark.
    fn take(&mut self, file: u32, start: u64, pages_max: u64, mark: DirtyMark) -> Stretch {
        let owner = self.owners[start as usize];
        let last_writer = self.last_writers.get(start as usize).copied();
        let mut pages = 0;
        while pages < pages_max
            && self.is_waiting(start + pages)
            && self.owners[(start + pages) as usize] == owner
            && self.last_writers.get((start + pages) as usize).copied() == last_writer
            && self.dirty_after[(start + pages) as usize] < mark.0
        {
            let page = start + pages;
            self.dirty.remove(page);
            self.written_back.insert(page);
            self.on_the_way_after[page as usize] = self.dirty_after[page as usize];
            pages += 1;
        }
        Stretch { file, start, pages, owner }
    }
}

/// The dirty pages of one domain.
#[derive(Debug, Default)]
struct DirtyPart {
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
    division: Division,
    parts: Domains<DirtyPart>,
    last_mark: DirtyMark,
}

impl DirtyPages {
    /// No dirty pages of this many disks; `files` gives the disk and the size in pages of every
    /// file. The last writer of each page is known only if somebody asks for it.
    pub(crate) fn new(
        disks: usize,
        files: impl Iterator<Item = (u32, u64)>,
        division: Division,
        knows_last_writers: bool,
    ) -> Self {
        let parts = division.parts() as usize;
        let file = |(disk, pages): (u32, u64)| DirtyFile {
            disk,
            dirty: PageSet::new(pages),
            written_back: PageSet::new(pages),
            owners: vec![0; pages as usize],
            last_writers: vec![0; if knows_last_writers { pages as usize } else { 0 }],
            dirty_after: vec![0; pages as usize],
            on_the_way_after: vec![0; pages as usize],
            parts: vec![FilePart::default(); parts],
            ..DirtyFile::default()
        };
        let files: Vec<DirtyFile> = files.map(file).collect();
        let part = |domain: Domain| {
            let of_disk = files.iter().filter(|file| file.disk == domain.disk).count();
            DirtyPart { due: VecDeque::with_capacity(of_disk), ..DirtyPart::default() }
        };
        let parts = Domains::new(disks as u32, &division, part);
        Self { files, division, parts, last_mark: DirtyMark::default() }
    }

    /// The domains of a disk in turn, from that of a group on.
    pub(crate) fn domains(&self, disk: u32, first: u32) -> impl Iterator<Item = Domain> + use<> {
        self.parts.of_disk(disk, first)
    }

    /// Something that each domain has.
    pub(crate) fn each<T>(&self, disks: usize, of: impl Fn(Domain) -> T) -> Domains<T> {
        Domains::new(disks as u32, &self.division, of)
    }

    /// The domain of pages of a file that the task `owner` dirtied.
    pub(crate) fn domain(&self, file: u32, owner: u32) -> Domain {
        let file = &self.files[file as usize];
        Domain { disk: file.disk, group: self.division.group(file.group, owner) }
    }

    /// The task that wrote to the page last.
    pub(crate) fn last_writer(&self, file: u32, page: u64) -> u32 {
        self.files[file as usize].last_writers[page as usize]
    }

    /// Counts dirty pages of a file, which the task `owner` dirtied, as waiting or no longer.
    fn add_waiting(&mut self, file: u32, owner: u32, pages: i64) {
        let domain = self.domain(file, owner);
        let of_file = &mut self.files[file as usize].parts[domain.group as usize].waiting;
        *of_file = of_file.strict_add_signed(pages);
        let of_domain = &mut self.parts[domain].waiting;
        *of_domain = of_domain.strict_add_signed(pages);
    }

    /// Gives a file to a group. If that divides pages, the file's dirty pages go to the domain of
    /// that group.
    pub(crate) fn give_file(&mut self, file: u32, group: u32) {
        let Self { files, division: Division::ByFile(_), .. } = self else { return };
        let of_file = &mut files[file as usize];
        let before = std::mem::replace(&mut of_file.group, group);
        if before == group {
            return;
        }
        let part = std::mem::take(&mut of_file.parts[before as usize]);
        of_file.parts[group as usize] = part;
        let pages = |at: &u64| of_file.written_back.next(*at + 1);
        let on_the_way = std::iter::successors(of_file.written_back.next(0), pages).count() as u64;
        let disk = of_file.disk;
        let from = &mut self.parts[Domain { disk, group: before }];
        from.waiting -= part.waiting;
        from.written_back -= on_the_way;
        from.due.retain(|due| *due != file);
        let to = &mut self.parts[Domain { disk, group }];
        to.waiting += part.waiting;
        to.written_back += on_the_way;
        to.due.extend(part.is_due.then_some(file));
    }

    /// Dirty pages that are not being written back.
    pub(crate) fn waiting(&self) -> u64 {
        self.parts.all().iter().map(|part| part.waiting).sum()
    }

    /// Those of one disk.
    pub(crate) fn waiting_of(&self, disk: u32) -> u64 {
        self.parts.on_disk(disk).iter().map(|part| part.waiting).sum()
    }

    /// Those of one domain.
    pub(crate) fn waiting_in(&self, domain: Domain) -> u64 {
        self.parts[domain].waiting
    }

    /// Pages that are dirty or being written back; a page that is both counts once.
    pub(crate) fn held(&self) -> u64 {
        self.parts.all().iter().map(|part| part.waiting + part.written_back).sum()
    }

    /// Those of one disk.
    pub(crate) fn held_of(&self, disk: u32) -> u64 {
        self.parts.on_disk(disk).iter().map(|part| part.waiting + part.written_back).sum()
    }

    /// Those of one domain.
    pub(crate) fn held_in(&self, domain: Domain) -> u64 {
        let part = &self.parts[domain];
        part.waiting + part.written_back
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
        let dirty = &mut self.files[file as usize];
        let is_clean = dirty.dirty.next(0).is_none();
        let (mut new, mut waiting) = (0, 0);
        if !dirty.last_writers.is_empty() {
            dirty.last_writers[pages.start as usize..pages.end as usize].fill(owner);
        }
        for page in pages.filter(|page| dirty.dirty.insert(*page)) {
            dirty.owners[page as usize] = owner;
            dirty.dirty_after[page as usize] = self.last_mark.0;
            waiting += i64::from(!dirty.written_back.contains(page));
            new += 1;
        }
        if is_clean {
            dirty.since = now;
        }
        self.add_waiting(file, owner, waiting);
        new
    }

    /// Marks pages as clean because they were wholly overwritten past the page cache or trimmed.
    pub(crate) fn superseded(&mut self, file: u32, pages: Range<u64>) {
        let mut at = pages.start;
        loop {
            let dirty = &mut self.files[file as usize];
            let page = dirty.dirty.next(at).filter(|page| *page < pages.end);
            let Some(page) = page else { return };
            dirty.dirty.remove(page);
            if !dirty.written_back.contains(page) {
                let owner = dirty.owners[page as usize];
                self.add_waiting(file, owner, -1);
            }
            at = page + 1;
        }
    }

    // ---- what is written back ------------------------------------------------------------

    /// Whether a file of the domain waits to be visited.
    pub(crate) fn has_due(&self, domain: Domain) -> bool {
        !self.parts[domain].due.is_empty()
    }

    /// Makes the files of the domain that became dirty by `until` due, oldest first.
    pub(crate) fn make_due(&mut self, domain: Domain, until: Instant) {
        let DirtyPart { due, waiting, .. } = &mut self.parts[domain];
        if *waiting == 0 {
            return;
        }
        let before = due.len();
        for (number, file) in (0..).zip(&mut self.files) {
            let part = &mut file.parts[domain.group as usize];
            if file.disk == domain.disk && part.waiting > 0 && !part.is_due && file.since <= until {
                part.is_due = true;
                due.push_back(number);
            }
        }
        let files = &self.files;
        let new = &mut due.make_contiguous()[before..];
        new.sort_unstable_by_key(|file| (files[*file as usize].since, *file));
    }

    /// Cancels all outstanding visits of the domain.
    pub(crate) fn none_due(&mut self, domain: Domain) {
        for file in self.parts[domain].due.drain(..) {
            self.files[file as usize].parts[domain.group as usize].is_due = false;
        }
    }

    /// Starts a visit of the domain's next due file, to write back up to `pages_max` pages.
    pub(crate) fn visit(&mut self, domain: Domain, pages_max: u64) -> Option<Visit> {
        let file = self.parts[domain].due.pop_front()?;
        let from = self.files[file as usize].next;
        let left = pages_max.min(SLICE_PAGES);
        Some(Visit { domain, file, left, from, has_come_round: false })
    }

    /// The next pages to write in this visit; they count as being written back from now on.
    pub(crate) fn next_stretch(&mut self, visit: &mut Visit) -> Option<Stretch> {
        let file = &mut self.files[visit.file as usize];
        if visit.left == 0 {
            return None;
        }
        let end = if visit.has_come_round { visit.from } else { u64::MAX };
        let (division, group) = (&self.division, visit.domain.group);
        let mut start = file.next_of(division, group, file.next, end);
        if start.is_none() && !visit.has_come_round {
            visit.has_come_round = true;
            start = file.next_of(division, group, 0, visit.from);
        }
        let start = start?;
        let stretch = file.take(visit.file, start, visit.left, DirtyMark::END);
        file.next = start + stretch.pages;
        self.taken(&stretch);
        visit.left -= stretch.pages;
        Some(stretch)
    }

    /// Ends a visit. A file that may have more to write is due again after the others. In a file
    /// that was visited completely, pages that became dirty meanwhile start to age.
    pub(crate) fn leave(&mut self, now: Instant, visit: &Visit) {
        let file = &mut self.files[visit.file as usize];
        let part = &mut file.parts[visit.domain.group as usize];
        part.is_due = visit.left == 0 && part.waiting > 0;
        if part.is_due {
            self.parts[visit.domain].due.push_back(visit.file);
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
        while dirty.dirty_after[start as usize] >= mark.0 {
            start = dirty.next_waiting(start + 1, pages.end)?;
        }
        let stretch = dirty.take(file, start, pages.end - start, mark);
        self.taken(&stretch);
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

    fn taken(&mut self, stretch: &Stretch) {
        let &Stretch { file, owner, pages, .. } = stretch;
        self.add_waiting(file, owner, -pages.cast_signed());
        let domain = self.domain(file, owner);
        self.parts[domain].written_back += pages;
    }

    /// Whether the page is dirty and not being written back.
    pub(crate) fn is_waiting(&self, file: u32, page: u64) -> bool {
        self.files[file as usize].is_waiting(page)
    }

    /// Marks the pages as written back, which the task `owner` had dirtied.
    pub(crate) fn written(&mut self, file: u32, pages: Range<u64>, owner: u32) {
        let domain = self.domain(file, owner);
        self.parts[domain].written_back -= pages.end - pages.start;
        for page in pages {
            let dirty = &mut self.files[file as usize];
            dirty.written_back.remove(page);
            if dirty.dirty.contains(page) {
                let owner = dirty.owners[page as usize];
                self.add_waiting(file, owner, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Prng, Span};
    use std::collections::{BTreeMap, BTreeSet};

    const FIRST: Domain = Domain { disk: 0, group: 0 };

    fn s(seconds: u64) -> Instant {
        Instant::ZERO + Span::from_s(seconds)
    }

    /// No dirty pages of files of these sizes.
    fn of_one_disk(file_pages: &[u64]) -> DirtyPages {
        let files = file_pages.iter().map(|pages| (0, *pages));
        DirtyPages::new(1, files, Division::Undivided, false)
    }

    /// Visits the next file and returns what is written back: file, start and number of pages.
    fn visit(pages: &mut DirtyPages, now: Instant, pages_max: u64) -> Vec<(u32, u64, u64)> {
        let Some(mut visit) = pages.visit(FIRST, pages_max) else { return Vec::new() };
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
        pages.make_due(FIRST, s(5));
        assert_eq!(visit(&mut pages, s(30), u64::MAX), [(2, 0, 2), (2, 50, 1)], "all of the file");
        assert_eq!(visit(&mut pages, s(30), u64::MAX), [(0, 0, 2), (0, 50, 1)]);
        assert!(!pages.has_due(FIRST));
        assert_eq!((pages.waiting(), pages.held()), (3, 9));
    }

    #[test]
    fn files_take_turns_by_slices_and_a_visit_goes_on_where_the_last_one_stopped() {
        let mut pages = of_one_disk(&[5000, 5000]);
        pages.dirtied(s(0), 0, 0..1500, 0);
        pages.dirtied(s(0), 1, 0..10, 0);
        pages.make_due(FIRST, s(0));
        assert_eq!(visit(&mut pages, s(1), u64::MAX), [(0, 0, 1024)]);
        assert_eq!(visit(&mut pages, s(1), u64::MAX), [(1, 0, 10)]);
        pages.written(0, 0..1024, 0);
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
        pages.written(0, 5..6, 0);
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
        pages.written(0, 0..2, 0);
        assert_eq!(pages.next_older(0, 0..100, mark), Some(1), "dirty again before the mark");
        assert_eq!(pages.take_older(0, 0..100, mark).map(|it| (it.start, it.pages)), Some((1, 1)));
        pages.written(0, 1..4, 0);
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
                        pages.make_due(FIRST, s(step - prng.below(step + 1)));
                        let Some(mut visit) = pages.visit(FIRST, prng.below(100)) else { continue };
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
                            pages.written(page.0, page.1..page.1 + 1, 0);
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
        let mut pages = {
            let files = [(0, 100), (1, 100), (0, 100)].into_iter();
            DirtyPages::new(2, files, Division::Undivided, false)
        };
        for (file, count) in [(0, 5), (1, 7), (2, 9)] {
            pages.dirtied(s(1), file, 0..count, 0);
        }
        pages.make_due(FIRST, s(2));
        assert!(pages.has_due(FIRST) && !pages.has_due(Domain { disk: 1, group: 0 }));
        assert_eq!(visit(&mut pages, s(2), u64::MAX), [(0, 0, 5)]);
        assert_eq!(visit(&mut pages, s(2), u64::MAX), [(2, 0, 9)], "the other file of that disk");
        assert_eq!(([0, 1].map(|disk| pages.waiting_of(disk)), pages.waiting()), ([0, 7], 7));
        assert_eq!(([0, 1].map(|disk| pages.held_of(disk)), pages.held()), ([14, 7], 21));
    }
}
