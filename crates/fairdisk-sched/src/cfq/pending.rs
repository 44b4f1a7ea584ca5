//! The requests that wait in a queue: by position, by age, and the one to serve next
//! (spec: cfq, sections 2.6, 2.12, 2.13).

use super::choose::{Candidate, is_better};
use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::NIL;
use fairdisk_core::{Lba, Merge, Request, RequestId};

impl Cfq {
    /// Puts a request into its queue; gives back one at the same position that must go first.
    #[inline]
    pub(crate) fn store(
        &mut self,
        now: Jiffies,
        request: &Request,
        queue: u32,
        context: u32,
    ) -> Option<RequestId> {
        let index = request.id.0;
        self.requests.insert(request, queue, context);
        self.tasks[context].requests += 1;
        // Of two at one position the older goes straight to the device. (A front merge can bring
        // two to one position as well; those stay, and the older is found first.)
        let alias = self.at_position(queue, request.start);
        if let Some(alias) = alias {
            self.hand_over(now, alias);
        }
        self.queued += 1;
        let q = &mut self.queues[queue as usize];
        self.sort.insert(&mut q.sorted, index, request.start.0);
        self.requests.append(&mut q.fifo, index);
        q.meta_pending += u32::from(self.requests[index].meta());
        let on_tree = q.on_tree;
        self.prefer(queue, index, self.driver.last_position);
        if !on_tree {
            self.becomes_busy(now, queue);
        }
        if let Some(patience) = &mut self.patience {
            patience.admitted(now, index);
        }
        alias.map(RequestId)
    }

    fn at_position(&self, queue: u32, start: Lba) -> Option<u32> {
        let sorted = &self.queues[queue as usize].sorted;
        self.sort.lower_bound(sorted, start.0).filter(|at| self.sort.key(*at) == start.0)
    }

    /// Takes a request out of its queue, which it names.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> u32 {
        let (queue, meta) = (self.requests[index].queue, self.requests[index].meta());
        self.unsort(queue, index);
        self.queued -= 1;
        let q = &mut self.queues[queue as usize];
        self.requests.unlink(&mut q.fifo, index);
        q.meta_pending -= u32::from(meta);
        if q.is_empty() {
            self.becomes_empty(queue);
        }
        if let Some(patience) = &mut self.patience {
            patience.left(index);
        }
        queue
    }

    /// Takes a request out of the order of positions; if it was the next one, its neighbours
    /// compete for that.
    #[inline]
    fn unsort(&mut self, queue: u32, index: u32) {
        let q = &self.queues[queue as usize];
        if q.sorted.len() == 1 {
            self.queues[queue as usize].next_rq = NIL;
        } else if q.next_rq == index {
            let first = || self.sort.first(&q.sorted).filter(|first| *first != index);
            let follower = self.sort.next(index).or_else(first).unwrap_or(NIL);
            let previous = self.sort.prev(index).unwrap_or(NIL);
            let reference = if self.tunables.quirks.q7_reference_is_driver {
                self.driver.last_position
            } else {
                self.requests[index].start
            };
            let best = self.better(follower, previous, reference);
            self.queues[queue as usize].next_rq = best;
        }
        self.sort.remove(&mut self.queues[queue as usize].sorted, index);
    }

    /// Makes `index` the next request of its queue if it is the better choice.
    fn prefer(&mut self, queue: u32, index: u32, reference: Lba) {
        let next = self.queues[queue as usize].next_rq;
        let best = self.better(next, index, reference);
        self.queues[queue as usize].next_rq = best;
    }

    fn better(&self, first: u32, second: u32, reference: Lba) -> u32 {
        if first == NIL || second == NIL {
            return if first == NIL { second } else { first };
        }
        let candidate = |index| Candidate::from(&self.requests[index]);
        let (one, two) = (candidate(first), candidate(second));
        if is_better(&one, &two, reference, &self.tunables) { first } else { second }
    }

    /// Gives a request back.
    pub(crate) fn withdraw(&mut self, now: Jiffies, id: RequestId) {
        let queue = self.requests[id.0].queue;
        let was_next = self.queues[queue as usize].next_rq == id.0;
        self.withdrawn_next = was_next.then_some(id);
        self.remove(id.0);
        let context = self.requests.take(id.0).context;
        // A merge does not make the driver ask again; a queue that is gone from the tree must.
        if self.queues[queue as usize].is_empty() {
            self.kick();
        }
        self.let_go(now, queue, context);
    }

    /// A queued request grew (spec: cfq, section 2.13).
    pub(crate) fn merged(&mut self, request: &Request, how: Merge) {
        let index = request.id.0;
        let queue = self.requests[index].queue;
        self.requests.update(request);
        match how {
            Merge::Back => {}
            Merge::Front => {
                self.unsort(queue, index);
                let sorted = &mut self.queues[queue as usize].sorted;
                self.sort.insert(sorted, index, request.start.0);
                self.prefer(queue, index, self.driver.last_position);
            }
            Merge::Absorbed { absorbed, arrived } => {
                let quirks = self.tunables.quirks;
                let q = &mut self.queues[queue as usize];
                if !quirks.q4_no_fifo_inheritance {
                    self.requests.move_up(&mut q.fifo, index, arrived);
                }
                // The fix of Q7 also lets the survivor be next (spec: cfq, section 4.12).
                if !quirks.q7_reference_is_driver && self.withdrawn_next == Some(absorbed) {
                    q.next_rq = index;
                }
            }
        }
    }
}
