//! The catalogue: devices, scheduler revisions and experiments, a small TOML file each. Files are
//! parsed once, into types in which invalid states do not exist.

pub mod device;
pub mod error;
mod nearest;
pub mod source;
