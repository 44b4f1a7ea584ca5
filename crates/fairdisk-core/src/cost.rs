//! The cost model of a device that serves several requests at once. On such a device the time
//! between two completions says nothing about the request that completed, so requests are charged
//! by an estimated cost instead.

use crate::request::{Op, Sectors};
use crate::time::Span;

/// The cost of requests of one direction: a fixed part per request and a part per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Fixed cost of a sequential request, one that starts where the previous request ended.
    pub sequential: Span,
    /// Fixed cost of a random request, one that starts anywhere else.
    pub random: Span,
    /// Cost per byte of a sequential request, in picoseconds.
    pub byte_ps: u64,
    /// Cost per byte of a random request, in picoseconds. Higher than `byte_ps` on an array, where
    /// a large random request moves several heads.
    pub random_byte_ps: u64,
}

impl Cost {
    /// The cost of one request of `bytes` bytes.
    #[must_use]
    pub const fn of(&self, is_sequential: bool, bytes: u64) -> Span {
        let (fixed, byte_ps) = match is_sequential {
            true => (self.sequential, self.byte_ps),
            false => (self.random, self.random_byte_ps),
        };
        Span::from_ns(fixed.as_ns().saturating_add(bytes.saturating_mul(byte_ps) / 1000))
    }

    /// This cost with random bytes as cheap as sequential ones.
    #[must_use]
    pub const fn linear(self) -> Self {
        Self { random_byte_ps: self.byte_ps, ..self }
    }
}

/// What a device was measured to take for one request among many of its kind, so that it is fully
/// busy: the time in which it did a number of them, divided by that number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Times {
    /// A [small](Self::SMALL) request that continues the one before.
    pub sequential: Span,
    /// A small request anywhere else.
    pub random: Span,
    /// A [large](Self::LARGE) request that continues the one before.
    pub large_sequential: Span,
    /// A large request anywhere else.
    pub large_random: Span,
}

impl Times {
    /// The size of a small request, for which the position matters: 4 KiB.
    pub const SMALL: Sectors = Sectors(8);
    /// The size of a large request, for which the bytes matter: 256 KiB.
    pub const LARGE: Sectors = Sectors(512);

    /// The cost of a request of any size: the line through both sizes.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        let (sequential, byte_ps) = parts(self.sequential, self.large_sequential);
        let (random, random_byte_ps) = parts(self.random, self.large_random);
        Cost { sequential, random, byte_ps, random_byte_ps }
    }
}

/// Splits a cost into a fixed part and a part per byte, in picoseconds.
const fn parts(small: Span, large: Span) -> (Span, u64) {
    let more_bytes = Times::LARGE.bytes() - Times::SMALL.bytes();
    let (small, large) = (small.as_ns(), large.as_ns());
    let byte_ps = large.saturating_sub(small).saturating_mul(1000) / more_bytes;
    let fixed = small.saturating_sub(Times::SMALL.bytes() * byte_ps / 1000);
    (Span::from_ns(fixed), byte_ps)
}

/// A linear cost model of a device. The cost of a request is the device time that it uses up when
/// the device is saturated: the costs of all requests completed in one second add up to one second.
///
/// The model extends Linux's io.cost model (cgroup v2 documentation), which has a byte rate and
/// sequential and random request rates per direction. This model adds a separate cost for the bytes
/// of random requests, and the amount of outstanding work that saturates the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CostModel {
    /// The number of requests the device accepts at once; at least 1. Unlike
    /// [`Change::Depth`](crate::Change::Depth) it does not say that the device serves them faster
    /// together: a disk with one head accepts several. The engine replaces it by a depth that was
    /// told by that change.
    pub depth: u32,
    /// The total cost of outstanding requests that saturates the device. Beyond it, further
    /// requests queue inside the device.
    pub saturation: Span,
    /// How long a small read at a random place takes while nothing else is at the device.
    pub alone: Span,
    /// Costs of reads.
    pub read: Cost,
    /// Costs of all other operations.
    pub write: Cost,
}

impl CostModel {
    /// The cost of one request of `bytes` bytes. What is discarded is not transferred, so it costs
    /// as much as a small write, however large it is.
    #[must_use]
    pub const fn cost(&self, op: Op, is_sequential: bool, bytes: u64) -> Span {
        let cost = if op.is_write() { &self.write } else { &self.read };
        cost.of(is_sequential, if op.moves_data() { bytes } else { Times::SMALL.bytes() })
    }

    /// This model with one cost per byte in each direction, which is the model of `io.cost`.
    #[must_use]
    pub const fn linear(self) -> Self {
        Self { read: self.read.linear(), write: self.write.linear(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_discarded_is_not_transferred() {
        let write = Cost { random: Span::from_us(50), random_byte_ps: 1000, ..Cost::default() };
        let (saturation, alone) = (Span::ZERO, Span::ZERO);
        let costs = CostModel { depth: 32, saturation, alone, read: Cost::default(), write };
        let of = |op| costs.cost(op, false, 1 << 20).as_us();
        assert_eq!([Op::Write, Op::WriteZeroes, Op::Discard].map(of), [1098, 1098, 54]);
    }

    #[test]
    fn both_sizes_that_were_measured_cost_what_they_took() {
        let times = Times {
            sequential: Span::from_us(20),
            random: Span::from_us(110),
            large_sequential: Span::from_us(1_000),
            large_random: Span::from_us(3_000),
        };
        let cost = times.cost();
        let of = |is_sequential, size: Sectors| {
            let ns = cost.of(is_sequential, size.bytes()).as_ns();
            (ns + 500) / 1000
        };
        assert_eq!([of(true, Times::SMALL), of(false, Times::SMALL)], [20, 110]);
        assert_eq!([of(true, Times::LARGE), of(false, Times::LARGE)], [1_000, 3_000]);
        // Large requests that take less than small ones have no cost per byte.
        let odd = Times { large_random: Span::from_us(100), ..times };
        assert_eq!(odd.cost().of(false, 1 << 20), Span::from_us(110));
    }

    #[test]
    fn a_request_costs_its_place_and_its_bytes() {
        let (sequential, random) = (Span::from_us(10), Span::from_us(50));
        let read = Cost { sequential, random, byte_ps: 2_000, random_byte_ps: 5_000 };
        let write = Cost { random_byte_ps: u64::MAX, ..read };
        let model = CostModel { depth: 1, saturation: Span::ZERO, alone: Span::ZERO, read, write };
        assert_eq!(model.cost(Op::Read, true, 1000), Span::from_us(12));
        assert_eq!(model.cost(Op::Read, false, 1000), Span::from_us(55));
        assert_eq!(model.linear().cost(Op::Read, false, 1000), Span::from_us(52));
        assert!(model.cost(Op::Write, false, u64::MAX) > Span::from_s(1));
    }
}
