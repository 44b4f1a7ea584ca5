//! Adding requests to a queue and removing them (spec: cfq, sections 2.6, 2.12, 2.13).

use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::pending::Choice;
use fairdisk_core::{Merge, Request, RequestId};

impl Cfq {
    /// Adds a request to its queue. Returns an older request at the same position, if it must go to
    /// the device first.
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
        // Of two requests at one position, the older goes straight to the device.
        let alias = self.requests.at_position(&self.queues[queue].pending, request.start);
        if let Some(alias) = alias {
            self.displace(now, alias);
        }
        self.queued += 1;
        let by = Choice { head: self.driver.last_position, tunables: &self.tunables };
        let q = &mut self.queues[queue];
        self.requests.enqueue(&mut q.pending, index, by);
        if !q.on_tree {
            self.becomes_busy(now, queue);
        }
        if let Some(patience) = &mut self.patience {
            patience.admitted(now, index);
        }
        alias.map(RequestId)
    }

    /// Removes a request from its queue and returns that queue.
    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> u32 {
        let queue = self.requests[index].queue;
        let by = Choice { head: self.driver.last_position, tunables: &self.tunables };
        let q = &mut self.queues[queue];
        self.requests.dequeue(&mut q.pending, index, by);
        self.queued -= 1;
        if q.is_empty() {
            self.becomes_empty(queue);
        }
        if let Some(patience) = &mut self.patience {
            patience.left(index);
        }
        queue
    }

    /// Removes a queued request that was cancelled or absorbed.
    pub(crate) fn withdraw(&mut self, now: Jiffies, id: RequestId) {
        let queue = self.requests[id.0].queue;
        let was_next = self.queues[queue].pending.next == id.0;
        self.withdrawn_next = was_next.then_some(id);
        self.remove(id.0);
        let context = self.requests.take(id.0).context;
        // The driver does not ask again because of a merge, but it must when the queue has left the
        // tree.
        if self.queues[queue].is_empty() {
            self.kicks.kick();
        }
        self.let_go(now, queue, context);
    }

    /// Updates a queued request that has grown (spec: cfq, section 2.13).
    pub(crate) fn merged(&mut self, request: &Request, how: Merge) {
        let index = request.id.0;
        let queue = self.requests[index].queue;
        self.requests.update(request);
        let by = Choice { head: self.driver.last_position, tunables: &self.tunables };
        let pending = &mut self.queues[queue].pending;
        match how {
            Merge::Back => {}
            Merge::Front => self.requests.moved(pending, index, by),
            Merge::Absorbed { absorbed, arrived } => {
                let was_next = self.withdrawn_next == Some(absorbed);
                let quirks = self.tunables.quirks;
                self.requests.absorbed(pending, index, arrived, was_next, quirks);
            }
        }
    }

    /// The request at whose position a front merge has brought `moved`, if there is one in its
    /// queue. It goes straight to the device, as in [`store`](Self::store).
    pub(crate) fn displaced(&mut self, now: Jiffies, moved: RequestId) -> Option<RequestId> {
        let queue = self.requests[moved.0].queue;
        let older = self.requests.displaced(&self.queues[queue].pending, moved.0)?;
        self.displace(now, older);
        Some(RequestId(older))
    }

    /// Dispatches `older` because another request now has its position.
    #[cold]
    fn displace(&mut self, now: Jiffies, older: u32) {
        self.hand_over(now, older);
    }
}
