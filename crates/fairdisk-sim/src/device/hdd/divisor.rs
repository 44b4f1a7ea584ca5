//! Division by a number fixed when the disk is built. Every request divides by the rotation time,
//! the sectors per track and the number of heads; multiplying by an inverse is several times
//! faster.

/// A divisor and its inverse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    by: u64,
    /// `(2^64 - 1) / by`, rounded down.
    inverse: u64,
}

impl Divisor {
    /// Prepares division by `by`, which must not be zero.
    pub(super) const fn new(by: u64) -> Self {
        Self { by, inverse: u64::MAX / by }
    }

    /// The divisor.
    pub(super) const fn get(self) -> u64 {
        self.by
    }

    /// The quotient and the remainder of `n`.
    ///
    /// `n / by - n * inverse / 2^64` is `n / 2^64` times something at most 1, so the estimate falls
    /// short of the quotient by at most 1.
    #[inline]
    pub(super) const fn div_rem(self, n: u64) -> (u64, u64) {
        let estimate = ((n as u128 * self.inverse as u128) >> 64) as u64;
        let rest = n - estimate * self.by;
        if rest >= self.by { (estimate + 1, rest - self.by) } else { (estimate, rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;
    use fairdisk_core::prng::Prng;

    #[test]
    fn agrees_with_division() {
        let mut prng = Prng::new(7);
        let special = [1, 2, 3, 6, 1_020, 8_333_333, 1 << 32, 1 << 63, u64::MAX];
        let random: Vec<u64> = (0..200).map(|shift| prng.next_u64() >> (shift % 63)).collect();
        for by in special.into_iter().chain(random) {
            let divisor = Divisor::new(by.max(1));
            let by = divisor.get();
            let near = [0, 1, by - 1, by, by.wrapping_add(1), u64::MAX, u64::MAX - 1];
            let random: Vec<u64> = (0..100).map(|i| prng.next_u64() >> (i % 64)).collect();
            for n in near.into_iter().chain(random) {
                assert_eq!(divisor.div_rem(n), (n / by, n % by), "{n} / {by}");
            }
        }
    }
}
