//! The files and directories that the kernel knows, and those that it has open.

pub(crate) mod cached;
pub(crate) mod descriptor;
pub(crate) mod directory;
pub(crate) mod freshness;
pub(crate) mod handles;
pub(crate) mod leaving;
pub(crate) mod nodes;
pub(crate) mod open_file;
pub(crate) mod write_errors;
