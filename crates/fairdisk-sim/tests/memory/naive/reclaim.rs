//! Reclaim in the slow and simple way.

use super::Naive;
use fairdisk_core::Instant;
use fairdisk_sim::host::memory::{Evicted, Reclaimer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Anonymous,
    Inactive,
    Active,
}

/// A pass: pages left to scan of anonymous memory, the inactive and the active list.
#[derive(Debug)]
pub(crate) struct NaivePass {
    who: Reclaimer,
    priority: u8,
    left: [u64; 3],
    turn: usize,
    chunk: Vec<u32>,
    from: From,
    ages_active: bool,
    freed: u32,
}

impl Naive {
    pub(crate) fn pass(&mut self, who: Reclaimer, priority: u8) -> NaivePass {
        let share = self.spec.file_share_percent;
        let sizes = [
            (self.spec.anonymous_pages, 100 - share),
            (self.inactive.len() as u64, share),
            (self.active.len() as u64, share),
        ];
        let mut left = [0; 3];
        for (at, (size, share)) in sizes.into_iter().enumerate() {
            self.saved[at] += (size >> priority) * share / 100;
            if self.saved[at] >= 32 {
                left[at] = std::mem::take(&mut self.saved[at]);
            }
        }
        let (chunk, from) = (Vec::new(), From::Anonymous);
        let is_refaulting = std::mem::take(&mut self.is_refaulting);
        let ages_active = is_refaulting && self.kernel().refault_ages_active;
        NaivePass { who, priority, left, turn: 0, chunk, from, ages_active, freed: 0 }
    }

    pub(crate) fn isolate(&mut self, cpu: usize, pass: &mut NaivePass) -> u32 {
        while pass.left != [0; 3] {
            if pass.turn == 3 {
                pass.turn = 0;
                if pass.who == Reclaimer::Direct && pass.priority < 12 && pass.freed > 32 {
                    return 0;
                }
            }
            let turn = pass.turn;
            pass.turn += 1;
            let pages = pass.left[turn].min(32);
            pass.left[turn] -= pages;
            pass.from = [From::Anonymous, From::Inactive, From::Active][turn];
            if pages > 0 && pass.from == From::Anonymous {
                return pages as u32;
            }
            let kernel = *self.kernel();
            let rests =
                kernel.evict_once && !pass.ages_active && self.active.len() <= self.inactive.len();
            if pass.from == From::Active && rests {
                if kernel.evict_once_share {
                    continue;
                }
                pass.from = From::Inactive;
            }
            if pages > 0 {
                self.flush(cpu);
            }
            let list =
                if pass.from == From::Active { &mut self.active } else { &mut self.inactive };
            pass.chunk = (0..pages).map_while(|_| list.pop_back()).collect();
            if !pass.chunk.is_empty() {
                return pass.chunk.len() as u32;
            }
        }
        0
    }

    pub(crate) fn evict(
        &mut self,
        now: Instant,
        cpu: usize,
        pass: &mut NaivePass,
        may_write: bool,
    ) -> Evicted {
        self.dirty_found.clear();
        let (mut evicted, mut gone) = (Evicted::default(), Vec::new());
        let mapped_once = self.kernel().mapped_once;
        for at in std::mem::take(&mut pass.chunk) {
            let Some(page) = self.pages.get_mut(&at) else {
                gone.push(at);
                continue;
            };
            if pass.from == From::Active {
                page.mapped = false;
                self.inactive.push_front(at);
                continue;
            }
            if page.coming || page.writing {
                evicted.writing += u32::from(page.writing);
                self.inactive.push_front(at);
                continue;
            }
            let was_used = std::mem::replace(&mut page.referenced, false);
            if std::mem::replace(&mut page.mapped, false) {
                if mapped_once && !was_used {
                    page.referenced = true;
                    self.inactive.push_front(at);
                } else {
                    self.active.push_front(at);
                    self.count_activated();
                }
            } else if page.dirty {
                evicted.dirty += 1;
                if !was_used && may_write {
                    (page.dirty, page.writing, page.to_be_evicted) = (false, true, true);
                    self.dirty_found.push(page.id);
                } else if !was_used {
                    evicted.held_up += 1;
                }
                self.inactive.push_front(at);
            } else {
                let id = page.id;
                self.pages.remove(&at);
                self.evicted(id);
                gone.push(at);
            }
        }
        for group in gone.chunks(14) {
            group.iter().rev().for_each(|at| self.put(now, cpu, *at, true));
        }
        evicted.freed = gone.len() as u32;
        pass.freed += evicted.freed;
        evicted
    }
}
