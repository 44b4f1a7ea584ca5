//! What is wrong with a trace, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
}

/// Why a trace cannot be read on.
#[derive(Debug)]
pub enum TraceError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// Something in the file is not as it should be.
    Bad {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// Why, and what is expected.
        why: String,
    },
    /// No format was recognised.
    Unknown(PathBuf),
}

impl TraceError {
    pub(crate) fn bad(file: &Path, place: Place, why: impl Into<String>) -> Self {
        Self::Bad { file: file.into(), place, why: why.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(file, error) => write!(f, "{}: {error}", file.display()),
            Self::Bad { file, place: Place::Line(line), why } => {
                write!(f, "{}:{line}: {why}", file.display())
            }
            Self::Bad { file, place: Place::Byte(byte), why } => {
                write!(f, "{}: at byte {byte}: {why}", file.display())
            }
            Self::Unknown(file) => write!(
                f,
                "{}: its format is not known; name it with --format, one of {}",
                file.display(),
                crate::Format::names()
            ),
        }
    }
}

impl std::error::Error for TraceError {}
