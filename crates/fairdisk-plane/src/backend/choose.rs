//! Chooses the backend that serves a file.

use super::file_threads::DEPTH_MAX;
use super::{Backend, FileThreads, FileUring, NoRing, Ring};
use crate::file::TargetFile;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The backend that the user prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// `io_uring` if the kernel allows it, else threads.
    #[default]
    Auto,
    /// `io_uring`, or else an error.
    Uring,
    /// A pool of threads.
    Threads,
}

/// Why no backend could be set up for a file.
#[derive(Debug)]
pub enum ChooseError {
    /// `io_uring` was asked for, but the kernel provides none that we can use.
    Refused {
        /// The file that was to be served.
        path: PathBuf,
        /// Why there is no ring.
        refusal: NoRing,
    },
    /// The depth exceeds the number of requests that threads serve at once.
    TooDeep {
        /// The file that was to be served.
        path: PathBuf,
        /// The requested depth, in requests.
        depth: u32,
        /// Why threads would be the backend.
        why: String,
    },
    /// The system refused to start the threads.
    NoThreads {
        /// The file that was to be served.
        path: PathBuf,
        /// The error of the system.
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

/// Opens a backend for `target` with a depth of `depth` requests.
///
/// # Errors
/// The preferred backend is not available, or threads cannot serve that depth.
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
