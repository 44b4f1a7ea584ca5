//! Determines the queue depth of a disk from the completion times of its requests.

use super::depth::{DepthMeter, Witness};
use super::portion::Portion;
use super::state::Outcome;
use fairdisk_core::{Change, Instant, Request, RequestId, dense};

/// Observes the requests of a disk.
pub(super) struct Meter {
    /// Decides between one request at a time and several, for a disk that may be rotational.
    turning: Option<DepthMeter>,
    portion: Portion,
    /// What each request can reveal and when it was issued, by the number of the request.
    witnesses: Vec<(Witness, Instant)>,
    last_completion: Instant,
    at_disk: u32,
    /// What was reported last: whether the disk may be rotational, and the depth.
    told: (bool, u32),
}

impl Meter {
    /// A meter for a disk that gets at most `most` requests at once, and one at a time while it may
    /// be rotational.
    pub(super) fn new(most: u32, may_turn: bool) -> Self {
        let mut meter = Self {
            turning: may_turn.then(DepthMeter::default),
            portion: Portion::of(most),
            witnesses: Vec::new(),
            last_completion: Instant::ZERO,
            at_disk: 0,
            told: (may_turn, 0),
        };
        meter.told.1 = meter.depth();
        meter
    }

    /// The number of requests that the disk gets at once.
    pub(super) fn depth(&self) -> u32 {
        if self.is_deep() { self.portion.requests() } else { 1 }
    }

    fn is_deep(&self) -> bool {
        self.turning.as_ref().is_none_or(DepthMeter::is_deep)
    }

    pub(super) fn issued(&mut self, now: Instant, request: &Request) {
        self.at_disk += 1;
        let witness =
            self.turning.as_mut().map_or(Witness::Mute, |turning| turning.issued(request));
        *dense::entry(&mut self.witnesses, request.id.0, || (Witness::Mute, now)) = (witness, now);
    }

    /// What has changed since it was last reported: whether the disk may be rotational, and the
    /// depth. A scheduler that took a fast disk for a rotational one would think that it serves one
    /// request after the other, at whatever depth.
    pub(super) fn tell(&mut self) -> impl Iterator<Item = Change> + use<> {
        let found = (!self.is_deep(), self.depth());
        let (rotational, depth) = std::mem::replace(&mut self.told, found);
        let turns = Change::Rotational { rotational: found.0 };
        let takes = Change::Depth { depth: found.1 };
        let changed =
            [(rotational != found.0).then_some(turns), (depth != found.1).then_some(takes)];
        changed.into_iter().flatten()
    }

    /// Notes a completion, while `waits` jobs wait for the disk.
    pub(super) fn completed(
        &mut self,
        now: Instant,
        id: RequestId,
        outcome: Outcome,
        waits: usize,
    ) {
        let (witness, issued) = self.witnesses[id.0 as usize];
        let took = now - issued.max(self.last_completion);
        self.last_completion = now;
        if outcome.is_telling() {
            if self.is_deep() {
                self.portion.completed(now, self.at_disk.saturating_add(waits as u32));
            }
            self.turning.iter_mut().for_each(|turning| turning.completed(witness, took));
        }
        self.at_disk -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::state::Jobs;
    use fairdisk_core::{Flags, GroupId, IoPrio, Lba, Op, Sectors, Span, TaskId};

    /// What is told after 100 reads at two far places that take this long each.
    fn told(meter: &mut Meter, now: &mut Instant, took: Span) -> Vec<Change> {
        for at in 0..100 {
            let request = Request {
                id: RequestId(0),
                task: TaskId(1),
                group: GroupId::ROOT,
                op: Op::Read,
                start: Lba(at % 2 * 1_000_000),
                sectors: Sectors(8),
                sync: true,
                flags: Flags::NONE,
                ioprio: IoPrio::UNSET,
                arrived: *now,
            };
            meter.issued(*now, &request);
            *now += took;
            meter.completed(*now, RequestId(0), Outcome::of(&Jobs::default()), 0);
        }
        meter.tell().collect()
    }

    #[test]
    fn a_disk_that_is_too_fast_to_turn_is_told_of_as_one_that_does_not() {
        let (mut meter, mut now) = (Meter::new(32, true), Instant::ZERO);
        let (fast, slow) = (Span::from_us(80), Span::from_ms(8));
        let turns =
            |rotational, depth| vec![Change::Rotational { rotational }, Change::Depth { depth }];
        assert_eq!(told(&mut meter, &mut now, fast), turns(false, 32));
        assert_eq!(told(&mut meter, &mut now, fast), []);
        assert_eq!(told(&mut meter, &mut now, slow), turns(true, 1));
    }
}
