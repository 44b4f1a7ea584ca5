//! The effect of the ext3 journal on the disk (spec: disk, sections 1.8 and 2.1).
//!
//! An I/O sets the times in its file's inode, which have a granularity of one second. The first
//! such change opens a transaction. Five seconds later the journal task writes the changed inode
//! blocks to the log, and then a commit record. A task that wants to change an inode block while
//! that block is being written to the log sleeps until the write has ended. `fsync` waits for the
//! commit of what the transaction holds of its file, `fdatasync` only if the file has grown.
//! Neither waits for changes made after it was called.

use super::volume::BLOCK_SECTORS;
use crate::workload::Durable;
use fairdisk_core::{Instant, IoPrio, Lba, Sectors, Span, Ticks};

const NS_PER_S: u64 = 1_000_000_000;

/// The parameters of an ext3 journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalSpec {
    /// The position of the log.
    pub start: Lba,
    /// The length of the log in blocks of 4 KiB; it is written cyclically.
    pub blocks: u32,
    /// How long a transaction collects changes before it is committed.
    pub commit_interval: Span,
    /// Inodes per block.
    pub inodes_per_block: u32,
    /// How far the wall clock is into a second when the run begins.
    pub second_phase: Span,
    /// The `nice` value of the journal task, which has no I/O priority of its own.
    pub nice: i8,
}

/// The answer to a task that wants to set an inode's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// The times are set, or did not need to be.
    Done,
    /// The task must sleep until the log write has ended.
    Sleep,
}

/// The next action of the journal task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalStep {
    /// Do nothing.
    Rest,
    /// Check again at this time.
    At(Instant),
    /// Write this range of the log.
    Write(Lba, Sectors),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Resting,
    WritingLog,
    WritingRecord,
}

/// A changed inode block in a transaction.
#[derive(Clone, Copy, Debug)]
struct Changed {
    /// The number of the inode block.
    block: u32,
    /// When the block first changed.
    since: Instant,
    /// When a file in the block first grew, if one did; without this change its new data could not
    /// be found.
    grew: Option<Instant>,
}

#[derive(Debug)]
pub(crate) struct Journal {
    spec: JournalSpec,
    /// The host's timer. The clock that files see advances with it, and commits are due at ticks.
    ticks: Ticks,
    /// The second that files see, and the time until which it is certain not to change.
    second: u64,
    second_until: Instant,
    /// When the running transaction was opened.
    running_since: Option<Instant>,
    /// Changes in the running transaction.
    running: Vec<Changed>,
    /// Changes being committed.
    committing: Vec<Changed>,
    /// Whether a task waits for the running transaction to be committed.
    asked: bool,
    /// When the journal task checks again.
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

    /// Whether a transaction is open.
    pub(crate) const fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// Whether the write in progress is a commit record.
    pub(crate) fn is_writing_record(&self) -> bool {
        self.phase == Phase::WritingRecord
    }

    /// The second that files see. A file that was touched in this second need not be touched again.
    #[inline]
    pub(crate) fn second(&mut self, now: Instant) -> u64 {
        if now >= self.second_until {
            self.look_at_clock(now);
        }
        self.second
    }

    /// Updates the second that files see; their clock never runs ahead of time.
    #[inline(never)]
    fn look_at_clock(&mut self, now: Instant) {
        let phase = self.spec.second_phase;
        self.second = (self.ticks.last(now) + phase).as_ns() / NS_PER_S;
        let next = (self.second + 1) * NS_PER_S;
        self.second_until = Instant::from_ns(next.saturating_sub(phase.as_ns()));
    }

    /// Sets the times of `inode`, which were last set in `touched_second`, and its size if it
    /// `grows`.
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
        // The handle, and with it the transaction, is opened even if the block is not available.
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

    /// Whether a commit is needed before data written to the file until `by` is durable.
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

    /// Requests a commit for a task that waits for data written until `by` to be durable. Returns
    /// what the journal task does.
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

    /// What the journal task does when it is woken at `now`.
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
        // Changes that do not fit into the log, with a descriptor and a commit record, are written
        // afterwards.
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

    /// Handles the end of a write of the journal task. `true` if sleeping tasks may continue.
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
        // The journal was to check at 5.1 s, and does so for the changes made since.
        assert_eq!(journal.touch(at(2000), 3, &mut one, false), Touch::Done);
        assert_eq!(journal.wake(at(2000)), JournalStep::Rest);
        assert_eq!(journal.wake(at(5100)), JournalStep::At(at(7000)));
    }

    /// Other tasks keep setting the times of inodes in the same block.
    #[test]
    fn who_waits_does_not_wait_for_what_changes_after_it_asked() {
        let mut journal = Journal::new(SPEC, Ticks::EXACT);
        let mut never = [u64::MAX; 4];
        assert_eq!(journal.touch(at(100), 3, &mut never[0], true), Touch::Done);
        assert!(matches!(journal.ask(at(200), 3, Durable::All, at(200)), JournalStep::Write(..)));
        // While the commit record is on its way, a neighbour changes the block.
        journal.written(at(300));
        assert_eq!(journal.touch(at(300), 4, &mut never[1], true), Touch::Done);
        journal.written(at(400));
        for durable in [Durable::All, Durable::Data] {
            assert!(!journal.holds(3, durable, at(200)), "the change of then is on the disk");
            assert!(journal.holds(4, durable, at(400)));
            assert_eq!(journal.ask(at(400), 3, durable, at(200)), JournalStep::Rest);
        }
        // A change made before counts, and counts as growth from when a file in the block grew.
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
