//! Which bytes of which files a job uses, and when.

use serde::Serialize;

use super::setting::Given;
use super::value::{Read, TimeUnit, ValueError};

/// A part of a file or a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// This many bytes.
    Bytes(u64),
    /// This percentage, 1 to 100, of the file or device.
    Percent(u8),
    /// The whole file or device.
    Whole,
}

impl Extent {
    /// The number of bytes, out of `whole`.
    #[must_use]
    pub const fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (whole as u128 * percent as u128 / 100) as u64,
            Self::Whole => whole,
        }
    }
}

/// The files of a job and their sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The files.
    pub files: Files,
    /// The directories over which the files are spread; empty for the current one.
    pub directories: Vec<String>,
    /// The size of each file.
    pub file_bytes: FileBytes,
    /// What the files lie on (`filesystem=`).
    pub filesystem: FileSystem,
    /// Whether files that it writes are there before it (`overwrite=1`).
    pub overwrites: bool,
}

/// What files lie on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSystem {
    /// Nothing: a file is a stretch of the disk.
    #[default]
    None,
    /// ext2: where memory is page by page, blocks that say where the data is are in it, too.
    Ext2,
}

/// The files that a job works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// These files, shared by all clones of the job.
    Named(Vec<String>),
    /// A number of files of its own for every clone.
    PerClone {
        /// The number of files, at least 1.
        count: u32,
    },
}

/// The size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileBytes {
    /// The job's size divided by the number of its files.
    ShareOfSize,
    /// A fixed size.
    Fixed {
        /// The size in bytes, above 0.
        bytes: u64,
    },
    /// A size drawn for each file.
    Range {
        /// The smallest size in bytes, above 0.
        min_bytes: u64,
        /// The largest size in bytes, above the smallest.
        max_bytes: u64,
    },
}

/// A delay, drawn from a range for each clone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DelayNs {
    /// The shortest delay.
    pub min_ns: u64,
    /// The longest delay; equal to the shortest for a fixed delay.
    pub max_ns: u64,
}

/// Parses bytes or a percentage; in fio, 0 means not set.
pub(super) fn extent(given: Given<'_>) -> Read<Option<Extent>> {
    let text = given.raw.unwrap_or_default().trim();
    let Some(digits) = text.strip_suffix('%') else {
        return Ok(Some(bytes(given, text)?).filter(|bytes| *bytes > 0).map(Extent::Bytes));
    };
    match digits.parse::<u8>() {
        Ok(0) => Ok(None),
        Ok(percent @ 1..=100) => Ok(Some(Extent::Percent(percent))),
        _ if digits.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            ValueError::unsupported("write a whole percentage from 0% to 100%")
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

/// Parses `filesize=`.
pub(super) fn file_bytes(given: Given<'_>) -> Read<FileBytes> {
    match given.range(|end| end.bytes())? {
        (0, 0) => ValueError::bad("at least 1 byte, such as 1g or 1g-2g"),
        (0, _) => ValueError::unsupported("the smaller size must be at least 1 byte"),
        (bytes, same) if bytes == same => Ok(FileBytes::Fixed { bytes }),
        (min_bytes, max_bytes) => Ok(FileBytes::Range { min_bytes, max_bytes }),
    }
}

/// Parses `startdelay=`.
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

/// Parses a list of paths separated by colons; `\:` is a colon in a name.
pub(super) fn paths(given: Given<'_>) -> Read<Vec<String>> {
    let text = given.text()?.replace("\\:", "\0");
    let list: Vec<String> = text.split(':').map(|path| path.replace('\0', ":")).collect();
    if list.iter().any(|path| path.trim() != path || path.is_empty()) {
        return ValueError::unsupported("a name is empty or starts or ends with a blank");
    }
    Ok(list)
}

/// Writes a list of paths separated by colons.
pub(super) fn written(paths: &[String]) -> String {
    let escaped: Vec<String> = paths.iter().map(|path| path.replace(':', "\\:")).collect();
    escaped.join(":")
}
