//! The real shell: runs a load on a backend, under a clock, in one loop.
//!
//! At each instant completions are processed first, one by one, each followed by the requests that
//! it issues, and then the load's timers. The simulated world keeps the same order, which is why
//! the same load leaves the same journal in both.

mod report;
mod traffic;

pub use report::{Lateness, Progress, ShellError, ShellReport};
pub use traffic::Traffic;

use crate::backend::{Backend, Done};
use crate::buffer::payload_bytes;
use crate::clock::Clock;
use crate::failure::FailedRequest;
use crate::load::Load;
use crate::payload::{Anything, Payload};
use fairdisk_core::{Histogram, Instant, Request, Span};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The interval at which the stop flag is checked and progress is reported.
const TICK: Span = Span::from_ms(100);

/// A callback that receives the progress of a run.
type Listener = Box<dyn FnMut(&Progress)>;

/// Drives a [`Load`] on a [`Backend`] under a [`Clock`].
pub struct Shell<L, B, C, P = Anything> {
    load: L,
    backend: B,
    clock: C,
    payload: P,
    stop: Arc<AtomicBool>,
    end: Option<Instant>,
    end_on_failure: bool,
    progress: Option<Listener>,
    run: Run,
}

/// The state of a run.
#[derive(Debug, Default)]
struct Run {
    traffic: Traffic,
    issue: Vec<Request>,
    done: Vec<Done>,
    submitted: u64,
    completed: u64,
    bytes: u64,
    errors: u64,
    first_error: Option<FailedRequest>,
    timers: Histogram,
    stopped: Option<Instant>,
    next_tick: Instant,
}

impl<L: Load, B: Backend, C: Clock> Shell<L, B, C> {
    /// A shell that runs `load` on `backend`. The load must not exceed the backend's depth.
    #[must_use]
    pub fn new(load: L, backend: B, clock: C) -> Self {
        Self {
            load,
            backend,
            clock,
            payload: Anything::new(),
            stop: Arc::default(),
            end: None,
            end_on_failure: false,
            progress: None,
            run: Run::default(),
        }
    }
}

impl<L: Load, B: Backend, C: Clock, P: Payload> Shell<L, B, C, P> {
    /// Ends the run once `stop` is true, after requests in flight have completed.
    #[must_use]
    pub fn stop_on(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Ends the run at `end`, after requests in flight have completed.
    #[must_use]
    pub fn end_at(mut self, end: Instant) -> Self {
        self.end = Some(end);
        self
    }

    /// Ends the run at the first failed request, before the load learns of it and after requests in
    /// flight have completed. What a full or broken disk does afterwards is not worth measuring.
    #[must_use]
    pub const fn end_on_failure(mut self) -> Self {
        self.end_on_failure = true;
        self
    }

    /// Calls `progress` at most ten times per second.
    #[must_use]
    pub fn on_progress(mut self, progress: impl FnMut(&Progress) + 'static) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Writes what `payload` provides, and lets it verify what is read.
    #[must_use]
    pub fn with_payload<Q: Payload>(self, payload: Q) -> Shell<L, B, C, Q> {
        let Self { load, backend, clock, stop, end, end_on_failure, progress, run, .. } = self;
        Shell { load, backend, clock, payload, stop, end, end_on_failure, progress, run }
    }

    /// Runs the load to its end.
    ///
    /// # Errors
    /// The backend is broken, or the load waits for something that cannot happen. A failed request
    /// is not an error here; the report counts it.
    pub fn run(&mut self) -> Result<ShellReport, ShellError> {
        self.clock.prepare();
        let began = self.clock.now();
        self.run.next_tick = began;
        loop {
            let now = self.clock.now();
            self.tick(now);
            self.complete(now);
            self.advance(now);
            if self.load.is_done() && self.is_drained() {
                return Ok(self.report(began));
            }
            let deadline = self.deadline()?;
            self.backend
                .wait(&self.clock, Some(deadline), &mut self.run.done)
                .map_err(|error| self.broke(error))?;
        }
    }

    /// The load, for example to read its results.
    pub const fn load(&self) -> &L {
        &self.load
    }

    /// The backend.
    pub const fn backend(&self) -> &B {
        &self.backend
    }

    /// The payload.
    pub const fn payload(&self) -> &P {
        &self.payload
    }

    fn is_drained(&self) -> bool {
        self.run.submitted == self.run.completed
    }

    // ---- what happens at one instant -----------------------------------------------------

    /// Ends the run if its time is over or it was asked to stop, and reports progress every
    /// [`TICK`].
    fn tick(&mut self, now: Instant) {
        let over = self.end.is_some_and(|end| now >= end) || self.stop.load(Ordering::Relaxed);
        if over {
            self.end_now(now);
        }
        if now < self.run.next_tick {
            return;
        }
        self.run.next_tick = now + TICK;
        let progress = self.run.progress(now);
        if let Some(tell) = &mut self.progress {
            tell(&progress);
        }
    }

    fn end_now(&mut self, now: Instant) {
        if self.run.stopped.is_none() {
            self.run.stopped = Some(now);
            self.load.stop(now);
        }
    }

    fn complete(&mut self, now: Instant) {
        let mut done = std::mem::take(&mut self.run.done);
        for done in done.drain(..) {
            let id = done.id;
            let ok = self.settle(now, done);
            if !ok && self.end_on_failure {
                self.end_now(now);
            }
            self.load.completed(now, id, ok, &mut self.run.issue);
            self.submit(now);
        }
        self.run.done = done;
    }

    fn advance(&mut self, now: Instant) {
        // Only once: timers that it sets for this very instant run after the completions of this
        // instant.
        if let Some(due) = self.load.next_event().filter(|due| *due <= now) {
            self.run.timers.record(now - due);
            self.load.advance(now, &mut self.run.issue);
            self.submit(now);
        }
    }

    fn submit(&mut self, now: Instant) {
        let mut issue = std::mem::take(&mut self.run.issue);
        for request in issue.drain(..) {
            self.run.submitted += 1;
            self.run.traffic.submit(now, &request, &mut self.payload, &mut self.backend);
        }
        self.run.issue = issue;
    }

    /// Accounts for a completion and recycles its buffer. Returns whether the request succeeded.
    fn settle(&mut self, now: Instant, done: Done) -> bool {
        self.run.completed += 1;
        match self.run.traffic.settle(now, done, &mut self.payload) {
            Ok(request) => {
                self.run.bytes += payload_bytes(&request) as u64;
                true
            }
            Err(failed) => {
                self.run.errors += 1;
                self.run.first_error.get_or_insert(failed);
                false
            }
        }
    }

    // ---- waiting -------------------------------------------------------------------------

    /// How long to wait for completions at most.
    ///
    /// # Errors
    /// The load is not done and waits for nothing.
    fn deadline(&self) -> Result<Instant, ShellError> {
        let next = self.load.next_event();
        let waits_for_end = self.end.is_some() && self.run.stopped.is_none();
        if next.is_none() && self.is_drained() && !waits_for_end {
            return Err(ShellError::Stalled { at: self.clock.now() });
        }
        let end = self.end.filter(|_| self.run.stopped.is_none());
        let events = next.into_iter().chain(end);
        Ok(events.fold(self.run.next_tick, Instant::min))
    }

    fn broke(&self, error: std::io::Error) -> ShellError {
        ShellError::Backend {
            backend: self.backend.chosen().name,
            error,
            lost: self.run.submitted - self.run.completed,
        }
    }

    fn report(&self, began: Instant) -> ShellReport {
        let run = &self.run;
        ShellReport {
            elapsed: self.clock.now() - began,
            requests: run.completed,
            bytes: run.bytes,
            errors: run.errors,
            first_error: run.first_error,
            stopped: run.stopped,
            timer_lateness: Lateness::of(&run.timers),
            completion_lateness: self.backend.lateness().map(Lateness::of),
            backend: self.backend.chosen(),
        }
    }
}

impl Run {
    const fn progress(&self, now: Instant) -> Progress {
        Progress {
            now,
            completed: self.completed,
            bytes: self.bytes,
            in_flight: self.submitted - self.completed,
            errors: self.errors,
            draining: self.stopped.is_some(),
        }
    }
}
