//! Reclaim: pages at the tails of the lists leave the page cache (spec: memory, 3.1 to 3.3).
//!
//! A pass over the lists has a priority, from 12 down to 0: the smaller it is, the larger a part of
//! each list is scanned. What is too little to scan is saved for later passes, of anyone. A pass
//! goes in chunks of 32 pages. Pages are in the hands of the reclaimer from [`Memory::isolate`],
//! which begins a chunk, to [`Memory::evict`], which ends it; between the two goes the CPU time.

use super::frames::{List, PageId, Place, flag};
use super::lru::BUFFER_PAGES;
use super::{Memory, PRIORITY_MAX};
use fairdisk_core::Instant;

/// Pages that are scanned at a time, and the least to scan at all.
pub const CHUNK_PAGES: u32 = 32;

/// Who reclaims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaimer {
    /// The kernel's task for it.
    Kswapd,
    /// A task that needs memory.
    Direct,
}

/// The lists that are scanned, in the order in which they take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scanned {
    /// Anonymous memory is an amount: it is scanned, and stays.
    Anonymous,
    Inactive,
    Active,
}

impl Scanned {
    const ALL: [Self; 3] = [Self::Anonymous, Self::Inactive, Self::Active];
}

/// A pass over the lists.
#[derive(Debug)]
pub struct Pass {
    who: Reclaimer,
    priority: u8,
    /// Pages of each list that are still to be scanned.
    left: [u64; 3],
    /// The list whose turn is next.
    turn: usize,
    /// The chunk being worked on, its oldest page first, and the list it is from.
    chunk: List,
    from: Scanned,
    /// Whether the active list is scanned however short it is.
    ages_active: bool,
    scanned: u32,
    freed: u32,
    writing: u32,
}

impl Pass {
    /// Pages scanned for eviction so far.
    #[must_use]
    pub const fn scanned(&self) -> u32 {
        self.scanned
    }

    /// Pages freed so far.
    #[must_use]
    pub const fn freed(&self) -> u32 {
        self.freed
    }

    /// Pages met so far that are on their way to the disk.
    #[must_use]
    pub const fn writing(&self) -> u32 {
        self.writing
    }

    /// Its priority.
    #[must_use]
    pub const fn priority(&self) -> u8 {
        self.priority
    }
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Pages freed.
    pub freed: u32,
    /// Dirty pages met.
    pub dirty: u32,
    /// Those of them that could not be written, because their disk is congested.
    pub held_up: u32,
    /// Pages met that are on their way to the disk.
    pub writing: u32,
}

/// What is saved of each list's share until it is a chunk.
#[derive(Debug, Default)]
pub(super) struct Saved([u64; 3]);

impl Saved {
    /// How many pages of each list to scan in a pass of this priority. The lists have `sizes`
    /// pages, and each has a share of the scanning.
    fn pass(&mut self, priority: u8, sizes: [u64; 3], shares_percent: [u64; 3]) -> [u64; 3] {
        let mut scan = [0; 3];
        for (at, saved) in self.0.iter_mut().enumerate() {
            *saved += (sizes[at] >> priority) * shares_percent[at] / 100;
            if *saved >= u64::from(CHUNK_PAGES) {
                scan[at] = std::mem::take(saved);
            }
        }
        scan
    }
}

impl Memory {
    /// Begins a pass over the lists.
    pub fn pass(&mut self, who: Reclaimer, priority: u8) -> Pass {
        let list = |list: List| u64::from(list.len());
        let sizes = [self.spec.anonymous_pages, list(self.lru.inactive), list(self.lru.active)];
        let file = self.spec.file_share_percent;
        let left = self.saved.pass(priority, sizes, [100 - file, file, file]);
        let (turn, chunk, from) = (0, List::EMPTY, Scanned::Anonymous);
        let is_refaulting = std::mem::take(&mut self.is_refaulting);
        let ages_active = is_refaulting && self.spec.kernel.refault_ages_active;
        let (scanned, freed, writing) = (0, 0, 0);
        Pass { who, priority, left, turn, chunk, from, ages_active, scanned, freed, writing }
    }

    /// Begins the next chunk of a pass, on a CPU. Returns how many pages are scanned in it; 0 ends
    /// the pass.
    pub fn isolate(&mut self, cpu: u32, pass: &mut Pass) -> u32 {
        debug_assert!(pass.chunk.is_empty(), "the chunk before it is not evicted");
        while let Some(list) = pass.next_turn() {
            let left = &mut pass.left[list as usize];
            let pages = (*left).min(u64::from(CHUNK_PAGES)) as u32;
            *left -= u64::from(pages);
            let Some(from) = self.scans_instead(pass, list) else { continue };
            pass.from = from;
            if from == Scanned::Anonymous {
                self.count_scanned(pass, pages);
                return pages;
            }
            self.lru.flush(&mut self.frames, cpu);
            let place = if from == Scanned::Active { Place::Active } else { Place::Inactive };
            pass.chunk = self.lru.isolate(&mut self.frames, place, pages);
            let pages = pass.chunk.len();
            match from {
                Scanned::Active => self.vmstat.pgrefill += u64::from(pages),
                _ => self.count_scanned(pass, pages),
            }
            if pages > 0 {
                return pages;
            }
        }
        0
    }

    /// The list that is scanned when it is the turn of `list`: an active list that is to be left
    /// alone is not, and its share may go to the inactive one (56e49d21, b39415b2).
    const fn scans_instead(&self, pass: &Pass, list: Scanned) -> Option<Scanned> {
        let kernel = &self.spec.kernel;
        let is_left_alone = matches!(list, Scanned::Active)
            && kernel.evict_once
            && !pass.ages_active
            && self.lru.active.len() <= self.lru.inactive.len();
        match (is_left_alone, kernel.evict_once_share) {
            (false, _) => Some(list),
            (true, false) => Some(Scanned::Inactive),
            (true, true) => None,
        }
    }

    fn count_scanned(&mut self, pass: &mut Pass, pages: u32) {
        pass.scanned += pages;
        match pass.who {
            Reclaimer::Kswapd => self.vmstat.pgscan_kswapd += u64::from(pages),
            Reclaimer::Direct => self.vmstat.pgscan_direct += u64::from(pages),
        }
    }

    /// Ends the chunk of a pass, on a CPU whose list the freed pages go to. Of dirty pages that
    /// [`dirty_found`](Self::dirty_found) lists afterwards, each counts as on its way to the disk:
    /// the caller writes it, alone, and says when it is [`written`](Self::written). `may_write`
    /// says whether the caller can.
    pub fn evict(
        &mut self,
        now: Instant,
        cpu: u32,
        pass: &mut Pass,
        may_write: impl Fn(PageId) -> bool,
    ) -> Evicted {
        self.dirty_found.clear();
        let mut evicted = Evicted::default();
        let (mut group, mut grouped) = ([0; BUFFER_PAGES], 0);
        while let Some(at) = self.lru.next_isolated(&mut self.frames, &mut pass.chunk) {
            let stays = match pass.from {
                _ if self.frames[at].has(flag::DROPPED) => None,
                Scanned::Active => Some(self.deactivate(at)),
                _ => self.look(at, &may_write, &mut evicted),
            };
            if let Some(place) = stays {
                self.lru.put(&mut self.frames, at, place);
                continue;
            }
            if !self.frames[at].has(flag::DROPPED) {
                self.vmstat.thrown_away += u64::from(!self.frames[at].has(flag::USED));
                if let Some(shadows) = &mut self.shadows {
                    shadows.evicted(self.frames[at].id);
                }
                self.forget(at);
            }
            group[grouped] = at;
            grouped += 1;
            evicted.freed += 1;
            if grouped == BUFFER_PAGES {
                self.free_group(now, cpu, &group);
                grouped = 0;
            }
        }
        self.free_group(now, cpu, &group[..grouped]);
        self.is_congested |= evicted.dirty > 0 && evicted.dirty == evicted.held_up;
        let freed = u64::from(evicted.freed);
        self.vmstat.pgsteal += freed;
        self.vmstat.kswapd_steal += if pass.who == Reclaimer::Kswapd { freed } else { 0 };
        pass.freed += evicted.freed;
        pass.writing += evicted.writing;
        evicted
    }

    /// The dirty pages that the last call of [`evict`](Self::evict) met and that its caller writes.
    #[must_use]
    pub fn dirty_found(&self) -> &[PageId] {
        &self.dirty_found
    }

    /// Looks at a page of the inactive list. Returns the list it goes to; `None` if it can leave
    /// the page cache.
    fn look(
        &mut self,
        at: u32,
        may_write: impl Fn(PageId) -> bool,
        evicted: &mut Evicted,
    ) -> Option<Place> {
        let frame = &mut self.frames[at];
        frame.clear(flag::FROM_ACTIVE);
        if frame.has(flag::COMING | flag::WRITING) {
            evicted.writing += u32::from(frame.has(flag::WRITING));
            return Some(Place::Inactive);
        }
        if frame.clear(flag::MAPPED) {
            let was_used = frame.clear(flag::REFERENCED);
            if self.spec.kernel.mapped_once && !was_used {
                frame.flags |= flag::REFERENCED;
                return Some(Place::Inactive);
            }
            self.count_activated();
            return Some(Place::Active);
        }
        let was_used = frame.clear(flag::REFERENCED);
        if !frame.has(flag::DIRTY) {
            return None;
        }
        evicted.dirty += 1;
        if !was_used && may_write(frame.id) {
            frame.clear(flag::DIRTY);
            frame.flags |= flag::WRITING | flag::RECLAIM;
            self.dirty_found.push(frame.id);
            self.vmstat.nr_vmscan_write += 1;
        } else if !was_used {
            evicted.held_up += 1;
        }
        Some(Place::Inactive)
    }

    /// A page of the active list goes to the inactive one, whether it was used or not.
    fn deactivate(&mut self, at: u32) -> Place {
        self.frames[at].clear(flag::FROM_ACTIVE | flag::MAPPED);
        self.vmstat.pgdeactivate += 1;
        Place::Inactive
    }

    /// Frees pages as cold, the last first.
    fn free_group(&mut self, now: Instant, cpu: u32, group: &[u32]) {
        for at in group.iter().rev() {
            self.free(now, cpu, *at, true);
        }
    }
}

impl Pass {
    /// The list whose turn it is. Whoever reclaims for itself stops after a round in which it has
    /// freed enough, unless it only began.
    fn next_turn(&mut self) -> Option<Scanned> {
        while self.left.iter().any(|left| *left > 0) {
            if self.turn == Scanned::ALL.len() {
                self.turn = 0;
                let is_enough = self.who == Reclaimer::Direct
                    && self.priority < PRIORITY_MAX
                    && self.freed > CHUNK_PAGES;
                if is_enough {
                    return None;
                }
            }
            let list = Scanned::ALL[self.turn];
            self.turn += 1;
            if self.left[list as usize] > 0 {
                return Some(list);
            }
        }
        None
    }
}
