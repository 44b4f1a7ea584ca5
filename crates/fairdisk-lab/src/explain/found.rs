//! Listeners that extract what `explain` was asked for from a journal. They keep no more of the run
//! than that.

use super::journey::{Journey, Journeys};
use super::wait::{Reader, Wait};
use fairdisk_core::{Bio, BioId, Entry, GroupId, Instant, OpKind, Record, Span, TaskId, Why};
use fairdisk_sim::machine::StallStep;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A reader of a run's journal.
pub trait Listener {
    /// Reads the next entry. Returns whether the listener wants more entries.
    fn enter(&mut self, entry: &Entry) -> bool;

    /// Notes what becomes of a task that waits for memory, before the entries of the same time.
    fn stalled(&mut self, at: Instant, task: TaskId, step: StallStep);

    /// How far the run goes from one look to the next.
    fn step(&self) -> Span {
        Span::from_ms(100)
    }

    /// Looks at the scheduler at `now`, after the entries up to then. `held_back` says why a group
    /// is not to be served.
    fn look(&mut self, _now: Instant, _held_back: &dyn Fn(GroupId) -> Option<Why>) {}
}

/// How far the run of a request goes from one look to the next: what keeps a group from being
/// served for less may not be seen.
const LOOK: Span = Span::from_ms(1);

/// The finished requests that took longest, with the wait of their tasks for memory before.
#[derive(Debug)]
pub(super) struct Slowest {
    count: usize,
    /// The only operations that are meant.
    op: Option<OpKind>,
    journeys: Journeys,
    /// The longest first; requests of equal time in the order of their numbers.
    list: BTreeMap<(Reverse<Option<Span>>, u64), Journey>,
}

impl Slowest {
    /// Keeps at most `count` requests, of all operations or of one.
    pub(super) fn new(count: usize, op: Option<OpKind>) -> Self {
        Self { count, op, journeys: Journeys::default(), list: BTreeMap::new() }
    }

    /// The number of requests submitted, and the slowest of them.
    pub(super) fn finish(self) -> (u64, Vec<Journey>) {
        (self.journeys.submitted(), self.list.into_values().collect())
    }
}

impl Listener for Slowest {
    fn enter(&mut self, entry: &Entry) -> bool {
        let ended = self.journeys.enter(entry).filter(|journey| journey.finished().is_some());
        let is_meant = |journey: &Journey| self.op.is_none_or(|op| op == journey.op.into());
        if let Some(journey) = ended.filter(is_meant) {
            let took = journey.total().map(|total| total + journey.stall.total());
            self.list.insert((Reverse(took), journey.number), journey);
            if self.list.len() > self.count {
                self.list.pop_last();
            }
        }
        true
    }

    fn stalled(&mut self, at: Instant, task: TaskId, step: StallStep) {
        self.journeys.stalled(at, task, step);
    }
}

/// The journey of one request, and what the disk did while it waited.
#[derive(Debug)]
pub(super) struct Life {
    number: u64,
    journeys: Journeys,
    /// The engine's id of the request, once it is submitted.
    bio: Option<BioId>,
    reader: Reader,
    waits: bool,
    ended: Option<Journey>,
    now: Instant,
    /// The last look at the scheduler.
    looked: Instant,
}

impl Life {
    /// Follows the request with this number.
    pub(super) fn new(number: u64) -> Self {
        Self {
            number,
            journeys: Journeys::default(),
            bio: None,
            reader: Reader::default(),
            waits: true,
            ended: None,
            now: Instant::ZERO,
            looked: Instant::ZERO,
        }
    }

    fn under_way(&self) -> Option<&Journey> {
        self.journeys.get(self.bio?)
    }

    /// The request and its wait.
    ///
    /// # Errors
    /// The run has no such request; the error is the number of requests it has.
    pub(super) fn finish(self) -> Result<(Journey, Wait), u64> {
        let journey = self.ended.clone().or_else(|| self.under_way().cloned());
        let journey = journey.ok_or(self.journeys.submitted())?;
        Ok((journey, self.reader.finish(self.now)))
    }
}

impl Listener for Life {
    fn enter(&mut self, entry: &Entry) -> bool {
        self.now = entry.at;
        let ended = self.journeys.enter(entry);
        self.ended = ended.filter(|journey| journey.number == self.number);
        if self.ended.is_some() {
            return false;
        }
        match entry.record {
            Record::Submitted(Bio { id: bio, .. }) if self.journeys.submitted() == self.number => {
                self.bio = Some(bio);
                self.reader.begin(entry.at);
            }
            _ => {}
        }
        if self.waits {
            self.reader.enter(entry);
            self.waits = self.under_way().is_none_or(|journey| journey.issued().is_none());
        }
        true
    }

    fn stalled(&mut self, at: Instant, task: TaskId, step: StallStep) {
        self.journeys.stalled(at, task, step);
    }

    fn step(&self) -> Span {
        LOOK
    }

    fn look(&mut self, now: Instant, held_back: &dyn Fn(GroupId) -> Option<Why>) {
        let from = std::mem::replace(&mut self.looked, now);
        if let Some(journey) = self.under_way().filter(|_| self.waits) {
            let why = held_back(journey.group);
            self.reader.look((from, now), why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{Flags, IoPrio, Lba, Op, RequestId, Sectors, TaskId};

    fn entry(ms: u64, record: Record) -> Entry {
        Entry { at: Instant::ZERO + Span::from_ms(ms), record }
    }

    fn read(id: BioId, group: GroupId) -> Bio {
        Bio {
            id,
            task: TaskId(0),
            group,
            op: Op::Read,
            start: Lba(0),
            sectors: Sectors(8),
            sync: true,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        }
    }

    /// A journal of consecutive requests, each of which takes as many milliseconds as `times` says.
    fn tell(listener: &mut impl Listener, times: impl IntoIterator<Item = u64>) {
        let (bio, request) = (BioId(7), RequestId(3));
        let mut now = 0;
        for time in times {
            let asked = read(bio, GroupId(1));
            let done = now + time;
            let records = [
                entry(now, Record::Submitted(asked)),
                entry(now, Record::Queued(bio, request)),
                entry(now, Record::Issued(request)),
                entry(done, Record::Completed(request, true)),
                entry(done, Record::Finished(bio, true)),
            ];
            if !records.iter().all(|entry| listener.enter(entry)) {
                return;
            }
            now = done;
        }
    }

    #[test]
    fn no_more_is_kept_than_asked_for_however_long_the_run() {
        let mut slowest = Slowest::new(3, None);
        tell(&mut slowest, (0..10_000).map(|n| n * 7 % 10_000));
        assert_eq!(slowest.list.len(), 3);
        let (count, list) = slowest.finish();
        let total = |journey: &Journey| journey.total().unwrap_or_default();
        let totals: Vec<Span> = list.iter().map(total).collect();
        assert_eq!((count, totals), (10_000, [9_999, 9_998, 9_997].map(Span::from_ms).to_vec()));
    }

    #[test]
    fn operations_of_one_kind_can_be_asked_for() {
        for (op, found) in [(OpKind::Read, 2), (OpKind::Flush, 0)] {
            let mut slowest = Slowest::new(2, Some(op));
            tell(&mut slowest, [5, 9, 7]);
            assert_eq!(slowest.finish().1.len(), found, "{op:?}");
        }
    }

    #[test]
    fn of_equals_the_earlier_ones_are_the_slowest() {
        let mut slowest = Slowest::new(2, None);
        tell(&mut slowest, [5, 9, 9, 9]);
        let (_, list) = slowest.finish();
        assert_eq!(list.iter().map(|journey| journey.number).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn a_group_held_back_and_a_disk_that_takes_no_more_are_seen_while_it_is_busy() {
        let mut life = Life::new(2);
        let (other, own) = ((BioId(7), RequestId(3)), (BioId(8), RequestId(4)));
        let wait = Record::WaitsCompletion(Why::DepthLimited);
        let mut records = vec![
            entry(0, Record::Submitted(read(other.0, GroupId(1)))),
            entry(0, Record::Queued(other.0, other.1)),
            entry(0, Record::Dispatched(other.1, Why::LeastServed)),
            entry(0, Record::Issued(other.1)),
            entry(2, Record::Submitted(read(own.0, GroupId(2)))),
            entry(2, Record::Queued(own.0, own.1)),
            entry(3, wait),
            entry(9, Record::Completed(other.1, true)),
            entry(9, Record::Dispatched(own.1, Why::LeastServed)),
            entry(9, Record::Issued(own.1)),
            entry(12, Record::Completed(own.1, true)),
            entry(12, Record::Finished(own.0, true)),
        ];
        for ms in 0..=12 {
            let now = Instant::ZERO + Span::from_ms(ms);
            let later = records.iter().position(|entry| entry.at > now).unwrap_or(records.len());
            records.drain(..later).for_each(|entry| {
                life.enter(&entry);
            });
            let is_capped = |group| group == GroupId(2) && (5..8).contains(&ms);
            life.look(now, &|group| is_capped(group).then_some(Why::AtCeiling));
        }
        let (_, wait) = life.finish().expect("it is there");
        let part = |ms| super::super::wait::Part { count: 1, time: Span::from_ms(ms) };
        assert_eq!(wait.spared, BTreeMap::from([(Why::DepthLimited, part(6))]));
        assert_eq!(wait.held_back, BTreeMap::from([(Why::AtCeiling, part(3))]));
        assert_eq!(wait.of_group(GroupId(1)).time, Span::from_ms(7));
    }

    #[test]
    fn a_life_is_read_no_further_than_to_its_end() {
        let mut life = Life::new(2);
        tell(&mut life, [5, 9, 4]);
        assert_eq!(life.journeys.submitted(), 2);
        let (journey, _) = life.finish().expect("it is there");
        assert_eq!((journey.number, journey.total()), (2, Some(Span::from_ms(9))));
        let mut none = Life::new(4);
        tell(&mut none, [5, 9, 4]);
        assert_eq!(none.finish().err(), Some(3));
    }
}
