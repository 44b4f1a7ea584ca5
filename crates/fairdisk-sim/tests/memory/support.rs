//! A task that reads through a memory and never waits.

use fairdisk_core::{Instant, Prng};
use fairdisk_sim::host::memory::{
    Arrival, Direct, DirectStep, Kernel, Kswapd, KswapdStep, Mark, Memory, MemorySpec, PageId,
    PageType, Pass, Reclaimer, Taker, Want,
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
    /// A reader on a machine of one CPU and 256 MiB.
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self::with(MemorySpec::new(kernel, 256, 1))
    }

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

    /// Reads until free memory is not above min, and the CPU has no page left either.
    pub(crate) fn fill_to_an_empty_list(&mut self) {
        self.fill(Mark::Min);
        let left = self.memory.places().on_cpus as u32;
        assert!(self.read(1, Mark::Min) == 0 && self.read(left, Mark::None) == left);
        assert_eq!(self.memory.places().on_cpus, 0);
    }

    /// A whole pass.
    pub(crate) fn pass(&mut self, who: Reclaimer, priority: u8) -> Pass {
        let mut pass = self.memory.pass(who, priority);
        while self.memory.isolate(self.by.cpu, &mut pass) > 0 {
            self.memory.evict(self.now, self.by.cpu, &mut pass, |_| true);
        }
        pass
    }

    /// Reclaims a chunk. Returns the pages freed.
    pub(crate) fn reclaim_chunk(&mut self) -> u32 {
        let mut pass = self.memory.pass(Reclaimer::Direct, 0);
        self.memory.isolate(self.by.cpu, &mut pass);
        self.memory.evict(self.now, self.by.cpu, &mut pass, |_| true).freed
    }

    /// A direct reclaim that does not wait: its steps.
    pub(crate) fn reclaim(&mut self) -> Vec<DirectStep> {
        let mut direct = Direct::new(&mut self.memory);
        let mut steps = Vec::new();
        while !matches!(steps.last(), Some(DirectStep::Done(_))) {
            let step = direct.next(&self.memory);
            steps.push(step);
            if let DirectStep::Pass(priority) = step {
                let pass = self.pass(Reclaimer::Direct, priority);
                direct.passed(&pass);
            }
        }
        steps
    }

    /// Up to `steps_max` steps of kswapd, which does not wait, until it sleeps.
    pub(crate) fn run_kswapd(&mut self, kswapd: &mut Kswapd, steps_max: usize) -> Vec<KswapdStep> {
        let mut steps = Vec::new();
        while steps.len() < steps_max && steps.last() != Some(&KswapdStep::Sleep) {
            let step = kswapd.next(&mut self.memory, self.now);
            steps.push(step);
            if let KswapdStep::Pass(priority) = step {
                let pass = self.pass(Reclaimer::Kswapd, priority);
                kswapd.passed(&pass);
            }
        }
        steps
    }
}
