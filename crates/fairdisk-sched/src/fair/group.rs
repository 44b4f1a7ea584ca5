//! What is known of a group beside its place among the others.

use super::NIL;
use super::cache::Traces;
use super::ceiling::Ceiling;
use super::floor::PaidUntil;
use super::mean::Mean;
use super::target::Room;
use super::usual::Usual;
use crate::groups::Amount;
use fairdisk_core::list::List;
use fairdisk_core::{Instant, Qos, Span};

/// A group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) qos: Qos,
    pub(super) ceiling: Ceiling,
    /// The same by what was done, where several requests are served at once, and what of the group
    /// and those in it was let go there and is not done.
    pub(super) done: Ceiling,
    pub(super) there: Amount,
    /// What was dispatched of it last.
    pub(super) last: Amount,
    pub(super) floor_paid: PaidUntil,
    /// The group at a ceiling, itself or around it, for which its floor waits, or `NIL`.
    pub(super) floor_barred_by: u32,
    /// Floors that wait for its own ceiling.
    pub(super) barred_floors: List,
    /// How long the disk is kept for it at most, if not as long as for every group.
    pub(super) idle: Option<Span>,
    /// What it lets others have at the device, if it has a latency target.
    pub(super) room: Room,
    /// Requests of its own tasks, queued and at the device.
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
    /// Its last turn ended because it was thinking, and had had less than its share.
    pub(super) left_early: bool,
    /// It left early, and is back.
    pub(super) is_back: bool,
    /// Flushes on their way to the device or there.
    pub(super) flushes: u32,
    /// When something of it was last done.
    pub(super) quiet_since: Option<Instant>,
    /// From then to its next synchronous request.
    pub(super) think: Mean,
    /// The same, however long it was, since it left a turn early.
    pub(super) pause: Mean,
    /// What was dispatched of it since it last had none at the device and none queued, as charged
    /// then.
    pub(super) burst: Span,
    /// What its reads take while the device does nothing else.
    pub(super) usual: Usual,
    /// The same as far as it can be known of one that was never seen to read but after writes of
    /// others: none took longer than the device is said to.
    pub(super) presumed: Mean<64>,
    /// What its requests take in the midst of its turns.
    pub(super) settled: Mean<64>,
    /// What it wrote that the device has yet to do.
    pub(super) traces: Traces,
}

impl Group {
    pub(super) fn new() -> Self {
        Self {
            qos: Qos::NONE,
            ceiling: Ceiling::default(),
            done: Ceiling::default(),
            there: Amount::NONE,
            last: Amount::NONE,
            floor_paid: PaidUntil::default(),
            floor_barred_by: NIL,
            barred_floors: List::new(),
            idle: None,
            room: Room::default(),
            waiting: 0,
            in_flight: 0,
            left_early: false,
            is_back: false,
            flushes: 0,
            quiet_since: None,
            think: Mean::default(),
            pause: Mean::default(),
            burst: Span::ZERO,
            usual: Usual::default(),
            settled: Mean::default(),
            presumed: Mean::default(),
            traces: Traces::default(),
        }
    }

    /// Another group that gets its number is not known yet.
    pub(super) fn forget(&mut self) {
        (self.left_early, self.is_back) = (false, false);
        self.idle = None;
        (self.think, self.pause) = (Mean::default(), Mean::default());
        (self.usual, self.presumed) = (Usual::default(), Mean::default());
        self.settled = Mean::default();
        (self.quiet_since, self.burst) = (None, Span::ZERO);
        self.traces = Traces::default();
    }

    /// It left a turn early, and has something queued again.
    #[cold]
    pub(super) fn came_back(&mut self, now: Instant) {
        if let Some(since) = self.quiet_since {
            self.pause.add(now.since(since));
        }
    }

    /// When it is not above its ceiling with so much more: neither by what was let go nor, if all
    /// that is at the device were done at once, by what was done.
    pub(super) fn ready_at(&self, now: Instant, amount: Amount) -> Instant {
        let (rates, burst) = (&self.qos.ceiling, self.qos.burst);
        let let_go = self.ceiling.ready_at(rates, burst, amount);
        let_go.max(self.done.ready_beside(now, (rates, burst), self.there, amount))
    }

    /// Whether it has had nothing to do for longer than that, or thinks between its turns.
    pub(super) fn was_away(&self, now: Instant, longest: Span) -> bool {
        self.left_early || self.quiet_since.is_none_or(|since| now.since(since) > longest)
    }

    pub(super) const fn is_quiet(&self) -> bool {
        self.waiting == 0 && self.in_flight == 0 && self.flushes == 0
    }
}
