//! Seek times: how long the arm takes from one cylinder to another.
//!
//! Lee's curve (as DiskSim documents it): `t(x) = a sqrt(x-1) + b (x-1) + min` with `a = (-10 min +
//! 15 avg - 5 max) / (3 sqrt N)` and `b = (7 min - 15 avg + 8 max) / (3 N)`. The square root is the
//! only floating-point operation of a device. It is correctly rounded on every machine, and scaling
//! it by a power of two is exact, so results are the same everywhere.

use super::spec::{SeekParams, SeekPoint};

/// Seek time by distance in cylinders.
#[derive(Clone, Debug)]
pub(super) enum SeekCurve {
    /// Lee's curve, with coefficients in fixed point.
    Lee {
        /// Seek time at distance 1, in nanoseconds.
        min_ns: u64,
        /// Nanoseconds per square root of a cylinder, with 16 fractional bits.
        root_q16: u64,
        /// Nanoseconds per cylinder, with 20 fractional bits.
        linear_q20: u64,
    },
    /// Points (cylinders, nanoseconds) joined by straight lines.
    Points(Vec<(u64, u64)>),
}

impl SeekCurve {
    /// The curve of `params` on a disk with `cylinders` cylinders.
    pub(super) fn new(params: &SeekParams, cylinders: u32) -> Self {
        match params {
            SeekParams::Lee { min_us, average_us, max_us } => {
                let ns = |us: u32| u64::from(us) * 1_000;
                lee(ns(*min_us), ns(*average_us), ns(*max_us), cylinders.into())
            }
            SeekParams::Points(points) => Self::Points(points.iter().map(as_ns).collect()),
        }
    }

    /// The time of a seek over `distance` cylinders, in nanoseconds.
    pub(super) fn ns(&self, distance: u32) -> u64 {
        if distance == 0 {
            return 0;
        }
        match self {
            Self::Lee { min_ns, root_q16, linear_q20 } => {
                let beyond = u64::from(distance - 1);
                min_ns + ((root_q16 * root_of_q16(beyond)) >> 32) + ((linear_q20 * beyond) >> 20)
            }
            Self::Points(points) => interpolate(points, distance.into()),
        }
    }
}

fn lee(min: u64, average: u64, max: u64, cylinders: u64) -> SeekCurve {
    let root_q16 = root_of_q16(cylinders).max(1);
    SeekCurve::Lee {
        min_ns: min,
        root_q16: ((15 * average - 10 * min - 5 * max) << 32) / (3 * root_q16),
        linear_q20: ((7 * min + 8 * max - 15 * average) << 20) / (3 * cylinders),
    }
}

/// The square root with 16 fractional bits, rounded down.
#[inline]
fn root_of_q16(n: u64) -> u64 {
    // Converts through i64, for which processors have an instruction.
    ((n as i64 as f64).sqrt() * 65_536.0) as i64 as u64
}

fn as_ns(point: &SeekPoint) -> (u64, u64) {
    (point.cylinders.into(), u64::from(point.us) * 1_000)
}

#[inline(never)]
fn interpolate(points: &[(u64, u64)], distance: u64) -> u64 {
    let after = points.partition_point(|&(cylinders, _)| cylinders < distance);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (None, Some(&(_, ns))) | (Some((_, ns)), None) => ns,
        (Some((x0, t0)), Some(&(x1, t1))) => t0 + (t1 - t0) * (distance - x0) / (x1 - x0),
        (None, None) => unreachable!("a checked table has points"),
    }
}

#[cfg(test)]
mod tests {
    use super::{SeekCurve, SeekParams, SeekPoint};

    /// The curve of the WD2500JS. The values were computed from the formula in arbitrary precision.
    #[test]
    fn lee_golden_values() {
        let params = SeekParams::Lee { min_us: 1_200, average_us: 8_900, max_us: 20_000 };
        let curve = SeekCurve::new(&params, 100_494);
        let expected = [
            (1, 1_200_000),
            (2, 1_222_723),
            (10, 1_268_864),
            (100, 1_436_399),
            (1_000, 2_030_191),
            (10_000, 4_618_108),
            (33_498, 9_215_277),
            (100_494, 19_999_849),
        ];
        for (distance, ns) in expected {
            assert!(curve.ns(distance).abs_diff(ns) <= 20, "{distance}: {}", curve.ns(distance));
        }
    }

    #[test]
    fn the_ends_of_lees_curve_are_the_data_sheets() {
        let params = SeekParams::Lee { min_us: 200, average_us: 3_400, max_us: 7_400 };
        let curve = SeekCurve::new(&params, 50_001);
        assert_eq!(curve.ns(0), 0);
        assert_eq!(curve.ns(1), 200_000);
        assert!(curve.ns(50_001).abs_diff(7_400_000) < 1_000, "{}", curve.ns(50_001));
    }

    #[test]
    fn lees_curve_rises() {
        let params = SeekParams::Lee { min_us: 1_200, average_us: 8_900, max_us: 20_000 };
        let curve = SeekCurve::new(&params, 100_494);
        assert!((1..100_494).all(|x| curve.ns(x) <= curve.ns(x + 1)));
    }

    #[test]
    fn points_are_joined_by_lines() {
        let point = |cylinders, us| SeekPoint { cylinders, us };
        let points = vec![point(3, 1_400), point(59, 1_500), point(119, 1_900)];
        let curve = SeekCurve::new(&SeekParams::Points(points), 1_000);
        assert_eq!(curve.ns(1), 1_400_000);
        assert_eq!(curve.ns(3), 1_400_000);
        assert_eq!(curve.ns(31), 1_450_000);
        assert_eq!(curve.ns(119), 1_900_000);
        assert_eq!(curve.ns(900), 1_900_000);
    }
}
