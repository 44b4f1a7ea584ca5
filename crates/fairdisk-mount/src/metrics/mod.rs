//! What a mount and its groups did, for Prometheus: text over HTTP, at an address the user names.

mod address;
mod http;
mod page;
mod server;
mod text;

pub use address::{Address, AddressError, Listener};
pub use page::Page;
pub use server::MetricsServer;
