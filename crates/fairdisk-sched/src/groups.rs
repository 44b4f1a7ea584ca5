//! Parts shared by the schedulers that keep a queue per group.

mod ceiling;
mod costs;
mod nested;
mod order;
mod queues;
mod virtual_time;

pub(crate) use ceiling::{Amount, Ceiling};
pub(crate) use costs::Costs;
pub(crate) use nested::{Nested, OWN_TASKS};
pub(crate) use order::Order;
pub(crate) use queues::GroupQueues;
pub(crate) use virtual_time::{VirtualTime, service, virtual_time};
