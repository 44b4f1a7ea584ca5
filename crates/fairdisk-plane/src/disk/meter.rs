//! What requests at a disk say about it when they are back: how many it is to be given at once.

use super::depth::{DepthMeter, Witness};
use super::portion::Portion;
use super::state::Outcome;
use fairdisk_core::{Instant, Request, RequestId, dense};

/// Looks at what a disk does.
pub(super) struct Meter {
    /// Of a disk that may turn.
    turning: Option<DepthMeter>,
    portion: Portion,
    /// By the number of the request, with when it was issued.
    witnesses: Vec<(Witness, Instant)>,
    last_completion: Instant,
    at_disk: u32,
    /// The depth that has been told.
    told: u32,
}

impl Meter {
    /// Of a disk that is given `most` at once at most, and only one at a time while it may turn.
    pub(super) fn new(most: u32, may_turn: bool) -> Self {
        let mut meter = Self {
            turning: may_turn.then(DepthMeter::default),
            portion: Portion::of(most),
            witnesses: Vec::new(),
            last_completion: Instant::ZERO,
            at_disk: 0,
            told: 0,
        };
        meter.told = meter.depth();
        meter
    }

    /// How many requests the disk is given at once.
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

    /// The depth, if it is another than was told before.
    pub(super) fn tell(&mut self) -> Option<u32> {
        let depth = self.depth();
        let told = std::mem::replace(&mut self.told, depth);
        (depth != told).then_some(depth)
    }

    /// A request is back, and `waits` jobs are not at the disk.
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
