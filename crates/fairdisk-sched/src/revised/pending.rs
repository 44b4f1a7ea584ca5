//! The requests that wait in a queue: by position, by age, and the one to serve next
//! (spec: cfq, sections 2.6, 2.12, 2.13, 4.12).

use super::state::State;
use crate::cfq::choose::{Candidate, is_better};
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;
use fairdisk_core::{Lba, Merge, Request, RequestId};

impl State {
    /// Puts a request into its queue; gives back one at the same position that must go first.
    pub(super) fn store(
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
        let (on_tree, next_rq) = (q.on_tree, q.next_rq);
        self.prefer(queue, index, self.device.last_position);
        if !on_tree {
            self.place(now, queue);
        } else if self.queue(queue).next_rq != next_rq {
            self.note_position(queue);
        }
        alias.map(RequestId)
    }

    fn at_position(&self, queue: u32, start: Lba) -> Option<u32> {
        let sorted = &self.queue(queue).sorted;
        self.sort.lower_bound(sorted, start.0).filter(|at| self.sort.key(*at) == start.0)
    }

    /// Takes a request out of its queue, which it names.
    pub(super) fn remove(&mut self, index: u32) -> u32 {
        let (queue, meta) = (self.requests[index].queue, self.requests[index].meta());
        self.unsort(queue, index);
        self.queued -= 1;
        let q = &mut self.queues[queue as usize];
        self.requests.unlink(&mut q.fifo, index);
        q.meta_pending -= u32::from(meta);
        if q.is_empty() {
            self.emptied(queue);
        }
        queue
    }

    /// The queue has nothing left. While it has the disk it may keep its place.
    fn emptied(&mut self, queue: u32) {
        if self.on.keep_on_tree && self.active == queue {
            self.forget_position(queue);
        } else if self.queue(queue).on_tree {
            self.unplace(queue);
        }
    }

    /// Takes a request out of the order of positions; if it was the next one, its neighbours
    /// compete for that.
    fn unsort(&mut self, queue: u32, index: u32) {
        if self.queue(queue).next_rq == index {
            let best = self.best_neighbour(queue, index);
            self.queue_mut(queue).next_rq = best;
        }
        self.sort.remove(&mut self.queues[queue as usize].sorted, index);
    }

    /// The better one of the two requests next to `index`.
    pub(super) fn best_neighbour(&self, queue: u32, index: u32) -> u32 {
        let q = self.queue(queue);
        if q.sorted.len() == 1 {
            return NIL;
        }
        let first = || self.sort.first(&q.sorted).filter(|first| *first != index);
        let follower = self.sort.next(index).or_else(first).unwrap_or(NIL);
        let previous = self.sort.prev(index).unwrap_or(NIL);
        let reference = if self.tunables.quirks.q7_reference_is_driver {
            self.device.last_position
        } else {
            self.requests[index].start
        };
        self.better(follower, previous, reference)
    }

    /// Makes `index` the next request of its queue if it is the better choice.
    fn prefer(&mut self, queue: u32, index: u32, reference: Lba) {
        let best = self.better(self.queue(queue).next_rq, index, reference);
        self.queue_mut(queue).next_rq = best;
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
    pub(super) fn withdraw(&mut self, now: Jiffies, id: RequestId) {
        let queue = self.requests[id.0].queue;
        let was_next = self.queue(queue).next_rq == id.0;
        self.withdrawn_next = was_next.then_some(id);
        self.remove(id.0);
        let context = self.requests.take(id.0).context;
        // A merge does not make the driver ask again; a queue that is gone from the tree must.
        if self.queue(queue).is_empty() {
            self.kick();
        }
        self.let_go(now, queue, context);
    }

    /// A queued request grew (spec: cfq, section 2.13).
    pub(super) fn merged(&mut self, request: &Request, how: Merge) {
        let index = request.id.0;
        let queue = self.requests[index].queue;
        self.requests.update(request);
        match how {
            Merge::Back => {}
            Merge::Front => {
                self.unsort(queue, index);
                let sorted = &mut self.queues[queue as usize].sorted;
                self.sort.insert(sorted, index, request.start.0);
                self.prefer(queue, index, self.device.last_position);
                if self.queue(queue).next_rq == index {
                    self.note_position(queue);
                }
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
