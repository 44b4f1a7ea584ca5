//! The schedulers, a module each, with their typed parameters.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::float_arithmetic)]

extern crate alloc;

pub mod cfq;
pub mod two_layer;
