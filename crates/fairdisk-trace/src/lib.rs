//! Recorded loads: requests with their times, places and origins.
//!
//! A trace is a stream of [`Request`]s. [`open`] finds out which [`Format`] a file has and reads it
//! in one pass with bounded memory; [`Writer`] writes one. A [`Summary`] is about who did how much
//! how fast, and a [`Report`] tells that.
//!
//! Formats that have an event for each step of a request ([`formats`]: blktrace, blkparse, text of
//! tracepoints) are put together by [`pairing`]. Fairdisk's own format is [`fdt`].

pub mod about;
pub mod error;
pub mod fdt;
pub mod formats;
pub mod journal;
pub mod kernel;
mod lines;
mod number;
mod open;
mod origins;
mod pairing;
pub mod perfetto;
mod report;
mod request;
mod rwbs;
mod settings;
mod sorted;
mod source;
mod summary;
pub mod timeline;
mod write;

pub use about::About;
pub use error::{Place, TraceError};
pub use formats::Format;
pub use open::{Options, Reader, is_trace, open};
pub use origins::{Origin, OriginId, Origins, enclosing};
pub use report::{Figures, Report, Times};
pub use request::{Request, Traits};
pub use settings::Settings;
pub use source::Source;
pub use summary::{By, Part, Summary};
pub use write::{Writer, write_to};
