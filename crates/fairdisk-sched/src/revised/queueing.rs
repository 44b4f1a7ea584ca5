//! Detection of command queueing: whether the device queues commands, found out by observation
//! (spec: cfq, sections 2.9, 3.4, 4.9).

use crate::cfq::switches::Switches;

/// The most requests in the driver with which the device does not yet count as queueing commands.
const QUEUEING_DEPTH: u32 = 4;
/// Qualified samples before the detection decides.
const SAMPLES: u32 = 50;

/// What is known about the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    No,
    Yes,
}

#[derive(Clone, Debug)]
pub(super) struct Queueing {
    known: Known,
    peak: u32,
    samples: u32,
}

/// The situation at the time of a completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Requests in the driver, including the one that completes.
    pub(super) in_driver: u32,
    /// Requests queued in the scheduler.
    pub(super) queued: u32,
    /// Requests of the active queue, in the scheduler and dispatched, if the disk idles for that
    /// queue.
    pub(super) waited_for: Option<u32>,
}

impl Queueing {
    /// Starts detection; `seen` says that the device was already seen to queue commands.
    pub(super) const fn new(on: &Switches, seen: bool) -> Self {
        let known = match (on.queueing_tristate, on.queueing_sampled) {
            _ if seen => Known::Yes,
            (true, _) => Known::Nothing,
            (false, true) => Known::Yes,
            (false, false) => Known::No,
        };
        Self { known, peak: 0, samples: 0 }
    }

    /// Whether the device queues commands, or may do so.
    pub(super) fn is_likely(&self) -> bool {
        self.known != Known::No
    }

    /// The first detection, a latch: updates it with the number of requests the driver now has.
    pub(super) const fn activated(&mut self, in_driver: u32) {
        if in_driver > QUEUEING_DEPTH {
            self.known = Known::Yes;
        }
    }

    /// The later detection: updates it with a sample at each completion.
    pub(super) fn sample(&mut self, sample: Sample, on: &Switches) {
        self.peak = self.peak.max(sample.in_driver);
        if on.queueing_tristate && self.known == Known::Yes {
            return;
        }
        let few = QUEUEING_DEPTH + 1;
        if sample.queued <= few && sample.in_driver <= few {
            return;
        }
        let starved = sample.waited_for.is_some_and(|requests| requests < few);
        if on.queueing_not_misjudged && starved && sample.in_driver < few {
            return;
        }
        self.samples += 1;
        if self.samples <= SAMPLES {
            return;
        }
        self.known = if self.peak > QUEUEING_DEPTH { Known::Yes } else { Known::No };
        if !on.queueing_tristate {
            self.samples = 0;
            self.peak = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADED: Sample = Sample { in_driver: 2, queued: 6, waited_for: None };

    fn switches(names: &[&str]) -> Switches {
        let mut on = Switches { queueing_sampled: true, ..Switches::NONE };
        assert!(names.iter().all(|name| on.set(name, true)));
        on
    }

    #[test]
    fn what_was_seen_before_is_believed_from_the_start() {
        let latch = Queueing::new(&Switches::NONE, true);
        assert!(latch.is_likely() && !Queueing::new(&Switches::NONE, false).is_likely());
        let on = switches(&["queueing_tristate"]);
        let mut queueing = Queueing::new(&on, true);
        (0..200).for_each(|_| queueing.sample(LOADED, &on));
        assert_eq!(queueing.known, Known::Yes, "for ever");
    }

    /// Spec: cfq, section 8: 50 qualified completions change nothing, the 51st decides.
    #[test]
    fn golden_the_51st_sample_decides() {
        let on = switches(&[]);
        let mut queueing = Queueing::new(&on, false);
        (0..50).for_each(|_| queueing.sample(LOADED, &on));
        assert!(queueing.is_likely(), "it is believed in to begin with");
        queueing.sample(LOADED, &on);
        assert!(!queueing.is_likely(), "a depth of 2 is no queueing");
        (0..51).for_each(|_| queueing.sample(Sample { in_driver: 5, ..LOADED }, &on));
        assert!(queueing.is_likely(), "it can change for ever");
    }

    #[test]
    fn once_seen_it_is_believed_with_three_states() {
        let on = switches(&["queueing_tristate"]);
        let mut queueing = Queueing::new(&on, false);
        assert_eq!(queueing.known, Known::Nothing);
        (0..51).for_each(|_| queueing.sample(LOADED, &on));
        assert_eq!(queueing.known, Known::No);
        queueing.sample(Sample { in_driver: 5, ..LOADED }, &on);
        assert_eq!(queueing.known, Known::Yes, "after the first decision each sample decides");
        (0..200).for_each(|_| queueing.sample(LOADED, &on));
        assert_eq!(queueing.known, Known::Yes);
    }

    #[test]
    fn a_queue_that_is_waited_for_says_nothing_of_the_device() {
        let on = switches(&["queueing_not_misjudged"]);
        let mut queueing = Queueing::new(&on, false);
        let starved = Sample { waited_for: Some(4), ..LOADED };
        (0..200).for_each(|_| queueing.sample(starved, &on));
        assert!(queueing.is_likely());
        (0..51).for_each(|_| queueing.sample(Sample { waited_for: Some(5), ..LOADED }, &on));
        assert!(!queueing.is_likely());
    }
}
