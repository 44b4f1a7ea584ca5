//! Parts of files to which the requests of a job keep for a while (`zonemode=strided`).

use serde::Serialize;

use super::check::{self, say};
use super::draft::{Draft, Slot, value};
use super::error::{Error, ErrorKind};
use super::note::Notes;
use super::render::Lines;
use super::setting::Given;
use super::value::{Read, ValueError};

/// The keys of zones.
#[derive(Debug, Clone, Default)]
pub(super) struct ZoneKeys {
    pub(super) strided: Slot<bool>,
    pub(super) size: Slot<u64>,
    pub(super) range: Slot<u64>,
    pub(super) skip: Slot<u64>,
}

/// Parts of a file that a job goes through, one behind the other, and back from the last to the
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Strides {
    /// Bytes of I/O in each part, over all files of a clone (`zonesize`).
    pub io_bytes: u64,
    /// The length of a part (`zonerange`), in bytes.
    pub range_bytes: u64,
    /// From the end of a part to the next one (`zoneskip`), in bytes.
    pub skip_bytes: u64,
}

/// Parses `zonemode=`.
pub(super) fn is_strided(given: Given<'_>) -> Read<bool> {
    match given.choice(&[("none", Some(false)), ("strided", Some(true)), ("zbd", None)])? {
        Some(strided) => Ok(strided),
        None => ValueError::unsupported("no device here has zones of its own; use strided"),
    }
}

impl ZoneKeys {
    pub(super) fn strides(&self) -> Option<Strides> {
        let io_bytes = value(&self.size).filter(|bytes| *bytes > 0)?;
        value(&self.strided).unwrap_or(false).then(|| Strides {
            io_bytes,
            range_bytes: value(&self.range).filter(|bytes| *bytes > 0).unwrap_or(io_bytes),
            skip_bytes: value(&self.skip).unwrap_or(0),
        })
    }
}

/// A mode of zones and how much is done in each need each other; fio refuses one alone.
pub(super) fn one_alone(draft: &Draft) -> Option<Error> {
    let keys = &draft.zones;
    let mode = keys.strided.as_ref().filter(|mode| mode.value).map(|mode| &mode.place);
    let size = keys.size.as_ref().filter(|size| size.value > 0).map(|size| &size.place);
    let (place, text) = match (mode, size) {
        (Some(place), None) => {
            (place, "zonemode=strided does not say how much is done in each zone; add zonesize=")
        }
        (None, Some(place)) => {
            (place, "zonesize takes zonemode=strided, which fio before 3.9 had without saying so")
        }
        _ => return None,
    };
    Some(Error { place: place.clone(), kind: ErrorKind::Conflict { text: text.to_owned() } })
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.zones;
    let is_off = keys.strides().is_none();
    say(notes, &keys.strided, is_off, check::NEUTRAL);
    say(notes, &keys.size, is_off, check::NEUTRAL);
    for slot in [&keys.range, &keys.skip] {
        say(notes, slot, is_off, "no effect: it takes zonemode=strided");
    }
}

impl Strides {
    pub(super) fn lines(&self, lines: &mut Lines) {
        lines.set("zonemode", "strided", "requests keep to a zone for a while");
        lines.bytes("zonesize", self.io_bytes);
        lines.bytes("zonerange", self.range_bytes);
        lines.bytes("zoneskip", self.skip_bytes);
    }
}
