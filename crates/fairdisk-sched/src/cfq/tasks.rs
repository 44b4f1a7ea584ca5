//! The contexts of all tasks: one for every layer a task has used.

use super::context::Context;
use super::jiffies::Jiffies;
use super::queue::NIL;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{IoPrio, TaskId};

/// Every context, found by task and layer. A task has few, so they are chained.
#[derive(Debug)]
pub(crate) struct Tasks {
    contexts: Vec<Context>,
    free: Vec<u32>,
    /// The first context of each task.
    first: Vec<u32>,
    /// Those of each layer whose task lives.
    layers: Vec<List>,
    links: Lists<()>,
}

impl Tasks {
    pub(crate) const fn new() -> Self {
        Self {
            contexts: Vec::new(),
            free: Vec::new(),
            first: Vec::new(),
            layers: Vec::new(),
            links: Lists::new(),
        }
    }

    /// The context of `task` in `layer`.
    #[inline]
    pub(crate) fn find(&self, task: TaskId, layer: u32) -> Option<u32> {
        self.chain(task).find(|at| self[*at].layer == layer)
    }

    #[inline(always)]
    pub(crate) fn find_or_make(
        &mut self,
        now: Jiffies,
        task: TaskId,
        layer: u32,
        ioprio: IoPrio,
    ) -> u32 {
        match self.find(task, layer) {
            Some(at) => at,
            None => self.make(task, Context::new(task, layer, ioprio, now)),
        }
    }

    fn make(&mut self, task: TaskId, mut context: Context) -> u32 {
        let index = task.0 as usize;
        if index >= self.first.len() {
            self.first.resize(index + 1, NIL);
        }
        let layer = context.layer as usize;
        if layer >= self.layers.len() {
            self.layers.resize(layer + 1, List::new());
        }
        context.next = self.first[index];
        let at = put(&mut self.contexts, &mut self.free, context);
        self.first[index] = at;
        self.links.insert(&mut self.layers[layer], at, ());
        at
    }

    /// The context `at`, or `None` for `NIL`.
    pub(crate) fn get(&self, at: u32) -> Option<&Context> {
        self.contexts.get(at as usize)
    }

    /// One of the contexts of a task that lives.
    pub(crate) fn any_of_task(&self, task: TaskId) -> Option<u32> {
        self.chain(task).next()
    }

    /// One of the contexts in `layer` whose task lives.
    pub(crate) fn any_of_layer(&self, layer: u32) -> Option<u32> {
        self.layers.get(layer as usize)?.first()
    }

    /// The context is not its task's any more.
    pub(crate) fn orphan(&mut self, at: u32) {
        let Context { task, next, layer, .. } = self[at];
        let previous = self.chain(task).find(|one| self[*one].next == at);
        match previous {
            Some(previous) => self[previous].next = next,
            None => self.first[task.0 as usize] = next,
        }
        self.links.remove(&mut self.layers[layer as usize], at);
        self[at].alive = false;
        self[at].next = NIL;
    }

    /// Nobody refers to the context any more.
    pub(crate) fn release(&mut self, at: u32) {
        debug_assert!(!self[at].alive, "its task may come back to it");
        self.free.push(at);
    }

    fn chain(&self, task: TaskId) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.first.get(task.0 as usize).copied().unwrap_or(NIL);
        core::iter::from_fn(move || {
            let context = self.contexts.get(at as usize)?;
            Some(core::mem::replace(&mut at, context.next))
        })
    }
}

impl Index<u32> for Tasks {
    type Output = Context;
    #[inline]
    fn index(&self, at: u32) -> &Context {
        &self.contexts[at as usize]
    }
}

impl IndexMut<u32> for Tasks {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Context {
        &mut self.contexts[at as usize]
    }
}

/// Puts `item` into a free place of `items`.
pub(crate) fn put<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            items.len() as u32 - 1
        }
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
        assert_eq!(tasks.any_of_layer(1), Some(b));
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
