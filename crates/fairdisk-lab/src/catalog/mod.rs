//! The catalogue: devices, hosts, scheduler revisions and experiments, each a small TOML file.
//! Files are parsed once, into types that cannot represent invalid states.

mod allowed;
pub mod device;
pub mod error;
pub mod experiment;
pub mod host;
mod inherit;
pub mod library;
pub(crate) mod memory;
pub mod overrides;
mod pair;
pub mod revision;
pub(crate) mod schedulers;
pub mod source;
mod text;
mod write_back;
