//! The order of appends past the page cache.
//!
//! The kernel sends a long write in pieces, all at once, and threads of ours take them up in any
//! order. Where they are to be appended they may be so only in the order of the offsets that the
//! kernel gave them: one at a time, and a piece that is still ahead of the end waits for those
//! before it. If they do not come, because somebody has shortened the file below, it goes all the
//! same.

use crate::dirty::Then;
use crate::open_file::OpenFile;
use rustix::fs::fstat;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// While no append is under way, so long is waited for one that is missing. It has been taken from
/// the kernel already, or there is none.
const MISSING_AFTER: Duration = Duration::from_secs(1);

/// The appends of one file.
#[derive(Default)]
pub(crate) struct Appends(Mutex<Order>);

/// Who goes next.
#[derive(Default)]
struct Order {
    /// By the kernel's offset, and in the order in which they came.
    parked: BTreeMap<(u64, u64), Then>,
    under_way: bool,
    /// Those before the parked ones do not come.
    incomplete: bool,
    /// How many have gone or come.
    events: u64,
}

impl std::fmt::Debug for Appends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = self.lock();
        write!(f, "Appends({} parked, under way: {})", order.parked.len(), order.under_way)
    }
}

impl Order {
    /// Another one came.
    fn park(&mut self, offset: u64, then: Then) {
        self.events += 1;
        self.parked.insert((offset, self.events), then);
    }

    /// The one that goes now, if the file ends at `end`.
    fn next(&mut self, end: u64) -> Option<Then> {
        let first = self.parked.first_entry().filter(|_| !self.under_way)?;
        let offset = first.key().0;
        if offset > end && !self.incomplete {
            return None;
        }
        let then = first.remove();
        self.events += 1;
        self.under_way = true;
        self.incomplete &= !self.parked.is_empty();
        Some(then)
    }

    /// The one under way is done, or has failed: then there is no end that those after it could
    /// wait for.
    fn done(&mut self, failed: bool) {
        self.under_way = false;
        self.incomplete |= failed && !self.parked.is_empty();
    }

    /// Whether some wait for one that is not there.
    fn misses_one(&self) -> bool {
        !self.under_way && !self.parked.is_empty()
    }
}

impl Appends {
    fn lock(&self) -> MutexGuard<'_, Order> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFile {
    /// An append that the kernel takes to begin at `offset`: goes on when it is its turn, and calls
    /// `appended` when it is done.
    pub(crate) fn append_in_order(self: &Arc<Self>, offset: u64, then: Then) {
        let mut order = self.state.appends.lock();
        order.park(offset, then);
        self.go_on(order);
    }

    /// The append under way is done.
    pub(crate) fn appended(self: &Arc<Self>, failed: bool) {
        let mut order = self.state.appends.lock();
        order.done(failed);
        self.go_on(order);
    }

    fn go_on(self: &Arc<Self>, mut order: MutexGuard<'_, Order>) {
        if order.parked.is_empty() {
            return;
        }
        let end = fstat(&self.fd).map_or(0, |stat| stat.st_size.cast_unsigned());
        let next = order.next(end);
        let missing = order.misses_one().then_some(order.events);
        drop(order);
        if let Some(events) = missing {
            let file = Arc::clone(self);
            let wait = move || {
                thread::park_timeout(MISSING_AFTER);
                file.go_on_without(events);
            };
            if thread::Builder::new().name("append".to_owned()).spawn(wait).is_err() {
                self.go_on_without(events);
            }
        }
        next.into_iter().for_each(|then| then());
    }

    /// Nothing has happened since: what is missing does not come.
    fn go_on_without(self: &Arc<Self>, events: u64) {
        let mut order = self.state.appends.lock();
        if order.events == events && order.misses_one() {
            order.incomplete = true;
            self.go_on(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            self.order.park(mib << 20, Box::new(move || tell.send(mib).unwrap()));
        }

        /// Who goes if the file ends at `end`.
        fn next(&mut self, end: u64) -> Option<u64> {
            let then = self.order.next(end)?;
            then();
            self.told.recv().ok()
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
            scene.order.done(false);
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
            scene.order.done(false);
        }
    }

    #[test]
    fn after_a_failure_the_rest_goes_in_order() {
        let mut scene = Scene::new();
        scene.park(5);
        assert_eq!(scene.next(5 << 20), Some(5));
        scene.park(7);
        scene.park(6);
        scene.order.done(true);
        for (end, next) in [(5 << 20, 6), ((5 << 20) + 4096, 7)] {
            assert_eq!(scene.next(end), Some(next));
            scene.order.done(false);
        }
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
            scene.order.done(false);
        }
        scene.park(9);
        assert_eq!(scene.next(2 << 20), None, "that was then");
    }
}
