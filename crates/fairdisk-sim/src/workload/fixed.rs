//! Powers in integer arithmetic: logarithms and exponentials to base 2, identical to the bit on
//! every machine.

use fairdisk_core::Prng;

/// A non-negative number with 32 binary places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed(u64);

/// Binary places of a logarithm.
const LOG_BITS: u32 = 40;
/// Binary places of a power; 2^62 stands for 1.
const POWER_BITS: u32 = 62;

impl Fixed {
    /// The number 1.
    pub const ONE: Self = Self(1 << 32);

    /// The closest value to `number`, clamped to 0 and 2^31.
    #[must_use]
    pub fn from_f64(number: f64) -> Self {
        // Only the final rounding is inexact: multiplication by a power of two and conversion are
        // exact.
        Self((number.clamp(0.0, f64::from(1u32 << 31)) * 4_294_967_296.0).round() as u64)
    }

    /// This many times `number`, rounded down.
    pub(super) fn of(self, number: u64) -> u64 {
        ((u128::from(self.0) * u128::from(number)) >> 32) as u64
    }

    /// 1 minus this number, but at least 0.
    pub(super) const fn complement(self) -> Self {
        Self(Self::ONE.0.saturating_sub(self.0))
    }

    /// The negated logarithm to base 2 of a number in (0, 1].
    fn log2_below_one(self) -> u64 {
        (32u64 << LOG_BITS).saturating_sub(log2(self.0.max(1)))
    }

    /// The logarithm of `number` to base `self`, for numbers in (0, 1).
    pub(super) fn log_of(self, number: Self) -> Self {
        let numerator = u128::from(number.log2_below_one()) << 32;
        Self((numerator / u128::from(self.log2_below_one().max(1))).min(1 << 63) as u64)
    }
}

/// The natural logarithm of 2, with the binary places of a logarithm.
const LN_2: u128 = 762_123_384_786;

/// Draws from the exponential distribution with this mean.
pub(super) fn exponential(mean: u64, prng: &mut Prng) -> u64 {
    // A uniform number of 63 bits, as a fraction of 1.
    let part = (prng.next_u64() >> 1).max(1);
    let log = u128::from((63_u64 << LOG_BITS) - log2(part));
    let natural = (log * LN_2) >> LOG_BITS;
    ((u128::from(mean) * natural) >> LOG_BITS) as u64
}

/// The logarithm of `number`, which is at least 1, to base 2.
fn log2(number: u64) -> u64 {
    debug_assert!(number > 0);
    let zeros = number.leading_zeros();
    // A number in [1, 2) with 63 binary places. Squaring it yields the next digit of the logarithm:
    // 1 if the square is 2 or more.
    let mut rest = number << zeros;
    let mut log = u64::from(63 - zeros);
    for _ in 0..LOG_BITS {
        let square = (u128::from(rest) * u128::from(rest)) >> 63;
        let digit = (square >> 64) as u64;
        rest = (square >> digit) as u64;
        log = log << 1 | digit;
    }
    log
}

/// Computes powers with exponents from minus infinity to 0.
#[derive(Debug)]
pub(super) struct Powers {
    /// 2 to the power of -1/2, -1/4, -1/8 and so on.
    roots: [u64; LOG_BITS as usize],
}

impl Powers {
    pub(super) fn new() -> Self {
        let mut root = 1u128 << (POWER_BITS - 1);
        let roots = std::array::from_fn(|_| {
            root = (root << POWER_BITS).isqrt();
            root as u64
        });
        Self { roots }
    }

    /// `twice / 2` to the power of `-exponent`, for `twice` of at least 2; 2^62 stands for 1.
    pub(super) fn inverse_power_of_half(&self, twice: u64, exponent: Fixed) -> u64 {
        self.exp2_below_zero(product(log2(twice).saturating_sub(1 << LOG_BITS), exponent))
    }

    /// `part / whole` to the power of `exponent`, for parts from 1 to the whole; 2^62 stands for 1.
    pub(super) fn power_of_part(&self, part: u64, whole: u64, exponent: Fixed) -> u64 {
        self.exp2_below_zero(product(log2(whole).saturating_sub(log2(part)), exponent))
    }

    /// 2 to the power of `-exponent`, which has the binary places of a logarithm.
    fn exp2_below_zero(&self, exponent: u128) -> u64 {
        let whole = exponent >> LOG_BITS;
        if whole > u128::from(POWER_BITS) {
            return 0;
        }
        let mut power = 1u64 << POWER_BITS;
        for (place, root) in self.roots.iter().enumerate() {
            if exponent >> (LOG_BITS as usize - 1 - place) & 1 == 1 {
                power = ((u128::from(power) * u128::from(*root)) >> POWER_BITS) as u64;
            }
        }
        power >> whole
    }
}

fn product(log: u64, exponent: Fixed) -> u128 {
    (u128::from(log) * u128::from(exponent.0)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: f64 = (1u64 << POWER_BITS) as f64;

    #[test]
    fn powers_agree_with_floating_point() {
        let powers = Powers::new();
        for exponent in [0.1, 0.5, 0.999, 1.0, 1.2, 2.5] {
            for number in [1, 2, 3, 10, 1000, 123_456_789, u64::from(u32::MAX)] {
                let ours = powers.inverse_power_of_half(2 * number, Fixed::from_f64(exponent));
                let ours = ours as f64 / ONE;
                let theirs = (number as f64).powf(-exponent);
                let error = (ours - theirs).abs();
                assert!(error < 1e-8 * theirs + 1e-17, "{number}^-{exponent}: {ours}, {theirs}");
            }
        }
    }

    #[test]
    fn logarithms_of_numbers_below_one() {
        let log = Fixed::from_f64(0.2).log_of(Fixed::from_f64(0.8)).0 as f64 / 4_294_967_296.0;
        assert!((log - 0.8f64.ln() / 0.2f64.ln()).abs() < 1e-8, "{log}");
    }

    #[test]
    fn what_is_too_small_is_nothing() {
        assert_eq!(Powers::new().inverse_power_of_half(1 << 60, Fixed::from_f64(100.0)), 0);
    }
}
