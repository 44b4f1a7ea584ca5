//! A mean in which recent samples count most.

use fairdisk_core::Span;

/// An exponentially decaying mean of spans: a sample has a weight of one in `MEMORY` once there
/// have been that many samples, and before that it is the plain mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean<const MEMORY: u8 = 8> {
    ns: u64,
    samples: u8,
}

impl<const MEMORY: u8> Mean<MEMORY> {
    /// Adds a sample.
    pub(super) const fn add(&mut self, sample: Span) {
        if self.samples == MEMORY {
            // The usual case, with a division by a constant.
            return self.approach(sample, MEMORY as u64);
        }
        self.samples += 1;
        self.approach(sample, self.samples as u64);
    }

    /// Moves the mean one in `weight` of the way to the sample.
    const fn approach(&mut self, sample: Span, weight: u64) {
        let sample = sample.as_ns();
        if sample >= self.ns {
            self.ns += (sample - self.ns) / weight;
        } else {
            self.ns -= (self.ns - sample) / weight;
        }
    }

    /// The number of samples, up to `MEMORY`.
    pub(super) const fn samples(&self) -> u8 {
        self.samples
    }

    /// Whether there have been so many samples that no single one decides.
    pub(super) const fn is_full(&self) -> bool {
        self.samples == MEMORY
    }

    /// The mean, or `None` without samples.
    pub(super) const fn get(&self) -> Option<Span> {
        if self.samples == 0 { None } else { Some(Span::from_ns(self.ns)) }
    }

    /// The mean, or zero without samples.
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
