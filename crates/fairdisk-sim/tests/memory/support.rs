//! A task that reads through a memory and never waits.

use fairdisk_core::{Instant, Prng};
use fairdisk_sim::host::memory::{
    Arrival, Kernel, Mark, Memory, MemorySpec, PageId, PageType, Pass, Reclaimer, Taker, Want,
};

pub(crate) const fn cold(pages: u32) -> Want {
    Want { pages, cold: true, page_type: PageType::Movable }
}

pub(crate) fn kernel(release: &str) -> Kernel {
    Kernel::of_release(release).expect("it is listed")
}

/// Page number `page` of the file that is read.
pub(crate) const fn page(page: u64) -> PageId {
    PageId::of_file(0, page)
}

pub(crate) struct Reader {
    pub(crate) now: Instant,
    pub(crate) memory: Memory,
    pub(crate) by: Taker,
    /// The next page to read.
    pub(crate) next: u64,
}

impl Reader {
    /// A reader on the first CPU of a machine.
    pub(crate) fn with(spec: MemorySpec) -> Self {
        let memory = Memory::new(spec, &mut Prng::new(1)).expect("it fits");
        Self { now: Instant::ZERO, memory, by: Taker::new(0), next: 0 }
    }

    /// Reads pages down to a mark. Returns how many there were.
    pub(crate) fn read(&mut self, pages: u32, mark: Mark) -> u32 {
        let taken = self.memory.take(self.now, &mut self.by, cold(pages), mark);
        for _ in 0..taken {
            self.memory.insert(&mut self.by, page(self.next), Arrival::Read);
            self.memory.arrived(page(self.next));
            self.next += 1;
        }
        taken
    }

    /// Reads until there is no more free memory than `mark`.
    pub(crate) fn fill(&mut self, mark: Mark) {
        self.read(u32::MAX, mark);
    }

    /// A whole pass.
    pub(crate) fn pass(&mut self, who: Reclaimer, priority: u8) -> Pass {
        let mut pass = self.memory.pass(who, priority);
        while self.memory.isolate(self.by.cpu, &mut pass) > 0 {
            self.memory.evict(self.now, self.by.cpu, &mut pass, |_| true);
        }
        pass
    }
}
