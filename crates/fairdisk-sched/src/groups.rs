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
