//! What schedulers share that keep a queue for each group.

mod ceiling;
mod costs;
mod order;
mod queues;
mod weights;

pub(crate) use ceiling::{Amount, Ceiling};
pub(crate) use costs::Costs;
pub(crate) use order::Order;
pub(crate) use queues::GroupQueues;
pub(crate) use weights::{WHOLE, Weights};

/// Service divided by weight, in parts so small that rounding does not show at the largest weight.
/// 64 bits of it would be used up within months by a busy group of the smallest.
pub(crate) type VirtualTime = u128;
