//! The simulated shell: virtual time and a simulated device under a [`Machine`].

use crate::device::{Device, DeviceIo, DeviceModel, Done};
use crate::machine::Machine;
use fairdisk_core::{Elevator, Instant, Request};

/// A machine and its disk.
#[derive(Debug)]
pub struct World<E> {
    machine: Machine<E>,
    device: DeviceModel,
    now: Instant,
    issued: Vec<Request>,
    done: Vec<Done>,
}

impl<E: Elevator> World<E> {
    /// Puts a disk under a machine.
    pub const fn new(machine: Machine<E>, device: DeviceModel) -> Self {
        Self { machine, device, now: Instant::ZERO, issued: Vec::new(), done: Vec::new() }
    }

    /// The machine.
    pub const fn machine(&self) -> &Machine<E> {
        &self.machine
    }

    /// The disk.
    pub const fn device(&self) -> &DeviceModel {
        &self.device
    }

    /// The machine, for changes between steps.
    pub const fn machine_mut(&mut self) -> &mut Machine<E> {
        &mut self.machine
    }

    /// The present.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Lets time pass until `end`, or until nothing will ever happen again.
    pub fn run_until(&mut self, end: Instant) {
        loop {
            match self.next_event() {
                Some(next) if next <= end => self.step(next),
                _ => break,
            }
        }
        self.now = self.now.max(end);
    }

    /// Like [`run_until`](Self::run_until), but ends as soon as the workload has ended.
    pub fn run_until_done(&mut self, end: Instant) {
        while !self.machine.is_done() {
            match self.next_event() {
                Some(next) if next <= end => self.step(next),
                _ => {
                    self.now = self.now.max(end);
                    return;
                }
            }
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        match (self.machine.next_event(), self.device.next_event()) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        }
    }

    /// What the device finished comes before what tasks do at the same instant.
    fn step(&mut self, now: Instant) {
        self.now = now;
        if self.device.next_event().is_some_and(|due| due <= now) {
            self.device.advance(now, &mut self.done);
            for done in &self.done {
                self.machine.completed(now, done.id, done.ok, &mut self.issued);
            }
            self.done.clear();
        }
        self.machine.advance(now, &mut self.issued);
        for request in &self.issued {
            let group = self.machine.owner(request);
            self.device.submit(now, &DeviceIo { group, ..DeviceIo::of(request) });
        }
        self.issued.clear();
    }
}
