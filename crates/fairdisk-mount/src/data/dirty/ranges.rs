//! The dirty ranges of one file, from the write to the disk.

use super::Then;
use crate::requests::caller::User;
use std::collections::BTreeMap;

/// The granularity of dirty ranges in bytes, as the page cache tracks whole pages.
const PAGE_BYTES: u64 = 4096;
/// The size in bytes at which a gathered piece is sent.
const CHUNK_BYTES: u64 = 1 << 20;
/// The number of pieces in flight below which nothing is gathered, since the disk might be idle.
const EAGER: usize = 2;

/// The number of bytes, after a wait for the file's data, during which another wait is expected: a
/// log is written and flushed in turns. Pieces sent meanwhile are urgent.
const AWAITED_BYTES: u64 = 1 << 20;

/// A range of a file that is written out as one piece. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The thread that wrote last to the range.
    pub(crate) caller: u32,
    /// The user on whose behalf it wrote.
    pub(crate) user: User,
    pub(crate) account: u32,
    /// Whether somebody waits for the piece.
    pub(crate) urgent: bool,
    /// The number of the piece, unique within its file and ascending in the order of sending.
    pub(crate) number: u64,
}

impl Chunk {
    /// The length in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.end - self.start
    }

    /// The piece extended to whole pages, which is what the disk gets.
    const fn in_pages(self) -> Self {
        let start = self.start / PAGE_BYTES * PAGE_BYTES;
        Self { start, end: self.end.next_multiple_of(PAGE_BYTES), ..self }
    }

    fn touches(&self, other: &Self) -> bool {
        let same = (self.account, self.user) == (other.account, other.user);
        same && self.start <= other.end && other.start <= self.end
    }
}

struct Waiter {
    /// Only pieces with numbers below this are waited for.
    below: u64,
    /// The number of those pieces that are still in flight.
    left: usize,
    then: Then,
}

/// The dirty ranges of one file.
#[derive(Default)]
pub(crate) struct Ranges {
    /// The range being gathered, which exists only while other pieces are in flight.
    gathering: Option<Chunk>,
    /// Pieces sent that have not passed the gate, by their start: end and number.
    queued: BTreeMap<u64, (u64, u64)>,
    /// The number of pieces sent and not finished.
    on_their_way: usize,
    /// The number of those for which nobody waits, all of them with `hurried_below` or above.
    unawaited: usize,
    hurried_below: u64,
    sent: u64,
    /// Bytes sent since somebody last waited for the file's data; `None` if nobody has yet.
    since_awaited: Option<u64>,
    waiters: Vec<Waiter>,
}

impl std::fmt::Debug for Ranges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ranges({:?}, {} on their way)", self.gathering, self.on_their_way)
    }
}

/// What follows from a write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// The bytes that have become dirty.
    pub(crate) charge: u64,
    /// Pieces to send now.
    pub(crate) send: Vec<Chunk>,
}

impl Ranges {
    /// Notes that a range was written to the page cache.
    pub(crate) fn note(&mut self, written: Chunk) -> Noted {
        let (written, mut noted) = (written.in_pages(), Noted::default());
        if self.is_queued(&written) {
            return noted;
        }
        match &mut self.gathering {
            Some(gathering) if gathering.touches(&written) => {
                let before = gathering.bytes();
                gathering.start = gathering.start.min(written.start);
                gathering.end = gathering.end.max(written.end);
                gathering.caller = written.caller;
                noted.charge = gathering.bytes() - before;
            }
            gathering => {
                let other = gathering.replace(written);
                noted.charge = written.bytes();
                noted.send.extend(other.map(|chunk| self.sent(chunk)));
            }
        }
        let full = self.gathering.is_some_and(|chunk| chunk.bytes() >= CHUNK_BYTES);
        if full || self.on_their_way < EAGER {
            noted.send.extend(self.send_gathered());
        }
        noted
    }

    fn is_queued(&self, written: &Chunk) -> bool {
        let before = self.queued.range(..=written.start).next_back();
        before.is_some_and(|(_, (end, _))| *end >= written.end)
    }

    fn sent(&mut self, mut chunk: Chunk) -> Chunk {
        chunk.number = self.sent;
        self.sent += 1;
        self.on_their_way += 1;
        if let Some(bytes) = &mut self.since_awaited {
            chunk.urgent |= *bytes < AWAITED_BYTES;
            *bytes += chunk.bytes();
        }
        self.unawaited += usize::from(!chunk.urgent);
        // Of two pieces that begin at the same offset, the longer one absorbs more writes.
        let queued = self.queued.entry(chunk.start).or_insert((chunk.end, chunk.number));
        if queued.0 < chunk.end {
            *queued = (chunk.end, chunk.number);
        }
        chunk
    }

    fn send_gathered(&mut self) -> Option<Chunk> {
        let chunk = self.gathering.take()?;
        Some(self.sent(chunk))
    }

    /// Notes that a piece passes the gate, after which writes to its range need another piece.
    pub(crate) fn let_through(&mut self, chunk: &Chunk) {
        if self.queued.get(&chunk.start).is_some_and(|(_, number)| *number == chunk.number) {
            self.queued.remove(&chunk.start);
        }
    }

    /// Notes that a piece is finished. Returns a piece to send now, and the continuations whose
    /// wait is over.
    pub(crate) fn finished(&mut self, chunk: &Chunk) -> (Option<Chunk>, Vec<Then>) {
        self.let_through(chunk);
        self.on_their_way -= 1;
        let is_unawaited = !chunk.urgent && chunk.number >= self.hurried_below;
        self.unawaited -= usize::from(is_unawaited);
        let mut free = Vec::new();
        for waiter in &mut self.waiters {
            waiter.left -= usize::from(chunk.number < waiter.below);
        }
        let (done, left) = std::mem::take(&mut self.waiters)
            .into_iter()
            .partition(|waiter: &Waiter| waiter.left == 0);
        self.waiters = left;
        let done: Vec<Waiter> = done;
        free.extend(done.into_iter().map(|waiter| waiter.then));
        let next = if self.on_their_way < EAGER { self.send_gathered() } else { None };
        (next, free)
    }

    /// Notes that somebody waits for all pieces sent so far. Returns the number from which on
    /// nobody does, if that is new to some of them.
    pub(crate) fn hurry(&mut self) -> Option<u64> {
        self.hurried_below = self.sent;
        (std::mem::take(&mut self.unawaited) > 0).then_some(self.sent)
    }

    /// Runs `then` once everything written so far is on the disk. Returns the piece to send for
    /// that, or gives `then` back if there is nothing to wait for.
    pub(crate) fn when_clean(&mut self, then: Then) -> Result<Option<Chunk>, Then> {
        if let Some(gathering) = &mut self.gathering {
            gathering.urgent = true;
        }
        let send = self.send_gathered();
        self.since_awaited = Some(0);
        if self.on_their_way == 0 {
            return Err(then);
        }
        self.waiters.push(Waiter { below: self.sent, left: self.on_their_way, then });
        Ok(send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn written(start: u64, end: u64) -> Chunk {
        Chunk { start, end, caller: 7, user: User::ROOT, account: 1, urgent: false, number: 0 }
    }

    const PAGE: u64 = PAGE_BYTES;

    fn stretches(chunks: &[Chunk]) -> Vec<(u64, u64)> {
        chunks.iter().map(|chunk| (chunk.start, chunk.end)).collect()
    }

    #[test]
    fn what_is_written_soon_after_a_flush_is_awaited() {
        fn urgent(ranges: &mut Ranges, start: u64, end: u64) -> bool {
            let sent = ranges.note(written(start, end)).send;
            ranges.finished(&sent[0]);
            sent[0].urgent
        }
        let mut ranges = Ranges::default();
        assert!(!urgent(&mut ranges, 0, 4096));
        assert!(ranges.when_clean(Box::new(|| ())).is_err());
        assert!(urgent(&mut ranges, 4096, AWAITED_BYTES));
        assert!(urgent(&mut ranges, AWAITED_BYTES, 3 * AWAITED_BYTES));
        assert!(!urgent(&mut ranges, 3 * AWAITED_BYTES, 4 * AWAITED_BYTES));
    }

    #[test]
    fn the_first_writes_go_out_at_once_and_later_ones_gather() {
        let mut ranges = Ranges::default();
        let first = ranges.note(written(0, 4096)).send[0];
        ranges.note(written(4096, 8192));
        assert!(ranges.note(written(8192, 12288)).send.is_empty());
        let noted = ranges.note(written(12288, 16384));
        assert_eq!((noted.charge, noted.send.len()), (4096, 0));
        let (next, _) = ranges.finished(&first);
        assert_eq!(stretches(&[next.unwrap()]), [(8192, 16384)]);
    }

    #[test]
    fn a_stretch_on_its_way_absorbs_writes_until_it_is_let_through() {
        let mut ranges = Ranges::default();
        let first = ranges.note(written(0, 65536)).send[0];
        assert_eq!(ranges.note(written(4096, 8192)), Noted::default());
        ranges.let_through(&first);
        assert_eq!(ranges.note(written(4096, 8192)).charge, 4096);
    }

    #[test]
    fn full_and_distant_pieces_are_sent() {
        let mut ranges = Ranges::default();
        for start in [0, 1 << 30] {
            ranges.note(written(start, start + 1));
        }
        assert!(ranges.note(written(10 * PAGE, 20 * PAGE)).send.is_empty());
        let noted = ranges.note(written(50 * PAGE, 60 * PAGE));
        assert_eq!(stretches(&noted.send), [(10 * PAGE, 20 * PAGE)]);
        let noted = ranges.note(written(60 * PAGE, 50 * PAGE + CHUNK_BYTES));
        assert_eq!(stretches(&noted.send), [(50 * PAGE, 50 * PAGE + CHUNK_BYTES)]);
    }

    #[test]
    fn a_page_counts_once_however_many_writes_it_had() {
        let (mut ranges, mut charge, mut sent) = (Ranges::default(), 0, 0);
        for write in 0..100_000_u64 {
            // One byte, somewhere in 64 pages.
            let start = write * 1_000_003 % (64 * PAGE);
            let noted = ranges.note(written(start, start + 1));
            charge += noted.charge;
            sent += noted.send.len();
        }
        assert!((64 * PAGE..=65 * PAGE).contains(&charge), "{charge}");
        assert!(sent <= 65, "{sent}");
    }

    #[test]
    fn other_accounts_are_not_mixed() {
        let mut ranges = Ranges::default();
        ranges.note(written(0, 1));
        ranges.note(written(PAGE, PAGE + 1));
        ranges.note(written(2 * PAGE, 3 * PAGE));
        let other = Chunk { account: 2, ..written(3 * PAGE, 4 * PAGE) };
        assert_eq!(stretches(&ranges.note(other).send), [(2 * PAGE, 3 * PAGE)]);
        let user = User { uid: 1000, gid: 1000 };
        let another = Chunk { user, account: 2, ..written(4 * PAGE, 5 * PAGE) };
        assert_eq!(stretches(&ranges.note(another).send), [(3 * PAGE, 4 * PAGE)]);
    }

    #[test]
    fn waiting_is_for_what_was_written_before() {
        let done = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&done);
        let mut ranges = Ranges::default();
        let first = ranges.note(written(0, 1)).send[0];
        let second = ranges.note(written(PAGE, PAGE + 1)).send[0];
        ranges.note(written(2 * PAGE, 2 * PAGE + 1));
        let then: Then = Box::new(move || tell.store(true, Ordering::Relaxed));
        let third = ranges.when_clean(then).unwrap_or_else(|_| panic!("dirty")).unwrap();
        assert!(third.urgent);
        let later = ranges.note(written(3 * PAGE, 3 * PAGE + 1)).send;
        assert!(later.is_empty());
        let mut free = Vec::new();
        for chunk in [first, second, third] {
            assert!(free.is_empty());
            free.extend(ranges.finished(&chunk).1);
        }
        free.into_iter().for_each(|then| then());
        assert!(done.load(Ordering::Relaxed));
        assert_eq!(ranges.on_their_way, 1, "what was written later is not waited for");
    }

    #[test]
    fn nothing_to_wait_for_is_said_at_once() {
        assert!(Ranges::default().when_clean(Box::new(|| ())).is_err());
    }
}
