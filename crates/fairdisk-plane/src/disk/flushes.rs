//! How long flushes take, from the call to the answer, and what each of them waited for.

use fairdisk_core::{Histogram, Span};

/// What a flush waited for, one after another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushTimes {
    /// Until the data that its file had dirty was on the disk, before it was
    /// [submitted](super::Order::waited).
    pub own_data: Span,
    /// Until it was issued to the device.
    pub scheduler: Span,
    /// For the device.
    pub device: Span,
}

/// How long the flushes of a group took.
#[derive(Clone, Debug, Default)]
pub struct Flushes {
    /// From the call to the answer.
    pub total: Histogram,
    /// Waiting for the data that their files had dirty.
    pub own_data: Histogram,
    /// Waiting to be issued.
    pub scheduler: Histogram,
    /// At the device.
    pub device: Histogram,
    /// What the longest of them waited for.
    pub longest: FlushTimes,
}

impl FlushTimes {
    /// From the call to the answer.
    #[must_use]
    pub fn total(&self) -> Span {
        self.own_data + self.scheduler + self.device
    }
}

impl Flushes {
    pub(super) fn count(&mut self, times: FlushTimes) {
        if times.total() >= self.longest.total() {
            self.longest = times;
        }
        self.total.record(times.total());
        self.own_data.record(times.own_data);
        self.scheduler.record(times.scheduler);
        self.device.record(times.device);
    }
}
