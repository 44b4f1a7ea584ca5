//! Puts direct appends (O_APPEND with O_DIRECT) into order.
//!
//! The kernel splits a long write into pieces and sends all of them at once, and our threads may
//! take them up in any order. The pieces of an append must be written in the order of the offsets
//! that the kernel has assigned to them: one at a time, each where the previous one ended in the
//! kernel's view. The real end of the file does not tell whose turn it is, because others may
//! append to the file below. A piece that does not continue the previous one waits for those before
//! it; if they do not come, because the piece begins a new write at an end that the kernel learned
//! otherwise, it is written all the same. After a piece has failed, the later ones of the same
//! write fail, too, so that no data follows a gap.

use super::landed::Landed;
use crate::clock;
use crate::files::open_file::OpenFile;
use fairdisk_core::{Instant, SECTOR_BYTES, Span};
use rustix::fs::fstat;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long to wait for a piece that may be missing, at least, while no append is in progress;
/// twice as long at most. The kernel has already sent the piece, so that its thread needs nothing
/// but a CPU.
const MISSING_AFTER: Duration = Duration::from_millis(100);

/// How long to wait for a piece that is certainly missing: the file ends before the next one, or
/// one has failed.
const SURELY_MISSING_AFTER: Duration = Duration::from_secs(1);

/// How long after a failure later pieces of the same write are expected.
const BEHIND_GAP: Span = Span::from_s(1);

/// How long after others have appended to the file they are expected to do so again.
const SHARED_FOR: Span = Span::from_s(10);

/// The outcome of waiting for an append's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is the append's turn to be written.
    Goes {
        /// Whether the thread may wait for the disk.
        may_wait: bool,
    },
    /// The append fails, because an earlier piece of the same write has failed.
    Fails {
        /// The error of that piece.
        errno: i32,
    },
}

type Parked = Box<dyn FnOnce(Turn) + Send>;

/// An append that has been attempted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appended {
    /// The offset at which the append begins in the kernel's view.
    pub(crate) offset: u64,
    /// The length that was to be written, in bytes.
    pub(crate) len: usize,
    /// The number of bytes written.
    pub(crate) landed: usize,
    /// The offset at which the written data begins.
    pub(crate) start: u64,
    /// The offset at which the written data ends.
    pub(crate) end: u64,
    /// The error that kept the rest from being written, if any.
    pub(crate) failed: Option<i32>,
}

/// The appends of one file.
#[derive(Default)]
pub(crate) struct Appends {
    order: Mutex<Order>,
    /// Tells the waiting thread that no append is left.
    settled: Condvar,
}

/// The order of the appends of one file.
#[derive(Default)]
struct Order {
    /// Appends that wait for their turn, by the kernel's offset and the order of arrival.
    parked: BTreeMap<(u64, u64), Parked>,
    under_way: bool,
    /// Whether a thread is starting appends, one after the other.
    has_usher: bool,
    /// Whether a thread waits for missing appends.
    has_waiter: bool,
    /// Whether the appends before the waiting ones have been given up.
    incomplete: bool,
    /// The offset at which the last append ended in the kernel's view.
    behind: Option<u64>,
    /// The offset at which the last append really ended.
    ended: Option<u64>,
    /// The time until which others are expected to append to the file.
    shared: Option<Instant>,
    /// The gap that a failed append has left.
    gap: Option<Gap>,
    /// The number of arrivals, starts and completions so far.
    events: u64,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The offset of the next piece of the write that failed.
    next: u64,
    /// The offset at which the kernel will begin the next write.
    again: u64,
    errno: i32,
    until: Instant,
}

impl std::fmt::Debug for Appends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = self.lock();
        write!(f, "Appends({} parked, under way: {})", order.parked.len(), order.under_way)
    }
}

impl Order {
    /// Adds an append that waits for its turn.
    fn park(&mut self, offset: u64, parked: Parked) {
        self.events += 1;
        self.parked.insert((offset, self.events), parked);
    }

    /// The next append to start if the file ends at `end`, with the error with which it fails, if
    /// it does.
    fn next(&mut self, now: Instant, end: impl FnOnce() -> u64) -> Option<(Parked, Option<i32>)> {
        let offset = self.parked.first_key_value().filter(|_| !self.under_way)?.0.0;
        self.gap = self.gap.filter(|gap| now < gap.until);
        self.shared = self.shared.filter(|until| now < *until);
        if let Some(begins) = self.gap.take_if(|gap| gap.again == offset) {
            self.behind = Some(begins.again);
        }
        let fails = self.gap.filter(|gap| offset == gap.next).map(|gap| gap.errno);
        if fails.is_none() && !self.incomplete && !self.is_first(offset, end) {
            return None;
        }
        let (_, parked) = self.parked.pop_first()?;
        self.gap = self.gap.filter(|_| fails.is_some());
        self.events += 1;
        self.under_way = true;
        self.incomplete &= !self.parked.is_empty();
        Some((parked, fails))
    }

    /// Whether no earlier piece can come before the one at `offset`.
    fn is_first(&self, offset: u64, end: impl FnOnce() -> u64) -> bool {
        let ahead = self.behind.and_then(|behind| offset.checked_sub(behind));
        // If others append as well, or have appended data that the kernel does not know of, the end
        // of the file may coincide with a later piece of a write that begins where the last one
        // ended.
        let unknown = self.ended.zip(self.behind).and_then(|(ended, to)| ended.checked_sub(to));
        let may_be_later = |ahead| self.shared.is_some() || unknown == Some(ahead);
        let is_later = |ahead: u64| may_be_later(ahead) && ahead.is_multiple_of(SECTOR_BYTES);
        self.gap.is_none()
            && (ahead == Some(0) || (!ahead.is_some_and(is_later) && offset == end()))
    }

    /// Notes that the append in progress is done, or has failed in whole or in part.
    fn done(&mut self, now: Instant, done: Appended) {
        self.under_way = false;
        self.events += 1;
        let next = done.offset + done.len as u64;
        self.behind = Some(next);
        if done.landed > 0 {
            // The data is neither where the kernel believes it to be nor behind the last append, so
            // others append, too.
            if done.start != done.offset && self.ended != Some(done.start) {
                self.shared = Some(now + SHARED_FOR);
            }
            self.ended = Some(done.end);
        }
        if let Some(errno) = done.failed {
            let again = self.gap.map_or(done.offset + done.landed as u64, |gap| gap.again);
            self.gap = Some(Gap { next, again, errno, until: now + BEHIND_GAP });
        }
    }

    /// Notes an append that did not go through this order.
    fn passed(&mut self, behind: u64, ended: u64) {
        self.behind = Some(behind);
        self.ended = Some(ended);
    }

    /// Whether no append is waiting or in progress.
    fn is_settled(&self) -> bool {
        !self.under_way && self.parked.is_empty()
    }

    /// How long to wait for missing appends.
    fn patience(&self, end: impl FnOnce() -> u64) -> Duration {
        let ahead = self.parked.first_key_value().is_some_and(|((offset, _), _)| *offset > end());
        if ahead || self.gap.is_some() { SURELY_MISSING_AFTER } else { MISSING_AFTER }
    }

    /// Whether appends are waiting for one that has not come.
    fn misses_one(&self) -> bool {
        !self.under_way && !self.parked.is_empty()
    }
}

impl Appends {
    fn lock(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile {
    /// Runs `parked` when it is the turn of an append that begins at `offset` in the kernel's view.
    /// Afterwards, `appended` and `next_appends` must be called. The calling thread may wait for
    /// the disk.
    pub(crate) fn append_in_order(self: &Arc<Self>, offset: u64, parked: Parked) {
        let mut order = self.state.appends.lock();
        order.park(offset, parked);
        self.go_on(order, true);
    }

    /// Notes that the append in progress is done. To be called before its caller is answered, who
    /// might then append in another way.
    pub(crate) fn appended(&self, done: Appended) {
        self.state.appends.lock().done(clock::now(), done);
    }

    /// Starts the next appends. The calling thread does not wait for the disk.
    pub(crate) fn next_appends(self: &Arc<Self>) {
        self.go_on(self.state.appends.lock(), false);
    }

    /// Notes an append through the page cache, at `offset` in the kernel's view. No piece of
    /// another append is in flight then, because the kernel serialises writes.
    pub(crate) fn appended_in_cache(&self, offset: u64, landed: Landed) {
        let behind = offset + landed.len as u64;
        self.state.appends.lock().passed(behind, landed.end);
    }

    /// Starts the appends whose turn it is. An append may complete while it is being started; the
    /// loop here then continues with the next, so that calls do not nest.
    fn go_on<'a>(self: &'a Arc<Self>, mut order: MutexGuard<'a, Order>, may_wait: bool) {
        let appends = &self.state.appends;
        if order.has_waiter && order.is_settled() {
            appends.settled.notify_one();
        }
        if order.parked.is_empty() || order.has_usher {
            return;
        }
        while let Some((parked, fails)) = order.next(clock::now(), || self.end()) {
            order.has_usher = true;
            drop(order);
            parked(fails.map_or(Turn::Goes { may_wait }, |errno| Turn::Fails { errno }));
            order = appends.lock();
            order.has_usher = false;
        }
        if order.misses_one() && !order.has_waiter {
            let file = Arc::clone(self);
            let wait = move || file.wait_for_missing();
            order.has_waiter = thread::Builder::new().name("append".to_owned()).spawn(wait).is_ok();
            if !order.has_waiter {
                self.go_on_without(order);
            }
        }
    }

    /// The current end of the file.
    fn end(&self) -> u64 {
        fstat(&self.fd).map_or(0, |stat| stat.st_size.cast_unsigned())
    }

    /// Gives up missing appends once nothing has happened for long enough, until no append is left.
    fn wait_for_missing(self: &Arc<Self>) {
        let appends = &self.state.appends;
        let mut order = appends.lock();
        while !order.is_settled() {
            let events = order.events;
            let unsettled = |order: &mut Order| !order.is_settled();
            let patience = order.patience(|| self.end());
            let waited = appends.settled.wait_timeout_while(order, patience, unsettled);
            order = waited.unwrap_or_else(PoisonError::into_inner).0;
            if order.events == events && order.misses_one() {
                self.go_on_without(order);
                order = appends.lock();
            }
        }
        order.has_waiter = false;
    }

    /// Starts the waiting appends without the missing ones.
    fn go_on_without<'a>(self: &'a Arc<Self>, mut order: MutexGuard<'a, Order>) {
        order.incomplete = true;
        self.go_on(order, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::extents::{Fallback, Layout};
    use crate::data::gate::OpenGate;
    use crate::files::descriptor::one_more;
    use crate::files::open_file::FileStates;
    use crate::requests::caller::User;
    use rustix::fs::OFlags;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// An order, and the appends that have been started.
    struct Scene {
        order: Order,
        tell: Sender<u64>,
        told: Receiver<u64>,
    }

    impl Scene {
        fn new() -> Self {
            let (tell, told) = mpsc::channel();
            Self { order: Order::default(), tell, told }
        }

        fn park(&mut self, mib: u64) {
            let tell = self.tell.clone();
            self.order.park(mib << 20, Box::new(move |_| tell.send(mib).unwrap()));
        }

        /// The append that starts if the file ends at `end`.
        fn next(&mut self, end: u64) -> Option<u64> {
            let (next, fails) = self.next_at(Instant::ZERO, end)?;
            assert_eq!(fails, None);
            Some(next)
        }

        /// The append that starts, and the error with which it fails.
        fn next_at(&mut self, now: Instant, end: u64) -> Option<(u64, Option<i32>)> {
            let (parked, fails) = self.order.next(now, || end)?;
            parked(Turn::Goes { may_wait: true });
            Some((self.told.recv().ok()?, fails))
        }

        /// The append at `mib` completes entirely; others have appended before it if `elsewhere`.
        fn done(&mut self, mib: u64, elsewhere: bool) {
            let ahead = if elsewhere { (mib + 1) * (MIB / 2) } else { 0 };
            self.order.done(Instant::ZERO, behind_others(mib, ahead));
        }

        /// The append completes in part, or not at all.
        fn failed(&mut self, now: Instant, mib: u64, landed: usize) {
            self.order.done(now, Appended { landed, failed: Some(28), ..whole(mib) });
        }
    }

    const MIB: u64 = 1 << 20;

    fn whole(mib: u64) -> Appended {
        let len = MIB as usize;
        let (start, end) = (mib << 20, (mib + 1) << 20);
        Appended { offset: start, len, landed: len, start, end, failed: None }
    }

    /// Others have appended this much that the kernel does not know of.
    fn behind_others(mib: u64, ahead: u64) -> Appended {
        let done = whole(mib);
        Appended { start: done.start + ahead, end: done.end + ahead, ..done }
    }

    #[test]
    fn pieces_go_one_at_a_time_and_in_order() {
        let mut scene = Scene::new();
        scene.park(6);
        assert_eq!(scene.next(5 * MIB), None, "one is missing");
        assert!(scene.order.misses_one());
        scene.park(5);
        scene.park(7);
        assert_eq!(scene.next(5 * MIB), Some(5));
        assert_eq!(scene.next(5 * MIB), None, "one is under way");
        for (done, next) in [(5, Some(6)), (6, Some(7)), (7, None)] {
            scene.done(done, false);
            assert_eq!(scene.next((done + 1) * MIB), next);
        }
    }

    #[test]
    fn where_others_append_too_the_order_is_the_same() {
        let mut scene = Scene::new();
        let (elsewhere, mut end) = (true, 5 * MIB);
        scene.park(5);
        assert_eq!(scene.next(end), Some(5), "the file ends there");
        for piece in [5, 7, 9] {
            scene.park(piece + 2);
            scene.done(piece, elsewhere);
            // However far the others have come.
            end += 3 * MIB;
            assert_eq!(scene.next(end), None, "one is missing");
            scene.park(piece + 1);
            for next in [piece + 1, piece + 2] {
                assert_eq!(scene.next(end), Some(next));
                if next == piece + 1 {
                    scene.done(next, elsewhere);
                }
            }
        }
        scene.done(11, elsewhere);
        scene.park(14);
        assert_eq!(scene.next(14 * MIB), None, "ends by chance where a later piece begins");
        scene.order.incomplete = true;
        assert_eq!(scene.next(14 * MIB), Some(14), "the kernel was told of that end");
    }

    #[test]
    fn others_that_append_no_more_are_no_reason_to_wait() {
        let mut scene = Scene::new();
        scene.park(5);
        assert_eq!(scene.next(5 * MIB), Some(5));
        scene.order.done(Instant::ZERO, behind_others(5, 512));
        // The end of the file in the kernel's view stays behind while the kernel does not query it.
        let later = Instant::ZERO + SHARED_FOR;
        for (now, piece) in [(Instant::ZERO, 6), (later, 7)] {
            scene.park(piece);
            assert_eq!(scene.next_at(now, 99 * MIB), Some((piece, None)), "continues the last");
            scene.order.done(now, behind_others(piece, 512));
        }
        scene.park(9);
        assert_eq!(scene.next_at(later, 9 * MIB), Some((9, None)), "the file ends there");
        scene.order.done(later, behind_others(9, 512));
        scene.park(11);
        assert_eq!(scene.next_at(later, 11 * MIB), None, "again somebody else was there");
    }

    #[test]
    fn what_others_have_appended_long_ago_lets_no_later_piece_go_first() {
        let mut scene = Scene::new();
        scene.park(5);
        assert_eq!(scene.next(5 * MIB), Some(5));
        // The kernel continues at its own view of the end, one piece behind.
        scene.order.done(Instant::ZERO, behind_others(5, MIB));
        let later = Instant::ZERO + SHARED_FOR;
        scene.park(7);
        assert_eq!(scene.next_at(later, 7 * MIB), None, "the one at 6 may come");
        scene.park(6);
        assert_eq!(scene.next_at(later, 7 * MIB), Some((6, None)));
    }

    #[test]
    fn what_is_appended_in_the_cache_is_continued() {
        let mut scene = Scene::new();
        scene.park(5);
        assert_eq!(scene.next(5 * MIB), Some(5));
        scene.done(5, true);
        scene.order.passed(7 * MIB, 9 * MIB);
        scene.park(7);
        assert_eq!(scene.next(9 * MIB), Some(7), "though the file does not end there");
    }

    #[test]
    fn what_another_way_appended_is_no_reason_to_wait() {
        let mut scene = Scene::new();
        for piece in [5, 9, 2] {
            scene.park(piece);
            assert_eq!(scene.next(piece * MIB), Some(piece));
            scene.done(piece, false);
        }
    }

    #[test]
    fn after_a_failure_the_rest_fails_and_what_is_written_then_goes() {
        let mut scene = Scene::new();
        let (early, late) = (Instant::ZERO + Span::from_ms(500), Instant::ZERO + Span::from_s(2));
        scene.park(5);
        assert_eq!(scene.next(5 * MIB), Some(5));
        scene.park(7);
        scene.failed(Instant::ZERO, 5, 4096);
        assert_eq!(scene.next_at(early, 5 * MIB), None, "one is missing");
        scene.park(6);
        for piece in [6, 7] {
            assert_eq!(scene.next_at(early, 5 * MIB), Some((piece, Some(28))));
            scene.failed(early, piece, 0);
        }
        scene.order.park(5 * MIB + 4096, Box::new(|_| {}));
        let begins = scene.order.next(early, || 9 * MIB).map(|(_, fails)| fails);
        assert_eq!(begins, Some(None), "what is left, once more, whatever others have appended");
        let offset = 5 * MIB + 4096;
        scene.order.done(early, Appended { offset, start: offset, ..whole(5) });
        scene.park(7);
        assert_eq!(scene.next_at(late, 7 * MIB), Some((7, None)), "behind what others appended");
    }

    #[test]
    fn what_others_append_behind_a_failure_does_not_fail() {
        let mut scene = Scene::new();
        scene.park(5);
        assert_eq!(scene.next(5 * MIB), Some(5));
        scene.failed(Instant::ZERO, 5, 0);
        scene.park(9);
        assert_eq!(scene.next(9 * MIB), None, "it may be of the same write");
        assert_eq!(scene.order.patience(|| 9 * MIB), SURELY_MISSING_AFTER);
        scene.order.incomplete = true;
        assert_eq!(scene.next(9 * MIB), Some(9));
        scene.done(9, false);
        scene.park(10);
        assert_eq!(scene.next(10 * MIB), Some(10));
    }

    #[test]
    fn where_the_file_was_shortened_the_rest_goes_in_order_after_a_while() {
        let mut scene = Scene::new();
        scene.park(7);
        scene.park(6);
        assert_eq!(scene.next(0), None);
        assert_eq!(scene.order.patience(|| 0), SURELY_MISSING_AFTER);
        scene.order.incomplete = true;
        for (end, next) in [(0, 6), (1, 7)] {
            assert_eq!(scene.next(end * MIB), Some(next));
            scene.done(next, true);
        }
        scene.park(9);
        assert_eq!(scene.next(2 * MIB), None, "that was then");
    }

    /// An empty open file.
    fn empty() -> Arc<OpenFile> {
        let fallback = Fallback { sectors: 1, inodes: 1 };
        let states = Arc::new(FileStates::new(Arc::new(OpenGate), Layout { start: 0, fallback }));
        let fd = tempfile::tempfile().expect("a file").into();
        let state = states.of((2, 2), &fd);
        let share = one_more(User::ROOT).expect("one is left");
        Arc::new(OpenFile::new(state, (fd, share), OFlags::RDWR))
    }

    /// As without a scheduler, each append is complete before its turn returns.
    #[test]
    fn who_finishes_one_waits_for_no_other_and_does_none_inside_it() {
        let file = empty();
        let (tell, told) = mpsc::channel();
        let inside = Arc::new(Mutex::new(()));
        for mib in [3, 2, 1] {
            let (again, tell, inside) = (Arc::clone(&file), tell.clone(), Arc::clone(&inside));
            let turn = move |turn| {
                let _inside = inside.try_lock().expect("one inside another");
                tell.send((mib, turn)).expect("the test listens");
                again.appended(whole(mib));
                again.next_appends();
            };
            file.state.appends.lock().park(mib << 20, Box::new(turn));
        }
        drop(tell);
        file.state.appends.lock().incomplete = true;
        // The append before them completes.
        file.appended(whole(0));
        file.next_appends();
        let expected = [1, 2, 3].map(|mib| (mib, Turn::Goes { may_wait: false }));
        assert_eq!(Vec::from_iter(told), expected);
    }

    #[test]
    fn one_thread_waits_for_what_is_missing() {
        let file = empty();
        let (tell, told) = mpsc::channel();
        for mib in [3, 2, 1] {
            let (again, tell) = (Arc::clone(&file), tell.clone());
            let turn = move |_| {
                tell.send(mib).expect("the test listens");
                again.appended(whole(mib));
                again.next_appends();
            };
            file.append_in_order(mib << 20, Box::new(turn));
        }
        let is_waiter = |task: &std::fs::DirEntry| {
            std::fs::read(task.path().join("comm")).is_ok_and(|name| name == b"append\n")
        };
        let waiters = || {
            let tasks = std::fs::read_dir("/proc/self/task").expect("our threads");
            tasks.filter_map(Result::ok).filter(is_waiter).count()
        };
        let mut soon = (0..10_000).map(|_| fairdisk_plane::pause(Duration::from_millis(1)));
        assert!(soon.by_ref().take(100).all(|()| waiters() <= 1));
        let next = || told.recv_timeout(Duration::from_secs(30));
        assert_eq!([next(), next(), next()], [Ok(1), Ok(2), Ok(3)]);
        assert!(soon.any(|()| !file.state.appends.lock().has_waiter), "it stays");
    }
}
