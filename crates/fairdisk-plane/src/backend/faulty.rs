//! A backend for tests that adds errors, delays and reordering, drawn from a seed, to any other.

use super::{Backend, Chosen, Done};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::failure::Failure;
use fairdisk_core::{Instant, Prng, Request, Span};
use rustix::io::Errno;
use std::io;

/// The kinds of faults and their frequency.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// How many of 1000 requests fail, without reaching the inner backend.
    pub errors_per_mille: u32,
    /// How many of 1000 completions are held back, which also changes their order.
    pub delays_per_mille: u32,
    /// The longest time for which a completion is held back.
    pub delay_max: Span,
}

/// A backend that adds faults to another.
#[derive(Debug)]
pub struct Faulty<B> {
    inner: B,
    faults: Faults,
    prng: Prng,
    held: Vec<(Instant, Done)>,
    inner_done: Vec<Done>,
    injected: u64,
}

impl<B: Backend> Faulty<B> {
    /// Adds `faults`, drawn from `seed`, to `inner`.
    #[must_use]
    pub const fn new(inner: B, faults: Faults, seed: u64) -> Self {
        let prng = Prng::new(seed);
        Self { inner, faults, prng, held: Vec::new(), inner_done: Vec::new(), injected: 0 }
    }

    /// The number of errors injected so far.
    #[must_use]
    pub const fn injected(&self) -> u64 {
        self.injected
    }

    fn hold(&mut self, now: Instant, done: Done) {
        let mut until = now;
        if self.prng.chance(self.faults.delays_per_mille.into(), 1000) {
            until += Span::from_ns(self.prng.below(self.faults.delay_max.as_ns()));
        }
        self.held.push((until, done));
    }

    fn hold_inner(&mut self, now: Instant) {
        let mut inner_done = std::mem::take(&mut self.inner_done);
        for done in inner_done.drain(..) {
            self.hold(now, done);
        }
        self.inner_done = inner_done;
    }

    fn release(&mut self, now: Instant, done: &mut Vec<Done>) {
        let before = done.len();
        done.extend(self.held.extract_if(.., |(until, _)| *until <= now).map(|(_, done)| done));
        self.prng.shuffle(&mut done[before..]);
    }
}

impl<B: Backend> Backend for Faulty<B> {
    fn depth(&self) -> u32 {
        self.inner.depth()
    }

    fn capacity_sectors(&self) -> u64 {
        self.inner.capacity_sectors()
    }

    fn in_flight(&self) -> u32 {
        self.inner.in_flight() + self.held.len() as u32
    }

    fn submit(&mut self, now: Instant, request: &Request, data: Buffer) {
        if !self.prng.chance(self.faults.errors_per_mille.into(), 1000) {
            return self.inner.submit(now, request, data);
        }
        self.injected += 1;
        let result = Err(Failure::Os(Errno::IO));
        self.hold(now, Done { id: request.id, data, result });
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        let before = done.len();
        loop {
            self.release(clock.now(), done);
            let over = deadline.is_some_and(|deadline| clock.now() >= deadline);
            if done.len() > before || over || (self.in_flight() == 0 && deadline.is_none()) {
                return Ok(());
            }
            let release = self.held.iter().map(|(until, _)| *until).min();
            let wake_at = release.into_iter().chain(deadline).min();
            self.inner.wait(clock, wake_at, &mut self.inner_done)?;
            self.hold_inner(clock.now());
        }
    }

    fn chosen(&self) -> Chosen {
        let inner = self.inner.chosen();
        Chosen { name: format!("faults over {}", inner.name), why: inner.why }
    }
}
