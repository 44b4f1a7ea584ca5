//! Which bytes of which files, and when.

use serde::Serialize;

use super::setting::Given;
use super::value::{Read, TimeUnit, ValueError};

/// An amount of a file or a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// So many bytes.
    Bytes(u64),
    /// 1 to 100 of a hundred parts of the file or device.
    Percent(u8),
    /// All of it.
    Whole,
}

impl Extent {
    /// So many of `whole` bytes.
    #[must_use]
    pub const fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (whole as u128 * percent as u128 / 100) as u64,
            Self::Whole => whole,
        }
    }
}

/// Where a job's files are and how large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Which files.
    pub files: Files,
    /// The directories they are spread over; empty: the current one.
    pub directories: Vec<String>,
    /// How large each is.
    pub file_bytes: FileBytes,
}

/// Which files a job works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// These, shared by all clones of the job.
    Named(Vec<String>),
    /// So many, of its own for every clone.
    PerClone {
        /// At least 1.
        count: u32,
    },
}

/// How large a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileBytes {
    /// The job's size divided by its files.
    ShareOfSize,
    /// So many bytes.
    Fixed {
        /// Above 0.
        bytes: u64,
    },
    /// Drawn for each file.
    Range {
        /// Above 0.
        min_bytes: u64,
        /// Above the smallest.
        max_bytes: u64,
    },
}

/// A delay, drawn from a range for each clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DelayNs {
    /// The shortest.
    pub min_ns: u64,
    /// The longest; the same when it is fixed.
    pub max_ns: u64,
}

/// Reads bytes or a percentage; 0 bytes is fio's way to say unset.
pub(super) fn extent(given: Given<'_>) -> Read<Option<Extent>> {
    let text = given.raw.unwrap_or_default().trim();
    let Some(digits) = text.strip_suffix('%') else {
        return Ok(Some(bytes(given, text)?).filter(|bytes| *bytes > 0).map(Extent::Bytes));
    };
    match digits.parse::<u8>() {
        Ok(percent @ 1..=100) => Ok(Some(Extent::Percent(percent))),
        _ if digits.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            ValueError::unsupported("write a whole percentage from 1% to 100%")
        }
        _ => ValueError::bad("an amount, such as 1g or 50%"),
    }
}

fn bytes(given: Given<'_>, text: &str) -> Read<u64> {
    let zones = text.strip_suffix(['z', 'Z']);
    if zones.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit())) {
        return ValueError::unsupported("zones are not supported yet; write the bytes");
    }
    given.bytes()
}

/// Reads `filesize=`.
pub(super) fn file_bytes(given: Given<'_>) -> Read<FileBytes> {
    match given.range(|end| end.bytes())? {
        (0, 0) => ValueError::bad("at least 1 byte, such as 1g or 1g-2g"),
        (0, _) => ValueError::unsupported("the smaller size must be at least 1 byte"),
        (bytes, same) if bytes == same => Ok(FileBytes::Fixed { bytes }),
        (min_bytes, max_bytes) => Ok(FileBytes::Range { min_bytes, max_bytes }),
    }
}

/// Reads `startdelay=`.
pub(super) fn delay(given: Given<'_>) -> Read<DelayNs> {
    let first = given.raw.unwrap_or_default().split(['-', ':']).next().unwrap_or_default();
    let is_range = given.raw.is_some_and(|text| text.contains(['-', ':']));
    let ends_in = |unit: char| {
        first
            .strip_suffix([unit, unit.to_ascii_uppercase()])
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
    };
    if is_range && ['s', 'm', 'h', 'd'].into_iter().any(ends_in) {
        return ValueError::unsupported(
            "fio reads the first end of this range in microseconds; write both ends in plain \
             seconds or in ms",
        );
    }
    let (min_ns, max_ns) = given.range(|end| end.time_ns(TimeUnit::Seconds))?;
    Ok(DelayNs { min_ns, max_ns })
}

/// Reads a colon separated list of paths; `\:` is a colon in a name.
pub(super) fn paths(given: Given<'_>) -> Read<Vec<String>> {
    let text = given.text()?.replace("\\:", "\0");
    let list: Vec<String> = text.split(':').map(|path| path.replace('\0', ":")).collect();
    if list.iter().any(|path| path.trim() != path || path.is_empty()) {
        return ValueError::unsupported("a name is empty or starts or ends with a blank");
    }
    Ok(list)
}

/// Writes such a list.
pub(super) fn written(paths: &[String]) -> String {
    let escaped: Vec<String> = paths.iter().map(|path| path.replace(':', "\\:")).collect();
    escaped.join(":")
}
