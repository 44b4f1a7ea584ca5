//! Ownership: which queue a request goes to, and how long queues and contexts live (spec: cfq,
//! sections 2.2, 2.3, 2.15, 2.16).

use super::context::Context;
use super::engine::Cfq;
use super::jiffies::Jiffies;
use super::queue::{NIL, Queue};
use fairdisk_core::{Bio, Flags, IoPrio, MayQueue, Request, TaskId};

impl Cfq {
    /// Whether the disk is idling for this bio's task, so that it may exceed a full pool (spec:
    /// cfq, sections 2.3, 2.15).
    #[inline]
    pub(crate) fn may_queue(&mut self, bio: &Bio, layer: u32) -> MayQueue {
        let Some(context) = self.tasks.find(bio.task, layer) else { return MayQueue::May };
        if bio.sync {
            self.catch_up_priority(context);
        }
        let queue = self.tasks[context].queue(bio.sync);
        let Some(queue) = self.queues.get_mut(queue) else { return MayQueue::May };
        queue.priority.boost(bio.flags.contains(Flags::EXCLUSIVE));
        if queue.waits && !queue.passed_full_pool {
            queue.passed_full_pool = true;
            return MayQueue::Must;
        }
        MayQueue::May
    }

    /// Whether `bio` may be merged into the queued `request`: only within one queue, and never a
    /// synchronous bio into an asynchronous request (spec: cfq, section 2.13).
    pub(crate) fn may_merge(&self, request: &Request, bio: &Bio, layer: u32) -> bool {
        if bio.sync && !request.sync {
            return false;
        }
        let (Some(rq), Some(context)) =
            (self.requests.get(request.id.0), self.tasks.find(bio.task, layer))
        else {
            return false;
        };
        rq.queue == self.tasks[context].queue(bio.sync)
    }

    /// Applies a pending priority change to the task's own queue, which is about to be used.
    pub(crate) fn catch_up_priority(&mut self, context: u32) {
        if let Some(queue) = self.tasks[context].take_priority_due() {
            self.take_on_priority(queue, context);
        }
    }

    #[cold]
    fn take_on_priority(&mut self, queue: u32, context: u32) {
        self.queues[queue].set_priority(self.tasks[context].ioprio);
    }

    /// The queue for the task's synchronous or asynchronous requests; created if needed.
    pub(crate) fn queue_of(&mut self, context: u32, sync: bool) -> u32 {
        let known = self.tasks[context].queue(sync);
        if known != NIL {
            return known;
        }
        let Context { layer, ioprio, .. } = self.tasks[context];
        if sync {
            let queue = self.make_queue(layer, true, ioprio);
            self.tasks[context].sync_queue = queue;
            return queue;
        }
        let mut queue = *self.layers[layer as usize].async_queues.place(ioprio);
        if queue == NIL {
            queue = self.make_queue(layer, false, ioprio);
            *self.layers[layer as usize].async_queues.place(ioprio) = queue;
        }
        self.tasks[context].async_queue = queue;
        queue
    }

    fn make_queue(&mut self, layer: u32, sync: bool, ioprio: IoPrio) -> u32 {
        self.queues.put(Queue::new(layer, sync, ioprio))
    }

    /// Orphans the queues of an exited task in all layers. They lose the disk, and are freed once
    /// empty.
    pub(crate) fn task_exited(&mut self, now: Jiffies, task: TaskId) {
        while let Some(context) = self.tasks.any_of_task(task) {
            self.orphan(now, context);
        }
    }

    /// Handles the removal of a layer: forgets the state of its tasks, and frees its queues once
    /// they are empty.
    pub(crate) fn layer_gone(&mut self, now: Jiffies, layer: u32) {
        while let Some(context) = self.tasks.any_of_layer(layer) {
            self.orphan(now, context);
        }
        for queue in self.layers[layer as usize].take_async_queues() {
            self.orphan_queue(now, queue);
        }
    }

    fn orphan(&mut self, now: Jiffies, context: u32) {
        self.tasks.orphan(context);
        let queue = self.tasks[context].sync_queue;
        self.orphan_queue(now, queue);
        if self.tasks[context].requests == 0 {
            self.release_context(context);
        }
    }

    fn orphan_queue(&mut self, now: Jiffies, queue: u32) {
        let Some(q) = self.queues.get_mut(queue) else { return };
        q.orphan = true;
        if self.layers[q.layer as usize].active == queue {
            self.expire(now, queue, false);
            self.kicks.kick();
        }
        self.release_if_done(now, queue);
    }

    /// Drops a request's references to `queue` and `context`, and frees those that are done with.
    #[inline]
    pub(crate) fn let_go(&mut self, now: Jiffies, queue: u32, context: u32) {
        if self.queues[queue].orphan {
            self.release_if_done(now, queue);
        }
        let owner = &mut self.tasks[context];
        owner.requests -= 1;
        if owner.requests == 0 && !owner.alive {
            self.release_context(context);
        }
    }

    /// Frees an orphaned queue that has no requests, pending or dispatched.
    #[cold]
    fn release_if_done(&mut self, now: Jiffies, queue: u32) {
        let q = &self.queues[queue];
        if !q.is_empty() || q.dispatched > 0 {
            return;
        }
        if self.layers[q.layer as usize].active == queue {
            self.expire(now, queue, false);
            self.kicks.kick();
        }
        self.queues.free(queue);
    }

    #[cold]
    fn release_context(&mut self, context: u32) {
        if self.driver.active_context == context {
            self.driver.active_context = NIL;
        }
        self.tasks.release(context);
    }
}
