//! A mean in which what was measured last counts most.

use fairdisk_core::Span;

/// A decaying mean of spans; the weight of a sample is one in `MEMORY`, once there were so many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean<const MEMORY: u8 = 8> {
    ns: u64,
    samples: u8,
}

impl<const MEMORY: u8> Mean<MEMORY> {
    /// Nothing was measured.
    pub(super) const NONE: Self = Self { ns: 0, samples: 0 };

    /// Takes a sample in.
    pub(super) const fn add(&mut self, sample: Span) {
        if self.samples == MEMORY {
            // Nearly all of them, and a division by a constant.
            return self.approach(sample, MEMORY as u64);
        }
        self.samples += 1;
        self.approach(sample, self.samples as u64);
    }

    /// Goes one in `weight` of the way to the sample.
    const fn approach(&mut self, sample: Span, weight: u64) {
        let sample = sample.as_ns();
        if sample >= self.ns {
            self.ns += (sample - self.ns) / weight;
        } else {
            self.ns -= (self.ns - sample) / weight;
        }
    }

    /// How many were taken in, as far as they count.
    pub(super) const fn samples(&self) -> u8 {
        self.samples
    }

    /// The mean, if anything was measured.
    pub(super) const fn get(&self) -> Option<Span> {
        if self.samples == 0 { None } else { Some(Span::from_ns(self.ns)) }
    }

    /// The mean, zero if nothing was measured.
    pub(super) const fn or_zero(&self) -> Span {
        Span::from_ns(self.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_mean_at_first_and_follows_what_is_new_later() {
        let mut mean = Mean::<8>::default();
        assert_eq!(mean.get(), None);
        for us in [10, 20, 30] {
            mean.add(Span::from_us(us));
        }
        assert_eq!(mean.get(), Some(Span::from_us(20)));
        for _ in 0..40 {
            mean.add(Span::from_us(100));
        }
        assert!((95..=100).contains(&mean.or_zero().as_us()), "{mean:?}");
    }
}
