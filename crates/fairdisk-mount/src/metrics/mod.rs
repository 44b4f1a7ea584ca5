//! Metrics for Prometheus: what the mounts and groups of a disk did, as text over HTTP.

mod address;
mod families;
mod http;
mod page;
mod server;
mod switch;

pub use address::{Address, AddressError, Listener};
pub use page::Page;
pub use switch::{Switch, SwitchError};
