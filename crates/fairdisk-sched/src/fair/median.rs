//! The running median of durations.

use core::cmp::Ordering;
use fairdisk_core::Span;

/// Each sample moves the median by a sixty-fourth of itself at least, and by more at first.
const STEP_PARTS: u64 = 64;
/// Of the first samples the shortest is taken: one that is far too long would be there for long.
const FIRST: u64 = 4;

/// A duration that about as many recent samples exceed as fall short of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Median {
    value: Span,
    /// The number of samples, up to `STEP_PARTS`.
    samples: u64,
}

impl Median {
    #[inline]
    pub(super) fn add(&mut self, sample: Span) {
        self.samples = (self.samples + 1).min(STEP_PARTS);
        if self.samples <= FIRST {
            let is_least = self.samples == 1 || sample < self.value;
            self.value = if is_least { sample } else { self.value };
            return;
        }
        let step = Span::from_ns(1) + self.value / self.samples;
        self.value = match sample.cmp(&self.value) {
            Ordering::Greater => self.value + step,
            Ordering::Equal => self.value,
            Ordering::Less => self.value - step,
        };
    }

    /// The median, once there have been some samples.
    pub(super) fn get(&self) -> Option<Span> {
        (self.samples > FIRST).then_some(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn median_of(samples: impl IntoIterator<Item = u64>) -> Option<Span> {
        let mut median = Median::default();
        samples.into_iter().for_each(|ms| median.add(Span::from_ms(ms)));
        median.get()
    }

    #[test]
    fn a_few_samples_have_none() {
        assert_eq!(median_of([5; 4]), None);
        assert!(median_of([5; 5]).is_some());
    }

    #[test]
    fn what_is_rare_hardly_moves_it() {
        let with_every_fifth = |long| (0..400).map(move |i| if i % 5 == 0 { long } else { 10 });
        for long in [20, 10_000] {
            let median = median_of(with_every_fifth(long)).unwrap().as_us();
            assert!((9_000..=11_000).contains(&median), "{long}: {median}");
        }
    }

    #[test]
    fn it_follows() {
        let median = median_of([vec![40; 50], vec![1; 400]].concat()).unwrap().as_us();
        assert!((900..=1100).contains(&median), "{median}");
    }
}
