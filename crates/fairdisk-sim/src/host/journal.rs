//! The ext3 journal as the disk feels it (spec: disk, sections 1.8 and 2.1).
//!
//! An I/O sets its inode's times, which have a granularity of one second. The first such change
//! opens a transaction; five seconds later the journal task writes the changed inode blocks to the
//! log and then a commit record. A task that wants to change an
//! inode block while it is being written to the log sleeps until that write has ended. `fsync`
//! waits for a commit of what the transaction holds of its file, `fdatasync` only if the file grew;
//! neither waits for what changes after it was called.

use super::volume::BLOCK_SECTORS;
use crate::workload::Durable;
use fairdisk_core::{Instant, IoPrio, Lba, Sectors, Span, Ticks};

const NS_PER_S: u64 = 1_000_000_000;

/// How an ext3 journal behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalSpec {
    /// Where the log lies.
    pub start: Lba,
    /// How long it is, in blocks of 4 KiB; written round and round.
    pub blocks: u32,
    /// How long a transaction collects changes.
    pub commit_interval: Span,
    /// Inodes in a block.
    pub inodes_per_block: u32,
    /// How far the wall clock is into a second when the run begins.
    pub second_phase: Span,
    /// `nice` of the journal task, which has no I/O priority of its own.
    pub nice: i8,
}

/// The answer to a task that wants to set an inode's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// Done, or nothing to do.
    Done,
    /// Sleep until the log write has ended.
    Sleep,
}

/// What the journal task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalStep {
    /// Nothing.
    Rest,
    /// Ask again then.
    At(Instant),
    /// Write this to the log.
    Write(Lba, Sectors),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Resting,
    WritingLog,
    WritingRecord,
}

/// A change that a transaction holds.
#[derive(Clone, Copy, Debug)]
struct Changed {
    /// The inode block.
    block: u32,
    /// When it first changed.
    since: Instant,
    /// When a file in it first grew: without that what was written is not found again.
    grew: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Journal {
    spec: JournalSpec,
    /// The host's timer: the clock that files see goes on with it, and commits are due at ticks.
    ticks: Ticks,
    /// The second that files see, and until when it is the same in any case.
    second: u64,
    second_until: Instant,
    /// When the running transaction was opened.
    running_since: Option<Instant>,
    /// What the running transaction changes.
    running: Vec<Changed>,
    /// What is being committed.
    committing: Vec<Changed>,
    /// Somebody waits for the running transaction to be committed.
    asked: bool,
    /// When the journal task looks again.
    looks_at: Option<Instant>,
    phase: Phase,
    head: u32,
}

impl Journal {
    pub(crate) const fn new(spec: JournalSpec, ticks: Ticks) -> Self {
        Self {
            spec,
            ticks,
            second: 0,
            second_until: Instant::ZERO,
            running_since: None,
            running: Vec::new(),
            committing: Vec::new(),
            asked: false,
            looks_at: None,
            phase: Phase::Resting,
            head: 0,
        }
    }

    /// The I/O priority of the journal task.
    pub(crate) const fn ioprio(&self) -> IoPrio {
        IoPrio::from_nice(self.spec.nice)
    }

    /// Whether a transaction collects changes.
    pub(crate) const fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// Whether what is being written is the record of a commit.
    pub(crate) fn is_writing_record(&self) -> bool {
        self.phase == Phase::WritingRecord
    }

    /// The second that files see: whoever touched a file in it need not do so again.
    #[inline]
    pub(crate) fn second(&mut self, now: Instant) -> u64 {
        if now >= self.second_until {
            self.look_at_clock(now);
        }
        self.second
    }

    /// The clock that files see is never ahead of time.
    #[inline(never)]
    fn look_at_clock(&mut self, now: Instant) {
        let phase = self.spec.second_phase;
        self.second = (self.ticks.last(now) + phase).as_ns() / NS_PER_S;
        let next = (self.second + 1) * NS_PER_S;
        self.second_until = Instant::from_ns(next.saturating_sub(phase.as_ns()));
    }

    /// A task sets the times of `inode`, last set in `touched_second`, and if it `grows` its size.
    pub(crate) fn touch(
        &mut self,
        now: Instant,
        inode: u32,
        touched_second: &mut u64,
        grows: bool,
    ) -> Touch {
        let second = self.second(now);
        if *touched_second == second && !grows {
            return Touch::Done;
        }
        // The handle is open, and with it the transaction, even if the block is not to be had.
        self.running_since.get_or_insert(now);
        let block = self.block(inode);
        if self.phase == Phase::WritingLog && self.committing.iter().any(|it| it.block == block) {
            return Touch::Sleep;
        }
        *touched_second = second;
        let grew = grows.then_some(now);
        match self.running.iter_mut().find(|changed| changed.block == block) {
            Some(changed) => changed.grew = changed.grew.or(grew),
            None => self.running.push(Changed { block, since: now, grew }),
        }
        Touch::Done
    }

    const fn block(&self, inode: u32) -> u32 {
        inode / self.spec.inodes_per_block
    }

    /// Whether something must be committed before what was written to the file by then is durable.
    pub(crate) fn holds(&self, inode: u32, durable: Durable, by: Instant) -> bool {
        let mut all = self.running.iter().chain(&self.committing);
        all.any(|changed| self.counts(changed, inode, durable, by))
    }

    fn counts(&self, changed: &Changed, inode: u32, durable: Durable, by: Instant) -> bool {
        let since = match durable {
            Durable::All => Some(changed.since),
            Durable::Data => changed.grew,
        };
        changed.block == self.block(inode) && since.is_some_and(|since| since <= by)
    }

    /// Somebody waits for the file to be as durable as it was by then: what the journal task does.
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        inode: u32,
        durable: Durable,
        by: Instant,
    ) -> JournalStep {
        self.asked |= self.running.iter().any(|changed| self.counts(changed, inode, durable, by));
        if self.asked { self.wake(now) } else { JournalStep::Rest }
    }

    /// What the journal task does if it is woken at `now`.
    pub(crate) fn wake(&mut self, now: Instant) -> JournalStep {
        self.looks_at = self.looks_at.filter(|at| *at > now);
        let Some(since) = self.running_since else { return JournalStep::Rest };
        if self.phase != Phase::Resting {
            return JournalStep::Rest;
        }
        let due = self.ticks.after(since, self.ticks.whole(self.spec.commit_interval));
        if due > now && !self.asked {
            if self.looks_at.is_some() {
                return JournalStep::Rest;
            }
            self.looks_at = Some(due);
            return JournalStep::At(due);
        }
        // What the log cannot hold together with a descriptor and a record is written after it.
        let fits = self.running.len().min(self.spec.blocks.saturating_sub(2).max(1) as usize);
        self.committing.extend(self.running.drain(..fits));
        if self.running.is_empty() {
            self.running_since = None;
            self.asked = false;
        }
        self.phase = Phase::WritingLog;
        // One descriptor block and the changed blocks.
        self.write(1 + self.committing.len() as u32)
    }

    /// A write of the journal task has ended. `true`: sleeping tasks may go on.
    pub(crate) fn written(&mut self, now: Instant) -> (JournalStep, bool) {
        match self.phase {
            Phase::WritingLog => {
                self.phase = Phase::WritingRecord;
                (self.write(1), true)
            }
            Phase::WritingRecord | Phase::Resting => {
                self.phase = Phase::Resting;
                self.committing.clear();
                (self.wake(now), false)
            }
        }
    }

    fn write(&mut self, blocks: u32) -> JournalStep {
        if self.head + blocks > self.spec.blocks {
            self.head = 0;
        }
        let at = Lba(self.spec.start.0 + u64::from(self.head * BLOCK_SECTORS.0));
        self.head += blocks;
        JournalStep::Write(at, Sectors(blocks * BLOCK_SECTORS.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: JournalSpec = JournalSpec {
        start: Lba(1000),
        blocks: 100,
        commit_interval: Span::from_s(5),
        inodes_per_block: 32,
        second_phase: Span::ZERO,
        nice: 0,
    };

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn its_priority_follows_from_nice() {
        let level = |nice| Journal::new(JournalSpec { nice, ..SPEC }, Ticks::EXACT).ioprio().level;
        assert_eq!([-5, 0, 19].map(level), [3, 4, 7]);
    }

    #[test]
    fn a_commit_blocks_changes_until_the_log_is_written() {
        let mut journal = Journal::new(SPEC, Ticks::EXACT);
        let (mut one, mut two) = (u64::MAX, u64::MAX);
        assert_eq!(journal.touch(at(100), 3, &mut one, false), Touch::Done);
        assert_eq!(journal.wake(at(100)), JournalStep::At(at(5100)));
        assert_eq!(journal.touch(at(200), 40, &mut two, false), Touch::Done);
        // Two inode blocks and a descriptor.
        assert_eq!(journal.wake(at(5100)), JournalStep::Write(Lba(1000), Sectors(24)));
        assert_eq!(journal.touch(at(5200), 3, &mut one, false), Touch::Sleep);
        assert_eq!(
            journal.touch(at(5200), 90, &mut 0, false),
            Touch::Done,
            "another block is free"
        );
        let record = (JournalStep::Write(Lba(1024), Sectors(8)), true);
        assert_eq!(journal.written(at(6000)), record);
        assert_eq!(journal.touch(at(6000), 3, &mut one, false), Touch::Done);
        // The next transaction was opened by the task that had to sleep.
        assert_eq!(journal.written(at(6100)), (JournalStep::At(at(10_200)), false));
    }

    #[test]
    fn a_commit_is_due_at_a_tick_and_a_second_begins_at_one() {
        let ticks = Ticks::new(250, Span::from_ms(1));
        let mut journal = Journal::new(SPEC, ticks);
        let mut one = u64::MAX;
        assert_eq!(journal.touch(at(102), 3, &mut one, false), Touch::Done);
        assert_eq!(journal.wake(at(102)), JournalStep::At(at(5099)));
        let _ = journal.touch(at(1002), 3, &mut one, false);
        assert_eq!(one, 0, "the clock says 999 ms");
        let _ = journal.touch(at(1003), 3, &mut one, false);
        assert_eq!(one, 1);
    }

    #[test]
    fn who_waits_is_committed_for_at_once_and_the_journal_looks_but_once() {
        let mut journal = Journal::new(SPEC, Ticks::EXACT);
        let (mut one, mut two) = (u64::MAX, u64::MAX);
        assert_eq!(journal.touch(at(100), 3, &mut one, false), Touch::Done);
        assert_eq!(journal.wake(at(100)), JournalStep::At(at(5100)));
        assert!(
            journal.holds(3, Durable::All, at(300)) && !journal.holds(3, Durable::Data, at(300))
        );
        assert!(!journal.holds(40, Durable::All, at(300)), "another block");
        assert_eq!(journal.touch(at(200), 3, &mut one, true), Touch::Done);
        assert!(journal.holds(3, Durable::Data, at(300)), "it grew");
        let log = JournalStep::Write(Lba(1000), Sectors(16));
        assert_eq!(journal.ask(at(300), 3, Durable::Data, at(300)), log);
        assert_eq!(journal.touch(at(300), 40, &mut two, true), Touch::Done);
        // The next commit waits for this one.
        assert_eq!(journal.ask(at(300), 40, Durable::Data, at(300)), JournalStep::Rest);
        assert_eq!(journal.written(at(400)), (JournalStep::Write(Lba(1016), Sectors(8)), true));
        assert!(journal.holds(3, Durable::All, at(300)), "the record is not written yet");
        let next = JournalStep::Write(Lba(1024), Sectors(16));
        assert_eq!(journal.written(at(500)), (next, false));
        assert!(
            !journal.holds(3, Durable::All, at(300)) && journal.holds(40, Durable::All, at(300))
        );
        journal.written(at(600));
        assert_eq!(journal.written(at(700)), (JournalStep::Rest, false));
        // It was to look at 5.1 s, and does so for what came since.
        assert_eq!(journal.touch(at(2000), 3, &mut one, false), Touch::Done);
        assert_eq!(journal.wake(at(2000)), JournalStep::Rest);
        assert_eq!(journal.wake(at(5100)), JournalStep::At(at(7000)));
    }

    /// Others set the times of inodes in the same block again and again.
    #[test]
    fn who_waits_does_not_wait_for_what_changes_after_it_asked() {
        let mut journal = Journal::new(SPEC, Ticks::EXACT);
        let mut never = [u64::MAX; 4];
        assert_eq!(journal.touch(at(100), 3, &mut never[0], true), Touch::Done);
        assert!(matches!(journal.ask(at(200), 3, Durable::All, at(200)), JournalStep::Write(..)));
        // The log is written, and with the record on its way a neighbour changes the block.
        journal.written(at(300));
        assert_eq!(journal.touch(at(300), 4, &mut never[1], true), Touch::Done);
        journal.written(at(400));
        for durable in [Durable::All, Durable::Data] {
            assert!(!journal.holds(3, durable, at(200)), "the change of then is on the disk");
            assert!(journal.holds(4, durable, at(400)));
            assert_eq!(journal.ask(at(400), 3, durable, at(200)), JournalStep::Rest);
        }
        // A block that had changed before counts, and as grown from when a file in it grew.
        let mut journal = Journal::new(SPEC, Ticks::EXACT);
        assert_eq!(journal.touch(at(100), 3, &mut never[2], false), Touch::Done);
        assert_eq!(journal.touch(at(300), 4, &mut never[3], true), Touch::Done);
        assert!(
            journal.holds(3, Durable::All, at(200)) && !journal.holds(3, Durable::Data, at(200))
        );
    }

    #[test]
    fn a_commit_larger_than_the_log_is_written_in_parts_that_fit() {
        let mut journal =
            Journal::new(JournalSpec { blocks: 10, inodes_per_block: 1, ..SPEC }, Ticks::EXACT);
        for inode in 0..20 {
            let mut never = u64::MAX;
            assert_eq!(journal.touch(at(0), inode, &mut never, false), Touch::Done);
        }
        let (mut step, mut logged) = (journal.wake(at(5000)), 0);
        for (blocks, records) in [(9, 8), (9, 8), (5, 4)] {
            let JournalStep::Write(log, sectors) = step else { panic!("{step:?}") };
            assert_eq!((log.0, sectors.0), (1000, blocks * 8), "at its beginning");
            let (record, released) = journal.written(at(5000));
            let JournalStep::Write(at_log, one) = record else { panic!("{record:?}") };
            assert!(released && one == BLOCK_SECTORS);
            assert!(at_log.0 + 8 <= 1000 + 10 * 8, "within the log");
            logged += records;
            (step, _) = journal.written(at(5000));
        }
        assert_eq!((step, logged), (JournalStep::Rest, 20));
    }
}
