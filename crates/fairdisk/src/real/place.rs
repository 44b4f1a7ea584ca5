//! The place of a run, as given by `--on`.

use crate::failure::Failure;
use fairdisk_plane::parse_target;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Where a run takes place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the lab, in simulated time.
    Lab,
    /// In real time, on a file or block device.
    File(PathBuf),
}

impl Place {
    /// Parses `lab` or `file:PATH`.
    ///
    /// # Errors
    /// The text is neither.
    pub(crate) fn parse(text: &OsStr) -> Result<Self, Failure> {
        if text == "lab" {
            return Ok(Self::Lab);
        }
        let path = parse_target(text);
        path.map(Self::File).map_err(|error| Failure::BadInput(format!("--on {error}, or lab")))
    }
}
