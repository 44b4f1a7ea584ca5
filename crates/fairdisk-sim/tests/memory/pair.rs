//! Memory and the naive model side by side.

use crate::naive::{Naive, NaivePass};
use fairdisk_core::{Instant, Prng, Span};
use fairdisk_sim::host::Presence;
use fairdisk_sim::host::memory::{
    Arrival, CpuListSize, Mark, Memory, MemorySpec, PageId, Pass, Reclaimer, Taker, Want,
    present_pages,
};

/// What happens, with small numbers that are taken modulo what exists.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Take { who: usize, want: Want, mark: Mark },
    GiveBack { who: usize },
    Insert { who: usize, id: PageId, pages: u32, arrival: Arrival },
    Arrive { id: PageId },
    Use { id: PageId, mapped: bool },
    Dirty { id: PageId },
    WriteBegins { id: PageId },
    Written { id: PageId },
    Drop { id: PageId, cpu: u32 },
    Drain,
    Reclaim { who: usize, by: Reclaimer, priority: u8, may_write: bool },
    Pause { us: u64 },
}

/// Tasks that take pages and reclaim.
pub(crate) const TASKS: usize = 3;

pub(crate) struct Pair {
    now: Instant,
    cpus: u32,
    memory: Memory,
    naive: Naive,
    takers: [Taker; TASKS],
    hands: [Vec<u32>; TASKS],
    passes: [Option<(Pass, NaivePass)>; TASKS],
    known: std::collections::BTreeSet<PageId>,
}

impl Pair {
    pub(crate) fn new(spec: MemorySpec) -> Self {
        let size = |fraction| CpuListSize::new(present_pages(spec.mib), fraction);
        let naive = Naive::new(spec, [size(spec.cpu_list_fraction), size(None).cold()]);
        Self {
            now: Instant::ZERO,
            cpus: spec.cpus,
            memory: Memory::new(spec, &mut Prng::new(0)).expect("it fits"),
            naive,
            takers: std::array::from_fn(|who| Taker::new(who as u32 % spec.cpus)),
            hands: Default::default(),
            passes: Default::default(),
            known: Default::default(),
        }
    }

    pub(crate) fn act(&mut self, act: &Act) {
        match *act {
            Act::Take { who, want, mark } => self.take(who, want, mark),
            Act::GiveBack { who } => {
                self.memory.give_back(self.now, &mut self.takers[who]);
                let cpu = self.takers[who].cpu as usize;
                for at in std::mem::take(&mut self.hands[who]) {
                    self.naive.put(self.now, cpu, at, false);
                }
            }
            Act::Insert { who, id, pages, arrival } => {
                let ids = (id.page()..).map(|page| PageId::of_file(id.file(), page));
                for id in ids.take(pages as usize) {
                    self.insert(who, id, arrival);
                }
            }
            Act::Drain => {
                self.memory.drain(self.now);
                self.naive.drain(self.now);
            }
            Act::Reclaim { who, by, priority, may_write } => {
                self.reclaim(who, by, priority, may_write);
            }
            Act::Pause { us } => self.now += Span::from_us(us),
            Act::Arrive { id }
            | Act::Use { id, .. }
            | Act::Dirty { id }
            | Act::WriteBegins { id }
            | Act::Written { id }
            | Act::Drop { id, .. } => self.act_on(act, id),
        }
        self.compare();
    }

    fn take(&mut self, who: usize, want: Want, mark: Mark) {
        let Self { memory, naive, takers, hands, .. } = self;
        let taken = memory.take(self.now, &mut takers[who], want, mark);
        let frames = naive.take(self.now, takers[who].cpu as usize, want, mark);
        assert_eq!(taken as usize, frames.len());
        hands[who].extend(frames);
        assert_eq!(takers[who].pages() as usize, hands[who].len());
    }

    fn insert(&mut self, who: usize, id: PageId, arrival: Arrival) {
        if self.hands[who].is_empty() || self.naive.frame(id).is_some() {
            return;
        }
        self.memory.insert(&mut self.takers[who], id, arrival);
        let frame = self.hands[who].remove(0);
        self.naive.insert(self.takers[who].cpu as usize, frame, id, arrival);
        self.known.insert(id);
    }

    /// Something happens to a page that is in memory, if it can.
    fn act_on(&mut self, act: &Act, id: PageId) {
        let Self { memory, naive, .. } = self;
        if naive.frame(id).is_none() {
            return;
        }
        let is_coming = naive.is_coming(id);
        match *act {
            Act::Arrive { .. } if is_coming => {
                memory.arrived(id);
                naive.arrived(id);
            }
            _ if is_coming => {}
            Act::Use { mapped: true, .. } => {
                memory.used_through_mapping(id);
                naive.used_through_mapping(id);
            }
            Act::Use { mapped: false, .. } => {
                memory.used(id);
                naive.used(id);
            }
            Act::Dirty { .. } => {
                memory.dirtied(id);
                naive.dirtied(id);
            }
            Act::WriteBegins { .. } if naive.is_held(id) && !naive.is_writing(id) => {
                memory.write_begun(id);
                naive.write_begun(id);
            }
            Act::Written { .. } if naive.is_writing(id) => {
                memory.written(id);
                naive.written(id);
            }
            Act::Drop { cpu, .. } if !naive.is_held(id) => {
                memory.drop_page(self.now, cpu % self.cpus, id);
                naive.drop_page(self.now, (cpu % self.cpus) as usize, id);
            }
            _ => {}
        }
    }

    /// Begins a pass, or ends a chunk and begins the next.
    fn reclaim(&mut self, who: usize, by: Reclaimer, priority: u8, may_write: bool) {
        let Self { memory, naive, takers, .. } = self;
        let cpu = takers[who].cpu;
        let (mut pass, mut naive_pass) = match self.passes[who].take() {
            None => (memory.pass(by, priority), naive.pass(by, priority)),
            Some((mut pass, mut naive_pass)) => {
                let evicted = memory.evict(self.now, cpu, &mut pass, |_| may_write);
                let naively = naive.evict(self.now, cpu as usize, &mut naive_pass, may_write);
                assert_eq!(evicted, naively);
                assert_eq!(memory.dirty_found(), naive.dirty_found);
                (pass, naive_pass)
            }
        };
        let isolated = memory.isolate(cpu, &mut pass);
        assert_eq!(isolated, naive.isolate(cpu as usize, &mut naive_pass));
        if isolated > 0 {
            self.passes[who] = Some((pass, naive_pass));
        }
    }

    fn compare(&mut self) {
        let Self { memory, naive, .. } = self;
        let places = memory.places();
        assert_eq!(places.all(), u64::from(naive.frames()), "pages are lost: {places:?}");
        assert_eq!((places.free, places.on_cpus), (naive.free(), naive.on_cpus()));
        assert_eq!([places.buffered, places.inactive, places.active], naive.listed());
        let in_hands: usize = self.hands.iter().map(Vec::len).sum();
        assert_eq!(places.in_hands, in_hands as u64);
        assert_eq!(memory.free_seen(self.now), naive.seen(self.now));
        for id in &self.known {
            assert_eq!(memory.frame(*id), naive.frame(*id), "{id:?}");
            assert_eq!(memory.is_held(*id), naive.is_held(*id), "{id:?}");
            let is_coming = memory.presence(*id) == Presence::Coming;
            assert_eq!(is_coming, naive.is_coming(*id), "{id:?}");
        }
    }
}
