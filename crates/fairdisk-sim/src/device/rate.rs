//! A data rate, stored as time per byte so that the hot path multiplies instead of dividing.

/// Nanoseconds per byte in 32.32 fixed point. The rounding error is below 1 ns per 4 GB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    ns_per_byte_q32: u64,
}

impl Rate {
    /// A rate at which data takes no time.
    pub(super) const UNLIMITED: Self = Self { ns_per_byte_q32: 0 };

    /// A rate of `mb_per_s` million bytes per second.
    pub(super) const fn from_mb_per_s(mb_per_s: u32) -> Self {
        assert!(mb_per_s > 0, "checked with the parameters");
        Self { ns_per_byte_q32: (1_000 << 32) / mb_per_s as u64 }
    }

    /// How long `bytes` take, in nanoseconds.
    pub(super) const fn ns(self, bytes: u64) -> u64 {
        ((bytes as u128 * self.ns_per_byte_q32 as u128) >> 32) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn bytes_to_nanoseconds() {
        assert_eq!(Rate::from_mb_per_s(1).ns(4096), 4_096_000);
        assert_eq!(Rate::from_mb_per_s(150).ns(150_000_000), 999_999_999);
        assert_eq!(Rate::UNLIMITED.ns(u64::MAX), 0);
    }
}
