//! Metrics for Prometheus: what the mounts and groups of a disk did, as text over HTTP.

mod address;
mod http;
mod page;
mod server;
mod text;

pub use address::{Address, AddressError, Listener};
pub use page::Page;
pub use server::MetricsServer;
