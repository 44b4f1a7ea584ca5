//! What schedulers share that keep a queue for each group.

mod meter;
mod order;
mod queues;

pub(crate) use meter::Meter;
pub(crate) use order::Order;
pub(crate) use queues::GroupQueues;
