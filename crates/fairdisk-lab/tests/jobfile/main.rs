//! Job files: fio's own examples, our corpus, parity with the installed fio, and properties.

mod corpus;
mod counts;
mod examples;
mod fio;
mod parity;
mod properties;
mod snapshot;
