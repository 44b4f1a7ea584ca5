//! The cost model of a device that serves several requests at once. On such a device the time
//! between two completions says nothing about the request that completed, so requests are charged
//! by an estimated cost instead.

use crate::request::Op;
use crate::time::Span;

/// The cost of requests of one direction: a fixed part per request and a part per byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// A linear cost model of a device. The cost of a request is the device time that it uses up when
/// the device is saturated: the costs of all requests completed in one second add up to one second.
///
/// The model extends Linux's io.cost model (cgroup v2 documentation), which has a byte rate and
/// sequential and random request rates per direction. This model adds a separate cost for the bytes
/// of random requests, and the amount of outstanding work that saturates the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CostModel {
    /// The number of requests the device accepts at once; at least 1.
    pub depth: u32,
    /// The total cost of outstanding requests that saturates the device. Beyond it, further
    /// requests queue inside the device.
    pub saturation: Span,
    /// Costs of reads.
    pub read: Cost,
    /// Costs of all other operations.
    pub write: Cost,
}

impl CostModel {
    /// The cost of one request of `bytes` bytes.
    #[must_use]
    pub const fn cost(&self, op: Op, is_sequential: bool, bytes: u64) -> Span {
        let cost = if op.is_write() { &self.write } else { &self.read };
        cost.of(is_sequential, bytes)
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
    fn a_request_costs_its_place_and_its_bytes() {
        let (sequential, random) = (Span::from_us(10), Span::from_us(50));
        let read = Cost { sequential, random, byte_ps: 2_000, random_byte_ps: 5_000 };
        let write = Cost { random_byte_ps: u64::MAX, ..read };
        let model = CostModel { depth: 1, saturation: Span::ZERO, read, write };
        assert_eq!(model.cost(Op::Read, true, 1000), Span::from_us(12));
        assert_eq!(model.cost(Op::Read, false, 1000), Span::from_us(55));
        assert_eq!(model.linear().cost(Op::Read, false, 1000), Span::from_us(52));
        assert!(model.cost(Op::Write, false, u64::MAX) > Span::from_s(1));
    }
}
