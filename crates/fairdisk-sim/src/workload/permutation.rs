//! Every number below n once, in an order that looks random: O(1) memory for a disk of any size.
//!
//! A Feistel network of four rounds permutes the numbers of the next power of two; what lands at n
//! or above is sent through again, fewer than two rounds of it on average.

use fairdisk_core::prng::mix;

#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    count: u64,
    keys: [u64; ROUNDS],
    low_bits: u32,
    high_mask: u64,
    low_mask: u64,
}

const ROUNDS: usize = 4;

impl Permutation {
    /// Of the numbers below `count`, the order belonging to `seed`.
    pub(super) fn new(count: u64, seed: u64) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let low_bits = bits / 2;
        Self {
            count,
            keys: std::array::from_fn(|round| mix(seed ^ mix(round as u64 + 1))),
            low_bits,
            high_mask: (1 << (bits - low_bits)) - 1,
            low_mask: (1 << low_bits) - 1,
        }
    }

    /// How many numbers.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The number at place `at`, both below the count.
    pub(super) const fn number(&self, at: u64) -> u64 {
        debug_assert!(at < self.count);
        let mut number = self.once(at);
        while number >= self.count {
            number = self.once(number);
        }
        number
    }

    const fn once(&self, number: u64) -> u64 {
        let (mut high, mut low) = (number >> self.low_bits, number & self.low_mask);
        let mut round = 0;
        while round < ROUNDS {
            high ^= mix(low.wrapping_add(self.keys[round])) & self.high_mask;
            low ^= mix(high.wrapping_add(self.keys[round + 1])) & self.low_mask;
            round += 2;
        }
        high << self.low_bits | low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once() {
        for count in (1..70).chain([127, 128, 129, 1000, 4095, 4096, 4097, 65_537]) {
            for seed in 0..4 {
                let permutation = Permutation::new(count, seed);
                let mut seen = vec![false; count as usize];
                for at in 0..count {
                    let number = permutation.number(at) as usize;
                    assert!(!std::mem::replace(&mut seen[number], true), "{number} of {count}");
                }
            }
        }
    }

    #[test]
    fn neighbours_do_not_stay_together() {
        let count = 100_000;
        let permutation = Permutation::new(count, 9);
        let jumps =
            (1..count).map(|at| permutation.number(at).abs_diff(permutation.number(at - 1)));
        let mean = jumps.sum::<u64>() as f64 / (count - 1) as f64;
        // Two random numbers below n are n / 3 apart.
        assert!((mean / count as f64 - 1.0 / 3.0).abs() < 0.005, "{mean}");
        let halves = (0..1000).filter(|at| permutation.number(*at) < count / 2).count();
        assert!((450..550).contains(&halves), "{halves}");
    }

    #[test]
    fn another_seed_is_another_order() {
        let one: Vec<u64> = (0..100).map(|at| Permutation::new(100, 1).number(at)).collect();
        let two: Vec<u64> = (0..100).map(|at| Permutation::new(100, 2).number(at)).collect();
        assert_ne!(one, two);
    }
}
