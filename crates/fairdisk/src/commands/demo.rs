//! `fairdisk demo`.

use crate::failure::Failure;

/// Not there yet
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn execute(_: &Args) -> Result<(), Failure> {
    Err(Failure::BadInput("not supported yet".to_owned()))
}
