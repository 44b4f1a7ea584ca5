//! Errors in job files, with their location and a remedy.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::catalog::error::Where;
use serde::Serialize;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file as it was named.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// The line number, counted from 1.
    pub line: usize,
}

/// Serializes shared text without the serde feature for it, which this crate does not need
/// otherwise.
fn as_text<S: serde::Serializer>(text: &Arc<str>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(text)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl From<&Place> for Where {
    fn from(place: &Place) -> Self {
        Self::File { path: place.file.to_string(), line: Some(place.line) }
    }
}

/// The class of an error: whether the file is wrong, or Fairdisk does not support it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// fio refuses the file too.
    Wrong,
    /// fio accepts it, but Fairdisk does not, or not yet.
    Unsupported,
    /// Each line is valid, but together they cannot run.
    Inconsistent,
}

/// One error in a job file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Error {
    /// The location of the error.
    pub place: Place,
    /// The kind of error.
    pub kind: ErrorKind,
}

/// The kinds of errors.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A line before the first `[section]`.
    OutsideSection {
        /// The line.
        line: String,
    },
    /// A line that fio reads in a way that cannot be intended.
    OddLine {
        /// The line.
        line: String,
        /// What to write instead.
        remedy: String,
    },
    /// A key that neither fio nor Fairdisk knows.
    UnknownKey {
        /// The key as written.
        key: String,
        /// The most similar key, if one is similar.
        nearest: Option<&'static str>,
        /// The most similar key, however different.
        closest: Option<&'static str>,
    },
    /// A key of an I/O engine that the job does not use.
    KeyOfOtherEngine {
        /// The key.
        key: &'static str,
        /// The engines that have the key.
        engines: &'static [&'static str],
    },
    /// A key that fio knows but Fairdisk does not support.
    UnsupportedKey {
        /// The key as written.
        key: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A key without a value that needs one.
    MissingValue {
        /// The key.
        key: String,
        /// What is expected.
        expected: String,
    },
    /// A value that fio refuses as well.
    BadValue {
        /// The key.
        key: String,
        /// The value as written, with variables expanded.
        value: String,
        /// What is expected.
        expected: String,
    },
    /// A value that fio accepts but Fairdisk does not.
    UnsupportedValue {
        /// The key.
        key: String,
        /// The value as written, with variables expanded.
        value: String,
        /// The reason, and what to write instead.
        remedy: String,
    },
    /// A value that consists of a variable that is not set.
    UnsetVariable {
        /// The key.
        key: String,
        /// The variable.
        variable: String,
    },
    /// An included file that cannot be read.
    Unreadable {
        /// The path of the file.
        path: String,
        /// The reason given by the system.
        reason: String,
    },
    /// A file that includes itself, directly or indirectly.
    IncludeCycle {
        /// The path that closes the circle.
        path: String,
    },
    /// Includes that are nested too deeply, too many, or too long in total to be intended.
    TooManyIncludes {
        /// The file that exceeded the limit.
        path: String,
    },
    /// A section that starts inside an included file.
    IncludedSection {
        /// The line.
        line: String,
    },
    /// Settings that contradict each other.
    Conflict {
        /// What contradicts what, and what to change.
        text: String,
    },
    /// A file without any job.
    NoJob,
}

impl Error {
    /// The class of the error.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.kind {
            ErrorKind::OddLine { .. }
            | ErrorKind::UnsupportedKey { .. }
            | ErrorKind::UnsupportedValue { .. } => Class::Unsupported,
            ErrorKind::Conflict { .. } | ErrorKind::NoJob => Class::Inconsistent,
            _ => Class::Wrong,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.kind)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideSection { line } => {
                write!(
                    f,
                    "`{line}` stands before any section; start one with `[global]` or `[name]`"
                )
            }
            Self::OddLine { line, remedy } => write!(f, "`{line}`: {remedy}"),
            Self::UnknownKey { key, nearest: Some(near), .. } => {
                write!(f, "unknown key `{key}`; did you mean `{near}`?")
            }
            Self::UnknownKey { key, nearest: None, closest } => {
                write!(f, "unknown key `{key}`; ")?;
                if let Some(far) = closest {
                    write!(f, "the nearest there is is `{far}`; ")?;
                }
                f.write_str("`fio --cmdhelp=all` lists those of fio")
            }
            Self::KeyOfOtherEngine { key, engines } => write!(
                f,
                "`{key}` belongs to ioengine {}; set that engine, or remove the key",
                engines.join(", ")
            ),
            Self::UnsupportedKey { key, remedy } => {
                write!(f, "fio knows the key `{key}`, Fairdisk does not support it: {remedy}")
            }
            Self::MissingValue { key, expected } => {
                write!(f, "`{key}` needs a value: expected {expected}")
            }
            Self::BadValue { key, value, expected } => {
                write!(f, "`{key}={value}`: expected {expected}")
            }
            Self::UnsupportedValue { key, value, remedy } => {
                write!(f, "`{key}={value}` is not supported: {remedy}")
            }
            Self::UnsetVariable { key, variable } => write!(
                f,
                "`{key}` is empty because the variable `{variable}` is not set; set it, or write \
                 the value"
            ),
            Self::Unreadable { path, reason } => {
                write!(f, "cannot read the included file `{path}`: {reason}")
            }
            Self::IncludeCycle { path } => {
                write!(f, "`{path}` includes itself; remove one of the includes")
            }
            Self::TooManyIncludes { path } => write!(
                f,
                "`{path}` is one too many; files are included up to 15 deep, 1000 times and \
                 16 MiB in all"
            ),
            Self::IncludedSection { line } => write!(
                f,
                "`{line}`: an included file holds settings only; move the section to the job file"
            ),
            Self::Conflict { text } => f.write_str(text),
            Self::NoJob => f.write_str("no job in this file; add a section such as `[reader]`"),
        }
    }
}

/// All errors of a file, in file order; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// The given errors, without repeated ones of a `[global]` section; `None` if the list is
    /// empty.
    pub(crate) fn from_list(mut list: Vec<Error>) -> Option<Self> {
        let mut seen = HashSet::new();
        list.retain(|error| seen.insert(error.clone()));
        (!list.is_empty()).then_some(Self(list))
    }

    /// The errors.
    #[must_use]
    pub fn errors(&self) -> &[Error] {
        &self.0
    }

    /// The most serious class among the errors; a wrong file is wrong whatever else it is.
    #[must_use]
    pub fn class(&self) -> Class {
        let classes = || self.0.iter().map(Error::class);
        match () {
            () if classes().any(|class| class == Class::Wrong) => Class::Wrong,
            () if classes().any(|class| class == Class::Unsupported) => Class::Unsupported,
            () => Class::Inconsistent,
        }
    }
}

impl From<Error> for Problems {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

/// The most errors that are shown; one mistake can repeat itself in thousands of sections.
const SHOWN_MOST: usize = 20;

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().take(SHOWN_MOST).enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{error}")?;
        }
        match self.0.len().saturating_sub(SHOWN_MOST) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more errors"),
        }
    }
}

impl std::error::Error for Problems {}
