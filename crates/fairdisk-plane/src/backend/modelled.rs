//! A backend that does real I/O at the pace of a modelled disk.
//!
//! A request goes both to an inner backend, which really reads or writes, and to a device model
//! from the catalogue. It completes when both have completed it. An inner backend that is faster
//! than the model contributes only its data; if it is slower, the lateness of completions is
//! measured.

use super::{Backend, Chosen, Done};
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::failure::Failure;
use fairdisk_core::{Histogram, Instant, Request, RequestId};
use fairdisk_sim::device::{Device, DeviceIo, Done as DeviceDone};
use std::collections::BTreeMap;
use std::io;

/// A backend paced by a device model.
#[derive(Debug)]
pub struct Modelled<B, D> {
    inner: B,
    device: D,
    /// Requests that the inner backend has completed, but not the model.
    early: BTreeMap<RequestId, Done>,
    /// Requests that the model has completed, but not the inner backend.
    late: BTreeMap<RequestId, Due>,
    /// Requests that both have completed, with their place in the model's order, to be returned by
    /// the current or next wait.
    ready: Vec<(u64, Done)>,
    in_flight: u32,
    completions: u64,
    lateness: Histogram,
    inner_done: Vec<Done>,
    device_done: Vec<DeviceDone>,
}

#[derive(Clone, Copy, Debug)]
struct Due {
    at: Instant,
    /// The place in the model's order of completions.
    place: u64,
    ok: bool,
}

impl<B: Backend, D: Device> Modelled<B, D> {
    /// Paces `inner` by `device`, whose depth becomes that of the whole.
    ///
    /// # Panics
    /// If `inner` takes fewer requests at once than `device`.
    #[must_use]
    pub fn new(inner: B, device: D) -> Self {
        assert!(inner.depth() >= device.depth(), "the inner backend must be at least as deep");
        Self {
            inner,
            device,
            early: BTreeMap::new(),
            late: BTreeMap::new(),
            ready: Vec::new(),
            in_flight: 0,
            completions: 0,
            lateness: Histogram::new(),
            inner_done: Vec::new(),
            device_done: Vec::new(),
        }
    }

    /// Advances the model to `until`, event by event, so that its behaviour depends on its own
    /// times and not on when it is polled.
    fn advance_device(&mut self, until: Instant, now: Instant) {
        while let Some(at) = self.device.next_event().filter(|at| *at <= until) {
            self.device.advance(at, &mut self.device_done);
            for index in 0..self.device_done.len() {
                let DeviceDone { id, ok } = self.device_done[index];
                self.completions += 1;
                self.due(id, Due { at, place: self.completions, ok }, now);
            }
            self.device_done.clear();
        }
    }

    fn due(&mut self, id: RequestId, due: Due, now: Instant) {
        match self.early.remove(&id) {
            Some(done) => self.both(done, due, now),
            None => {
                self.late.insert(id, due);
            }
        }
    }

    fn collect_inner(&mut self, now: Instant) {
        let mut inner_done = std::mem::take(&mut self.inner_done);
        for done in inner_done.drain(..) {
            match self.late.remove(&done.id) {
                Some(due) => self.both(done, due, now),
                None => {
                    self.early.insert(done.id, done);
                }
            }
        }
        self.inner_done = inner_done;
    }

    fn both(&mut self, mut done: Done, due: Due, now: Instant) {
        self.lateness.record(now - due.at);
        if !due.ok && done.result.is_ok() {
            done.result = Err(Failure::Modelled);
        }
        self.ready.push((due.place, done));
    }

    /// The next time at which to poll, at the latest.
    fn wake_at(&self, deadline: Option<Instant>) -> Option<Instant> {
        match (self.device.next_event(), deadline) {
            (Some(event), Some(deadline)) => Some(event.min(deadline)),
            (event, deadline) => event.or(deadline),
        }
    }
}

impl<B: Backend, D: Device> Backend for Modelled<B, D> {
    fn depth(&self) -> u32 {
        self.device.depth()
    }

    fn capacity_sectors(&self) -> u64 {
        self.inner.capacity_sectors().min(self.device.capacity_sectors())
    }

    fn in_flight(&self) -> u32 {
        self.in_flight
    }

    fn submit(&mut self, now: Instant, request: &Request, data: Buffer) {
        self.in_flight += 1;
        // Events of the model at `now` itself come after every request submitted at `now`.
        self.advance_device(Instant::from_ns(now.as_ns().saturating_sub(1)), now);
        self.device.submit(now, &DeviceIo::of(request));
        self.inner.submit(now, request, data);
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        loop {
            self.inner.wait(clock, Some(Instant::ZERO), &mut self.inner_done)?;
            let now = clock.now();
            self.collect_inner(now);
            self.advance_device(now, now);
            if !clock.runs() && !self.late.is_empty() {
                // Virtual time stands still until the inner backend has caught up, so that times
                // depend on the model alone.
                self.inner.wait(clock, None, &mut self.inner_done)?;
                continue;
            }
            let over = deadline.is_some_and(|deadline| now >= deadline);
            if !self.ready.is_empty() || over || (self.in_flight == 0 && deadline.is_none()) {
                break;
            }
            let wake_at = self.wake_at(deadline);
            self.inner.wait(clock, wake_at, &mut self.inner_done)?;
        }
        self.in_flight -= self.ready.len() as u32;
        self.ready.sort_by_key(|(place, _)| *place);
        done.extend(self.ready.drain(..).map(|(_, done)| done));
        Ok(())
    }

    fn chosen(&self) -> Chosen {
        let inner = self.inner.chosen();
        Chosen { name: format!("modelled disk over {}", inner.name), why: inner.why }
    }

    fn lateness(&self) -> Option<&Histogram> {
        Some(&self.lateness)
    }
}
