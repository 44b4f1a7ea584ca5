//! The wait of a task for memory, before it submits a request.

use super::wait::Part;
use fairdisk_core::{Instant, Span};
use fairdisk_sim::machine::{NapUntil, StallStep};
use std::collections::BTreeMap;

/// What became of a task that had too little memory, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Stall(Vec<(Instant, StallStep)>);

impl Stall {
    /// Adds what became of it next.
    pub(super) fn add(&mut self, at: Instant, step: StallStep) {
        self.0.push((at, step));
    }

    /// Takes the waits that had ended by then.
    pub(super) fn take_until(&mut self, until: Instant) -> Self {
        let is_over = |(at, step): &(Instant, StallStep)| {
            *at <= until && matches!(step, StallStep::Ended { .. })
        };
        let over = self.0.iter().rposition(is_over).map_or(0, |last| last + 1);
        Self(self.0.drain(..over).collect())
    }

    /// Whether there was no such wait.
    pub(super) const fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn steps(&self) -> &[(Instant, StallStep)] {
        &self.0
    }

    /// How long it lasted: all of its parts.
    pub(super) fn total(&self) -> Span {
        self.parts().values().fold(Span::ZERO, |sum, part| sum + part.time)
    }

    /// How often the task did what, and for how long.
    pub(super) fn parts(&self) -> BTreeMap<String, Part> {
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        let (mut reclaimed, mut reclaims) = (Span::ZERO, 0);
        for both in self.0.windows(2) {
            let [(from, step), (to, _)] = both else { continue };
            match step {
                // The time to the next wait is not one.
                StallStep::Ended { .. } => continue,
                StallStep::Naps(until, _) => {
                    let [_, did, event] = nap(*until);
                    parts.entry(format!("{did} for {event}")).or_default().add(*to - *from);
                }
                step => {
                    reclaims += u64::from(matches!(step, StallStep::Passed { .. }));
                    reclaimed += *to - *from;
                }
            }
        }
        let part = Part { count: reclaims, time: reclaimed };
        parts.insert("reclaimed by itself, and waited for a CPU".to_owned(), part);
        parts
    }
}

/// What a task does that naps, what it did afterwards, and for what.
const fn nap(until: NapUntil) -> [&'static str; 3] {
    match until {
        NapUntil::Write => ["naps", "napped", "a write to complete"],
        NapUntil::Sync => ["naps", "napped", "a synchronous request to complete"],
        NapUntil::Async => ["naps", "napped", "an asynchronous request to complete"],
        NapUntil::AboveLow => ["naps", "napped", "free memory to rise above the low mark"],
        NapUntil::Progress => ["waits", "waited", "somebody to free pages"],
    }
}

const fn woken(by: NapUntil) -> &'static str {
    match by {
        NapUntil::Write => "woken: a write has completed",
        NapUntil::Sync => "woken: a synchronous request has completed",
        NapUntil::Async => "woken: an asynchronous request has completed",
        NapUntil::AboveLow => "woken: free memory is above the low mark",
        NapUntil::Progress => "woken: somebody has freed pages",
    }
}

/// What becomes of the task, in words.
pub(super) fn words(step: StallStep) -> String {
    match step {
        StallStep::Began => "too little memory is free: its task reclaims by itself",
        StallStep::Passed { priority, scanned, freed } => {
            return format!("scanned {scanned} pages at priority {priority}, and freed {freed}");
        }
        StallStep::WokeFlushers => "has the flushers write dirty pages",
        StallStep::NoProgress => "no progress: nothing was freed",
        StallStep::NoPage => {
            "progress, but no page: those that it freed are kept by its CPU, and do not count"
        }
        StallStep::Drained => "what the CPUs keep goes back to the free memory",
        StallStep::Naps(until, most) => {
            let most = most.as_ns() as f64 / 1e6;
            let [does, _, event] = nap(until);
            return format!("{does} for {event}, {most:.1} ms at most");
        }
        StallStep::Woken(by) => woken(by),
        StallStep::TimeOver => "woken: the time is over",
        StallStep::Ended { by_kswapd, by_tasks } => {
            return format!(
                "has its pages; meanwhile kswapd freed {by_kswapd} pages, and tasks {by_tasks}"
            );
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    const ENDED: StallStep = StallStep::Ended { by_kswapd: 0, by_tasks: 32 };

    #[test]
    fn a_request_takes_the_waits_that_were_over_and_leaves_the_one_it_is_part_of() {
        let mut stall = Stall::default();
        for (ms, step) in [
            (1, StallStep::Began),
            (2, StallStep::Naps(NapUntil::Async, Span::from_ms(20))),
            (22, StallStep::TimeOver),
            (23, ENDED),
            (50, StallStep::Began),
            (51, StallStep::Passed { priority: 12, scanned: 32, freed: 0 }),
        ] {
            stall.add(at(ms), step);
        }
        assert!(stall.take_until(at(22)).is_none(), "it goes on");
        let before = stall.take_until(at(52));
        assert_eq!(before.total(), Span::from_ms(22));
        let parts = before.parts();
        let napped = parts["napped for an asynchronous request to complete"];
        assert_eq!((napped.count, napped.time), (1, Span::from_ms(20)));
        assert_eq!(stall.steps().len(), 2);
        stall.add(at(60), ENDED);
        assert_eq!(stall.take_until(at(60)).total(), Span::from_ms(10));
    }

    #[test]
    fn a_nap_is_told_as_it_goes_on_and_afterwards() {
        let until = [NapUntil::Write, NapUntil::Progress];
        let steps = until.map(|until| words(StallStep::Naps(until, Span::from_ms(10))));
        assert_eq!(steps[0], "naps for a write to complete, 10.0 ms at most");
        assert_eq!(steps[1], "waits for somebody to free pages, 10.0 ms at most");
        let mut stall = Stall::default();
        stall.add(at(1), StallStep::Naps(NapUntil::Progress, Span::from_ms(10)));
        stall.add(at(3), ENDED);
        assert!(stall.parts().contains_key("waited for somebody to free pages"));
    }
}
