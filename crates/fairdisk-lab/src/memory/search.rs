//! Which sizes of memory are tried. They double until one is plenty; then the space between a size
//! that is too little and one that is enough is divided, until that is known closely.

use std::collections::{BTreeMap, BTreeSet};

/// What decides about a size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) mb_per_s: f64,
    pub(super) again_percent: f64,
    pub(super) waits_percent: f64,
    pub(super) touched_mib: f64,
}

/// Sizes tried and to try, in MiB.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// The part of the throughput with plenty that is wanted.
    want: f64,
    tried: BTreeMap<u64, Size>,
    /// Sizes that the load cannot be run with, as they are smaller than what is in use for good.
    impossible: BTreeSet<u64>,
}

/// Sizes that are tried at a time, so that cores have work.
const AT_ONCE: u32 = 3;
/// A size is known closely enough at this fraction of it.
const CLOSE: u64 = 16;
/// What is no more than this percentage counts as nothing.
const NOTHING_PERCENT: f64 = 0.05;

impl Sizes {
    /// The smallest and the largest size that is tried.
    pub const SMALLEST: u64 = 16;
    /// See [`SMALLEST`](Self::SMALLEST).
    pub const LARGEST: u64 = 16_384;

    /// Nothing was tried.
    #[must_use]
    pub const fn new(want: f64) -> Self {
        Self { want, tried: BTreeMap::new(), impossible: BTreeSet::new() }
    }

    /// Rules out a size with which the load cannot be run. Returns false.
    pub(super) fn rules_out(&mut self, mib: u64) -> bool {
        self.impossible.insert(mib);
        false
    }

    pub(super) fn tried(&mut self, mib: u64, size: Size) {
        self.tried.insert(mib, size);
    }

    /// The sizes tried.
    pub(super) fn all(&self) -> Vec<u64> {
        self.tried.keys().copied().collect()
    }

    /// The size, of those that were doubled, with which nothing is read again and nobody waits, or
    /// the largest, if that is known. A size between may have too little and hardly show it.
    #[must_use]
    pub fn plenty(&self) -> Option<u64> {
        let is_plenty = |(mib, size): &(&u64, &Size)| {
            let holds_all = **mib as f64 >= 2.0 * size.touched_mib + 64.0;
            let reads_nothing_again = size.again_percent <= NOTHING_PERCENT || holds_all;
            let is_it = size.waits_percent <= NOTHING_PERCENT && reads_nothing_again;
            is_it || **mib >= Self::LARGEST
        };
        self.tried
            .iter()
            .filter(|(mib, _)| mib.is_power_of_two())
            .find(is_plenty)
            .map(|(mib, _)| *mib)
    }

    /// The smallest size tried that keeps what is wanted, as all larger ones do.
    #[must_use]
    pub fn enough(&self) -> Option<u64> {
        let with_plenty = self.tried.get(&self.plenty()?)?.mb_per_s;
        let keeps = |(_, size): &(&u64, &Size)| size.mb_per_s >= self.want * with_plenty;
        self.tried.iter().rev().take_while(keeps).last().map(|(mib, _)| *mib)
    }

    /// The sizes to try next; `None` if enough is known.
    pub(super) fn next(&self) -> Option<Vec<u64>> {
        let known = |mib: &u64| self.tried.contains_key(mib) || self.impossible.contains(mib);
        if self.plenty().is_none() {
            let doubled = std::iter::successors(Some(Self::SMALLEST), |mib| Some(mib * 2));
            let open = doubled.take_while(|mib| *mib <= Self::LARGEST).filter(|mib| !known(mib));
            let open: Vec<u64> = open.take(AT_ONCE as usize).collect();
            return Some(open).filter(|open| !open.is_empty());
        }
        let enough = self.enough()?;
        let below = |mib: &&u64| **mib < enough;
        let tried = self.tried.keys().rev().find(below);
        let impossible = self.impossible.iter().rev().find(below);
        let too_little = tried.max(impossible).copied().unwrap_or(Self::SMALLEST);
        let gap = enough.saturating_sub(too_little);
        if gap <= (enough / CLOSE).max(1) {
            return None;
        }
        let parts = u64::from(AT_ONCE + 1);
        let between: BTreeSet<u64> =
            (1..parts).map(|at| too_little + gap * at / parts).filter(|mib| !known(mib)).collect();
        Some(between.into_iter().collect()).filter(|open: &Vec<u64>| !open.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches for what a load needs that reads again with less than `fits` MiB, and then does
    /// that part of its work.
    fn search(fits: u64, least: u64, want: f64) -> Sizes {
        let mut sizes = Sizes::new(want);
        while let Some(open) = sizes.next() {
            for mib in open {
                if mib < least {
                    sizes.rules_out(mib);
                    continue;
                }
                let part = (mib as f64 / fits as f64).min(1.0);
                let again_percent = 100.0 * (1.0 - part);
                let size = Size {
                    mb_per_s: 200.0 * part,
                    again_percent,
                    waits_percent: 0.0,
                    touched_mib: fits as f64,
                };
                sizes.tried(mib, size);
            }
        }
        sizes
    }

    #[test]
    fn what_is_enough_is_found_within_a_sixteenth() {
        for fits in [20, 100, 300, 1000, 5000] {
            let sizes = search(fits, 16, 0.9);
            let needed = (fits as f64 * 0.9).ceil() as u64;
            let enough = sizes.enough().expect("it is known");
            assert!(enough >= needed && enough - needed <= enough / 16 + 1, "{fits}: {enough}");
            assert!(sizes.plenty().expect("it is known") >= fits);
            assert!(sizes.all().len() <= 24, "{fits}: {} sizes", sizes.all().len());
        }
    }

    #[test]
    fn a_load_that_nothing_helps_is_tried_up_to_the_largest_size_and_no_further() {
        let sizes = search(1 << 20, 16, 0.9);
        assert_eq!(sizes.plenty(), Some(Sizes::LARGEST));
        assert_eq!(sizes.all().last(), Some(&Sizes::LARGEST));
    }

    #[test]
    fn what_a_load_cannot_be_run_with_is_too_little() {
        let sizes = search(40, 60, 0.9);
        let enough = sizes.enough().expect("it is known");
        assert!((60..=64).contains(&enough), "{enough}");
    }
}
