//! The report of a run about the shell itself.

use crate::backend::Chosen;
use crate::failure::FailedRequest;
use fairdisk_core::{Histogram, Instant, Span};
use std::fmt;
use std::io;

/// The shell's figures of a run. The results of the load are the load's to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellReport {
    /// The time from the start until everything had completed.
    pub elapsed: Span,
    /// The number of completed requests, including failed ones.
    pub requests: u64,
    /// The number of bytes read and written.
    pub bytes: u64,
    /// The number of failed requests.
    pub errors: u64,
    /// The first failed request.
    pub first_error: Option<FailedRequest>,
    /// When the run was told to end, by the stop flag, its end time or a failure; `None` if it
    /// ended by itself.
    pub stopped: Option<Instant>,
    /// How late the load's timers ran.
    pub timer_lateness: Lateness,
    /// How late completions came relative to the device model, if there is one.
    pub completion_lateness: Option<Lateness>,
    /// The backend and why it was chosen.
    pub backend: Chosen,
}

/// The distribution of a lateness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// The number of measurements.
    pub count: u64,
    /// The median.
    pub p50: Span,
    /// The 99th percentile.
    pub p99: Span,
    /// The maximum.
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
        let ms = |span: Span| format!("{:.3} ms", span.as_ns() as f64 / 1e6);
        let [p50, p99, max] = [self.p50, self.p99, self.max].map(ms);
        write!(f, "p50 {p50}, p99 {p99}, max {max} ({} times)", self.count)
    }
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time since the clock was started.
    pub now: Instant,
    /// The number of completed requests, including failed ones.
    pub completed: u64,
    /// The number of bytes read and written.
    pub bytes: u64,
    /// The number of requests at the backend.
    pub in_flight: u64,
    /// The number of failed requests.
    pub errors: u64,
    /// Whether the run has been told to end and only completes what is in flight.
    pub draining: bool,
}

/// Why a run could not continue.
#[derive(Debug)]
pub enum ShellError {
    /// The backend is broken.
    Backend {
        /// The name of the backend.
        backend: String,
        /// The error of the system.
        error: io::Error,
        /// The number of requests at the backend, which are lost.
        lost: u64,
    },
    /// The load is not done, but waits for nothing.
    Stalled {
        /// When this was noticed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_apart_from_its_unit() {
        let [p50, p99, max] = [13, 240, 12_345].map(Span::from_us);
        let text = Lateness { count: 7, p50, p99, max }.to_string();
        assert_eq!(text, "p50 0.013 ms, p99 0.240 ms, max 12.345 ms (7 times)");
    }
}
