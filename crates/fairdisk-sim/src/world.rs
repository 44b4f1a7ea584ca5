//! The simulated shell: a [`Machine`] on a simulated device, in virtual time.

use crate::device::{Device, DeviceIo, DeviceModel, Done};
use crate::machine::{Issued, Machine};
use fairdisk_core::{Elevator, Instant, Request};

/// A machine and its device.
#[derive(Debug)]
pub struct World<E> {
    machine: Machine<E>,
    device: DeviceModel,
    now: Instant,
    done: Vec<Done>,
}

impl<E: Elevator> World<E> {
    /// Attaches a device to a machine.
    pub const fn new(machine: Machine<E>, device: DeviceModel) -> Self {
        Self { machine, device, now: Instant::ZERO, done: Vec::new() }
    }

    /// The machine.
    pub const fn machine(&self) -> &Machine<E> {
        &self.machine
    }

    /// The device.
    pub const fn device(&self) -> &DeviceModel {
        &self.device
    }

    /// The machine, mutably, for changes between steps.
    pub const fn machine_mut(&mut self) -> &mut Machine<E> {
        &mut self.machine
    }

    /// The current virtual time.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Runs the simulation until `end`, or until no event is left.
    pub fn run_until(&mut self, end: Instant) {
        self.run(end, false, |_| ());
    }

    /// Like [`run_until`](Self::run_until), but also stops as soon as the workload is done.
    pub fn run_until_done(&mut self, end: Instant) {
        self.run_watched(end, |_| ());
    }

    /// Like [`run_until_done`](Self::run_until_done), but reports every request that is issued to
    /// the device to `watch`.
    pub fn run_watched(&mut self, end: Instant, watch: impl FnMut(&Request)) {
        self.run(end, true, watch);
    }

    fn run(&mut self, end: Instant, ends_with_workload: bool, mut watch: impl FnMut(&Request)) {
        while !(ends_with_workload && self.machine.is_done()) {
            if !self.step(end, &mut watch) {
                self.now = self.now.max(end);
                return;
            }
        }
    }

    /// Processes the next event, unless it is after `end`. Returns whether there was one. At the
    /// same instant, completions of the device come before the actions of tasks.
    fn step(&mut self, end: Instant, mut watch: impl FnMut(&Request)) -> bool {
        let device = self.device.next_event();
        let next = match (self.machine.next_event(), device) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        let Some(now) = next.filter(|next| *next <= end) else { return false };
        self.now = now;
        if device == Some(now) {
            self.device.advance(now, &mut self.done);
            for done in self.done.drain(..) {
                self.machine.completed(now, done.id, done.ok);
            }
        }
        self.machine.advance(now);
        for Issued { request, owner } in self.machine.issued() {
            watch(&request);
            self.device.submit(now, &DeviceIo { group: owner, ..DeviceIo::of(&request) });
        }
        true
    }
}
