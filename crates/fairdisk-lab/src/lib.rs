//! Placeholder.

pub mod catalog;
pub mod jobfile;
