//! Which backend serves a file.

use super::file_threads::DEPTH_MAX;
use super::{Backend, FileThreads, FileUring, NoRing, Ring};
use crate::file::TargetFile;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// `io_uring` if the kernel allows it, else threads.
    #[default]
    Auto,
    /// `io_uring` or nothing.
    Uring,
    /// Threads.
    Threads,
}

/// No backend could be set up for a file.
#[derive(Debug)]
pub enum ChooseError {
    /// `io_uring` was asked for, and there is none.
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        refusal: NoRing,
    },
    /// More requests at once than threads serve.
    TooDeep {
        /// The file.
        path: PathBuf,
        /// How many.
        depth: u32,
        /// Why it would be threads.
        why: String,
    },
    /// The system refuses to start threads.
    NoThreads {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl fmt::Display for ChooseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { path, refusal } => write!(
                f,
                "{}: cannot be served with io_uring: {refusal}; leave the choice to Fairdisk or \
                 ask for threads",
                path.display()
            ),
            Self::TooDeep { path, depth, why } => write!(
                f,
                "{}: threads ({why}) serve {DEPTH_MAX} requests at once, not {depth}; use \
                 io_uring or a smaller depth",
                path.display()
            ),
            Self::NoThreads { path, error } => write!(
                f,
                "{}: cannot start threads for it: {error}; raise the limit on processes or use a \
                 smaller depth",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ChooseError {}

/// A backend for `target` that takes `depth` requests at once.
///
/// # Errors
/// What was asked for is not to be had.
pub fn open(
    target: TargetFile,
    preference: Preference,
    depth: u32,
) -> Result<Box<dyn Backend + Send>, ChooseError> {
    if preference == Preference::Threads {
        return threads(target, depth, "asked for");
    }
    let why = if preference == Preference::Uring { "asked for" } else { "the kernel allows it" };
    match Ring::new(depth) {
        Ok(ring) => Ok(uring(target, ring, depth, why)),
        Err(refusal) if preference == Preference::Uring => {
            Err(ChooseError::Refused { path: target.path().to_owned(), refusal })
        }
        Err(refusal) => threads(target, depth, &refusal.to_string()),
    }
}

fn uring(target: TargetFile, ring: Ring, depth: u32, why: &str) -> Box<dyn Backend + Send> {
    let why = format!("{why}; {}", path_to_disk(&target));
    Box::new(FileUring::new(target, ring, depth, &why))
}

fn threads(
    target: TargetFile,
    depth: u32,
    why: &str,
) -> Result<Box<dyn Backend + Send>, ChooseError> {
    let path = target.path().to_owned();
    if depth > DEPTH_MAX {
        return Err(ChooseError::TooDeep { path, depth, why: why.to_owned() });
    }
    let why = format!("{why}; {}", path_to_disk(&target));
    let pool = FileThreads::new(target, depth, &why);
    Ok(Box::new(pool.map_err(|error| ChooseError::NoThreads { path, error })?))
}

fn path_to_disk(target: &TargetFile) -> String {
    match target.direct_align() {
        Some(align) => format!("direct I/O for requests aligned to {align} bytes"),
        None => "through the page cache, since direct I/O does not work there".to_owned(),
    }
}
