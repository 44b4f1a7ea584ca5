//! The memory of a machine from the side of those that reclaim: kswapd, naps and what ends them
//! (spec: memory, 2.3 and 2.5).

use super::allocating::{Allocation, RECLAIM_NAP};
use super::io::{Io, IoKind};
use super::stalls::{NapUntil, StallStep, Stalls};
use super::writing_back::{WriteBack, Writer};
use super::{Event, Machine, MachineConfig};
use crate::host::memory::{Kswapd, KswapdStep, Mark, MemorySpec, NapEnds, PageId, Pass, Reclaimer};
use fairdisk_core::{Elevator, Instant, Op, Span};

/// The memory of a machine page by page.
#[derive(Clone, Copy, Debug)]
pub struct MemoryConfig {
    /// The memory, and its kernel.
    pub spec: MemorySpec,
    /// CPU time to take a page and insert it into the page cache.
    pub page_take: Span,
    /// CPU time to scan a page for eviction, and free it.
    pub page_scan: Span,
}

/// Who naps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleeper {
    Kswapd,
    Task(u32),
}

/// What ends a nap early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wakes {
    /// A completion of the class that the kernel waits for, on any disk.
    Completion,
    /// Free memory above the low mark.
    AboveLow,
    /// Pages that somebody has freed.
    Progress,
    /// A task that needs memory.
    Wake,
}

/// A nap, with a number of its own.
#[derive(Clone, Copy, Debug)]
struct Nap {
    number: u64,
    who: Sleeper,
    wakes: Wakes,
}

/// Who waits for memory, and kswapd.
#[derive(Debug)]
pub(super) struct Reclaiming {
    config: MemoryConfig,
    /// By task.
    pub(super) allocations: Vec<Option<Allocation>>,
    kswapd: Kswapd,
    /// The pass that kswapd is in.
    pass: Option<Pass>,
    /// The CPU that it last ran on.
    cpu: u32,
    /// Whether it runs, or waits for a CPU.
    is_running: bool,
    naps: Vec<Nap>,
    naps_begun: u64,
    /// What becomes of tasks that wait, if that is kept.
    pub(super) stalls: Option<Stalls>,
}

impl Reclaiming {
    pub(super) fn new(config: MemoryConfig, machine: &MachineConfig) -> Self {
        let tasks = machine.tasks.len();
        Self {
            config,
            stalls: machine.keep_journal.then(|| Stalls::of(tasks)),
            allocations: (0..tasks).map(|_| None).collect(),
            kswapd: Kswapd::default(),
            pass: None,
            cpu: 0,
            is_running: false,
            naps: Vec::new(),
            naps_begun: 0,
        }
    }

    /// CPU time to scan pages.
    pub(super) fn scan(&self, pages: u32) -> Span {
        Span::from_ns(self.config.page_scan.as_ns() * u64::from(pages))
    }

    /// CPU time to take and insert pages.
    pub(super) fn take(&self, pages: u32) -> Span {
        Span::from_ns(self.config.page_take.as_ns() * u64::from(pages))
    }
}

impl<E: Elevator> Machine<E> {
    // ---- kswapd --------------------------------------------------------------------------

    /// Wakes kswapd, if it sleeps and free memory is below the low mark.
    pub(super) fn wake_kswapd(&mut self, now: Instant) {
        let (Some(reclaiming), Some(memory)) = (&mut self.reclaiming, self.pages.memory()) else {
            return;
        };
        // A kswapd whose doze is over, and which waits for a CPU, needs nobody to wake it.
        if !reclaiming.is_running && reclaiming.kswapd.wake(memory, now) {
            reclaiming.naps.retain(|nap| nap.who != Sleeper::Kswapd);
            self.run_kswapd_later(now, Span::ZERO);
        }
    }

    fn run_kswapd_later(&mut self, now: Instant, burst: Span) {
        let Some(reclaiming) = &mut self.reclaiming else { return };
        debug_assert!(!reclaiming.is_running, "there is one kswapd");
        reclaiming.is_running = true;
        let at = self.cpus.run(now, &mut reclaiming.cpu, burst);
        self.events.push(at, Event::Kswapd);
    }

    /// Runs kswapd until it waits.
    #[inline(never)]
    pub(super) fn run_kswapd(&mut self, now: Instant) {
        if let Some(reclaiming) = &mut self.reclaiming {
            reclaiming.is_running = false;
        }
        loop {
            let Some(reclaiming) = &mut self.reclaiming else { return };
            let cpu = reclaiming.cpu;
            if let Some(mut pass) = reclaiming.pass.take() {
                self.evict(now, cpu, &mut pass, Sleeper::Kswapd, true);
                if self.scan_next(now, pass) {
                    return;
                }
            }
            let (Some(reclaiming), Some(memory)) = (&mut self.reclaiming, self.pages.memory())
            else {
                return;
            };
            match reclaiming.kswapd.next(memory, now) {
                KswapdStep::Pass(priority) => {
                    let pass = memory.pass(Reclaimer::Kswapd, priority);
                    if self.scan_next(now, pass) {
                        return;
                    }
                }
                KswapdStep::Nap => {
                    return self.nap(now, Sleeper::Kswapd, RECLAIM_NAP, Wakes::Completion);
                }
                KswapdStep::Doze => {
                    return self.nap(now, Sleeper::Kswapd, RECLAIM_NAP, Wakes::Wake);
                }
                KswapdStep::Sleep => return,
            }
        }
    }

    /// Has kswapd work on the next chunk of a pass. Returns whether there is one; a pass of the
    /// last priority that finds nothing takes the time of a page, as kswapd then begins anew.
    fn scan_next(&mut self, now: Instant, mut pass: Pass) -> bool {
        let (Some(reclaiming), Some(memory)) = (&mut self.reclaiming, self.pages.memory()) else {
            return true;
        };
        let pages = memory.isolate(reclaiming.cpu, &mut pass);
        let is_over = pages == 0;
        if is_over {
            reclaiming.kswapd.passed(&pass);
        }
        let is_in_vain = is_over && pass.priority() == 0 && pass.scanned() == 0;
        if !is_over {
            reclaiming.pass = Some(pass);
        }
        if is_over && !is_in_vain {
            return false;
        }
        let burst = reclaiming.scan(pages.max(1));
        self.run_kswapd_later(now, burst);
        true
    }

    /// Ends the chunk of a pass: what can leaves the page cache, and dirty pages are sent to the
    /// disk, each alone. A task writes none before it has scanned much, and none to a congested
    /// disk.
    pub(super) fn evict(
        &mut self,
        now: Instant,
        cpu: u32,
        pass: &mut Pass,
        who: Sleeper,
        may_write: bool,
    ) {
        let (back, disks, files) = (self.write_back.as_ref(), &self.disks, &self.files);
        let Some(memory) = self.pages.memory() else { return };
        let evicted = memory.evict(now, cpu, pass, |id: PageId| {
            let disk = &disks[files[id.file() as usize].disk];
            let is_taken = who == Sleeper::Kswapd || !disk.is_write_congested();
            let is_waiting = |back: &WriteBack| back.pages.is_waiting(id.file(), id.page());
            may_write && is_taken && back.is_some_and(is_waiting)
        });
        let dirty: Vec<PageId> = memory.dirty_found().to_vec();
        for id in dirty {
            let writer = match who {
                Sleeper::Kswapd => Writer::Flusher,
                Sleeper::Task(index) => Writer::Task(index),
            };
            let Some(back) = &mut self.write_back else { break };
            let mark = back.pages.mark();
            self.write_older(now, writer, id.file(), id.page()..id.page() + 1, mark);
        }
        self.end_naps_above_low(now);
        if evicted.freed > 0 {
            self.end_naps(now, false, |nap| nap.wakes == Wakes::Progress);
        }
    }

    // ---- naps ----------------------------------------------------------------------------

    /// Has somebody nap, until a tick that is at most so far away.
    pub(super) fn nap(&mut self, now: Instant, who: Sleeper, most: Span, wakes: Wakes) {
        let ticks = self.disks[0].ticks;
        let until = ticks.after(now, ticks.whole(most).max(1));
        let Some(reclaiming) = &mut self.reclaiming else { return };
        reclaiming.naps_begun += 1;
        let number = reclaiming.naps_begun;
        reclaiming.naps.push(Nap { number, who, wakes });
        self.events.push(until, Event::NapOver(number));
        if let (Sleeper::Task(index), Some(ends)) = (who, self.nap_until(wakes)) {
            self.tell_stall(now, index, StallStep::Naps(ends, until - now));
        }
    }

    /// What ends a nap before its time, in the words of the kernel.
    fn nap_until(&self, wakes: Wakes) -> Option<NapUntil> {
        let kernel = self.pages.frames()?.kernel();
        Some(NapUntil::of(wakes, kernel.nap_ends()))
    }

    /// Ends a nap whose time is over.
    pub(super) fn nap_over(&mut self, now: Instant, number: u64) {
        self.end_naps(now, true, |nap| nap.number == number);
    }

    /// Ends the naps that an I/O ends.
    #[inline(never)]
    pub(super) fn end_naps_after(&mut self, now: Instant, io: &Io) {
        let Some(memory) = self.pages.memory() else { return };
        let is_async = matches!(
            io.kind,
            IoKind::WriteBehind { .. } | IoKind::WriteBack { submitter: None, .. }
        );
        let ends = match memory.kernel().nap_ends() {
            NapEnds::Write => io.op == Op::Write,
            NapEnds::Sync => !is_async,
            NapEnds::Async => is_async,
        };
        if ends {
            self.end_naps(now, false, |nap| nap.wakes == Wakes::Completion);
        }
    }

    fn end_naps_above_low(&mut self, now: Instant) {
        let waits = |it: &Reclaiming| it.naps.iter().any(|nap| nap.wakes == Wakes::AboveLow);
        let is_waited_for = self.reclaiming.as_deref().is_some_and(waits);
        if is_waited_for && self.pages.memory().is_some_and(|it| it.is_above(now, Mark::Low)) {
            self.end_naps(now, false, |nap| nap.wakes == Wakes::AboveLow);
        }
    }

    /// Ends some naps, because their time is over or because of what they wait for.
    fn end_naps(&mut self, now: Instant, is_time_over: bool, ends: impl Fn(&Nap) -> bool) {
        let Some(reclaiming) = &mut self.reclaiming else { return };
        let mut ended = Vec::new();
        reclaiming.naps.retain(|nap| {
            let is_over = ends(nap);
            if is_over {
                ended.push((nap.who, nap.wakes));
            }
            !is_over
        });
        for (who, wakes) in ended {
            let Sleeper::Task(index) = who else {
                self.run_kswapd_later(now, Span::ZERO);
                continue;
            };
            let woken = self.nap_until(wakes).filter(|_| !is_time_over);
            self.tell_stall(now, index, woken.map_or(StallStep::TimeOver, StallStep::Woken));
            self.wake(now, index);
        }
    }
}
