//! The contexts of all tasks, one for each layer that a task has used.

use super::context::Context;
use super::jiffies::Jiffies;
use super::queue::NIL;
use crate::slab::Slab;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::list::{List, Lists};
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{IoPrio, TaskId, dense};

/// All contexts, indexed by task and layer.
#[derive(Debug)]
pub(crate) struct Tasks {
    contexts: Slab<Context>,
    /// The context that each task used last, or `NIL`. Most tasks have only one; a task that writes
    /// on behalf of others has one in every layer.
    recent: Vec<u32>,
    /// The contexts of live tasks, by task and layer.
    owners: Forest<u64>,
    by_owner: Tree,
    /// The contexts of live tasks, in a list per layer.
    layers: Vec<List>,
    links: Lists<()>,
}

impl Tasks {
    pub(crate) const fn new() -> Self {
        Self {
            contexts: Slab::new(),
            recent: Vec::new(),
            owners: Forest::new(),
            by_owner: Tree::new(),
            layers: Vec::new(),
            links: Lists::new(),
        }
    }

    /// The context of `task` in `layer`.
    #[inline]
    pub(crate) fn find(&self, task: TaskId, layer: u32) -> Option<u32> {
        self.find_recent(task, layer).or_else(|| self.look_for(task, layer))
    }

    /// The context that the task used last, if it belongs to `layer`.
    #[inline]
    fn find_recent(&self, task: TaskId, layer: u32) -> Option<u32> {
        let recent = self.recent.get(task.0 as usize).copied()?;
        self.get(recent).filter(|context| context.layer == layer).map(|_| recent)
    }

    #[inline(never)]
    fn look_for(&self, task: TaskId, layer: u32) -> Option<u32> {
        let owner = owner(task, layer);
        let found = self.owners.lower_bound(&self.by_owner, owner)?;
        (self.owners.key(found) == owner).then_some(found)
    }

    #[inline]
    pub(crate) fn find_or_make(
        &mut self,
        now: Jiffies,
        task: TaskId,
        layer: u32,
        ioprio: IoPrio,
    ) -> u32 {
        match self.find_recent(task, layer) {
            Some(recent) => recent,
            None => self.turn_to(now, task, layer, ioprio),
        }
    }

    /// Switches the task to its context in another layer, creating it if needed.
    #[inline(never)]
    fn turn_to(&mut self, now: Jiffies, task: TaskId, layer: u32, ioprio: IoPrio) -> u32 {
        let at = match self.look_for(task, layer) {
            Some(at) => at,
            None => self.make(task, Context::new(task, layer, ioprio, now)),
        };
        self.recent[task.0 as usize] = at;
        at
    }

    fn make(&mut self, task: TaskId, context: Context) -> u32 {
        dense::entry(&mut self.recent, task.0, || NIL);
        let layer = context.layer;
        let at = self.contexts.put(context);
        self.owners.insert(&mut self.by_owner, at, owner(task, layer));
        self.links.insert(dense::entry(&mut self.layers, layer, List::new), at, ());
        at
    }

    /// The context `at`; `None` for `NIL`.
    pub(crate) fn get(&self, at: u32) -> Option<&Context> {
        self.contexts.get(at)
    }

    /// Any context of a live task.
    pub(crate) fn any_of_task(&self, task: TaskId) -> Option<u32> {
        self.next_of_task(task, 0)
    }

    /// The context of a live task in the first of its layers from `layer` on.
    pub(crate) fn next_of_task(&self, task: TaskId, layer: u32) -> Option<u32> {
        let next = self.owners.lower_bound(&self.by_owner, owner(task, layer))?;
        (self[next].task == task).then_some(next)
    }

    /// Any context in `layer` whose task is live.
    pub(crate) fn any_of_layer(&self, layer: u32) -> Option<u32> {
        self.layers.get(layer as usize)?.first()
    }

    /// The context in `layer` of its only live task; `None` if there are several or none.
    pub(crate) fn only_of_layer(&self, layer: u32) -> Option<u32> {
        let list = self.layers.get(layer as usize)?;
        list.first().filter(|first| list.last() == Some(*first))
    }

    /// Detaches the context from its task, which has exited or left the layer.
    pub(crate) fn orphan(&mut self, at: u32) {
        let Context { task, layer, .. } = self[at];
        self.owners.remove(&mut self.by_owner, at);
        let recent = &mut self.recent[task.0 as usize];
        if *recent == at {
            *recent = NIL;
        }
        self.links.remove(&mut self.layers[layer as usize], at);
        self[at].alive = false;
    }

    /// Frees an orphaned context to which no request refers any more.
    pub(crate) fn release(&mut self, at: u32) {
        debug_assert!(!self[at].alive, "its task may come back to it");
        self.contexts.free(at);
    }
}

/// A task and a layer combined into one number, sorted by task first.
const fn owner(task: TaskId, layer: u32) -> u64 {
    (task.0 as u64) << 32 | layer as u64
}

impl Index<u32> for Tasks {
    type Output = Context;
    #[inline]
    fn index(&self, at: u32) -> &Context {
        &self.contexts[at]
    }
}

impl IndexMut<u32> for Tasks {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Context {
        &mut self.contexts[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_belongs_to_a_task_in_a_layer_until_it_is_an_orphan() {
        let mut tasks = Tasks::new();
        let mut make = |task, layer| tasks.find_or_make(0, TaskId(task), layer, IoPrio::UNSET);
        let (a, b, c) = (make(3, 0), make(3, 1), make(3, 2));
        assert_eq!(make(3, 1), b);
        assert_eq!((tasks.any_of_layer(1), tasks.only_of_layer(1)), (Some(b), Some(b)));
        tasks.orphan(b);
        assert_eq!((tasks.find(TaskId(3), 1), tasks.any_of_layer(1)), (None, None));
        assert_eq!((tasks.find(TaskId(3), 0), tasks.find(TaskId(3), 2)), (Some(a), Some(c)));
        tasks.orphan(c);
        tasks.orphan(a);
        assert_eq!(tasks.any_of_task(TaskId(3)), None);
        tasks.release(b);
        assert_eq!(
            tasks.find_or_make(0, TaskId(9), 0, IoPrio::UNSET),
            b,
            "its place is used again"
        );
    }
}
