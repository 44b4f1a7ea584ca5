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
        self.run(end, false);
    }

    /// Like [`run_until`](Self::run_until), but ends as soon as the workload has ended.
    pub fn run_until_done(&mut self, end: Instant) {
        self.run(end, true);
    }

    fn run(&mut self, end: Instant, ends_with_workload: bool) {
        while !(ends_with_workload && self.machine.is_done()) {
            if !self.step(end) {
                self.now = self.now.max(end);
                return;
            }
        }
    }

    /// Lets the next thing happen, unless it comes after `end`; whether there was one. What the
    /// device finished comes before what tasks do at the same instant.
    fn step(&mut self, end: Instant) -> bool {
        let device = self.device.next_event();
        let next = match (self.machine.next_event(), device) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        let Some(now) = next.filter(|next| *next <= end) else { return false };
        self.now = now;
        if device == Some(now) {
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
        true
    }
}
