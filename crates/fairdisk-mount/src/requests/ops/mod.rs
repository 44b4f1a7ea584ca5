//! The implementation of the requests, by subject.

mod attributes;
mod data;
mod entries;
mod listing;
mod opening;
mod stretches;
mod xattrs;

pub(crate) use attributes::Changes;
pub(crate) use data::Written;
