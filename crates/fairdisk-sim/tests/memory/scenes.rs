//! What the reader does in scenarios.

use crate::support::Reader;
use fairdisk_sim::host::memory::{
    Direct, DirectStep, Kernel, Kswapd, KswapdStep, Mark, MemorySpec, Reclaimer,
};

impl Reader {
    /// A reader on a machine of one CPU and 256 MiB.
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self::with(MemorySpec::new(kernel, 256, 1))
    }

    /// Reads until free memory is not above min, and the CPU has no page left either.
    pub(crate) fn fill_to_an_empty_list(&mut self) {
        self.fill(Mark::Min);
        let left = self.memory.places().on_cpus as u32;
        assert!(self.read(1, Mark::Min) == 0 && self.read(left, Mark::None) == left);
        assert_eq!(self.memory.places().on_cpus, 0);
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
        self.reclaim_with(&mut direct)
    }

    /// The steps of a direct reclaim.
    pub(crate) fn reclaim_with(&mut self, direct: &mut Direct) -> Vec<DirectStep> {
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
