//! Simulated devices on the bench.

use super::{Bench, FewReads, Figures, Length, Load, SEED, few, reads, writes};
use fairdisk_core::{CostModel, Instant, RequestId, Span};
use fairdisk_sim::device::{Device as _, DeviceIo, DeviceModel, DeviceSpec, Done, Pauses};
use std::convert::Infallible;

/// The costs of requests, measured with fresh caches for each direction.
pub(super) fn costs(device: &DeviceSpec) -> CostModel {
    let new = || Simulated::new(device);
    let figures = || {
        let (qd1, qd2) = (
            few(&mut new(), 1, Length::SIMULATED, SEED)?.0,
            few(&mut new(), 2, Length::SIMULATED, SEED)?.0,
        );
        let (read, write) = (
            reads(&mut new(), Length::SIMULATED, SEED)?,
            writes(&mut new(), Length::SIMULATED, SEED)?,
        );
        Ok(Figures {
            few: FewReads { qd1, qd2, pauses: Pauses::NONE },
            read,
            write,
            flush: Span::ZERO,
        })
    };
    let Ok(figures): Result<_, Infallible> = figures();
    let (capacity, depth) = (device.capacity_sectors(), new().depth());
    figures.device(capacity, depth, device.is_rotational()).costs()
}

/// A simulated device and its time.
pub(super) struct Simulated {
    device: DeviceModel,
    now: Instant,
    done: Vec<Done>,
}

impl Simulated {
    /// A device with fresh caches.
    pub(super) fn new(spec: &DeviceSpec) -> Self {
        Self { device: spec.build(), now: Instant::ZERO, done: Vec::new() }
    }
}

impl Bench for Simulated {
    type Error = Infallible;

    fn depth(&self) -> u32 {
        self.device.depth().max(1)
    }

    fn capacity_sectors(&self) -> u64 {
        self.device.capacity_sectors()
    }

    fn begin(&mut self, _: &Load) {}

    fn submit(&mut self, io: &DeviceIo) {
        self.device.submit(self.now, io);
    }

    fn wait(&mut self, done: &mut Vec<RequestId>) -> Result<(), Infallible> {
        while self.done.is_empty() {
            let due = self.device.next_event().expect("a device with requests has something to do");
            self.now = self.now.max(due);
            self.device.advance(self.now, &mut self.done);
        }
        done.extend(self.done.drain(..).map(|done| done.id));
        Ok(())
    }

    fn now(&self) -> Instant {
        self.now
    }
}
