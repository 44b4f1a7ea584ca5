//! The only random generator (splitmix64). It is seeded and uses integers only, so it yields the
//! same numbers on every machine.

/// A splitmix64 generator.
#[derive(Clone, Debug)]
pub struct Prng(u64);

impl Prng {
    /// A generator with the given seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// An independent generator for part number `part` of whatever this generator's seed describes.
    #[must_use]
    pub fn fork(&self, part: u64) -> Self {
        let mut child = Self(self.0 ^ part.wrapping_mul(0xA24B_AED4_963E_E407));
        child.next_u64();
        Self(child.next_u64())
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A uniform number in `0..n`; 0 when `n` is 0. The bias is below n / 2^64.
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }

    /// A uniform number in `low..=high`.
    pub const fn between(&mut self, low: u64, high: u64) -> u64 {
        debug_assert!(low <= high);
        low + self.below(high - low + 1)
    }

    /// `true` with probability `numerator / denominator`.
    pub const fn chance(&mut self, numerator: u64, denominator: u64) -> bool {
        self.below(denominator) < numerator
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

/// Scrambles 64 bits with the finaliser of splitmix64.
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
