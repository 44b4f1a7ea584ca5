//! One decision: which request is dispatched, or until when none is.
//!
//! A decision has three parts. All that time has changed is *settled*: bars that are
//! over, groups that should have come back. Then it is *asked* what is next. To ask changes
//! nothing; what it finds on its way is [noted](super::answer::Notes). At last the answer is
//! *carried out*: a request is dispatched, or nothing is until an instant. If a group is barred, or
//! a turn begins or ends, it is asked again.
//!
//! The order is the same for every kind of device: what another group waits for, floors that are
//! due, latency targets that are near. Nothing goes while the room is used up that groups with
//! targets and floors need, where several requests are served at once, or while a thinker is about
//! to be back, where one is. Then the turn goes on, and if
//! there is none, or it is over, the group is next that has had the least.

use super::answer::{After, Answer, Ask, Notes, Over};
use super::turn::Turn;
use super::{Fair, NIL};
use fairdisk_core::{Decision, Instant, RequestId, Span, Why};

impl Fair {
    /// The next decision.
    #[inline]
    pub(super) fn decide_next(&mut self, now: Instant) -> Decision {
        self.end_keeping_if_over(now);
        if self.load.queued == 0 {
            return match self.load.in_flight {
                0 => Decision::Idle,
                _ => Decision::WaitCompletion(Why::NothingQueued),
            };
        }
        self.tree.pass(now);
        while let Some(group) = self.promises.barred.due(now) {
            self.release_barred(group);
        }
        if self.device.is_serial() && self.is_busy() {
            return Decision::WaitCompletion(Why::OneAtATime);
        }
        let (mut ask, mut is_barred) = (Ask::All, false);
        loop {
            self.settle(now);
            let mut notes = Notes::default();
            let answer = self.answer(now, ask, &mut notes);
            self.note(now, &notes);
            ask = match answer {
                Answer::Dispatch { at, why, turn } => {
                    self.serve(now, at, why, turn);
                    return Decision::Dispatch(RequestId(at), why);
                }
                // Whoever was barred on the way may have been first until then, so another wait, or
                // none, may be right without it.
                Answer::Wait(..) if core::mem::take(&mut is_barred) => Ask::All,
                Answer::Wait(until, why) => return self.wait(now, until, why),
                Answer::Bar(bar, then) => {
                    self.begin_bar(bar);
                    is_barred = true;
                    then
                }
                Answer::EndTurn(over, then) => {
                    is_barred |= matches!(over, Over::Barred(_));
                    self.turn_is_over(now, over);
                    then
                }
                Answer::BeginTurn { group, queue } => {
                    self.give_turn(now, group, queue);
                    Ask::Turn
                }
                Answer::BeginAlone { group, queue } => {
                    self.begin_alone(now, group, queue);
                    Ask::All
                }
                Answer::GoOnAlone { queue } => {
                    let alone =
                        |turn| Turn { queue, used_by_queue: Span::ZERO, alone: true, ..turn };
                    self.turn = self.turn.map(alone);
                    Ask::Turn
                }
            };
        }
    }

    // ---- settling ------------------------------------------------------------------------

    /// Settles what time, or the answer before, has changed.
    #[inline]
    fn settle(&mut self, now: Instant) {
        self.settle_expected(now);
        if !self.expected.reserved.is_empty() {
            self.release_reserved_due(now);
        }
        if !self.returning.is_empty() {
            self.settle_returning(now);
        }
        if !self.promises.awaited.is_empty() {
            self.settle_awaited();
        }
        if !self.promises.floors.is_empty() {
            self.settle_floors(now);
        }
        if !self.promises.targets.is_empty() {
            self.settle_targets(now);
        }
        if self.promises.barred.has_ceilings() {
            self.settle_savers(now);
        }
        if !self.device.backlog.is_unawaited() {
            self.settle_commits(now);
        }
        if self.queues.uses_places() {
            self.settle_places(now);
        }
    }

    // ---- asking --------------------------------------------------------------------------

    /// What is next.
    fn answer(&self, now: Instant, ask: Ask, notes: &mut Notes) -> Answer {
        let owed = if matches!(ask, Ask::All) { self.owed(now, notes) } else { None };
        let (ended, before) = match ask {
            Ask::Line { ended, before } => (ended, before),
            _ => match owed.or_else(|| self.in_turn(now, notes)) {
                Some(answer) => return answer,
                None => (Why::LeastServed, NIL),
            },
        };
        self.first_in_line(now, (ended, before), notes)
    }

    /// What goes before shares, or keeps everything else waiting.
    #[inline]
    fn owed(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        let promised = self.first_awaited(now, notes).or_else(|| self.below_floor(now));
        promised.or_else(|| self.near_target(now)).or_else(|| match self.device.is_serial() {
            true => self.about_to_return(now, notes),
            false => {
                let for_target = self.leave_room_for_target(notes);
                for_target.or_else(|| self.leave_room_for_floors(now, notes))
            }
        })
    }

    /// What is next in the turn; `None` if there is none, or the line may go on meanwhile.
    #[inline]
    fn in_turn(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        let turn = self.turn?;
        if self.device.is_serial() {
            Some(self.in_serial_turn(now, turn, notes))
        } else if turn.alone {
            Some(self.in_turn_alone(now, turn, notes))
        } else if self.device.is_measured() {
            self.in_turn_at_depth(now, turn, notes)
        } else {
            None
        }
    }

    /// The first in line, after a turn that ended for a reason, of a group if there was one.
    fn first_in_line(
        &self,
        now: Instant,
        (ended, before): (Why, u32),
        notes: &mut Notes,
    ) -> Answer {
        let Some(group) = self.tree.first() else { return self.wait_for_bars() };
        let queue = self.queues.first_of(now, group);
        let at = self.next_of(now, queue);
        // What one request at a time may be, apart from shares, has been asked for before.
        let then = if self.device.is_serial() { Ask::Line { ended, before } } else { Ask::All };
        if let Some(instead) = self.instead_of_first(now, (group, at), then, notes) {
            return instead;
        }
        if self.is_better_alone(queue) {
            if let Some(wait) = self.yields(now, group, queue) {
                return wait;
            }
            if self.has_company(queue) {
                return Answer::BeginAlone { group, queue };
            }
        }
        let is_new = self.turn.is_none() || !self.device.is_measured();
        let turn = if is_new { After::New { is_brought: false } } else { After::Same };
        let why = if before == group || !self.device.rotational { Why::LeastServed } else { ended };
        Answer::Dispatch { at, why, turn }
    }

    /// The group that is first in line with this request waits, and everybody behind it, or it is
    /// barred and asked again; `None` if it is served.
    #[inline]
    fn instead_of_first(
        &self,
        now: Instant,
        (group, at): (u32, u32),
        then: Ask,
        notes: &mut Notes,
    ) -> Option<Answer> {
        let waits = self.waits_for_others(group);
        let bar = |bar| Answer::Bar(bar, then);
        waits
            .or_else(|| self.make_room(now, group, at, notes))
            .or_else(|| self.ceiling_bar(now, at).map(bar))
            .or_else(|| self.flush_bar(now, group, at, notes).map(bar))
            .or_else(|| self.hold_write(now, at, notes))
    }

    /// The request is next, unless a group around it is at its ceiling.
    pub(super) fn dispatch_or_bar(&self, now: Instant, at: u32, why: Why, turn: After) -> Answer {
        match self.ceiling_bar(now, at) {
            Some(bar) => Answer::Bar(bar, Ask::All),
            None => Answer::Dispatch { at, why, turn },
        }
    }

    /// The turn, on a device that serves several requests at once, is over. Another request is next
    /// then, which may leave a floor too little room.
    pub(super) fn ends_turn(&self, over: Over) -> Answer {
        let then = if self.promises.floors.is_empty() { Ask::LINE } else { Ask::All };
        Answer::EndTurn(over, then)
    }

    // ---- carrying out --------------------------------------------------------------------

    /// Dispatches a request, and lets the turn be as it is to be.
    fn serve(&mut self, now: Instant, at: u32, why: Why, turn: After) {
        let queue = self.requests[at].queue;
        match turn {
            After::Same => {}
            After::Aside => self.end_keeping(now),
            After::WithQueue => {
                if let Some(turn) = &mut self.turn {
                    turn.queue = queue;
                    if why != Why::SliceContinues {
                        turn.used_by_queue = Span::ZERO;
                    }
                }
            }
            After::New { is_brought } => {
                let group = self.queues[queue].group;
                self.give_turn(now, group, queue).is_brought = is_brought;
            }
        }
        self.dispatch(now, at, why);
    }

    /// Waits until then at most, and no longer than until something else may be next.
    fn wait(&self, now: Instant, until: Instant, why: Why) -> Decision {
        let is_for_completion = until == Instant::MAX;
        if is_for_completion && self.device.is_serial() {
            return Decision::WaitCompletion(why);
        }
        match self.decide_again_at(now) {
            Some(at) => Decision::WaitUntil(at.min(until), why),
            None if is_for_completion => Decision::WaitCompletion(why),
            None => Decision::WaitUntil(until, why),
        }
    }

    /// Ends the turn.
    fn turn_is_over(&mut self, now: Instant, over: Over) {
        match over {
            Over::Done => {}
            Over::Left(patience) => self.note_leaving(now, patience),
            Over::Barred(bar) => self.begin_bar(bar),
        }
        self.end_keeping(now);
        self.turn = None;
    }

    /// Lets those learn who learn from decisions.
    #[inline]
    fn note(&mut self, now: Instant, notes: &Notes) {
        self.promises.awaited.note(notes.awaited_in_vain);
        if notes.is_contended {
            self.device.depth_limit.contend();
        }
        if notes.is_for_promise {
            self.hold_back_in_look();
        }
        self.expected.note(notes.held);
        if let Some(room) = notes.floor_room {
            self.promises.floors.room_needed = room;
        }
        if let Some(asked) = notes.allowance {
            self.returning.allowance.note(asked);
        }
        if let Some(delayed) = notes.delayed {
            self.note_delayed(delayed);
        }
        if notes.at_own_cost {
            self.begin_keeping(now);
        }
        if let Some(waited) = notes.late {
            self.note_late(waited);
        }
        if let Some(since) = notes.held_since {
            self.returning.hold_since(since);
        }
    }
}
