//! Puts requests together from the events of their steps, as block layers report them.
//!
//! A task's I/O is queued, may be merged with others or split, is given to the device and done.
//! The steps after the first are about ranges, which need not be the range of one I/O: each
//! concerns all I/Os of that operation that lie in its range. So merges and splits need no events
//! of their own.

use crate::origins::OriginId;
use crate::request::{Request, Traits};
use fairdisk_core::{Instant, Lba, Op, Sectors};
use std::collections::{BTreeMap, VecDeque};

/// A step in the life of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// A task asked for it.
    Queued,
    /// It was given to the device.
    Issued,
    /// It came back undone, and will be given to the device again.
    Requeued,
    /// It is done, or this part of it.
    Done,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) at: Instant,
    pub(crate) step: Step,
    /// A number of the device.
    pub(crate) device: u32,
    pub(crate) origin: OriginId,
    pub(crate) op: Op,
    pub(crate) traits: Traits,
    pub(crate) start: Lba,
    pub(crate) sectors: Sectors,
}

/// At most this many requests are remembered that have not been done: more than any device takes.
/// Of what is older the end was lost.
const PENDING_MOST: usize = 1 << 17;

/// Among this many requests that begin before a range those are searched for that reach into it.
const REACH_MOST: usize = 64;

/// Device, class of operation, start, and a count that tells apart what is at one place.
type Key = (u32, u8, u64, u64);

#[derive(Clone, Copy, Debug)]
struct Pending {
    request: Request,
    /// Sectors that are not done yet.
    left: u32,
}

/// Requests that are under way.
#[derive(Debug, Default)]
pub(crate) struct Pairing {
    pending: BTreeMap<Key, Pending>,
    /// In the order in which they came; some are done.
    by_age: VecDeque<Key>,
    count: u64,
    /// The keys that an event concerns; kept for its memory.
    concerned: Vec<Key>,
}

/// Operations that are never merged with each other.
const fn class(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write | Op::WriteZeroes => 1,
        Op::Discard => 2,
        Op::Flush => 3,
    }
}

impl Pairing {
    /// Takes an event, and hands over the requests that it completes.
    pub(crate) fn take(&mut self, event: &Event, mut done: impl FnMut(Request)) {
        match event.step {
            Step::Queued => self.begin(event, None, &mut done),
            Step::Issued => {
                self.find(event);
                if self.concerned.is_empty() {
                    // Nobody queued it, such as a command of the driver, or before the trace began.
                    self.begin(event, Some(event.at), &mut done);
                }
                self.each(|one| one.request.issued = one.request.issued.or(Some(event.at)));
            }
            Step::Requeued => {
                self.find(event);
                self.each(|one| one.request.issued = None);
            }
            Step::Done => self.end(event, done),
        }
    }

    /// Hands over what is not done.
    pub(crate) fn finish(&mut self, mut rest: impl FnMut(Request)) {
        let mut left: Vec<_> = core::mem::take(&mut self.pending).into_iter().collect();
        left.sort_by_key(|(key, _)| key.3);
        left.into_iter().for_each(|(_, one)| rest(one.request));
        self.by_age.clear();
    }

    fn begin(&mut self, event: &Event, issued: Option<Instant>, lost: &mut impl FnMut(Request)) {
        let Event { at, device, origin, op, traits, start, sectors, .. } = *event;
        let request =
            Request { origin, op, traits, start, sectors, queued: at, issued, done: None };
        self.count += 1;
        let key = (device, class(op), start.0, self.count);
        self.pending.insert(key, Pending { request, left: sectors.0 });
        self.by_age.push_back(key);
        while self.by_age.len() > 2 * PENDING_MOST || self.pending.len() > PENDING_MOST {
            let Some(oldest) = self.by_age.pop_front() else { return };
            if let Some(one) = self.pending.remove(&oldest) {
                lost(one.request);
            }
        }
    }

    /// Whether the event is about a request that is known.
    pub(crate) fn knows(&mut self, event: &Event) -> bool {
        self.find(event);
        !self.concerned.is_empty()
    }

    /// Finds the requests that an event concerns: one with its very range, else those that begin in
    /// the range and those before that reach into it.
    fn find(&mut self, event: &Event) {
        let Event { step, device, op, start, sectors, .. } = *event;
        let (class, end) = (class(op), start.after(sectors).0.max(start.0 + 1));
        let from = (device, class, start.0, 0);
        self.concerned.clear();
        // Of several with one range the oldest is given to the device first, and done first.
        let waits_for = |one: &Pending| one.request.issued.is_none() == (step == Step::Issued);
        let alike = || {
            let there = self.pending.range(from..(device, class, start.0 + 1, 0));
            there.filter(|(_, one)| one.request.sectors == sectors)
        };
        let own = alike().find(|(_, one)| waits_for(one)).or_else(|| alike().next());
        if let Some((key, _)) = own {
            self.concerned.push(*key);
            return;
        }
        if sectors.0 == 0 {
            return;
        }
        let before = self.pending.range((device, class, 0, 0)..from).rev().take(REACH_MOST);
        let reaches = |(_, one): &(&Key, &Pending)| one.request.end() > start;
        self.concerned.extend(before.filter(reaches).map(|(key, _)| *key));
        let within = self.pending.range(from..(device, class, end, 0));
        self.concerned.extend(within.map(|(key, _)| *key));
    }

    fn each(&mut self, change: impl Fn(&mut Pending)) {
        for key in &self.concerned {
            if let Some(one) = self.pending.get_mut(key) {
                change(one);
            }
        }
    }

    fn end(&mut self, event: &Event, mut done: impl FnMut(Request)) {
        self.find(event);
        let range = event.start.0..event.start.after(event.sectors).0;
        let is_issued =
            |key: &Key| self.pending.get(key).is_some_and(|it| it.request.issued.is_some());
        let is_any_issued = self.concerned.iter().any(is_issued);
        for key in &self.concerned {
            let Some(one) = self.pending.get_mut(key) else { continue };
            // What is not at the device cannot be done there: another is, at the same place. If
            // none is, the event that said so was lost.
            let is_at_device = one.request.issued.is_some() || !is_any_issued;
            let (from, to) = (one.request.start.0, one.request.end().0);
            let part = to.min(range.end).saturating_sub(from.max(range.start));
            if !is_at_device {
                continue;
            }
            one.left = one.left.saturating_sub(u32::try_from(part).unwrap_or(u32::MAX));
            if one.left == 0 {
                let request = Request { done: Some(event.at), ..one.request };
                self.pending.remove(key);
                done(request);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(us: u64, step: Step, op: Op, start: u64, sectors: u32) -> Event {
        Event {
            at: Instant::from_ns(us * 1000),
            step,
            device: 0,
            origin: OriginId(0),
            op,
            traits: Traits::NONE,
            start: Lba(start),
            sectors: Sectors(sectors),
        }
    }

    /// Start, sectors, and the times of the steps in us.
    type Paired = (u64, u32, u64, Option<u64>, Option<u64>);

    /// What is done, in that order.
    fn pair(events: &[Event]) -> Vec<Paired> {
        let (mut pairing, mut all) = (Pairing::default(), Vec::new());
        let us = |at: Instant| at.as_ns() / 1000;
        let mut put = |it: Request| {
            let times = (us(it.queued), it.issued.map(us), it.done.map(us));
            all.push((it.start.0, it.sectors.0, times.0, times.1, times.2));
        };
        events.iter().for_each(|event| pairing.take(event, &mut put));
        pairing.finish(put);
        all
    }

    /// An event in words: step, time in us, operation, place and length, as in `Q1 R8+8`.
    fn of_words(words: &str) -> Event {
        let (step, place) = words.split_once(' ').expect("a step and a place");
        let (step, us) = step.split_at(1);
        let step = match step {
            "Q" => Step::Queued,
            "D" => Step::Issued,
            "R" => Step::Requeued,
            _ => Step::Done,
        };
        let (op, place) = place.split_at(1);
        let op = match op {
            "R" => Op::Read,
            "W" => Op::Write,
            _ => Op::Flush,
        };
        let (start, sectors) = place.split_once('+').expect("a length");
        let number = |text: &str| text.parse().expect("a number");
        event(number(us), step, op, number(start), number(sectors) as u32)
    }

    #[test]
    fn steps_of_merged_and_split_requests_find_their_ios() {
        let full = |start, sectors, times: [u64; 3]| {
            (start, sectors, times[0], Some(times[1]), Some(times[2]))
        };
        for (events, done) in [
            ("Q1 R8+8, D2 R8+8, C5 R8+8", vec![full(8, 8, [1, 2, 5])]),
            // Two that are merged, and one that is split.
            (
                "Q1 W8+8, Q2 W16+8, D3 W8+16, C9 W8+16",
                vec![full(8, 8, [1, 3, 9]), full(16, 8, [2, 3, 9])],
            ),
            ("Q1 R0+16, D2 R0+8, D3 R8+8, C4 R8+8, C6 R0+8", vec![full(0, 16, [1, 2, 6])]),
            // A read and a write of one place.
            (
                "Q1 R0+8, Q2 W0+8, D3 W0+8, C4 W0+8, D5 R0+8, C6 R0+8",
                vec![full(0, 8, [2, 3, 4]), full(0, 8, [1, 5, 6])],
            ),
            // One that is given to the device twice, and a flush.
            ("Q1 R0+8, D2 R0+8, R3 R0+8, D4 R0+8, C5 R0+8", vec![full(0, 8, [1, 4, 5])]),
            ("Q1 F0+0, D2 F0+0, C3 F0+0", vec![full(0, 0, [1, 2, 3])]),
            // Two reads of one place.
            (
                "Q1 R0+8, Q2 R0+8, D3 R0+8, C4 R0+8, D5 R0+8, C6 R0+8",
                vec![full(0, 8, [1, 3, 4]), full(0, 8, [2, 5, 6])],
            ),
            (
                "Q1 R0+2048, Q2 R512+8, D3 R0+1024, C4 R0+1024, D5 R1024+1024, C6 R1024+1024",
                vec![full(512, 8, [2, 3, 4]), full(0, 2048, [1, 3, 6])],
            ),
            // Without the first event, without the last one, and the last one alone.
            ("D2 R0+8, C3 R0+8", vec![full(0, 8, [2, 2, 3])]),
            ("Q1 R0+8, D2 R0+8", vec![(0, 8, 1, Some(2), None)]),
            ("C3 R0+8", vec![]),
            // Two that are merged, of which it is lost that the device got them.
            (
                "Q1 W8+8, Q2 W16+8, C9 W8+16",
                vec![(8, 8, 1, None, Some(9)), (16, 8, 2, None, Some(9))],
            ),
        ] {
            let said: Vec<Event> = events.split(", ").map(of_words).collect();
            assert_eq!(pair(&said), done, "{events}");
        }
    }

    #[test]
    fn what_never_ends_is_forgotten_after_a_while() {
        let (mut pairing, mut lost) = (Pairing::default(), 0);
        for at in 0..3 * PENDING_MOST as u64 {
            pairing.take(&event(at, Step::Queued, Op::Read, 8 * at, 8), |_| lost += 1);
        }
        assert_eq!(pairing.pending.len(), PENDING_MOST);
        assert_eq!(lost, 2 * PENDING_MOST);
    }
}
