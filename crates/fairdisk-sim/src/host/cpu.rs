//! CPUs: when a woken task gets to run.
//!
//! A woken task goes to the CPU it last ran on if that is free, else to a free CPU, else it waits
//! for its own. This decides which task is first after a completion: the one whose I/O completed or
//! the one that was waiting for its request slot (spec: disk, part 3 item 4).

use fairdisk_core::{Instant, Prng, Span};

/// CPU times of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpec {
    /// The number of CPUs.
    pub cpus: u32,
    /// Shortest CPU time between a task's I/O completion and its next submission.
    pub turnaround_min: Span,
    /// Longest CPU time between a task's I/O completion and its next submission. Times are uniform
    /// between the two.
    pub turnaround_max: Span,
    /// CPU time from being woken for a request slot to trying to get it.
    pub slot_wake: Span,
    /// CPU time from being woken for a block of addresses to submitting what it maps. The way is
    /// longer than to a slot: the rest of the addresses is looked up, and the I/O is made. So a
    /// task that was woken for the slot of the same completion asks first.
    pub metadata_wake: Span,
    /// CPU time to copy a page of 4 KiB between the page cache and a task.
    pub page_copy: Span,
    /// CPU time of a page fault, without any waiting for I/O.
    pub page_fault: Span,
}

#[derive(Debug)]
pub(crate) struct Cpus {
    spec: CpuSpec,
    busy_until: Vec<Instant>,
    /// The random numbers for the tasks of each disk.
    prngs: Vec<Prng>,
}

impl Cpus {
    pub(crate) fn new(spec: CpuSpec, prngs: Vec<Prng>) -> Self {
        let cpus = spec.cpus.max(1) as usize;
        Self { spec, busy_until: vec![Instant::ZERO; cpus], prngs }
    }

    pub(crate) const fn spec(&self) -> &CpuSpec {
        &self.spec
    }

    /// Runs a task of the disk `home`, woken at `now`, for its turnaround. Returns when it gets a
    /// CPU and when it is done.
    pub(crate) fn turnaround(
        &mut self,
        now: Instant,
        cpu: &mut u32,
        home: u32,
    ) -> (Instant, Instant) {
        let (min, max) = (self.spec.turnaround_min.as_ns(), self.spec.turnaround_max.as_ns());
        let burst = if max > min { self.prngs[home as usize].between(min, max) } else { min };
        self.take(now, cpu, Span::from_ns(burst))
    }

    /// Runs a task woken at `now` for `burst`. Returns when it is done.
    pub(crate) fn run(&mut self, now: Instant, cpu: &mut u32, burst: Span) -> Instant {
        self.take(now, cpu, burst).1
    }

    fn take(&mut self, now: Instant, cpu: &mut u32, burst: Span) -> (Instant, Instant) {
        // A valid CPU number, except for a task that has not run yet.
        let own = match *cpu as usize {
            known if known < self.busy_until.len() => known,
            number => number % self.busy_until.len(),
        };
        let free = |at: usize| self.busy_until[at] <= now;
        let at = if free(own) {
            own
        } else {
            (0..self.busy_until.len()).find(|at| free(*at)).unwrap_or(own)
        };
        *cpu = at as u32;
        let from = self.busy_until[at].max(now);
        self.busy_until[at] = from + burst;
        (from, from + burst)
    }
}
