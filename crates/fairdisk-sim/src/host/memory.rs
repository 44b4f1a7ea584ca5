//! The memory of a machine, page by page: what is free and where, which pages of files are in it
//! and which leave it, as kernels 2.6.24 to 2.6.37 and those of today have it (spec: memory,
//! sections 1 to 3).
//!
//! All of this is data. Time is an argument; nothing here waits. Whoever needs pages takes as many
//! as a watermark allows ([`Memory::take`]), and puts them into the page cache
//! ([`Memory::insert`]). If that is not all it needs, [`Kswapd`] is woken and [`Direct`] says what
//! the task itself does: pass over the lists, wait, or look again.
//!
//! | part | in |
//! |---|---|
//! | free blocks | `buddy.rs` |
//! | free pages of each CPU, hot and cold | `per_cpu.rs` |
//! | the count of free pages | `count.rs` |
//! | watermarks, batches: what follows from the amount of memory | `sizes.rs` |
//! | memory when the machine starts | `boot.rs` |
//! | which frame a page is in | `index.rs` |
//! | inactive and active list | `lru.rs` |
//! | what was evicted, and when | `shadows.rs` |
//! | how much is scanned, what is evicted | `reclaim.rs` |
//! | as a policy of the page cache | `policy.rs` |
//! | who reclaims when, and naps | `kswapd.rs`, `direct.rs` |
//! | what differs between kernels | `kernel.rs` |

mod boot;
mod buddy;
mod count;
mod direct;
mod frames;
mod index;
mod kernel;
mod kswapd;
mod lru;
mod per_cpu;
mod policy;
mod reclaim;
mod shadows;
mod sizes;
mod vmstat;

pub use boot::{MemorySpec, Unfit};
use buddy::{Buddies, ORDERS};
use count::FreeCount;
pub use direct::{Direct, DirectStep, WithoutPage};
use frames::{End, Frames, List, Place, flag};
pub use frames::{PageId, PageType};
use index::Index;
pub use kernel::{KERNEL_SWITCHES, Kernel, KernelSwitch, NapEnds, RELEASES};
pub use kswapd::{Kswapd, KswapdStep};
use lru::Lru;
use per_cpu::PerCpu;
pub use per_cpu::Want;
use reclaim::Saved;
pub use reclaim::{CHUNK_PAGES, Evicted, Pass, Reclaimer};
use shadows::Shadows;
pub use sizes::{CpuListSize, Watermarks, drift_max, present_pages};
pub use vmstat::{PlaceCounts, Vmstat};

use super::pages::Presence;
use fairdisk_core::Instant;

/// The priority with which reclaim begins.
pub const PRIORITY_MAX: u8 = 12;

/// Down to where free pages may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// To the last; for those that reclaim.
    None,
    /// To [`Watermarks::min`].
    Min,
    /// To [`Watermarks::low`].
    Low,
    /// To [`Watermarks::high`].
    High,
}

/// Who takes pages: where it runs, and what it has taken and not used yet.
#[derive(Debug)]
pub struct Taker {
    /// The CPU it runs on.
    pub cpu: u32,
    hand: List,
}

impl Taker {
    /// Someone without pages, on a CPU.
    #[must_use]
    pub const fn new(cpu: u32) -> Self {
        Self { cpu, hand: List::EMPTY }
    }

    /// Pages taken and not used yet.
    #[must_use]
    pub const fn pages(&self) -> u32 {
        self.hand.len()
    }
}

/// How a page comes into the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is read from the disk, and there once it has [`arrived`](Memory::arrived).
    Read,
    /// It is written as a whole, which is a use.
    Written,
}

/// The memory of a machine.
#[derive(Debug)]
pub struct Memory {
    spec: MemorySpec,
    marks: Watermarks,
    frames: Frames,
    buddies: Buddies,
    per_cpu: PerCpu,
    count: FreeCount,
    index: Index,
    lru: Lru,
    /// What was evicted, where the kernel remembers it.
    shadows: Option<Shadows>,
    /// Whether a page came back to the active list since the last pass.
    is_refaulting: bool,
    saved: Saved,
    /// Frames with the kernel and programs for good, and in the hands of those that took them.
    fixed: u64,
    in_hands: u64,
    /// Pages of metadata in the page cache.
    metadata: u64,
    dirty_found: Vec<PageId>,
    /// Whether the dirty pages that reclaim met were all on congested disks, the last time there
    /// were any.
    is_congested: bool,
    kswapd_is_awake: bool,
    vmstat: Vmstat,
}

impl Memory {
    // ---- free pages ----------------------------------------------------------------------

    /// The watermarks.
    #[must_use]
    pub const fn watermarks(&self) -> Watermarks {
        self.marks
    }

    /// The number of free pages, as a check of a watermark sees it.
    pub fn free_seen(&mut self, now: Instant) -> i64 {
        self.count.seen(now, self.spec.kernel.exact_count && self.kswapd_is_awake)
    }

    /// Whether there are more free pages than `mark`.
    pub fn is_above(&mut self, now: Instant, mark: Mark) -> bool {
        let pages = match mark {
            Mark::None => return true,
            Mark::Min => self.marks.min,
            Mark::Low => self.marks.low,
            Mark::High => self.marks.high,
        };
        self.free_seen(now) > pages as i64
    }

    /// Takes pages as long as there are more free ones than `mark`. Returns how many; if they are
    /// fewer than wanted, the rest needs reclaim, or a lower mark.
    pub fn take(&mut self, now: Instant, by: &mut Taker, want: Want, mark: Mark) -> u32 {
        let cpu = by.cpu;
        let mut taken = 0;
        while taken < want.pages && self.is_above(now, mark) {
            // Pages on the CPU's list do not count as free, so that no further check is needed.
            while taken < want.pages
                && let Some(at) = self.per_cpu.pop(&mut self.frames, cpu, &want)
            {
                self.put_in_hand(by, at);
                taken += 1;
            }
            if taken == want.pages {
                break;
            }
            let fetched = self.per_cpu.fetch(&mut self.frames, &mut self.buddies, cpu, &want);
            let Some((at, pages)) = fetched else { break };
            self.count.taken(cpu, pages);
            self.put_in_hand(by, at);
            taken += 1;
        }
        self.vmstat.pgalloc += u64::from(taken);
        taken
    }

    fn put_in_hand(&mut self, by: &mut Taker, at: u32) {
        self.frames[at].place = Place::InHand;
        self.frames.push(&mut by.hand, End::Tail, at);
        self.in_hands += 1;
    }

    /// Frees the pages that someone has taken and not used.
    pub fn give_back(&mut self, now: Instant, by: &mut Taker) {
        while let Some(at) = self.frames.pop(&mut by.hand, End::Head) {
            self.in_hands -= 1;
            self.free(now, by.cpu, at, false);
        }
    }

    /// Frees a frame that is in no list.
    fn free(&mut self, now: Instant, cpu: u32, at: u32, cold: bool) {
        self.vmstat.pgfree += 1;
        let returned = self.per_cpu.put(&mut self.frames, &mut self.buddies, cpu, at, cold);
        if returned > 0 {
            self.count.returned(now, cpu, returned);
        }
    }

    /// Returns the pages that all CPUs keep to the free blocks.
    pub fn drain(&mut self, now: Instant) {
        for cpu in 0..self.per_cpu.cpus() {
            let returned = self.per_cpu.drain(&mut self.frames, &mut self.buddies, cpu);
            if returned > 0 {
                self.count.returned(now, cpu, returned);
            }
        }
    }

    // ---- the page cache ------------------------------------------------------------------

    /// Puts a page into the page cache, in the frame taken first of those in hand.
    pub fn insert(&mut self, by: &mut Taker, id: PageId, arrival: Arrival) {
        let Some(at) = self.frames.pop(&mut by.hand, End::Head) else {
            panic!("no frame was taken for {id:?}")
        };
        self.in_hands -= 1;
        let frame = &mut self.frames[at];
        frame.id = id;
        frame.flags = match arrival {
            Arrival::Read => flag::COMING,
            Arrival::Written => flag::USED | flag::REFERENCED,
        };
        self.index.insert(&mut self.frames, at);
        self.metadata += u64::from(id.is_metadata());
        if self.comes_back(id) {
            self.lru.put(&mut self.frames, at, Place::Active);
        } else {
            self.lru.add(&mut self.frames, by.cpu, at);
        }
    }

    /// Whether a page that comes into memory was evicted so shortly before that it goes to the
    /// active list.
    fn comes_back(&mut self, id: PageId) -> bool {
        let Some(distance) = self.shadows.as_mut().and_then(|it| it.returned(id)) else {
            return false;
        };
        self.vmstat.workingset_refault += 1;
        let comes_soon = distance <= self.lru.active.len();
        if comes_soon {
            self.vmstat.workingset_activate += 1;
            self.is_refaulting = true;
            self.count_activated();
        }
        comes_soon
    }

    /// Whether the page is in memory.
    #[must_use]
    pub fn presence(&self, id: PageId) -> Presence {
        match self.index.find(&self.frames, id) {
            None => Presence::Absent,
            Some(at) if self.frames[at].has(flag::COMING) => Presence::Coming,
            Some(_) => Presence::Present,
        }
    }

    /// The number of the frame that a page is in. Pages in ascending frames that follow one another
    /// are one segment for an adapter.
    #[must_use]
    pub fn frame(&self, id: PageId) -> Option<u32> {
        self.index.find(&self.frames, id)
    }

    /// Records that a page has been read from the disk.
    pub fn arrived(&mut self, id: PageId) {
        let at = self.index.find(&self.frames, id);
        let was_coming = at.is_some_and(|at| self.frames[at].clear(flag::COMING));
        debug_assert!(was_coming, "{id:?} is not on its way");
    }

    /// Records a use of a page by a call, if it is in memory. Returns whether it is the first since
    /// the page was read.
    pub fn used(&mut self, id: PageId) -> bool {
        let Some(at) = self.index.find(&self.frames, id) else { return false };
        if self.frames[at].has(flag::COMING) {
            return false;
        }
        let is_first = !self.frames[at].has(flag::USED);
        let is_activated = self.lru.used(&mut self.frames, at);
        if is_activated {
            self.count_activated();
        }
        is_first
    }

    fn count_activated(&mut self) {
        self.vmstat.pgactivate += 1;
        if let Some(shadows) = &mut self.shadows
            && self.spec.activations_age
        {
            shadows.age();
        }
    }

    /// Records a use of a page through a mapping. Returns whether it is the first since the page
    /// was read.
    pub fn used_through_mapping(&mut self, id: PageId) -> bool {
        self.set(id, flag::USED | flag::MAPPED) & flag::USED == 0
    }

    /// The longest window of read-ahead that there is memory for (spec: memory, 4.1).
    pub fn window_max(&mut self, now: Instant) -> u64 {
        let free = self.free_seen(now).max(0) as u64;
        (u64::from(self.lru.inactive.len()) + free) / 2
    }

    /// Sets the mark that makes whoever reads the page read ahead.
    pub fn set_mark(&mut self, id: PageId) {
        self.set(id, flag::MARK);
    }

    /// Whether the page carries the mark.
    #[must_use]
    pub fn has_mark(&self, id: PageId) -> bool {
        self.index.find(&self.frames, id).is_some_and(|at| self.frames[at].has(flag::MARK))
    }

    /// Whether the page is in memory and carries no mark.
    #[must_use]
    pub fn is_unmarked(&self, id: PageId) -> bool {
        let at = self.index.find(&self.frames, id);
        at.is_some_and(|at| !self.frames[at].has(flag::COMING | flag::MARK))
    }

    /// Clears the mark of a page. Returns whether it had one.
    pub fn clear_mark(&mut self, id: PageId) -> bool {
        let at = self.index.find(&self.frames, id);
        at.is_some_and(|at| self.frames[at].clear(flag::MARK))
    }

    /// Records that a page has data that is not on the disk.
    pub fn dirtied(&mut self, id: PageId) {
        self.set(id, flag::DIRTY);
    }

    /// Records that the data of a page is on its way to the disk.
    pub fn write_begun(&mut self, id: PageId) {
        if let Some(at) = self.index.find(&self.frames, id) {
            let frame = &mut self.frames[at];
            frame.clear(flag::DIRTY);
            frame.flags |= flag::WRITING;
        }
    }

    /// Records that a write of a page has completed. If the page was written in order to be
    /// evicted, and has not been dirtied meanwhile, it is next.
    pub fn written(&mut self, id: PageId) {
        self.write_ended(id, flag::WRITING);
    }

    /// Records that nothing is left to write of a page.
    pub fn cleaned(&mut self, id: PageId) {
        self.write_ended(id, flag::WRITING | flag::DIRTY);
    }

    fn write_ended(&mut self, id: PageId, cleared: u16) {
        let Some(at) = self.index.find(&self.frames, id) else { return };
        let frame = &mut self.frames[at];
        frame.clear(cleared);
        if frame.clear(flag::RECLAIM) && !frame.has(flag::DIRTY) {
            self.vmstat.pgrotated += u64::from(self.lru.rotate(&mut self.frames, at));
        }
    }

    /// Whether the page must stay, because its data is not on the disk.
    #[must_use]
    pub fn is_held(&self, id: PageId) -> bool {
        let at = self.index.find(&self.frames, id);
        at.is_some_and(|at| self.frames[at].has(flag::DIRTY | flag::WRITING))
    }

    /// Sets flags of a page, and returns those that it had before.
    fn set(&mut self, id: PageId, flags: u16) -> u16 {
        let at = self.index.find(&self.frames, id);
        debug_assert!(at.is_some(), "{id:?} is not in memory");
        let Some(at) = at else { return 0 };
        let had = self.frames[at].flags;
        self.frames[at].flags |= flags;
        had
    }

    /// Drops a page that is in memory. Its frame goes to a CPU's list, or stays with whoever is
    /// about to evict it.
    pub fn drop_page(&mut self, now: Instant, cpu: u32, id: PageId) {
        let Some(at) = self.index.find(&self.frames, id) else { return };
        self.forget(at);
        if self.lru.remove(&mut self.frames, at) {
            self.free(now, cpu, at, false);
        } else {
            self.frames[at].flags |= flag::DROPPED;
        }
    }

    /// Takes a page out of the page cache.
    fn forget(&mut self, at: u32) {
        self.index.remove(&mut self.frames, at);
        self.metadata -= u64::from(self.frames[at].id.is_metadata());
    }

    // ---- who reclaims --------------------------------------------------------------------

    /// Whether those that reclaim have taken more pages than the inactive list has left, so that
    /// more of them would only wait for each other.
    #[must_use]
    pub fn has_too_many_isolated(&self) -> bool {
        self.spec.kernel.too_many_isolated && self.lru.isolated > u64::from(self.lru.inactive.len())
    }

    /// Whether dirty pages are held up by congested disks: all that reclaim met in a chunk were,
    /// and free memory has not been above [`Mark::High`] since.
    #[must_use]
    pub const fn is_congested(&self) -> bool {
        self.is_congested
    }

    /// The kernel.
    #[must_use]
    pub const fn kernel(&self) -> &Kernel {
        &self.spec.kernel
    }

    // ---- what is told --------------------------------------------------------------------

    /// What has happened so far, under the names of `/proc/vmstat`.
    #[must_use]
    pub const fn vmstat(&self) -> &Vmstat {
        &self.vmstat
    }

    /// Where the pages of the machine are.
    #[must_use]
    pub fn places(&self) -> PlaceCounts {
        debug_assert_eq!(self.count.all(), self.buddies.frames() as i64, "the count is off");
        PlaceCounts {
            free: self.buddies.frames(),
            on_cpus: self.per_cpu.pages(),
            fixed: self.fixed,
            in_hands: self.in_hands,
            buffered: self.lru.buffered(),
            inactive: u64::from(self.lru.inactive.len()),
            active: u64::from(self.lru.active.len()),
            isolated: self.lru.isolated,
        }
    }

    /// The number of free blocks of each order, as `/proc/buddyinfo` has it.
    #[must_use]
    pub fn free_blocks(&self) -> [u32; ORDERS] {
        self.buddies.blocks()
    }

    /// Pages of the machine.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.frames.len() as u64
    }

    /// Pages of metadata in the page cache ("Buffers").
    #[must_use]
    pub const fn buffers(&self) -> u64 {
        self.metadata
    }
}
