//! What requests cost a device that serves several at once, where the time from one completion to
//! the next says nothing about the request that completed.

use crate::request::Op;
use crate::time::Span;

/// What requests of one direction cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// A request that begins where the one before it ended, beside its bytes.
    pub sequential: Span,
    /// Any other request, beside its bytes.
    pub random: Span,
    /// A byte of a request that begins where the one before it ended, in picoseconds.
    pub byte_ps: u64,
    /// A byte of any other request, in picoseconds: an array moves a head for every few of them.
    pub random_byte_ps: u64,
}

impl Cost {
    /// What a request of `bytes` costs.
    #[must_use]
    pub const fn of(&self, is_sequential: bool, bytes: u64) -> Span {
        let (fixed, byte_ps) = match is_sequential {
            true => (self.sequential, self.byte_ps),
            false => (self.random, self.random_byte_ps),
        };
        Span::from_ns(fixed.as_ns().saturating_add(bytes.saturating_mul(byte_ps) / 1000))
    }

    /// The same with one cost of a byte, wherever it lies.
    #[must_use]
    pub const fn linear(self) -> Self {
        Self { random_byte_ps: self.byte_ps, ..self }
    }
}

/// The linear model of a device: how much of a second of it a request takes up when the device has
/// as much to do as it can take. Costs of requests that complete within a second add up to one.
///
/// The shape is that of Linux's io.cost model (cgroup v2 documentation), rates of bytes, of
/// sequential and of random requests, for either direction; beside it what a byte of a random
/// request costs, and how much the device has to have so that all of it is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostModel {
    /// Requests the device takes at once; at least 1.
    pub depth: u32,
    /// With requests of such a cost at the device all of it is at work; more of them wait inside.
    pub saturation: Span,
    /// Reads.
    pub read: Cost,
    /// Everything else.
    pub write: Cost,
}

impl CostModel {
    /// What a request costs.
    #[must_use]
    pub const fn cost(&self, op: Op, is_sequential: bool, bytes: u64) -> Span {
        let cost = if op.is_write() { &self.write } else { &self.read };
        cost.of(is_sequential, bytes)
    }

    /// The same with one cost of a byte for either direction: the model of `io.cost`.
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
