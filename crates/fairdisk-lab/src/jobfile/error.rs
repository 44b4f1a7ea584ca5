//! What is wrong with a job file, where, and what to do about it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The file as it was named.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// Counted from 1.
    pub line: usize,
}

/// serde leaves shared text to a feature this crate does not need otherwise.
fn as_text<S: serde::Serializer>(text: &Arc<str>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(text)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Who refuses: the difference between a wrong file and a file Fairdisk is not up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// fio refuses it too.
    Wrong,
    /// fio takes it; Fairdisk does not, or not yet.
    Unsupported,
    /// Each line is fine and together they cannot run.
    Inconsistent,
}

/// One problem of a job file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Error {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub kind: ErrorKind,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A line before the first `[section]`.
    OutsideSection {
        /// The line.
        line: String,
    },
    /// A line fio reads in a way nobody can have meant.
    OddLine {
        /// The line.
        line: String,
        /// What to write.
        remedy: String,
    },
    /// Nobody knows this key.
    UnknownKey {
        /// As written.
        key: String,
        /// The nearest key there is, when one is near.
        nearest: Option<&'static str>,
        /// The nearest key there is, however far.
        closest: Option<&'static str>,
    },
    /// The key belongs to an I/O engine the job does not use.
    KeyOfOtherEngine {
        /// The key.
        key: &'static str,
        /// The engines that have it.
        engines: &'static [&'static str],
    },
    /// fio knows this key, Fairdisk does not.
    UnsupportedKey {
        /// The key.
        key: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The key stands alone and needs a value.
    MissingValue {
        /// The key.
        key: String,
        /// What is expected.
        expected: String,
    },
    /// fio refuses this value as well.
    BadValue {
        /// The key.
        key: String,
        /// As written, variables expanded.
        value: String,
        /// What is expected.
        expected: String,
    },
    /// fio takes this value; Fairdisk does not.
    UnsupportedValue {
        /// The key.
        key: String,
        /// As written, variables expanded.
        value: String,
        /// Why, and what to write.
        remedy: String,
    },
    /// The whole value is a variable that is not set.
    UnsetVariable {
        /// The key.
        key: String,
        /// The variable.
        variable: String,
    },
    /// An included file cannot be read.
    Unreadable {
        /// Its path.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A file includes itself, directly or not.
    IncludeCycle {
        /// The path that closes the circle.
        path: String,
    },
    /// Files include each other deeper, or in all more often or more text, than anybody can mean.
    TooManyIncludes {
        /// The file that was too much.
        path: String,
    },
    /// A section starts inside an included file.
    IncludedSection {
        /// The line.
        line: String,
    },
    /// Settings that cannot stand together.
    Conflict {
        /// What clashes, and what to change.
        text: String,
    },
    /// A file without any job.
    NoJob,
}

impl Error {
    /// Who refuses.
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

/// Every problem found, in file order; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// `None` when nothing is wrong. Problems of a `[global]` section count once.
    pub(super) fn from_list(mut list: Vec<Error>) -> Option<Self> {
        let mut seen = HashSet::new();
        list.retain(|error| seen.insert(error.clone()));
        (!list.is_empty()).then_some(Self(list))
    }

    /// The problems.
    #[must_use]
    pub fn errors(&self) -> &[Error] {
        &self.0
    }

    /// The gravest class among them: a wrong file is wrong whatever else it is.
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

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
