//! Ownership: which queue a request goes to, and how long queues and contexts live (spec: cfq,
//! sections 2.2, 2.3, 2.15, 2.16, 4.10).

use super::groups::ROOT;
use super::queue::Queue;
use super::state::State;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::queue::NIL;
use fairdisk_core::{Bio, Flags, IoPrio, MayQueue, Request, TaskId};

impl State {
    /// Whether the disk is idling for this bio's task, so that it may exceed a full pool (spec:
    /// cfq, sections 2.3, 2.15).
    pub(super) fn may_queue(&mut self, bio: &Bio) -> MayQueue {
        let Some(context) = self.tasks.find(bio.task, 0) else { return MayQueue::May };
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
    pub(super) fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        if bio.sync && !request.sync {
            return false;
        }
        let (Some(rq), Some(context)) =
            (self.requests.get(request.id.0), self.tasks.find(bio.task, 0))
        else {
            return false;
        };
        let checks = self.on.group_isolate_ops && !self.on.merge_across_groups;
        let group = self.queues[rq.queue].place.group;
        (!checks || self.groups.find(bio.group) == Some(group))
            && rq.queue == self.tasks[context].queue(bio.sync)
    }

    /// Applies a pending priority change to the task's own queue, which is about to be used.
    pub(super) fn catch_up_priority(&mut self, context: u32) {
        let context = &mut self.tasks[context];
        if let Some(queue) = context.take_priority_due() {
            self.queues[queue].set_priority(context.ioprio);
        }
    }

    /// The queue for the request; created if needed.
    pub(super) fn queue_for(&mut self, now: Jiffies, context: u32, request: &Request) -> u32 {
        let group = if self.on.cgroup_groups && request.sync {
            self.groups.find_or_make(request.group)
        } else {
            ROOT
        };
        if request.sync {
            self.leave_other_group(now, context, group);
            self.split_if_due(now, context);
            self.follow_merge(now, context);
        }
        let known = self.tasks[context].queue(request.sync);
        if known != NIL {
            return known;
        }
        let ioprio = self.tasks[context].ioprio;
        if request.sync {
            let queue = self.make_queue(group, true, ioprio);
            self.use_queue(context, queue);
            return queue;
        }
        let mut queue = *self.async_queues.place(ioprio);
        if queue == NIL {
            queue = self.make_queue(ROOT, false, ioprio);
            *self.async_queues.place(ioprio) = queue;
            // The device itself holds a reference to the queue.
            self.queues[queue].owners = 1;
        }
        self.tasks[context].async_queue = queue;
        queue
    }

    /// Detaches a task that has moved to another group from its queue in the old group.
    fn leave_other_group(&mut self, now: Jiffies, context: u32, group: u32) {
        let queue = self.queues.get(self.tasks[context].sync_queue);
        if self.on.cgroup_move && queue.is_some_and(|queue| queue.home != group) {
            self.leave_queue(now, context);
        }
    }

    fn make_queue(&mut self, group: u32, sync: bool, ioprio: IoPrio) -> u32 {
        self.groups.adopt(group);
        self.queues.put(Queue::new(group, sync, ioprio))
    }

    /// Makes the task use this queue from now on.
    pub(super) fn use_queue(&mut self, context: u32, queue: u32) {
        self.tasks[context].sync_queue = queue;
        self.queues[queue].owners += 1;
    }

    /// Detaches the task from its queue.
    pub(super) fn leave_queue(&mut self, now: Jiffies, context: u32) {
        let queue = core::mem::replace(&mut self.tasks[context].sync_queue, NIL);
        if queue != NIL {
            self.disown(now, queue);
        }
    }

    /// Drops one task's reference to the queue.
    pub(super) fn disown(&mut self, now: Jiffies, queue: u32) {
        self.queues[queue].owners -= 1;
        self.release_if_done(now, queue);
    }

    /// Handles the exit of a task. Its queue loses the disk, and is freed once empty.
    pub(super) fn task_exited(&mut self, now: Jiffies, task: TaskId) {
        let Some(context) = self.tasks.any_of_task(task) else { return };
        self.tasks.orphan(context);
        let queue = self.tasks[context].sync_queue;
        if queue != NIL && self.active == queue {
            self.expire(now, queue, false);
            self.kicks.kick();
        }
        self.leave_queue(now, context);
        if self.tasks[context].requests == 0 {
            self.release_context(context);
        }
    }

    /// Drops a request's references to `queue` and `context`, and frees those that are done with.
    pub(super) fn let_go(&mut self, now: Jiffies, queue: u32, context: u32) {
        self.release_if_done(now, queue);
        let owner = &mut self.tasks[context];
        owner.requests -= 1;
        if owner.requests == 0 && !owner.alive {
            self.release_context(context);
        }
    }

    /// Frees a queue that has no tasks and no requests left.
    fn release_if_done(&mut self, now: Jiffies, queue: u32) {
        if self.queues[queue].is_in_use() {
            return;
        }
        if self.active == queue {
            self.expire(now, queue, false);
            self.kicks.kick();
        }
        self.queues.free(queue);
        self.groups.abandon(self.queues[queue].home);
        let next = core::mem::replace(&mut self.queues[queue].merge_into, NIL);
        if next != NIL {
            self.queues[next].merging_here -= 1;
            self.release_if_done(now, next);
        }
    }

    fn release_context(&mut self, context: u32) {
        if self.device.active_context == context {
            self.device.active_context = NIL;
        }
        self.tasks.release(context);
    }
}
