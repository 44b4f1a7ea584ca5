//! State of the device and its driver, which all layers share (spec: groups, section 1.2).

use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::Lba;

/// The most requests at the device with which it does not yet count as queueing commands.
const QUEUEING_DEPTH: u32 = 4;
/// Qualified samples before the later detection decides (spec: cfq, section 3.4).
const SAMPLES: u32 = 50;

#[derive(Clone, Debug)]
pub(crate) struct Driver {
    /// Requests the driver has looked at that have not completed.
    pub(crate) in_driver: u32,
    /// Requests of synchronous queues dispatched and not completed.
    pub(crate) sync_flight: u32,
    /// Requests dispatched and not completed.
    pub(crate) outstanding: u32,
    /// Whether the device counts as queueing commands.
    pub(crate) queueing: bool,
    /// Whether the device is known to serve several requests together faster.
    pub(crate) together: bool,
    /// The context being served.
    pub(crate) active_context: u32,
    /// The end of the last request the driver looked at.
    pub(crate) last_position: Lba,
    /// When idling for the task or layer being served ends; `None` while not idling.
    pub(crate) idle_timer: Option<Jiffies>,
    peak: u32,
    samples: u32,
}

impl Driver {
    /// A driver of a device that counts as `queueing` until detection decides.
    pub(crate) const fn new(queueing: bool) -> Self {
        Self {
            in_driver: 0,
            sync_flight: 0,
            outstanding: 0,
            queueing,
            together: false,
            active_context: NIL,
            last_position: Lba(0),
            idle_timer: None,
            peak: 0,
            samples: 0,
        }
    }

    pub(crate) const fn activated(&mut self, end: Lba, latched: bool) {
        self.in_driver += 1;
        self.last_position = end;
        if latched && self.in_driver > QUEUEING_DEPTH {
            self.queueing = true;
        }
    }

    /// Counts a completed request; `sync` says whether its queue is synchronous.
    pub(crate) fn completed(&mut self, sync: bool) {
        self.in_driver -= 1;
        self.outstanding -= 1;
        self.sync_flight -= u32::from(sync);
    }

    /// The later detection of command queueing, which decides anew after every 51st sample taken
    /// under load.
    pub(crate) fn sample_depth(&mut self, queued: u32) {
        self.peak = self.peak.max(self.in_driver);
        if queued <= QUEUEING_DEPTH + 1 && self.in_driver <= QUEUEING_DEPTH + 1 {
            return;
        }
        self.samples += 1;
        if self.samples > SAMPLES {
            self.queueing = self.peak > QUEUEING_DEPTH;
            self.samples = 0;
            self.peak = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: cfq, section 8: 50 qualified completions change nothing, the 51st decides.
    #[test]
    fn golden_queueing_detection() {
        let mut driver = Driver::new(true);
        driver.in_driver = 2;
        for _ in 0..50 {
            driver.sample_depth(6);
            assert!(driver.queueing);
        }
        driver.sample_depth(6);
        assert!(!driver.queueing, "a depth of 2 is no queueing");
    }

    #[test]
    fn the_latch_closes_above_four_and_stays() {
        let mut driver = Driver::new(false);
        (0..4).for_each(|_| driver.activated(Lba(0), true));
        assert!(!driver.queueing);
        driver.activated(Lba(0), true);
        driver.in_driver = 0;
        assert!(driver.queueing);
    }
}
