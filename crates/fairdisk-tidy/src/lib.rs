//! What the tests of the sources share: which files there are, and how Rust and Markdown are read.
//! Simple readers, good enough for files that the compiler or a reviewer has accepted.
#![forbid(unsafe_code)]

pub mod binary;
pub mod files;
pub mod licence;
pub mod markdown;
pub mod rust;
