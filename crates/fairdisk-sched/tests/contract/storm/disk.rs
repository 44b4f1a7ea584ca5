//! What the disk of a storm becomes, and what its engine is told of it.

use super::Sea;
use super::kind::DiskChange;
use fairdisk_core::{Change, Cost, CostModel, Span};

impl Sea {
    /// Changes the disk, if one of its kind does now.
    pub(super) fn maybe_change_disk(&mut self) {
        let disk = &self.storm.kind.disk;
        if !self.one_in(disk.changes_in) {
            return;
        }
        // Of a single change nothing is drawn.
        let at = match disk.changes {
            [_] => 0,
            several => self.prng.below(several.len() as u64) as usize,
        };
        self.change_disk(disk.changes[at]);
    }

    pub(super) fn change_disk(&mut self, change: DiskChange) {
        let change = match change {
            DiskChange::Depth => {
                let depth = self.prng.between(1, 8) as u32;
                self.world.depth = depth as usize;
                Change::Depth { depth }
            }
            DiskChange::Costs => Change::Costs(self.some_costs()),
            DiskChange::Rotational => Change::Rotational { rotational: self.prng.chance(1, 2) },
            DiskChange::OneHead => Change::Costs(costs_of_one_head()),
            DiskChange::Flash => {
                self.configure(Change::Rotational { rotational: false });
                Change::Costs(self.some_costs_of_flash())
            }
        };
        self.configure(change);
    }

    fn some_costs(&mut self) -> CostModel {
        let mut us = |most: u64| Span::from_us(self.prng.below(most));
        let read =
            Cost { sequential: us(100), random: us(200), byte_ps: 2_000, random_byte_ps: 3_000 };
        let write =
            Cost { sequential: us(300), random: us(300), byte_ps: 4_000, random_byte_ps: 4_000 };
        let saturation = us(500);
        let depth = self.world.depth as u32;
        CostModel { depth, saturation, alone: saturation, read, write }
    }

    /// Those of a disk that two requests keep busy.
    fn some_costs_of_flash(&mut self) -> CostModel {
        let time = Span::from_us(self.prng.between(20, 60));
        let cost = Cost { sequential: time, random: time, ..Cost::default() };
        let depth = self.storm.config.depth;
        CostModel { depth, saturation: time + time, alone: time, read: cost, write: cost }
    }
}

fn costs_of_one_head() -> CostModel {
    let of = |us| Cost { random: Span::from_us(us), ..Cost::default() };
    let (saturation, alone) = (Span::from_us(700), Span::from_us(700));
    CostModel { depth: 1, saturation, alone, read: of(700), write: of(500) }
}
