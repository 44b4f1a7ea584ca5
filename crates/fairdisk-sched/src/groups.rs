//! What schedulers share that keep a queue for each group.

mod costs;
mod meter;
mod order;
mod queues;
mod weights;

pub(crate) use costs::Costs;
pub(crate) use meter::Meter;
pub(crate) use order::Order;
pub(crate) use queues::GroupQueues;
pub(crate) use weights::{WHOLE, Weights};
