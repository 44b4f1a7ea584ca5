//! The order of appends past the page cache.
//!
//! The kernel sends a long write in pieces, all at once, and threads of ours take them up in any
//! order. Where they are to be appended they may be so only in the order of the offsets that the
//! kernel gave them: one at a time, and a piece that is still ahead of the end waits for those
//! before it. If they do not come, because somebody has shortened the file below, it goes all the
//! same. After one that has failed none goes: there is no later data behind a gap.

use crate::clock;
use crate::open_file::OpenFile;
use fairdisk_core::{Instant, Span};
use rustix::fs::fstat;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// While no append is under way, so long is waited for one that is missing, and twice that at most.
/// It has been taken from the kernel already, or there is none.
const MISSING_AFTER: Duration = Duration::from_secs(1);

/// So long after one has failed those behind it may come. The next write comes when all of them are
/// answered, and begins before them, unless others have appended below.
const BEHIND_GAP: Span = Span::from_s(1);

/// What becomes of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It is its turn.
    Goes {
        /// Whether the thread may wait for the disk.
        may_wait: bool,
    },
    /// One before it has failed, so it does.
    Fails {
        /// With this.
        errno: i32,
    },
}

type Parked = Box<dyn FnOnce(Turn) + Send>;

/// The appends of one file.
#[derive(Default)]
pub(crate) struct Appends {
    order: Mutex<Order>,
    /// Nobody is left to be waited for.
    settled: Condvar,
}

/// Who goes next.
#[derive(Default)]
struct Order {
    /// By the kernel's offset, and in the order in which they came.
    parked: BTreeMap<(u64, u64), Parked>,
    under_way: bool,
    /// A thread has them go, one after the other.
    has_usher: bool,
    /// A thread waits for those that are missing.
    has_waiter: bool,
    /// Those before the parked ones do not come.
    incomplete: bool,
    /// One has failed.
    gap: Option<Gap>,
    /// How many have gone or come.
    events: u64,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Where it would have ended.
    end: u64,
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
    /// Another one came.
    fn park(&mut self, offset: u64, parked: Parked) {
        self.events += 1;
        self.parked.insert((offset, self.events), parked);
    }

    /// The next one if the file ends at `end`, and why it fails if it does.
    fn next(&mut self, now: Instant, end: u64) -> Option<(Parked, Option<i32>)> {
        let first = self.parked.first_entry().filter(|_| !self.under_way)?;
        let offset = first.key().0;
        self.gap = self.gap.filter(|gap| now < gap.until && offset >= gap.end);
        if offset > end && !self.incomplete && self.gap.is_none() {
            return None;
        }
        let parked = first.remove();
        self.events += 1;
        self.under_way = true;
        self.incomplete &= !self.parked.is_empty();
        Some((parked, self.gap.map(|gap| gap.errno)))
    }

    /// The one under way, which was to end at `end`, is done, or has failed.
    fn done(&mut self, now: Instant, end: u64, failed: Option<i32>) {
        self.under_way = false;
        self.events += 1;
        if let Some(errno) = failed {
            let end = self.gap.map_or(end, |gap| gap.end);
            self.gap = Some(Gap { end, errno, until: now + BEHIND_GAP });
        }
    }

    /// Whether none is left.
    fn is_settled(&self) -> bool {
        !self.under_way && self.parked.is_empty()
    }

    /// Whether some wait for one that is not there.
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
    /// An append that the kernel takes to begin at `offset`: goes on when it is its turn, and calls
    /// `appended` when it is done. The calling thread may wait for the disk.
    pub(crate) fn append_in_order(self: &Arc<Self>, offset: u64, parked: Parked) {
        let mut order = self.state.appends.lock();
        order.park(offset, parked);
        self.go_on(order, true);
    }

    /// The append under way, which the kernel took to end at `end`, is done or has `failed`, be it
    /// in part. The calling thread finishes what others asked for: it is not to wait.
    pub(crate) fn appended(self: &Arc<Self>, end: u64, failed: Option<i32>) {
        let mut order = self.state.appends.lock();
        order.done(clock::now(), end, failed);
        self.go_on(order, false);
    }

    /// Has those go whose turn it is. One may be done before its turn returns: then it goes on
    /// here, and not inside that.
    fn go_on<'a>(self: &'a Arc<Self>, mut order: MutexGuard<'a, Order>, may_wait: bool) {
        let appends = &self.state.appends;
        if order.has_waiter && order.is_settled() {
            appends.settled.notify_one();
        }
        if order.parked.is_empty() || order.has_usher {
            return;
        }
        while let Some((parked, fails)) = order.next(clock::now(), self.end()) {
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

    /// Where the file ends by now.
    fn end(&self) -> u64 {
        fstat(&self.fd).map_or(0, |stat| stat.st_size.cast_unsigned())
    }

    /// Goes on without those that are missing when nothing has happened for long enough, until
    /// none is left.
    fn wait_for_missing(self: &Arc<Self>) {
        let appends = &self.state.appends;
        let mut order = appends.lock();
        while !order.is_settled() {
            let events = order.events;
            let unsettled = |order: &mut Order| !order.is_settled();
            let waited = appends.settled.wait_timeout_while(order, MISSING_AFTER, unsettled);
            order = waited.unwrap_or_else(PoisonError::into_inner).0;
            if order.events == events && order.misses_one() {
                self.go_on_without(order);
                order = appends.lock();
            }
        }
        order.has_waiter = false;
    }

    /// What is missing does not come.
    fn go_on_without<'a>(self: &'a Arc<Self>, mut order: MutexGuard<'a, Order>) {
        order.incomplete = true;
        self.go_on(order, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::{Fallback, Layout};
    use crate::gate::OpenGate;
    use crate::open_file::FileStates;
    use rustix::fs::OFlags;
    use std::sync::mpsc::{self, Receiver, Sender};

    /// An order, and who went.
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

        /// Who goes if the file ends at `end`.
        fn next(&mut self, end: u64) -> Option<u64> {
            let (next, fails) = self.next_at(Instant::ZERO, end)?;
            assert_eq!(fails, None);
            Some(next)
        }

        /// And why it fails if it does.
        fn next_at(&mut self, now: Instant, end: u64) -> Option<(u64, Option<i32>)> {
            let (parked, fails) = self.order.next(now, end)?;
            parked(Turn::Goes { may_wait: true });
            Some((self.told.recv().ok()?, fails))
        }

        fn done(&mut self) {
            self.order.done(Instant::ZERO, 0, None);
        }
    }

    #[test]
    fn pieces_go_one_at_a_time_and_in_order() {
        let mut scene = Scene::new();
        scene.park(6);
        assert_eq!(scene.next(5 << 20), None, "one is missing");
        assert!(scene.order.misses_one());
        scene.park(5);
        scene.park(7);
        assert_eq!(scene.next(5 << 20), Some(5));
        assert_eq!(scene.next(5 << 20), None, "one is under way");
        for (end, next) in [(6, Some(6)), (7, Some(7)), (8, None)] {
            scene.done();
            assert_eq!(scene.next(end << 20), next);
        }
    }

    #[test]
    fn where_others_appended_too_the_order_is_the_same() {
        let mut scene = Scene::new();
        scene.park(5);
        scene.park(6);
        for (end, next) in [((5 << 20) + 10, 5), ((6 << 20) + 20, 6)] {
            assert_eq!(scene.next(end), Some(next));
            scene.done();
        }
    }

    #[test]
    fn after_a_failure_the_rest_fails_and_what_is_written_then_goes() {
        let mut scene = Scene::new();
        let (early, late) = (Instant::ZERO + Span::from_ms(500), Instant::ZERO + Span::from_s(2));
        scene.park(5);
        assert_eq!(scene.next(5 << 20), Some(5));
        scene.park(8);
        scene.order.done(Instant::ZERO, 6 << 20, Some(28));
        assert_eq!(scene.next_at(early, 5 << 20), Some((8, Some(28))));
        scene.order.done(early, 9 << 20, Some(28));
        scene.park(6);
        assert_eq!(scene.next_at(early, 5 << 20), Some((6, Some(28))), "came later");
        scene.order.done(early, 7 << 20, Some(28));
        scene.park(5);
        assert_eq!(scene.next_at(early, 5 << 20), Some((5, None)), "once more");
        scene.order.done(early, 6 << 20, Some(28));
        scene.park(7);
        assert_eq!(scene.next_at(late, 7 << 20), Some((7, None)), "behind what others appended");
    }

    #[test]
    fn where_the_file_was_shortened_the_rest_goes_in_order_after_a_while() {
        let mut scene = Scene::new();
        scene.park(7);
        scene.park(6);
        assert_eq!(scene.next(0), None);
        scene.order.incomplete = true;
        for (end, next) in [(0, 6), (1 << 20, 7)] {
            assert_eq!(scene.next(end), Some(next));
            scene.done();
        }
        scene.park(9);
        assert_eq!(scene.next(2 << 20), None, "that was then");
    }

    /// A file, empty and open.
    fn empty() -> Arc<OpenFile> {
        let fallback = Fallback { sectors: 1, inodes: 1 };
        let states = Arc::new(FileStates::new(Arc::new(OpenGate), Layout { start: 0, fallback }));
        let fd = tempfile::tempfile().expect("a file").into();
        let state = states.of((2, 2), &fd);
        Arc::new(OpenFile::new(state, fd, OFlags::RDWR))
    }

    /// As without a scheduler: each is done before its turn returns.
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
                again.appended(0, None);
            };
            file.state.appends.lock().park(mib << 20, Box::new(turn));
        }
        drop(tell);
        file.state.appends.lock().incomplete = true;
        // The one before them is done.
        file.appended(0, None);
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
                again.appended(0, None);
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
        let mut soon = (0..10_000).map(|_| thread::park_timeout(Duration::from_millis(1)));
        assert!(soon.by_ref().take(100).all(|()| waiters() <= 1));
        let next = || told.recv_timeout(Duration::from_secs(30));
        assert_eq!([next(), next(), next()], [Ok(1), Ok(2), Ok(3)]);
        assert!(soon.any(|()| !file.state.appends.lock().has_waiter), "it stays");
    }
}
