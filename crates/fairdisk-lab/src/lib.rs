//! Placeholder.

pub mod catalog;
