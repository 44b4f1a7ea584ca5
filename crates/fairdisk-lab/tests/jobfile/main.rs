//! Job files: fio's own examples, our corpus, parity with the installed fio, and properties.

mod average;
mod corpus;
mod counts;
mod done;
mod examples;
mod fio;
#[path = "../support/golden.rs"]
mod golden;
mod matrix;
mod parity;
mod posted;
mod properties;
mod times;
