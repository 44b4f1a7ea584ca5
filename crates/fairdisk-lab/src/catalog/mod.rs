//! The catalogue: devices, scheduler revisions and experiments, a small TOML file each. Files are
//! parsed once, into types in which invalid states do not exist.

mod allowed;
pub mod device;
pub mod error;
pub mod experiment;
pub mod host;
mod inherit;
pub mod library;
pub mod overrides;
mod pair;
pub mod revision;
pub(crate) mod schedulers;
pub mod source;
mod text;
