//! The simulated shell: a [`Machine`] on simulated disks, in virtual time.

use crate::device::{DeviceIo, Done, Jbod};
use crate::machine::{Issued, Machine};
use fairdisk_core::{Elevator, Instant, Request};

/// A machine and its disks.
#[derive(Debug)]
pub struct World<E> {
    machine: Machine<E>,
    jbod: Jbod,
    now: Instant,
    done: Vec<Done>,
    /// Whether everything that completes from now on has failed.
    fails: bool,
}

impl<E: Elevator> World<E> {
    /// Attaches its disks, or its only one, to a machine.
    pub fn new(machine: Machine<E>, disks: impl Into<Jbod>) -> Self {
        let jbod = disks.into();
        assert_eq!(jbod.disks().len(), machine.disks() as usize, "each disk has a queue");
        Self { machine, jbod, now: Instant::ZERO, done: Vec::new(), fails: false }
    }

    /// The machine.
    pub const fn machine(&self) -> &Machine<E> {
        &self.machine
    }

    /// The disks.
    pub const fn jbod(&self) -> &Jbod {
        &self.jbod
    }

    /// The machine, mutably, for changes between steps.
    pub const fn machine_mut(&mut self) -> &mut Machine<E> {
        &mut self.machine
    }

    /// Lets every request fail that completes from now on, on all disks.
    pub const fn fail(&mut self) {
        self.fails = true;
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
    /// a disk to `watch`.
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
    /// same instant, completions of disks come before the actions of tasks.
    fn step(&mut self, end: Instant, mut watch: impl FnMut(&Request)) -> bool {
        let disks = self.jbod.next_event();
        let next = match (self.machine.next_event(), disks) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        let Some(now) = next.filter(|next| *next <= end) else { return false };
        self.now = now;
        let Self { machine, jbod, done, fails, .. } = self;
        if disks == Some(now) {
            jbod.advance(now, done, |disk, done| {
                machine.completed(now, disk, done.id, done.ok && !*fails);
            });
        }
        machine.advance(now);
        machine.take_issued(|Issued { disk, request, owner, segments }| {
            watch(request);
            let io = DeviceIo { group: *owner, ..DeviceIo::of(request) };
            jbod.submit(now, *disk, &io, *segments);
        });
        true
    }
}
