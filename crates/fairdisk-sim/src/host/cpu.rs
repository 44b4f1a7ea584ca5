//! CPUs: when a woken task gets to run.
//!
//! A woken task goes to the CPU it ran on last if that is free, else to a free one, else it waits
//! for its own. That decides who comes first after a completion, the task whose I/O finished or
//! the one that was waiting for its request slot (spec: disk, part 3 item 4).

use fairdisk_core::{Instant, Prng, Span};

/// How long things take on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpec {
    /// Number of CPUs.
    pub cpus: u32,
    /// From the completion of an I/O to the same task's next submission, at least.
    pub turnaround_min: Span,
    /// The same, at most. Evenly spread in between.
    pub turnaround_max: Span,
    /// From being woken for a request slot to trying for it.
    pub slot_wake: Span,
    /// Copying a page of 4 KiB between page cache and task.
    pub page_copy: Span,
    /// A page fault, without what it waits for.
    pub page_fault: Span,
}

#[derive(Debug)]
pub(crate) struct Cpus {
    spec: CpuSpec,
    busy_until: Vec<Instant>,
    prng: Prng,
}

impl Cpus {
    pub(crate) fn new(spec: CpuSpec, prng: Prng) -> Self {
        let cpus = spec.cpus.max(1) as usize;
        Self { spec, busy_until: vec![Instant::ZERO; cpus], prng }
    }

    pub(crate) const fn spec(&self) -> &CpuSpec {
        &self.spec
    }

    /// Lets a task that was woken at `now` run for its turnaround; says when it gets a CPU, and
    /// when it is through.
    pub(crate) fn turnaround(&mut self, now: Instant, cpu: &mut u32) -> (Instant, Instant) {
        let (min, max) = (self.spec.turnaround_min.as_ns(), self.spec.turnaround_max.as_ns());
        let burst = if max > min { self.prng.between(min, max) } else { min };
        self.take(now, cpu, Span::from_ns(burst))
    }

    /// Lets a task that was woken at `now` run for `burst`; says when it is through.
    pub(crate) fn run(&mut self, now: Instant, cpu: &mut u32, burst: Span) -> Instant {
        self.take(now, cpu, burst).1
    }

    fn take(&mut self, now: Instant, cpu: &mut u32, burst: Span) -> (Instant, Instant) {
        // It is one of them but for the first time.
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
