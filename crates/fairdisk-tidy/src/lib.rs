//! Shared code of the tests that check the repository itself: which files there are, and readers
//! for Rust, Markdown and licence expressions. The readers are simple, and rely on the files having
//! been accepted by the compiler or a reviewer.
#![forbid(unsafe_code)]

pub mod binary;
pub mod files;
pub mod licence;
pub mod markdown;
pub mod rust;
