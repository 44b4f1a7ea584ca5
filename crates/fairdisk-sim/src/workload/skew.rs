//! Skewed access: the rank of the block for each access, by a Zipf or Pareto distribution.
//!
//! Ranks are grouped into buckets: the first 128 ranks have one each, the others have 64 per
//! doubling. A table holds the fraction of all accesses below each bucket, and drawing is a search
//! in it. Within a bucket, whose ends are less than 2 % apart, all ranks are equally likely. All
//! arithmetic is in integers.

use super::fixed::{Fixed, Powers};
use fairdisk_core::Prng;

/// How accesses are distributed over blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skew {
    /// Every block equally often.
    #[default]
    Uniform,
    /// The block of rank k in proportion to k to the power of -theta.
    Zipf {
        /// The exponent; larger is more skewed.
        theta: Fixed,
    },
    /// The fraction h of the blocks gets the fraction 1 - h of the accesses, and so on within each
    /// part.
    Pareto {
        /// A fraction above 0 and below 1.
        h: Fixed,
    },
    /// The mean of twelve uniform ranks, and on top a uniform one around 0.
    Normal {
        /// The width of the one on top, as a fraction of all blocks.
        width: Fixed,
    },
}

/// Buckets per doubling of the rank.
const BUCKETS: u64 = 64;

/// The distribution of accesses over a given number of blocks.
#[derive(Debug)]
pub(super) struct Ranks {
    blocks: u64,
    /// The first rank of each bucket, followed by the end of the last one.
    edges: Vec<u64>,
    /// How many of 2^63 accesses fall into the buckets up to and including each one.
    below: Vec<u64>,
    /// The width in ranks of what a normal distribution has on top of its mean ranks.
    width: Option<u64>,
}

/// Uniform ranks whose mean is nearly normal.
const SUMMANDS: u64 = 12;

impl Ranks {
    /// The distribution over `blocks` blocks; `None` if it is uniform.
    pub(super) fn new(skew: Skew, blocks: u64) -> Option<Self> {
        let edges = edges(blocks.max(1));
        let weights: Vec<u128> = match skew {
            Skew::Uniform => return None,
            Skew::Zipf { theta } => zipf(theta, &edges),
            Skew::Pareto { h } => pareto(h, &edges),
            Skew::Normal { .. } => Vec::new(),
        };
        let width = match skew {
            Skew::Normal { width } => Some(width.of(blocks)),
            _ => None,
        };
        let total: u128 = weights.iter().sum::<u128>().max(1);
        let mut sum = 0;
        let below = weights.iter().map(|weight| {
            sum += weight;
            scaled(sum, total)
        });
        Some(Self { blocks, below: below.collect(), edges, width })
    }

    /// The number of blocks.
    pub(super) const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Draws the rank of the next access, from 0.
    pub(super) fn draw(&self, prng: &mut Prng) -> u64 {
        if let Some(width) = self.width {
            let sum: u64 = (0..SUMMANDS).map(|_| prng.below(self.blocks)).sum();
            let beside = prng.below(width + 1) + self.blocks - width / 2;
            return (sum / SUMMANDS + beside) % self.blocks;
        }
        let at = prng.next_u64() >> 1;
        let bucket = self.below.partition_point(|below| *below <= at).min(self.below.len() - 1);
        let (start, end) = (self.edges[bucket], self.edges[bucket + 1]);
        // Most accesses fall into buckets with a single rank.
        if end - start == 1 { start - 1 } else { start - 1 + prng.below(end - start) }
    }
}

/// `sum / total` as a fraction of 2^63.
fn scaled(sum: u128, total: u128) -> u64 {
    // Sums are below 2^62 × 2^48; shifting makes room for the product.
    let shift = (128 - total.leading_zeros()).saturating_sub(64);
    (((sum >> shift) << 63) / (total >> shift)) as u64
}

/// The first ranks of all buckets, counted from 1, and one past the last rank.
fn edges(blocks: u64) -> Vec<u64> {
    let mut edges = Vec::new();
    let (mut at, mut step) = (1, 1);
    while at <= blocks {
        edges.push(at);
        at += step;
        if at >= 2 * BUCKETS * step {
            step *= 2;
        }
    }
    edges.push(blocks + 1);
    edges
}

/// Weights of buckets under Zipf. Each is that of the bucket's middle rank times its number of
/// ranks, which is accurate to one part in 20,000.
fn zipf(theta: Fixed, edges: &[u64]) -> Vec<u128> {
    let powers = Powers::new();
    let weight = |bucket: &[u64]| {
        let twice_middle = bucket[0] + bucket[1] - 1;
        let weight = powers.inverse_power_of_half(twice_middle, theta);
        u128::from(weight) * u128::from(bucket[1] - bucket[0])
    };
    edges.windows(2).map(weight).collect()
}

fn pareto(h: Fixed, edges: &[u64]) -> Vec<u128> {
    let powers = Powers::new();
    let exponent = h.log_of(h.complement());
    let blocks = edges[edges.len() - 1] - 1;
    let up_to = |ranks: u64| match ranks {
        0 => 0,
        ranks => powers.power_of_part(ranks, blocks, exponent),
    };
    let weight =
        |bucket: &[u64]| u128::from(up_to(bucket[1] - 1).saturating_sub(up_to(bucket[0] - 1)));
    edges.windows(2).map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 1_000_000;

    fn counts(skew: Skew, blocks: u64) -> Vec<u64> {
        let ranks = Ranks::new(skew, blocks).expect("skewed");
        let mut prng = Prng::new(7);
        let mut counts = vec![0; blocks as usize];
        for _ in 0..DRAWS {
            counts[ranks.draw(&mut prng) as usize] += 1;
        }
        counts
    }

    /// The largest difference between the empirical and the analytic distribution function.
    fn distance(counts: &[u64], analytic: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0;
        let gaps = counts.iter().enumerate().map(|(rank, count)| {
            sum += count;
            (sum as f64 / DRAWS as f64 - analytic(rank + 1)).abs()
        });
        gaps.fold(0.0, f64::max)
    }

    #[test]
    fn zipf_is_zipf() {
        for theta in [0.5, 0.99, 1.2, 2.0] {
            for blocks in [1u32, 10, 1000, 100_000] {
                let powers: Vec<f64> = (1..=blocks).map(|k| f64::from(k).powf(-theta)).collect();
                let sums: Vec<f64> = powers
                    .iter()
                    .scan(0.0, |sum, power| {
                        *sum += power;
                        Some(*sum)
                    })
                    .collect();
                let total = sums[sums.len() - 1];
                let skew = Skew::Zipf { theta: Fixed::from_f64(theta) };
                let distance = distance(&counts(skew, u64::from(blocks)), |k| sums[k - 1] / total);
                // The Kolmogorov bound for a million draws at a significance of 0.001 is 0.00195.
                assert!(distance < 0.002, "theta {theta}, {blocks} blocks: {distance}");
            }
        }
    }

    #[test]
    fn pareto_gives_the_small_part_the_large_share() {
        for h in [0.05f64, 0.2, 0.4, 0.5, 0.7] {
            let blocks = 50_000;
            let exponent = (1.0 - h).ln() / h.ln();
            let counts = counts(Skew::Pareto { h: Fixed::from_f64(h) }, blocks);
            let analytic = |k: usize| (k as f64 / blocks as f64).powf(exponent);
            let distance = distance(&counts, analytic);
            assert!(distance < 0.002, "h {h}: {distance}");
            let few: u64 = counts[..(h * blocks as f64) as usize].iter().sum();
            let share = few as f64 / DRAWS as f64;
            assert!((share - (1.0 - h)).abs() < 0.003, "h {h}: {share}");
        }
    }

    #[test]
    fn a_normal_one_has_most_in_the_middle() {
        for (width, within) in [(0.0, 0.083), (0.5, 0.167)] {
            let skew = Skew::Normal { width: Fixed::from_f64(width) };
            let counts = counts(skew, 10_000);
            let at = |rank: usize| (rank as f64 / 10_000.0 - 0.5, counts[rank] as f64);
            let variance: f64 = (0..10_000).map(at).map(|(x, count)| x * x * count).sum();
            let deviation = (variance / DRAWS as f64).sqrt();
            assert!((deviation - within).abs() < 0.003, "{width}: {deviation}");
        }
    }

    #[test]
    fn the_numbers_are_the_same_everywhere() {
        let ranks = Ranks::new(Skew::Zipf { theta: Fixed::from_f64(1.2) }, 1 << 26);
        let ranks = ranks.expect("skewed");
        let mut prng = Prng::new(1);
        let drawn: Vec<u64> = (0..6).map(|_| ranks.draw(&mut prng)).collect();
        assert_eq!(drawn, [31, 382, 9, 9, 526, 19]);
    }

    #[test]
    fn a_heavy_head_leaves_nothing_for_the_rest() {
        for theta in [50.0, 1000.0] {
            let skew = Skew::Zipf { theta: Fixed::from_f64(theta) };
            assert_eq!(counts(skew, 1 << 16)[0], DRAWS);
        }
    }
}
