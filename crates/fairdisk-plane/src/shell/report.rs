//! What a run of the shell says about itself.

use crate::backend::Chosen;
use crate::failure::FailedRequest;
use fairdisk_core::{Histogram, Instant, Span};
use std::fmt;
use std::io;

/// How a run went. What the load achieved is the load's to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellReport {
    /// From the start until everything had finished.
    pub elapsed: Span,
    /// Requests that came back, failed ones included.
    pub requests: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// The first of them.
    pub first_error: Option<FailedRequest>,
    /// When the run was told to end, by the stop flag, its end or a failure; `None` if it ended by
    /// itself.
    pub stopped: Option<Instant>,
    /// How much later than it asked for the load was advanced.
    pub timer_lateness: Lateness,
    /// How much later than the model says completions came, if there is a model.
    pub completion_lateness: Option<Lateness>,
    /// The backend and why it was chosen.
    pub backend: Chosen,
}

/// How late something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// How many times it was looked at.
    pub count: u64,
    /// Half were later.
    pub p50: Span,
    /// One in a hundred was later.
    pub p99: Span,
    /// The latest.
    pub max: Span,
}

impl Lateness {
    pub(super) fn of(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            p50: histogram.quantile(500),
            p99: histogram.quantile(990),
            max: histogram.max(),
        }
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {} p99 {} max {} ({} times)", self.p50, self.p99, self.max, self.count)
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time.
    pub now: Instant,
    /// Requests that came back.
    pub completed: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Requests at the backend.
    pub in_flight: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Whether the run only finishes what is in flight.
    pub draining: bool,
}

/// Why a run could not go on.
#[derive(Debug)]
pub enum ShellError {
    /// The backend broke.
    Backend {
        /// Its name.
        backend: String,
        /// What the system said.
        error: io::Error,
        /// Requests it held.
        lost: u64,
    },
    /// The load is not done, yet waits for nothing.
    Stalled {
        /// When.
        at: Instant,
    },
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backend { backend, error, lost } => write!(
                f,
                "the backend {backend} broke with {lost} requests in flight: {error}; try another \
                 backend"
            ),
            Self::Stalled { at } => write!(
                f,
                "at {at} the load waits for nothing and is not done; this is a defect of \
                 Fairdisk, please report it"
            ),
        }
    }
}

impl std::error::Error for ShellError {}
