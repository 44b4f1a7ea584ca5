//! All queues: found by task and group, and ordered within each group.
//!
//! Within a group the `ionice` classes are served in order. Within a class, the queue is next that
//! has received the least service for its level, unless others have [passed it over](turns).

mod class;
mod expected;
mod places;
mod turns;

pub(super) use class::TURNS_MOST;
pub(super) use places::For;

use super::NIL;
use super::queue::{CLASSES, Queue, WEIGHT_MOST};
use crate::groups::{VirtualTime, virtual_time};
use crate::slab::Slab;
use alloc::vec::Vec;
use class::{Class, PASSED_OVER_REQUESTS};
use core::ops::{Index, IndexMut};
use fairdisk_core::list::{List, Lists};
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Instant, IoPrio, Lba, Span, TaskId, dense};
use places::{Places, Ranks};

/// The queues of one group.
#[derive(Clone, Debug)]
struct Leaf {
    classes: [Class; CLASSES],
    asynchronous: u32,
    /// All queues of the group that requests can still be added to.
    queues: List,
    ranks: Ranks,
    /// The queue that was served last in the order of the group, or `NIL`.
    served_last: u32,
}

/// The queues of all groups.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Slab<Queue>,
    /// The last used queue of each task, or `NIL`. Most tasks have one queue; a task that writes on
    /// behalf of others has one in every group.
    recent: Vec<u32>,
    /// The queues of tasks, ordered by task and group.
    owners: Forest<u64>,
    by_owner: Tree,
    leaves: Vec<Leaf>,
    in_leaf: Lists<()>,
    order: Forest<VirtualTime>,
    due: Forest<u64>,
    places: Places,
    /// How long a class may be passed over before it is served once.
    patience: Span,
}

impl Queues {
    pub(super) const fn new(patience: Span, idle_max: Span) -> Self {
        Self {
            queues: Slab::new(),
            recent: Vec::new(),
            owners: Forest::new(),
            by_owner: Tree::new(),
            leaves: Vec::new(),
            in_leaf: Lists::new(),
            order: Forest::new(),
            due: Forest::new(),
            places: Places::new(idle_max),
            patience,
        }
    }

    /// Ensures that the group exists.
    pub(super) fn make_group(&mut self, group: u32) {
        while self.leaves.len() <= group as usize {
            self.leaves.push(Leaf {
                classes: [Class::EMPTY; CLASSES],
                asynchronous: NIL,
                queues: List::new(),
                ranks: Ranks::NONE,
                served_last: NIL,
            });
        }
    }

    /// The queue `at`, or `None` for `NIL`.
    pub(super) fn get(&self, at: u32) -> Option<&Queue> {
        self.queues.get(at)
    }

    /// All queues that have not been freed.
    pub(super) fn used(&self) -> impl Iterator<Item = (u32, &Queue)> {
        let all = (0..self.queues.len()).map(|at| (at, &self.queues[at]));
        all.filter(|(_, queue)| queue.group != NIL)
    }

    /// Whether `at` is a queue that has not been freed.
    pub(super) fn is_used(&self, at: u32) -> bool {
        self.get(at).is_some_and(|queue| queue.group != NIL)
    }

    /// The queue of the task in the group, if there is one.
    #[inline]
    pub(super) fn find(&self, task: TaskId, group: u32) -> Option<u32> {
        let recent = self.recent.get(task.0 as usize).copied()?;
        if self.get(recent).is_some_and(|queue| queue.group == group) {
            return Some(recent);
        }
        let owner = owner(task, group);
        let found = self.owners.lower_bound(&self.by_owner, owner)?;
        (self.owners.key(found) == owner).then_some(found)
    }

    /// The first queue of the task in group `from` or a later one.
    fn next_of_task(&self, task: TaskId, from: u32) -> Option<u32> {
        let found = self.owners.lower_bound(&self.by_owner, owner(task, from))?;
        (self[found].task == Some(task)).then_some(found)
    }

    /// The queue of the group's asynchronous writes, if there is one.
    pub(super) fn find_asynchronous(&self, group: u32) -> Option<u32> {
        let leaf = self.leaves.get(group as usize)?;
        Some(leaf.asynchronous).filter(|queue| *queue != NIL)
    }

    /// The queue of the task in the group, created if needed, with its priority set to `ioprio`.
    #[inline]
    pub(super) fn of_task(
        &mut self,
        now: Instant,
        task: TaskId,
        group: u32,
        ioprio: IoPrio,
    ) -> u32 {
        if let Some(at) = self.find(task, group) {
            if self[at].ioprio != ioprio {
                self.set_priority(now, at, ioprio);
            }
            self.recent[task.0 as usize] = at;
            return at;
        }
        let at = self.put(Queue::new(group, Some(task), ioprio));
        self.add_rank(at);
        self.owners.insert(&mut self.by_owner, at, owner(task, group));
        *dense::entry(&mut self.recent, task.0, || NIL) = at;
        at
    }

    /// The queue of the group's asynchronous writes, created if needed.
    pub(super) fn asynchronous(&mut self, group: u32) -> u32 {
        if let Some(at) = self.find_asynchronous(group) {
            return at;
        }
        let at = self.put(Queue::new(group, None, IoPrio::UNSET));
        self.leaves[group as usize].asynchronous = at;
        at
    }

    fn put(&mut self, queue: Queue) -> u32 {
        let group = queue.group as usize;
        let at = self.queues.put(queue);
        self.in_leaf.insert(&mut self.leaves[group].queues, at, ());
        at
    }

    /// Sets the priority of all queues of the task.
    pub(super) fn reprioritise(&mut self, now: Instant, task: TaskId, ioprio: IoPrio) {
        let mut next = self.next_of_task(task, 0);
        while let Some(at) = next.filter(|at| self[*at].task == Some(task)) {
            self.set_priority(now, at, ioprio);
            next = self.owners.next(at);
        }
    }

    fn set_priority(&mut self, now: Instant, at: u32, ioprio: IoPrio) {
        let in_line = self[at].order.in_line;
        self.give_place_up(at);
        let class = self[at].class();
        let can_grow = !self[at].orphan;
        if can_grow {
            self.remove_rank(at);
        }
        self[at].set_priority(ioprio);
        if can_grow {
            self.add_rank(at);
        }
        let queue = &mut self.queues[at];
        if queue.class() != class {
            // Each class has its own virtual time. The queue keeps how far it is ahead of it.
            let classes = &self.leaves[queue.group as usize].classes;
            let [line, before] = [queue.class(), class].map(|class| &classes[class].line);
            line.take_over(&mut queue.order.claim, before);
        }
        if in_line {
            self.join(now, at);
        }
    }

    // ---- ends ----------------------------------------------------------------------------

    /// Orphans the queues of a task that has exited.
    pub(super) fn task_exited(&mut self, task: TaskId) {
        while let Some(at) = self.next_of_task(task, 0) {
            self.orphan(at);
        }
    }

    /// Orphans the queues of a group that is removed.
    pub(super) fn group_removed(&mut self, group: u32) {
        while let Some(at) = self.leaves[group as usize].queues.first() {
            self.orphan(at);
        }
    }

    fn orphan(&mut self, at: u32) {
        let Queue { group, task, .. } = self[at];
        let leaf = &mut self.leaves[group as usize];
        self.in_leaf.remove(&mut leaf.queues, at);
        match task {
            Some(task) => {
                self.remove_rank(at);
                self.owners.remove(&mut self.by_owner, at);
                let recent = &mut self.recent[task.0 as usize];
                if *recent == at {
                    *recent = NIL;
                }
            }
            None => leaf.asynchronous = NIL,
        }
        self[at].orphan = true;
        self.release_if_done(at);
    }

    /// Frees an orphaned queue with nothing queued and nothing at the device. Returns whether it
    /// did.
    #[inline]
    pub(super) fn release_if_done(&mut self, at: u32) -> bool {
        let done = self[at].orphan && self[at].is_quiet();
        if done {
            self.give_place_up(at);
            self.forget_turn(at);
            self[at].group = NIL;
            self.queues.free(at);
        }
        done
    }

    // ---- in line -------------------------------------------------------------------------

    /// Adds a queue that has got requests to its line. It gets no credit for the time without
    /// requests.
    pub(super) fn join(&mut self, now: Instant, at: u32) {
        let lag = if self[at].order.has_place { self.take_place(now, at) } else { 0 };
        let (group, class) = (self[at].group, self[at].class());
        let class = &mut self.leaves[group as usize].classes[class];
        if class.is_empty() {
            class.note_served(now);
        }
        let queue = &mut self.queues[at];
        class.line.let_in(&mut queue.order.claim, lag);
        queue.order.in_line = true;
        let start = queue.order.claim.start;
        if class.away == at {
            class.away = NIL;
            self.order.set_key(&mut class.line.tree, at, start);
        } else {
            self.order.insert(&mut class.line.tree, at, start);
        }
        self.begin_waiting(at);
    }

    /// Takes a queue that has no requests queued out of its line.
    pub(super) fn leave(&mut self, at: u32) {
        let (group, class) = (self[at].group, self[at].class());
        let leaf = &mut self.leaves[group as usize];
        let class = &mut leaf.classes[class];
        let before = core::mem::replace(&mut class.away, at);
        if before != NIL {
            self.order.remove(&mut class.line.tree, before);
        }
        let are_kept = leaf.ranks.are_kept;
        self.end_waiting(at);
        self.queues[at].order.in_line = false;
        if are_kept {
            self.keep_place(at);
        }
    }

    /// Takes a queue out of its line, if it is there, and does not keep its place in the tree.
    fn give_place_up(&mut self, at: u32) {
        let (group, class) = (self[at].group, self[at].class());
        let class = &mut self.leaves[group as usize].classes[class];
        if class.away == at {
            class.away = NIL;
        } else if !self.queues[at].order.in_line {
            return;
        }
        self.order.remove(&mut class.line.tree, at);
        if core::mem::take(&mut self[at].order.in_line) {
            self.end_waiting(at);
        }
    }

    /// Replaces a charge of `charged` to the queue by `cost`.
    #[inline]
    pub(super) fn charge(&mut self, at: u32, charged: Span, cost: Span) {
        self[at].order.claim.charge(charged, cost);
        self.has_moved(at);
    }

    /// Moves the queue where it is ordered by its start, which has changed.
    #[inline]
    fn has_moved(&mut self, at: u32) {
        let queue = &self.queues[at];
        if queue.order.in_line {
            let class = &mut self.leaves[queue.group as usize].classes[queue.class()];
            self.order.set_key(&mut class.line.tree, at, queue.order.claim.start);
        } else if queue.order.has_place {
            self.move_place(at);
        }
    }

    /// Charges the queue `cost`, of which it owes the others of its class no more than its part of
    /// `most` of all, as if all had the highest level. What it owed before remains.
    pub(super) fn charge_within(&mut self, at: u32, cost: Span, most: Span) {
        let queue = &mut self.queues[at];
        let class = &self.leaves[queue.group as usize].classes[queue.class()];
        if !queue.order.in_line {
            // As when it joins the line: there is no credit for the time without requests.
            class.line.let_in(&mut queue.order.claim, 0);
        }
        let all = WEIGHT_MOST * u64::from(class.len().max(1));
        class.line.charge_within(&mut queue.order.claim, cost, virtual_time(most, all));
        self.has_moved(at);
    }

    /// The next queue of the group, which must have requests queued.
    #[inline]
    pub(super) fn first_of(&self, now: Instant, group: u32) -> u32 {
        let classes = &self.leaves[group as usize].classes;
        let waiting = || classes.iter().filter(|class| !class.is_empty());
        let passed = |class: &&Class| class.is_passed_over(now, self.patience);
        let best = waiting().rev().find(passed).or_else(|| waiting().next());
        best.and_then(|class| self.next_in(class)).expect("it has requests")
    }

    /// The queue of a class that is next.
    #[inline]
    fn next_in(&self, class: &Class) -> Option<u32> {
        class.passed_over(&self.due).or_else(|| class.first(&self.order))
    }

    /// When the next class of the group will have been passed over for long enough to be served
    /// once.
    pub(super) fn passed_over_at(&self, now: Instant, group: u32) -> Option<Instant> {
        let classes = self.leaves[group as usize].classes.iter();
        let waiting = classes.filter(|one| !one.is_empty() && one.passed >= PASSED_OVER_REQUESTS);
        waiting.map(|one| one.waits_since + self.patience).filter(|at| *at > now).min()
    }

    /// The number of queues in line that have the class and group of this one.
    pub(super) fn in_line_with(&self, at: u32) -> u32 {
        self.leaves[self[at].group as usize].classes[self[at].class()].len()
    }

    /// Whether other queues of the group are in line beside this one, which is.
    pub(super) fn others_in_line(&self, at: u32) -> bool {
        let classes = &self.leaves[self[at].group as usize].classes;
        classes.iter().map(Class::len).sum::<u32>() > 1
    }

    /// Whether the queue, if it had a request, would be served before what its group has queued.
    pub(super) fn is_behind(&self, at: u32) -> bool {
        let (queue, class) = (&self[at], self[at].class());
        let classes = &self.leaves[queue.group as usize].classes;
        let better = classes[..class].iter().any(|class| !class.is_empty());
        let passed_over = classes[class].passed_over(&self.due);
        let first = passed_over.or_else(|| classes[class].first(&self.order));
        let is_next = |first| {
            first == at
                || passed_over.is_none() && queue.order.claim.start < self[first].order.claim.start
        };
        !better && first.is_none_or(is_next)
    }

    /// Advances the virtual time of the class of the queue, which is in line and about to be
    /// served with a request that begins at `place`, if that is in the order of its group. A queue
    /// that keeps the disk runs ahead of the others; newcomers start beside those.
    #[inline]
    pub(super) fn reach(&mut self, now: Instant, at: u32, place: Option<Lba>) {
        if let Some(place) = place {
            self.count_turn(now, at, place);
        }
        if self.queues[at].waiting > 1 {
            self.end_waiting(at);
            self.begin_waiting(at);
        }
        let queue = &self.queues[at];
        let classes = &mut self.leaves[queue.group as usize].classes;
        classes.iter_mut().for_each(|class| class.passed = class.passed.saturating_add(1));
        let class = &mut classes[queue.class()];
        let least = class.first(&self.order).map_or(0, |first| self.order.key(first));
        class.line.reach(least);
        class.note_served(now);
    }
}

/// A task and a group as one key that sorts by task first.
const fn owner(task: TaskId, group: u32) -> u64 {
    (task.0 as u64) << 32 | group as u64
}

impl Index<u32> for Queues {
    type Output = Queue;
    #[inline]
    fn index(&self, at: u32) -> &Queue {
        &self.queues[at]
    }
}

impl IndexMut<u32> for Queues {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Queue {
        &mut self.queues[at]
    }
}
